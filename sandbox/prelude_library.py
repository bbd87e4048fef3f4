"""Smaller things of Python's library that the interpreter lacks, in its own Python.

Owns `ChainMap`, `cmp_to_key`, `calendar.Calendar`, verbose patterns, executors that run at once and
kin. Fed only to programs that use one of them. Pure; any thread.
"""

from __future__ import annotations

LIBRARY_PRELUDE = """
class __dd_ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for each in self.maps:
            if key in each:
                return each[key]
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __contains__(self, key):
        return any([key in each for each in self.maps])

    def __dd_merged(self):
        found = {}
        for each in reversed(self.maps):
            found.update(dict(each))
        return found

    def __iter__(self):
        return iter(self.__dd_merged())

    def __len__(self):
        return len(self.__dd_merged())

    def __repr__(self):
        return 'ChainMap(' + ', '.join([repr(each) for each in self.maps]) + ')'

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return self.__dd_merged().keys()

    def values(self):
        return [self[key] for key in self.__dd_merged()]

    def items(self):
        return [(key, self[key]) for key in self.__dd_merged()]

    def new_child(self, m=None):
        return __dd_ChainMap({} if m is None else m, *self.maps)


def __dd_cmp_to_key(compare):
    class Key:
        __dd_rich = True

        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

    return lambda value: Key(value)


def __dd_cache(function):
    known = {}

    def cached(*args, **values):
        key = (args, tuple(values.items()))
        if key not in known:
            known[key] = function(*args, **values)
        return known[key]

    cached_name = __dd_name(function)
    __dd_wrapped.append((cached, cached_name))
    return cached


def __dd_dataclass_replace(value, /, **changes):
    found = __dd_vars(value)
    left_out = getattr(value, '__dd_not_init', ())
    kept = {name: item for name, item in found.items() if name not in left_out}
    return type(value)(**{**kept, **changes})


class __dd_Field:
    def __init__(self, name):
        self.name = name


def __dd_dataclass_fields(value):
    return tuple([__dd_Field(name) for name in __dd_vars(value)])


__dd_Usage = __dd_collections.namedtuple('usage', 'total used free')


def __dd_ignore_patterns(*patterns):
    return ['__dd_patterns'] + list(patterns)


def __dd_copyfileobj(fsrc, fdst, length=0):
    while True:
        data = fsrc.read(length or 1048576)
        if not data:
            return None
        fdst.write(data)


def __dd_move_to_end(value, key, last=True):
    item = value.pop(key)
    if last:
        value[key] = item
        return None
    others = list(value.items())
    value.clear()
    value[key] = item
    value.update(others)
    return None


def __dd_popitem(value, last=True):
    key = list(value)[-1 if last else 0]
    return (key, value.pop(key))


def __dd_encoded(value, encoding='utf-8', errors='strict'):
    return __dd_text_bytes(value, encoding, errors)


def __dd_decoded(value, encoding='utf-8', errors='strict'):
    return __dd_bytes_text(value, encoding, errors)


class __dd_Again:
    def __init__(self, make):
        self.make = make
        self.at = 0
        self.items = []

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= len(self.items):
            self.items = self.make(self.at * 2 + 8)
            if self.at >= len(self.items):
                raise StopIteration
        self.at += 1
        return self.items[self.at - 1]


def __dd_ctime(value):
    hours = '00:00:00'
    if hasattr(value, 'hour'):
        hours = value.strftime('%H:%M:%S')
    return value.strftime('%a %b ') + str(value.day).rjust(2) + ' ' + hours + value.strftime(' %Y')


def __dd_indent(text, prefix, predicate=None):
    found = []
    for line in text.splitlines(True):
        wanted = predicate(line) if predicate is not None else line.strip()
        found.append(prefix + line if wanted else line)
    return ''.join(found)


def __dd_same_files(f1, f2, shallow=True):
    one, two = __dd_os.stat(f1), __dd_os.stat(f2)
    if one.st_size != two.st_size:
        return False
    if shallow and one.st_mtime == two.st_mtime:
        return True
    with open(f1, 'rb') as first, open(f2, 'rb') as second:
        while True:
            piece = first.read(65536)
            if piece != second.read(65536):
                return False
            if not piece:
                return True


def __dd_same_names(a, b, common, shallow=True):
    found = ([], [], [])
    for name in common:
        try:
            same = __dd_same_files(__dd_os.path.join(a, name), __dd_os.path.join(b, name), shallow)
            found[0 if same else 1].append(name)
        except OSError:
            found[2].append(name)
    return found


__dd_module_filecmp = __dd_Module()
__dd_module_filecmp.cmp = __dd_same_files
__dd_module_filecmp.cmpfiles = __dd_same_names


def __dd_trace(error):
    if error is None:
        return 'NoneType: None' + chr(10)
    shown = __dd_name(type(error)) + ': ' + str(error)
    return 'Traceback (most recent call last):' + chr(10) + shown + chr(10)


def __dd_trace_print(error):
    print(__dd_trace(error), end='', file=__dd_sys.stderr)


__dd_module_traceback = __dd_Module()
__dd_module_traceback.print_exception = lambda error, *args, **options: __dd_trace_print(error)
__dd_module_traceback.format_exception = lambda error, *args, **options: [__dd_trace(error)]


def __dd_disk_usage(path):
    return __dd_Usage(*__dd_disk_sizes(path))


class __dd_Calendar:
    def __init__(self, firstweekday=0):
        self.firstweekday = firstweekday

    def itermonthdays(self, year, month):
        return iter([day for week in self.monthdayscalendar(year, month) for day in week])

    def itermonthdays2(self, year, month):
        weeks = self.monthdayscalendar(year, month)
        first = self.firstweekday
        return iter([(day, (first + i) % 7) for week in weeks for i, day in enumerate(week)])

    def itermonthdates(self, year, month):
        return iter([day for week in self.monthdatescalendar(year, month) for day in week])

    def monthdatescalendar(self, year, month):
        return __dd_calendar_dates(year, month, self.firstweekday)

    def monthdayscalendar(self, year, month):
        return [
            [day.day if day.month == month else 0 for day in week]
            for week in self.monthdatescalendar(year, month)
        ]

    def formatmonth(self, theyear, themonth, w=0, l=0):
        return __dd_calendar_text(self.firstweekday, theyear, themonth, w, l)


def __dd_plain_pattern(pattern, flags):
    if not flags & 64 or not isinstance(pattern, str):
        return pattern, flags
    parts = []
    at = 0
    inside = False
    while at < len(pattern):
        char = pattern[at]
        if char == chr(92):
            parts.append(pattern[at:at + 2])
            at += 2
            continue
        if inside:
            inside = char != ']' or parts[-1] in ('[', '^')
        elif char == '[':
            inside = True
        elif char == '#':
            end = pattern.find(chr(10), at)
            at = len(pattern) if end < 0 else end
            continue
        elif char.isspace():
            at += 1
            continue
        parts.append(char)
        at += 1
    return ''.join(parts), flags & ~64


def __dd_verbose_compile(pattern, flags=0):
    return __dd_re.compile(*__dd_plain_pattern(pattern, flags))


def __dd_verbose_search(pattern, string, flags=0):
    return __dd_verbose_compile(pattern, flags).search(string)


def __dd_verbose_match(pattern, string, flags=0):
    return __dd_verbose_compile(pattern, flags).match(string)


def __dd_verbose_fullmatch(pattern, string, flags=0):
    return __dd_verbose_compile(pattern, flags).fullmatch(string)


def __dd_verbose_findall(pattern, string, flags=0):
    return __dd_verbose_compile(pattern, flags).findall(string)


def __dd_verbose_finditer(pattern, string, flags=0):
    return __dd_verbose_compile(pattern, flags).finditer(string)


def __dd_verbose_split(pattern, string, maxsplit=0, flags=0):
    return __dd_verbose_compile(pattern, flags).split(string, maxsplit)


class __dd_Future:
    def __init__(self, function, args, options):
        self.error = None
        self.value = None
        try:
            self.value = function(*args, **options)
        except Exception as error:
            self.error = error

    def result(self, timeout=None):
        if self.error is not None:
            raise self.error
        return self.value

    def exception(self, timeout=None):
        return self.error

    def done(self):
        return True

    def cancel(self):
        return False

    def add_done_callback(self, function):
        function(self)


class __dd_Executor:
    def __init__(self, max_workers=None, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False

    def submit(self, function, /, *args, **options):
        return __dd_Future(function, args, options)

    def map(self, function, *iterables, timeout=None, chunksize=1):
        return __dd_map(function, *iterables)

    def shutdown(self, wait=True, cancel_futures=False):
        return None


__dd_module_concurrent_futures = __dd_Module()
__dd_module_concurrent_futures.ThreadPoolExecutor = __dd_Executor
__dd_module_concurrent_futures.ProcessPoolExecutor = __dd_Executor
__dd_module_concurrent_futures.as_completed = lambda futures, timeout=None: iter(list(futures))
__dd_module_concurrent_futures.wait = lambda futures, **options: (list(futures), [])


class __dd_Semaphore:
    def __init__(self, value=1):
        self.value = value

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return False

    async def acquire(self):
        return True

    def release(self):
        return None

    def locked(self):
        return False


async def __dd_wait_for(task, timeout=None):
    return await task


async def __dd_to_thread(function, /, *args, **options):
    return function(*args, **options)


class __dd_StructTime:
    def __init__(self, values):
        self.values = tuple(values)
        names = ['tm_year', 'tm_mon', 'tm_mday', 'tm_hour', 'tm_min', 'tm_sec', 'tm_wday',
                 'tm_yday', 'tm_isdst']
        for name, value in zip(names, self.values):
            setattr(self, name, value)

    def __getitem__(self, place):
        return self.values[place]

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)


def __dd_timetuple(value):
    return __dd_StructTime(__dd_time_fields(value))


def __dd_from_bytes(data, byteorder='big', *, signed=False):
    return __dd_bytes_int(bytes(data), byteorder, signed)


def __dd_to_bytes(number, length=1, byteorder='big', *, signed=False):
    return __dd_int_bytes(number, length, byteorder, signed)


class __dd_EmailMessage:
    def __init__(self, policy=None):
        self.headers = []
        self.steps = []

    def __setitem__(self, name, value):
        self.headers.append((name, str(value)))

    def __getitem__(self, name):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def __contains__(self, name):
        return self[name] is not None

    def __delitem__(self, name):
        self.headers = [(k, v) for k, v in self.headers if k.lower() != name.lower()]

    def get(self, name, default=None):
        return self[name] if name in self else default

    def keys(self):
        return [key for key, value in self.headers]

    def items(self):
        return list(self.headers)

    def add_header(self, name, value):
        self.headers.append((name, str(value)))

    def set_content(self, *args, **options):
        self.steps.append(('set_content', list(args), options))

    def get_content(self):
        for name, args, options in self.steps:
            if name == 'set_content' and args and isinstance(args[0], str):
                return args[0] if args[0].endswith(chr(10)) else args[0] + chr(10)
        raise KeyError('multipart/mixed' if self.steps else 'text/plain')

    def add_alternative(self, *args, **options):
        self.steps.append(('add_alternative', list(args), options))

    def add_attachment(self, *args, **options):
        self.steps.append(('add_attachment', list(args), options))

    def as_string(self, **options):
        return __dd_mail_made(self.headers, self.steps).decode('utf-8')

    def as_bytes(self, **options):
        return __dd_mail_made(self.headers, self.steps)

    def __str__(self):
        return self.as_string()

    def __bytes__(self):
        return self.as_bytes()


__dd_module_email_message = __dd_Module()
__dd_module_email_message.EmailMessage = __dd_EmailMessage

__dd_module_codecs = __dd_Module()
__dd_module_codecs.BOM_UTF8 = b'\\xef\\xbb\\xbf'
__dd_module_codecs.BOM_UTF16_LE = b'\\xff\\xfe'
__dd_module_codecs.BOM_UTF16_BE = b'\\xfe\\xff'
__dd_module_codecs.BOM_UTF16 = b'\\xff\\xfe'
__dd_module_codecs.encode = lambda text, encoding='utf-8', errors='strict': text.encode(
    encoding, errors
)
__dd_module_codecs.decode = lambda data, encoding='utf-8', errors='strict': data.decode(
    encoding, errors
)
"""
