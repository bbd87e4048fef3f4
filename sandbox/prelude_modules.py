"""Modules of the standard library in the interpreter's own Python, for callables and callbacks.

Owns the second part of the prelude's text and which modules it supplies. Pure; any thread.
"""

from __future__ import annotations

PRELUDE_MODULES = frozenset(
    {"heapq", "bisect", "operator", "logging", "io", "pprint", "warnings", "contextlib", "stat"}
)

MODULES_PRELUDE = """
class __dd_Text:
    def __init__(self, content, name='', mode='r', save=None):
        self.content = content
        self.name = name
        self.mode = mode
        self.save = save
        self.at = len(content) if 'a' in mode else 0
        self.changed = False
        self.closed = False
        self.lines = None
        self.line = 0
        self.newline = chr(10) if isinstance(content, str) else b'\\n'

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def __iter__(self):
        return self

    def __next__(self):
        if self.lines is None:
            self.lines = self.split()
            self.line = 0
        if self.line >= len(self.lines):
            raise StopIteration
        found = self.lines[self.line]
        self.line += 1
        self.at += len(found)
        return found

    def split(self):
        lines = self.content[self.at:].split(self.newline)
        last = lines.pop()
        return [line + self.newline for line in lines] + ([last] if last else [])

    def read(self, size=-1):
        end = len(self.content) if size is None or size < 0 else self.at + size
        self.lines = None
        found = self.content[self.at:end]
        self.at += len(found)
        return found

    def readline(self):
        end = self.content.find(self.newline, self.at)
        end = len(self.content) if end < 0 else end + 1
        return self.read(end - self.at)

    def readlines(self):
        lines = self.split()
        self.at = len(self.content)
        self.lines = None
        return lines

    def write(self, data):
        self.lines = None
        if 'a' in self.mode:
            self.at = len(self.content)
        self.content = self.content[:self.at] + data + self.content[self.at + len(data):]
        self.at += len(data)
        self.changed = True
        return len(data)

    def getvalue(self):
        return self.content

    def seek(self, offset, whence=0):
        if whence == 1:
            offset += self.at
        elif whence == 2:
            offset += len(self.content)
        self.at = offset
        self.lines = None
        return offset

    def tell(self):
        return self.at

    def truncate(self, size=None):
        size = self.at if size is None else size
        self.content = self.content[:size]
        self.changed = True
        return size

    def flush(self):
        if self.save is not None and self.changed:
            __dd_save(self.name, self.content, self.save)
            self.changed = False

    def close(self):
        self.flush()
        self.closed = True


class __dd_Template:
    def __init__(self, template):
        self.template = template

    def __dd_fill(self, values, strict):
        def value_of(found):
            if found.group(1):
                return '$'
            name = found.group(2) or found.group(3)
            if name not in values and not strict:
                return found.group(0)
            return str(values[name])
        name = '[_a-zA-Z][_a-zA-Z0-9]*'
        pattern = __dd_re.compile('\\$(?:(\\$)|(' + name + ')|{(' + name + ')})')
        return __dd_substitute(pattern, value_of, self.template, 0)

    def substitute(self, mapping=None, **values):
        return self.__dd_fill({**(mapping or {}), **values}, True)

    def safe_substitute(self, mapping=None, **values):
        return self.__dd_fill({**(mapping or {}), **values}, False)


class __dd_Uuid:
    def __init__(self, text):
        self.text = text
        self.hex = text.replace('-', '')

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"UUID('{self.text}')"


def __dd_uuid4():
    return __dd_Uuid(__dd_uuid_text())


class __dd_Module:
    pass


def __dd_inside(names, module):
    for name in reversed(names.split('.')):
        outer = __dd_Module()
        setattr(outer, name, module)
        module = outer
    return module


__dd_module_io = __dd_Module()


def __dd_string_io(initial_value='', newline=None):
    return __dd_Text(initial_value, '', 'r+')


def __dd_bytes_io(initial_bytes=b''):
    return __dd_Text(initial_bytes, '', 'rb+')


__dd_module_io.StringIO = __dd_string_io
__dd_module_io.BytesIO = __dd_bytes_io


__dd_module_heapq = __dd_Module()


def __dd_heappush(heap, item):
    heap.append(item)
    place = len(heap) - 1
    while place > 0:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def __dd_sift(heap, place):
    item = heap[place]
    size = len(heap)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if not heap[child] < item:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


def __dd_heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    __dd_sift(heap, 0)
    return first


def __dd_heapify(heap):
    for place in range(len(heap) // 2 - 1, -1, -1):
        __dd_sift(heap, place)


def __dd_nlargest(n, iterable, key=None):
    return __dd_sorted(iterable, key=key, reverse=True)[:n]


def __dd_nsmallest(n, iterable, key=None):
    return __dd_sorted(iterable, key=key)[:n]


def __dd_merge(*iterables, key=None, reverse=False):
    found = []
    for each in iterables:
        found.extend(list(each))
    return iter(__dd_sorted(found, key=key, reverse=reverse))


def __dd_heapreplace(heap, item):
    first = heap[0]
    heap[0] = item
    __dd_sift(heap, 0)
    return first


def __dd_heappushpop(heap, item):
    if heap and heap[0] < item:
        return __dd_heapreplace(heap, item)
    return item


__dd_module_heapq.merge = __dd_merge
__dd_module_heapq.heapreplace = __dd_heapreplace
__dd_module_heapq.heappushpop = __dd_heappushpop
__dd_module_heapq.heappush = __dd_heappush
__dd_module_heapq.heappop = __dd_heappop
__dd_module_heapq.heapify = __dd_heapify
__dd_module_heapq.nlargest = __dd_nlargest
__dd_module_heapq.nsmallest = __dd_nsmallest

__dd_module_bisect = __dd_Module()


def __dd_bisect_left(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if a[middle] < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def __dd_bisect_right(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if x < a[middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo


def __dd_insort(a, x):
    a.insert(__dd_bisect_right(a, x), x)


__dd_module_bisect.bisect_left = __dd_bisect_left
__dd_module_bisect.bisect_right = __dd_bisect_right
__dd_module_bisect.bisect = __dd_bisect_right
__dd_module_bisect.insort = __dd_insort
__dd_module_bisect.insort_right = __dd_insort

__dd_module_operator = __dd_Module()


def __dd_itemgetter(*items):
    if len(items) == 1:
        return lambda value: value[items[0]]
    return lambda value: tuple([value[item] for item in items])


def __dd_attribute(value, name):
    for part in name.split('.'):
        value = getattr(value, part)
    return value


def __dd_attrgetter(*names):
    if len(names) == 1:
        return lambda value: __dd_attribute(value, names[0])
    return lambda value: tuple([__dd_attribute(value, name) for name in names])


__dd_module_operator.itemgetter = __dd_itemgetter
__dd_module_operator.attrgetter = __dd_attrgetter
__dd_module_operator.add = lambda a, b: a + b
__dd_module_operator.sub = lambda a, b: a - b
__dd_module_operator.mul = lambda a, b: a * b
__dd_module_operator.truediv = lambda a, b: a / b
__dd_module_operator.eq = lambda a, b: a == b
__dd_module_operator.lt = lambda a, b: a < b
__dd_module_operator.gt = lambda a, b: a > b

__dd_module_pprint = __dd_Module()
__dd_module_pprint.pprint = lambda value, *args, **options: print(value)
__dd_module_pprint.pformat = lambda value, *args, **options: repr(value)

__dd_module_stat = __dd_Module()
__dd_module_stat.S_ISDIR = lambda mode: mode & 0o170000 == 0o040000
__dd_module_stat.S_ISREG = lambda mode: mode & 0o170000 == 0o100000
__dd_module_stat.S_ISLNK = lambda mode: mode & 0o170000 == 0o120000
__dd_module_stat.S_IMODE = lambda mode: mode & 0o7777
__dd_module_stat.S_IRUSR = 0o400
__dd_module_stat.S_IWUSR = 0o200
__dd_module_stat.S_IXUSR = 0o100
__dd_module_stat.S_IRGRP = 0o040
__dd_module_stat.S_IROTH = 0o004

__dd_module_warnings = __dd_Module()
__dd_module_warnings.warn = __dd_nothing
__dd_module_warnings.filterwarnings = __dd_nothing
__dd_module_warnings.simplefilter = __dd_nothing


class __dd_Suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return error is not None and isinstance(error, self.kinds)


__dd_module_contextlib = __dd_Module()
__dd_module_contextlib.suppress = __dd_Suppress


def __dd_padded(text, width):
    if not width:
        return text
    return text.ljust(int(width[1:])) if width[0] == '-' else text.rjust(int(width))


class __dd_Logger:
    def __init__(self, name='root'):
        self.name = name
        self.level = 30

    def log(self, level, message, *args, **options):
        if level < __dd_module_logging.level:
            return None
        text = str(message) % args if args else str(message)
        names = {10: 'DEBUG', 20: 'INFO', 30: 'WARNING', 40: 'ERROR', 50: 'CRITICAL'}
        settings = __dd_module_logging.settings
        now = __dd_datetime.datetime.now()
        date = settings.get('datefmt')
        shown = now.strftime(date) if date else now.strftime('%Y-%m-%d %H:%M:%S,000')
        values = {
            'levelname': names.get(level, 'Level ' + str(level)), 'name': self.name,
            'message': text, 'asctime': shown, 'levelno': level, 'lineno': 0,
            'filename': 'program.py', 'module': 'program', 'funcName': '<module>',
        }
        pattern = settings.get('format') or '%(levelname)s:%(name)s:%(message)s'
        if settings.get('style') == '{':
            line = pattern.format(**values)
        else:
            line = __dd_substitute(
                __dd_re.compile('%\\(([a-zA-Z]+)\\)(-?[0-9]*)[sd]'),
                lambda found: __dd_padded(str(values.get(found.group(1), '')), found.group(2)),
                pattern, 0,
            )
        name = settings.get('filename')
        if name is None:
            print(line)
        else:
            with open(name, 'a') as file:
                file.write(line + chr(10))
        return None

    def debug(self, message, *args, **options):
        self.log(10, message, *args)

    def info(self, message, *args, **options):
        self.log(20, message, *args)

    def warning(self, message, *args, **options):
        self.log(30, message, *args)

    def error(self, message, *args, **options):
        self.log(40, message, *args)

    def exception(self, message, *args, **options):
        self.log(40, message, *args)

    def critical(self, message, *args, **options):
        self.log(50, message, *args)

    def setLevel(self, level):
        __dd_module_logging.level = level

    def addHandler(self, handler):
        return None


__dd_module_logging = __dd_Logger()
__dd_module_logging.DEBUG = 10
__dd_module_logging.INFO = 20
__dd_module_logging.WARNING = 30
__dd_module_logging.ERROR = 40
__dd_module_logging.CRITICAL = 50


__dd_module_logging.settings = {}


def __dd_basic_config(**options):
    __dd_module_logging.settings = options
    if options.get('filename') is not None and options.get('filemode') == 'w':
        __dd_Path(options['filename']).write_text('')
    level = options.get('level')
    if level is not None:
        __dd_module_logging.level = level


__dd_module_logging.basicConfig = __dd_basic_config
__dd_module_logging.getLogger = lambda name='root': __dd_Logger(name)
"""
