"""Large files open to read and to write, in the interpreter's own Python.

Owns the object that `open(path, 'r+b')` gives for a file that is not loaded whole: every part that
is read or written is a call to the host. Pure; any thread.
"""

from __future__ import annotations

UPDATES_PRELUDE = """
class __dd_Update:
    closed = False
    loaded = False
    encoding = 'utf-8'

    def __init__(self, name, mode, number):
        self.name = name
        self.mode = mode
        self.number = number
        self.lines = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def __iter__(self):
        return self

    def __next__(self):
        if not self.lines and (self.loaded or not self.refill()):
            raise StopIteration
        return self.lines.pop()

    def open_only(self):
        self.loaded = False
        if self.closed:
            raise ValueError('I/O operation on closed file.')

    def refill(self):
        line = self.readline()
        if line:
            self.lines.append(line)
        return len(line) > 0

    def take(self):
        return self.lines.pop()

    def load(self):
        self.lines = self.readlines()[::-1]
        self.loaded = True
        return self

    def read(self, size=-1):
        self.open_only()
        return __dd_update_read(self.number, 'part', -1 if size is None else size)

    def read1(self, size=-1):
        return self.read(size)

    def readline(self, size=-1):
        self.open_only()
        return __dd_update_read(self.number, 'line')

    def readlines(self, hint=-1):
        rest = self.read()
        newline = chr(10) if isinstance(rest, str) else b'\\n'
        parts = rest.split(newline)
        last = parts.pop()
        return [part + newline for part in parts] + ([last] if last else [])

    def write(self, data):
        self.open_only()
        if 'b' in self.mode:
            if isinstance(data, str):
                raise TypeError("a bytes-like object is required, not 'str'")
        elif not isinstance(data, str):
            raise TypeError('write() argument must be str, not ' + __dd_name(type(data)))
        return __dd_update_write(self.number, data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def seek(self, offset, whence=0):
        self.open_only()
        self.lines = []
        return __dd_update_seek(self.number, offset, whence)

    def tell(self):
        self.open_only()
        return __dd_update_seek(self.number, 0, -1)

    def truncate(self, size=None):
        self.open_only()
        return __dd_update_truncate(self.number, size)

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return 3

    def flush(self):
        return None

    def close(self):
        if not self.closed:
            self.closed = True
            __dd_update_close(self.number)
"""
