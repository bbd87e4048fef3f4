"""Open files in the interpreter's own Python: what `open` gives a bridged program.

Owns readers (whole in memory, or a window on a host-side stream), writers that collect what is
written until they are left, and the cursors that bridged `for` loops step. Only a step may ask the
host: iteration by the interpreter itself cannot. Pure; any thread.
"""

from __future__ import annotations

FILES_PRELUDE = """
__dd_ParseError = __dd_error_re


def __dd_parsed(found):
    if isinstance(found, tuple) and len(found) == 2 and found[0] == '__dd_failed':
        raise __dd_ParseError(found[1])
    return found


def __dd_open_update(
    file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, at=None
):
    options = [encoding, errors, newline]
    content = __dd_load(file, mode, options)
    if isinstance(content, tuple):
        return __dd_Update(str(file), mode, content[0])
    return __dd_Text(content, str(file), mode, options)


class __dd_Reader:
    at = 0
    base = 0
    lines = ()
    closed = False
    encoding = 'utf-8'

    def __init__(self, name, mode, content, stream):
        self.name = name
        self.mode = mode
        self.content = content
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def __iter__(self):
        return self

    def __next__(self):
        if not self.lines and not self.refill():
            raise StopIteration
        return self.lines.pop()

    def settle(self):
        if self.lines:
            self.at -= sum([len(line) for line in self.lines])
            self.lines.clear()

    def open_only(self):
        if self.closed:
            raise ValueError('I/O operation on closed file.')

    def refill(self):
        if self.closed:
            raise ValueError('I/O operation on closed file.')
        if self.at >= len(self.content):
            if self.stream is None:
                return False
            self.base += len(self.content)
            self.content = __dd_stream_lines(self.stream)
            self.at = 0
            if not self.content:
                return False
        rest = self.content[self.at:] if self.at else self.content
        newline = chr(10) if isinstance(rest, str) else b'\\n'
        parts = rest.split(newline)
        last = parts.pop()
        lines = [part + newline for part in parts]
        if last:
            lines.append(last)
        lines.reverse()
        self.lines = lines
        self.at = len(self.content)
        return True

    def take(self):
        return self.lines.pop()

    def load(self):
        self.settle()
        if self.stream is not None:
            rest = self.content[self.at:]
            self.base += self.at
            self.content = rest + __dd_stream_read(self.stream, -1)
            self.at = 0
            self.stream = None
        return self

    def read(self, size=-1):
        self.open_only()
        self.settle()
        left = len(self.content) - self.at
        if size is None or size < 0:
            self.load()
            size = len(self.content) - self.at
        elif self.stream is not None and size > left:
            rest = self.content[self.at:]
            self.base += len(self.content)
            self.content = self.content[:0]
            self.at = 0
            found = rest + __dd_stream_read(self.stream, size - left)
            self.base += len(found) - left
            return found
        found = self.content[self.at:self.at + size]
        self.at += len(found)
        return found

    def read1(self, size=-1):
        return self.read(size)

    def readline(self, size=-1):
        if not self.lines and not self.refill():
            return self.content[:0]
        return self.take()

    def readlines(self, hint=-1):
        self.load()
        if not self.refill():
            return []
        lines = self.lines[::-1]
        self.lines.clear()
        return lines

    def getvalue(self):
        return self.load().content

    def seek(self, offset, whence=0):
        self.open_only()
        self.settle()
        if self.stream is not None:
            if whence == 1:
                offset, whence = offset + self.tell(), 0
            self.base = __dd_stream_seek(self.stream, offset, whence)
            self.content = self.content[:0]
            self.at = 0
            return self.base
        if whence == 1:
            offset += self.at
        elif whence == 2:
            offset += len(self.content)
        else:
            offset -= self.base
        self.at = max(0, offset)
        return self.base + self.at

    def tell(self):
        self.settle()
        return self.base + self.at

    def write(self, data):
        raise OSError('not writable')

    def readable(self):
        return True

    def writable(self):
        return False

    def seekable(self):
        return True

    def fileno(self):
        return 3

    def isatty(self):
        return False

    def flush(self):
        return None

    def close(self):
        if not self.closed:
            self.closed = True
            self.settle()
            self.content = self.content[:0]
            if self.stream is not None:
                __dd_stream_close(self.stream)
                self.stream = None


class __dd_Writer:
    def __init__(self, handle):
        self.handle = handle
        self.name = str(handle.name)
        self.mode = handle.mode
        self.binary = 'b' in handle.mode
        self.parts = []
        self.waiting = 0
        self.written = 0
        self.closed = False
        self.encoding = 'utf-8'

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def write(self, data):
        if self.closed:
            raise ValueError('I/O operation on closed file.')
        if self.binary:
            if isinstance(data, str):
                raise TypeError("a bytes-like object is required, not 'str'")
        elif not isinstance(data, str):
            raise TypeError('write() argument must be str, not ' + __dd_name(type(data)))
        self.parts.append(data)
        size = len(data)
        self.waiting += size
        if self.waiting > 131072:
            self.flush()
        return size

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        if self.parts:
            joined = b''.join(self.parts) if self.binary else ''.join(self.parts)
            self.parts = []
            self.written += self.waiting
            self.waiting = 0
            __dd_append(self.handle, joined)

    def tell(self):
        return self.written + self.waiting

    def readable(self):
        return False

    def writable(self):
        return True

    def read(self, size=-1):
        raise OSError('not readable')

    def fileno(self):
        self.flush()
        return 3

    def close(self):
        if not self.closed:
            self.flush()
            self.closed = True


def __dd_file(opened):
    if isinstance(opened, tuple):
        return __dd_Reader(opened[0], opened[1], opened[2], opened[3])
    return opened


def __dd_with_file(opened):
    if isinstance(opened, tuple):
        return __dd_Reader(opened[0], opened[1], opened[2], opened[3])
    return __dd_Writer(opened)


class __dd_Cursor:
    def __init__(self, items):
        self.items = iter(items)
        self.lines = []

    def refill(self):
        try:
            self.lines.append(next(self.items))
        except StopIteration:
            return False
        return True

    def take(self):
        return self.lines.pop()


class __dd_Counted:
    def __init__(self, source, start=0):
        self.source = __dd_cursor(source)
        self.number = start - 1
        self.lines = self.source.lines

    def refill(self):
        more = True if self.source.lines else self.source.refill()
        self.lines = self.source.lines
        return more

    def take(self):
        self.number += 1
        return (self.number, self.source.take())


def __dd_cursor(items):
    if isinstance(items, (__dd_Reader, __dd_Counted, __dd_Update)):
        return items
    if isinstance(items, __dd_Table) and items.stream is not None:
        return items
    return __dd_Cursor(items)


class __dd_Table:
    def __init__(self, source, options, names=None, keyed=False):
        self.stream = source.stream
        self.options = options
        self.line_num = 0
        self.lines = ()
        self.keyed = keyed
        self.fieldnames = names
        if keyed and names is None and self.refill():
            self.fieldnames = self.lines.pop()

    def __iter__(self):
        return self

    def __next__(self):
        if not self.lines and not self.refill():
            raise StopIteration
        return self.take()

    def refill(self):
        if self.stream is None:
            return False
        rows = __dd_stream_rows(self.stream, self.options)
        rows.reverse()
        self.lines = rows
        return len(rows) > 0

    def take(self):
        row = self.lines.pop()
        self.line_num += 1
        if not self.keyed:
            return row
        made = dict(zip(self.fieldnames, row))
        if len(row) < len(self.fieldnames):
            for name in self.fieldnames[len(row):]:
                made[name] = None
        elif len(row) > len(self.fieldnames):
            made[None] = row[len(self.fieldnames):]
        return made

    def load(self):
        while True:
            rows = __dd_stream_rows(self.stream, self.options)
            if not rows:
                self.stream = None
                return self
            rows.reverse()
            self.lines = rows + list(self.lines)


def __dd_text_wrapper(source, encoding=None, errors=None, newline=None, **options):
    data = source.read()
    text = data.decode(encoding or 'utf-8', errors or 'strict')
    if newline is None:
        text = text.replace(chr(13) + chr(10), chr(10))
    return __dd_Reader(str(source.name), 'r', text, None)


def __dd_csv_reader(source, *args, **options):
    if isinstance(source, __dd_Reader) and source.stream is not None:
        if args:
            options['dialect'] = args[0]
        return __dd_Table(source, options)
    if args:
        options['dialect'] = args[0]
    __dd_csv_options(options)
    return __dd_csv.reader(source, **options)


__dd_csv_dialects = {}
__dd_csv_settings = (
    'delimiter', 'quotechar', 'doublequote', 'skipinitialspace', 'lineterminator', 'quoting',
    'escapechar',
)


def __dd_csv_register(name, dialect=None, **options):
    if dialect is not None:
        options = {'dialect': dialect, **options}
        __dd_csv_options(options)
    __dd_csv_dialects[name] = options


def __dd_csv_writer(file, dialect='excel', **options):
    options['dialect'] = dialect
    __dd_csv_options(options)
    return __dd_csv.writer(file, **options)


def __dd_csv_dict_writer(file, fieldnames, restval='', extrasaction='raise', dialect='excel',
                         **options):
    options['dialect'] = dialect
    __dd_csv_options(options)
    return __dd_csv.DictWriter(
        file, fieldnames, restval=restval, extrasaction=extrasaction, **options
    )


def __dd_csv_options(options):
    dialect = options.get('dialect')
    if isinstance(dialect, str) and dialect in __dd_csv_dialects:
        options.pop('dialect')
        for name, value in __dd_csv_dialects[dialect].items():
            options.setdefault(name, value)
        return None
    if dialect is not None and not isinstance(dialect, str) and hasattr(dialect, 'delimiter'):
        options.pop('dialect')
        for name in __dd_csv_settings:
            if hasattr(dialect, name):
                options.setdefault(name, getattr(dialect, name))
    return None


def __dd_csv_dict_reader(source, fieldnames=None, **options):
    if isinstance(source, __dd_Reader) and source.stream is not None:
        return __dd_Table(source, options, fieldnames, True)
    __dd_csv_options(options)
    if fieldnames is None:
        return __dd_csv.DictReader(source, **options)
    return __dd_csv.DictReader(source, fieldnames, **options)


def __dd_loaded(opened, at=None):
    if isinstance(opened, __dd_Update):
        return opened.load()
    if isinstance(opened, (__dd_Reader, __dd_Table)):
        if opened.stream is not None:
            opened.load()
        return opened
    if hasattr(opened, 'mode') and 'r' in str(opened.mode) and not isinstance(opened, __dd_Text):
        opened.seek(opened.tell())
    return opened


def __dd_json_plain(value, default):
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [__dd_json_plain(item, default) for item in value]
    if isinstance(value, dict):
        return {key: __dd_json_plain(item, default) for key, item in value.items()}
    if hasattr(value, '__dd_data') or hasattr(value, '__dd_tuple'):
        found = value.__dd_tuple() if hasattr(value, '__dd_tuple') else value.__dd_data
        return __dd_json_plain(found, default)
    if default is None:
        return value
    return __dd_json_plain(default(value), default)


def __dd_json_dumps(value, **options):
    default = options.pop('default', None)
    encoder = options.pop('cls', None)
    if default is None and encoder is not None:
        default = encoder().default
    if default is not None or __dd_family:
        value = __dd_json_plain(value, default)
    return __dd_json.dumps(value, **options)


def __dd_json_dump(value, file, **options):
    file.write(__dd_json_dumps(value, **options))
"""
