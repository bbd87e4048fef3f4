"""Contexts, queues and dispatch of Python's library in the interpreter's own Python.

Fed only to programs that use one of them. Pure; any thread.
"""

from __future__ import annotations

HOLDERS_PRELUDE = """
__dd_outs = []


class __dd_Redirect:
    def __init__(self, target):
        self.target = target

    def __enter__(self):
        __dd_outs.append(self.target)
        return self.target

    def __exit__(self, kind, error, trace):
        __dd_outs.pop()
        return False


def __dd_print_to(*args, sep=None, end=None, file=None, flush=False):
    if file is None and __dd_outs:
        file = __dd_outs[-1]
    __dd_print(*args, sep=sep, end=end, file=file)


__dd_marks = []


def __dd_marks_of(value):
    for pair in __dd_marks:
        if pair[0] is value:
            return pair[1]
    return None


def __dd_mark(value, name):
    found = __dd_marks_of(value)
    return found[name] if found is not None and name in found else getattr(value, name)


def __dd_set_mark(value, name, item):
    found = __dd_marks_of(value)
    if found is None:
        found = {}
        __dd_marks.append((value, found))
    found[name] = item


__dd_env = []


def __dd_environ():
    if not __dd_env:
        __dd_env.append(dict(__dd_os.environ))
    return __dd_env[0]


def __dd_getenv(name, default=None):
    return __dd_environ().get(name, default)


def __dd_putenv(name, value):
    return None


class __dd_Struct:
    def __init__(self, format):
        self.format = format
        self.size = __dd_struct_size(format)

    def pack(self, *values):
        return __dd_struct_pack(self.format, *values)

    def unpack(self, data):
        return __dd_struct_unpack(self.format, data)

    def unpack_from(self, data, offset=0):
        return __dd_struct_unpack(self.format, data[offset:offset + self.size])

    def iter_unpack(self, data):
        return __dd_iter_unpack(self.format, data)


def __dd_iter_unpack(format, data):
    size = __dd_struct_size(format)
    if len(data) % size:
        raise ValueError(f'iterative unpacking requires a buffer of a multiple of {size} bytes')
    return iter([
        __dd_struct_unpack(format, data[at:at + size]) for at in range(0, len(data), size)
    ])


def __dd_iadd(one, two):
    if hasattr(one, '__iadd__'):
        return one.__iadd__(two)
    one += two
    return one


def __dd_isub(one, two):
    if hasattr(one, '__isub__'):
        return one.__isub__(two)
    one -= two
    return one


def __dd_imul(one, two):
    if hasattr(one, '__imul__'):
        return one.__imul__(two)
    one *= two
    return one


def __dd_itruediv(one, two):
    if hasattr(one, '__itruediv__'):
        return one.__itruediv__(two)
    one /= two
    return one


def __dd_ifloordiv(one, two):
    if hasattr(one, '__ifloordiv__'):
        return one.__ifloordiv__(two)
    one //= two
    return one


def __dd_imod(one, two):
    if hasattr(one, '__imod__'):
        return one.__imod__(two)
    one %= two
    return one


def __dd_ipow(one, two):
    if hasattr(one, '__ipow__'):
        return one.__ipow__(two)
    one **= two
    return one


def __dd_ior(one, two):
    if hasattr(one, '__ior__'):
        return one.__ior__(two)
    one |= two
    return one


def __dd_iand(one, two):
    if hasattr(one, '__iand__'):
        return one.__iand__(two)
    one &= two
    return one


def __dd_ixor(one, two):
    if hasattr(one, '__ixor__'):
        return one.__ixor__(two)
    one ^= two
    return one


def __dd_ilshift(one, two):
    if hasattr(one, '__ilshift__'):
        return one.__ilshift__(two)
    one <<= two
    return one


def __dd_irshift(one, two):
    if hasattr(one, '__irshift__'):
        return one.__irshift__(two)
    one >>= two
    return one


class __dd_Closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, kind, error, trace):
        self.thing.close()
        return False


class __dd_NullContext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, error, trace):
        return False


class __dd_ExitStack:
    def __init__(self):
        self.leaving = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        entered = manager.__enter__()
        self.leaving.append(lambda kind, error: manager.__exit__(kind, error, None))
        return entered

    def push(self, manager):
        self.leaving.append(lambda kind, error: manager.__exit__(kind, error, None))
        return manager

    def callback(self, function, /, *args, **options):
        def leave(kind, error):
            function(*args, **options)
            return False
        self.leaving.append(leave)
        return function

    def pop_all(self):
        made = __dd_ExitStack()
        made.leaving = self.leaving
        self.leaving = []
        return made

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, error, trace):
        swallowed = False
        while self.leaving:
            if self.leaving.pop()(kind, error):
                kind = error = None
                swallowed = True
        return swallowed


__dd_module_contextlib.redirect_stdout = __dd_Redirect
__dd_module_contextlib.redirect_stderr = __dd_NullContext
__dd_module_contextlib.closing = __dd_Closing
__dd_module_contextlib.nullcontext = __dd_NullContext
__dd_module_contextlib.ExitStack = __dd_ExitStack
__dd_holders = True


class __dd_Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self.items = []

    def put(self, item, block=True, timeout=None):
        if self.maxsize and len(self.items) >= self.maxsize:
            raise OverflowError('the queue is full')
        self.items.append(item)

    def put_nowait(self, item):
        self.put(item)

    def get(self, block=True, timeout=None):
        if not self.items:
            raise TimeoutError('the queue is empty')
        return self.items.pop(self.next())

    def next(self):
        return 0

    def get_nowait(self):
        return self.get()

    def qsize(self):
        return len(self.items)

    def empty(self):
        return not self.items

    def full(self):
        return bool(self.maxsize) and len(self.items) >= self.maxsize

    def task_done(self):
        return None

    def join(self):
        return None


def __dd_lifo_queue(maxsize=0):
    made = __dd_Queue(maxsize)
    made.next = lambda: -1
    return made


def __dd_priority_queue(maxsize=0):
    made = __dd_Queue(maxsize)

    def least():
        best = 0
        for place in range(1, len(made.items)):
            if __dd_before(made.items[place], made.items[best]):
                best = place
        return best

    made.next = least
    return made


__dd_module_queue = __dd_Module()
__dd_module_queue.Queue = __dd_Queue
__dd_module_queue.SimpleQueue = __dd_Queue
__dd_module_queue.LifoQueue = __dd_lifo_queue
__dd_module_queue.PriorityQueue = __dd_priority_queue
__dd_module_queue.Empty = TimeoutError
__dd_module_queue.Full = OverflowError


class __dd_Dispatch:
    def __init__(self, function):
        self.function = function
        self.kinds = []

    def register(self, kind, function=None):
        def keep(function):
            self.kinds.append((kind, function))
            return function
        return keep if function is None else keep(function)

    def dispatch(self, kind):
        for known, function in reversed(self.kinds):
            if known is kind:
                return function
        return self.function

    def __call__(self, value, *args, **options):
        kind = type(value)
        for known, function in reversed(self.kinds):
            if known is kind:
                return function(value, *args, **options)
        for known, function in reversed(self.kinds):
            if __dd_isinstance(value, known):
                return function(value, *args, **options)
        return self.function(value, *args, **options)


def __dd_singledispatch(function):
    return __dd_Dispatch(function)
"""
