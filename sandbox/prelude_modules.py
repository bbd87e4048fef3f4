"""Modules of the standard library in the interpreter's own Python, for callables and callbacks.

Owns the second part of the prelude's text and which modules it supplies. Pure; any thread.
"""

from __future__ import annotations

PRELUDE_MODULES = frozenset(
    {"heapq", "bisect", "operator", "io", "pprint", "warnings", "contextlib", "stat"}
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
        self.int = int(self.hex, 16)
        self.version = int(self.hex[12], 16)
        self.urn = 'urn:uuid:' + text

    def __str__(self):
        return self.text

    def __eq__(self, other):
        return isinstance(other, __dd_Uuid) and self.text == other.text

    def __hash__(self):
        return hash(self.text)

    def __repr__(self):
        return f"UUID('{self.text}')"


def __dd_uuid4():
    return __dd_Uuid(__dd_uuid_text())


def __dd_uuid_of(hex=None, bytes=None, int=None, **options):
    if bytes is not None:
        hex = bytes.hex()
    if int is not None:
        hex = '%032x' % int
    return __dd_Uuid(__dd_uuid_checked(hex)[0])


def __dd_uuid3(namespace, name):
    return __dd_Uuid(__dd_uuid_named(3, str(namespace), name))


def __dd_uuid5(namespace, name):
    return __dd_Uuid(__dd_uuid_named(5, str(namespace), name))


def __dd_cast(kind, value):
    return value


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


def __dd_before(first, second):
    if __dd_is_rich(first):
        return __dd_key_less(first, second)
    return first < second


def __dd_heappush(heap, item):
    heap.append(item)
    place = len(heap) - 1
    while place > 0:
        parent = (place - 1) // 2
        if not __dd_before(item, heap[parent]):
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
        if child + 1 < size and __dd_before(heap[child + 1], heap[child]):
            child += 1
        if not __dd_before(heap[child], item):
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
    if heap and __dd_before(heap[0], item):
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
        if __dd_before(a[middle], x):
            lo = middle + 1
        else:
            hi = middle
    return lo


def __dd_bisect_right(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if __dd_before(x, a[middle]):
            hi = middle
        else:
            lo = middle + 1
    return lo


def __dd_insort(a, x):
    a.insert(__dd_bisect_right(a, x), x)


def __dd_insort_left(a, x):
    a.insert(__dd_bisect_left(a, x), x)


__dd_module_bisect.bisect_left = __dd_bisect_left
__dd_module_bisect.bisect_right = __dd_bisect_right
__dd_module_bisect.bisect = __dd_bisect_right
__dd_module_bisect.insort = __dd_insort
__dd_module_bisect.insort_right = __dd_insort
__dd_module_bisect.insort_left = __dd_insort_left
__dd_module_bisect.bisect_right = __dd_bisect_right

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
def __dd_methodcaller(name, /, *args, **options):
    return lambda value: __dd_called(value, name, args, options)


def __dd_called(value, name, args, options):
    if isinstance(value, str) and not options:
        if name == 'upper':
            return value.upper(*args)
        if name == 'lower':
            return value.lower(*args)
        if name == 'strip':
            return value.strip(*args)
        if name == 'title':
            return value.title(*args)
        if name == 'split':
            return value.split(*args)
        if name == 'startswith':
            return value.startswith(*args)
        if name == 'endswith':
            return value.endswith(*args)
        if name == 'replace':
            return value.replace(*args)
    return getattr(value, name)(*args, **options)


__dd_module_operator.methodcaller = __dd_methodcaller
__dd_module_operator.add = lambda a, b: a + b
__dd_module_operator.sub = lambda a, b: a - b
__dd_module_operator.mul = lambda a, b: a * b
__dd_module_operator.truediv = lambda a, b: a / b
__dd_module_operator.eq = lambda a, b: a == b
__dd_module_operator.lt = lambda a, b: a < b
__dd_module_operator.gt = lambda a, b: a > b
__dd_module_operator.ne = lambda a, b: a != b
__dd_module_operator.le = lambda a, b: a <= b
__dd_module_operator.ge = lambda a, b: a >= b
__dd_module_operator.floordiv = lambda a, b: a // b
__dd_module_operator.mod = lambda a, b: a % b
__dd_module_operator.pow = lambda a, b: a ** b
__dd_module_operator.and_ = lambda a, b: a & b
__dd_module_operator.or_ = lambda a, b: a | b
__dd_module_operator.xor = lambda a, b: a ^ b
__dd_module_operator.neg = lambda a: -a
__dd_module_operator.not_ = lambda a: not a
__dd_module_operator.contains = lambda a, b: b in a
__dd_module_operator.getitem = lambda a, b: a[b]

__dd_module_pprint = __dd_Module()


def __dd_pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True,
                 underscore_numbers=False):
    if not __dd_is_plain(object):
        return repr(object)
    return __dd_pretty(object, {
        'indent': indent, 'width': width, 'depth': depth, 'compact': compact,
        'sort_dicts': sort_dicts, 'underscore_numbers': underscore_numbers,
    })


def __dd_is_plain(value):
    if isinstance(value, dict):
        return all([__dd_is_plain(k) and __dd_is_plain(v) for k, v in value.items()])
    if isinstance(value, (list, tuple, set)):
        return all([__dd_is_plain(item) for item in value])
    return value is None or isinstance(value, (str, int, float, bytes, __dd_Path))


def __dd_pprint(object, stream=None, *args, **options):
    text = __dd_pformat(object, *args, **options)
    if stream is None:
        print(text)
    else:
        stream.write(text + chr(10))


__dd_module_pprint.pprint = __dd_pprint
__dd_module_pprint.pp = lambda object, *args, **options: __dd_pprint(
    object, *args, **{'sort_dicts': False, **options}
)
__dd_module_pprint.pformat = __dd_pformat

__dd_module_stat = __dd_Module()
__dd_module_stat.S_ISDIR = lambda mode: mode & 0o170000 == 0o040000
__dd_module_stat.S_ISREG = lambda mode: mode & 0o170000 == 0o100000
__dd_module_stat.S_ISLNK = lambda mode: mode & 0o170000 == 0o120000
__dd_module_stat.S_IMODE = lambda mode: mode & 0o7777
def __dd_filemode(mode):
    kinds = {0o040000: 'd', 0o120000: 'l'}
    shown = kinds.get(mode & 0o170000, '-')
    for place in range(8, -1, -1):
        shown += 'rwx'[(8 - place) % 3] if mode & (1 << place) else '-'
    return shown


__dd_module_stat.filemode = __dd_filemode
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
"""
