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
