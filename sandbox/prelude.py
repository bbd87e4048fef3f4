"""The helper functions that bridged programs call, in the interpreter's own Python.

Owns the text that is fed once into each new session, and the names it defines. Names that start
with `__dd_` belong to the bridge; those not defined here are host functions. Pure; any thread.
"""

from __future__ import annotations

from sandbox.prelude_classes import CLASSES_PRELUDE
from sandbox.prelude_enums import ENUMS_PRELUDE
from sandbox.prelude_files import FILES_PRELUDE
from sandbox.prelude_modules import MODULES_PRELUDE, PRELUDE_MODULES
from sandbox.prelude_updates import UPDATES_PRELUDE
from sandbox.prelude_values import VALUES_PRELUDE

__all__ = ["PRELUDE", "PRELUDE_MODULES"]

_PRELUDE = """
import os as __dd_os
import re as __dd_re
import sys as __dd_sys
import csv as __dd_csv
import json as __dd_json
import math as __dd_math
import hashlib as __dd_hashlib
import collections as __dd_collections
import datetime as __dd_datetime
import binascii as __dd_binascii
import tomllib as __dd_tomllib
import decimal as __dd_decimal
from pathlib import Path as __dd_Path

__dd_error_csv = __dd_csv.Error
__dd_error_re = __dd_re.error
__dd_error_binascii = __dd_binascii.Error
__dd_error_toml = __dd_tomllib.TOMLDecodeError
__dd_error_decimal = __dd_decimal.InvalidOperation


class __dd_Type:
    def __getitem__(self, item):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __call__(self, *args, **kwargs):
        return args[1] if len(args) > 1 else self


__dd_type = __dd_Type()


class __dd_Sentinel:
    pass


__dd_causes = []


def __dd_from(error, cause):
    if str(type(error)) == "<class 'type'>":
        error = error()
    __dd_causes[:] = [error, cause]
    return error


def __dd_cause(error):
    return __dd_causes[1] if __dd_causes and __dd_causes[0] is error else None


def __dd_reversed(value):
    return value.__reversed__() if hasattr(value, '__reversed__') else reversed(value)


def __dd_setattr(value, name, item):
    if hasattr(value, '__setattr__'):
        value.__setattr__(name, item)
    else:
        setattr(value, name, item)


def __dd_nothing(*args, **kwargs):
    return None


__dd_endings = {}


def __dd_ending(text):
    __dd_endings[text] = True
    return text


def __dd_toml_load(file, **options):
    data = file.read()
    if isinstance(data, str):
        raise TypeError("File must be opened in binary mode, e.g. use `open('foo.toml', 'rb')`")
    return __dd_tomllib.loads(data.decode('utf-8'))


def __dd_found(pattern, error):
    found = __dd_re.search(pattern, str(error))
    return int(found.group(1)) if found else None


def __dd_pos(error):
    return error.pos if hasattr(error, 'pos') else __dd_found('char ([0-9]+)', error)


def __dd_lineno(error):
    return error.lineno if hasattr(error, 'lineno') else __dd_found('line ([0-9]+)', error)


def __dd_colno(error):
    return error.colno if hasattr(error, 'colno') else __dd_found('column ([0-9]+)', error)


def __dd_msg(error):
    return error.msg if hasattr(error, 'msg') else str(error).split(': line ')[0]


def __dd_show(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and isinstance(value[0], __dd_Path):
        return str([str(item) for item in value])
    return str(value)


def __dd_order(value):
    if isinstance(value, __dd_Path):
        return str(value).split('/')
    if isinstance(value, tuple):
        return tuple([__dd_order(item) for item in value])
    if isinstance(value, list):
        return [__dd_order(item) for item in value]
    return value


def __dd_keys(items, key):
    if key is None:
        return [__dd_order(item) for item in items]
    return [__dd_order(key(item)) for item in items]


def __dd_sorted(iterable, /, *, key=None, reverse=False):
    items = list(iterable)
    keys = __dd_keys(items, key)
    if keys and __dd_is_rich(keys[0]):
        return [items[place] for place in __dd_merged(list(range(len(items))), keys, reverse)]
    places = sorted(range(len(items)), key=lambda place: keys[place], reverse=reverse)
    return [items[place] for place in places]


def __dd_sort(items, /, *, key=None, reverse=False):
    if not isinstance(items, list):
        return items.sort(key=key, reverse=reverse)
    items[:] = __dd_sorted(items, key=key, reverse=reverse)
    return None


def __dd_best(name, choose, args, options):
    items = list(args[0]) if len(args) == 1 else list(args)
    if not items:
        if 'default' in options:
            return options['default']
        raise ValueError(name + '() iterable argument is empty')
    keys = __dd_keys(items, options.get('key'))
    if __dd_is_rich(keys[0]):
        best = 0
        for place in range(1, len(items)):
            one, two = keys[place], keys[best]
            if __dd_key_less(one, two) if name == 'min' else __dd_key_less(two, one):
                best = place
        return items[best]
    return items[choose(range(len(items)), key=lambda place: keys[place])]


def __dd_min(*args, **options):
    return __dd_best('min', min, args, options)


def __dd_max(*args, **options):
    return __dd_best('max', max, args, options)


def __dd_map(function, *iterables):
    if len(iterables) == 1:
        return iter([function(item) for item in iterables[0]])
    return iter([function(*items) for items in zip(*iterables)])


def __dd_filter(function, iterable):
    if function is None:
        return iter([item for item in iterable if item])
    return iter([item for item in iterable if function(item)])


def __dd_joined(lines, like=None):
    items = list(lines)
    if items and isinstance(items[0], bytes):
        return b''.join(items)
    if not items and like is not None and 'b' in str(like.mode):
        return b''
    return ''.join(items)


def __dd_bytes(value, *args):
    if isinstance(value, (int, str, bytes)):
        return bytes(value, *args)
    if hasattr(value, '__bytes__'):
        return value.__bytes__()
    return __dd_bytes_of(list(value))


__dd_names = {}
__dd_wrapped = []


def __dd_name(value):
    for pair in __dd_wrapped:
        if pair[0] is value:
            return pair[1]
    text = str(value)
    if text in __dd_names:
        return __dd_names[text]
    if text.startswith('<class '):
        return text[8:-2].split('.')[-1]
    found = __dd_re.match("<(?:function|bound method) '?([^' ]+)", text)
    if found:
        return found.group(1).split('.')[-1]
    return value.__name__


def __dd_errno(error):
    if hasattr(error, 'errno'):
        return error.errno
    found = __dd_re.match('\\[Errno ([0-9]+)\\] ', str(error))
    return int(found.group(1)) if found else None


def __dd_strerror(error):
    if hasattr(error, 'strerror'):
        return error.strerror
    found = __dd_re.match("\\[Errno [0-9]+\\] (.*?)(: '.*)?$", str(error))
    return found.group(1) if found else None


def __dd_filename(error):
    if hasattr(error, 'filename'):
        return error.filename
    found = __dd_re.search(": '([^']*)'", str(error))
    return found.group(1) if found else None


def __dd_text(args, sep, end):
    sep = ' ' if sep is None else sep
    end = chr(10) if end is None else end
    return sep.join([str(item) for item in args]) + end


def __dd_print(*args, sep=None, end=None, file=None, flush=False, at=None):
    if file is __dd_sys.stderr:
        print(__dd_text(args, sep, end), end='', file=__dd_sys.stderr)
        return None
    if file is None or file is __dd_sys.stdout:
        print(__dd_text(args, sep, end), end='')
        return None
    file.write(__dd_text(args, sep, end))
    return None


def __dd_write_out(text):
    print(text, end='')
    return len(text)


def __dd_write_error(text):
    print(text, end='', file=__dd_sys.stderr)
    return len(text)


def __dd_pairs(value):
    if isinstance(value, dict) or not hasattr(value, 'keys'):
        return value
    return [(key, value[key]) for key in value.keys()]


def __dd_update(values, *others):
    for other in others:
        values.update(other)


def __dd_field(value, name):
    return value[name] if isinstance(value, dict) else getattr(value, name)


def __dd_own(names, value):
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def __dd_ascii(value):
    found = []
    for each in repr(value):
        code = ord(each)
        size = 2 if code < 256 else 4 if code < 65536 else 8
        mark = chr(92) + {2: 'x', 4: 'u', 8: 'U'}[size]
        found.append(each if code < 128 else mark + hex(code)[2:].rjust(size, '0'))
    return ''.join(found)


def __dd_error_text(*args):
    return str(args)


__dd_slice = '__dd_slice'


def __dd_delete(container, key):
    if isinstance(key, tuple) and len(key) == 4 and key[0] == __dd_slice:
        start, stop, step = key[1], key[2], key[3]
        gone = set(list(range(len(container)))[start:stop:step])
        container[:] = [item for place, item in enumerate(container) if place not in gone]
        return None
    if isinstance(container, (dict, list)):
        container.pop(key)
        return None
    container.__delitem__(key)
    return None


def __dd_parents(path):
    found = []
    while path.parent != path:
        path = path.parent
        found.append(path)
    return found


def __dd_maketrans(first, second=None, gone=''):
    if second is None:
        return {(ord(k) if isinstance(k, str) else k): v for k, v in first.items()}
    table = {ord(a): ord(b) for a, b in zip(first, second)}
    for char in gone:
        table[ord(char)] = None
    return table


def __dd_translate(text, table):
    parts = []
    for char in text:
        code = ord(char)
        if code not in table:
            parts.append(char)
            continue
        new = table[code]
        if new is not None:
            parts.append(new if isinstance(new, str) else chr(new))
    return ''.join(parts)


def __dd_format_map(text, values):
    return text.format(**values)


def __dd_relative_to(path, *other):
    base = __dd_Path(*other)
    parts = path.parts
    if str(base) == '.' and not path.is_absolute():
        return path
    if parts[:len(base.parts)] != base.parts:
        raise ValueError(f'{str(path)!r} is not in the subpath of {str(base)!r}')
    return __dd_Path(*parts[len(base.parts):])


def __dd_is_relative_to(path, *other):
    base = __dd_Path(*other).parts
    if base == ('.',):
        return not path.is_absolute()
    return path.parts[:len(base)] == base


def __dd_expanduser(path):
    if path.parts and path.parts[0] == '~':
        return __dd_Path(__dd_home(), *path.parts[1:])
    return path


def __dd_match(owner, *args, **options):
    if isinstance(owner, __dd_Path):
        return __dd_path_match(owner, *args)
    return owner.match(*args, **options)


def __dd_difference_update(values, *others):
    for other in others:
        for item in list(other):
            values.discard(item)


def __dd_intersection_update(values, *others):
    kept = values.intersection(*others)
    for item in list(values):
        if item not in kept:
            values.discard(item)


__dd_IsoDate = __dd_collections.namedtuple('IsoCalendarDate', 'year week weekday')


def __dd_isocalendar(day):
    found = __dd_iso(day)
    return __dd_IsoDate(found[0], found[1], found[2])


__dd_utc = __dd_datetime.timezone.utc


def __dd_today():
    return __dd_datetime.datetime.now()


def __dd_utcnow():
    return __dd_datetime.datetime.now(__dd_utc).replace(tzinfo=None)


def __dd_is_integer(number):
    return number == int(number)


def __dd_bit_length(number):
    return len(bin(abs(number))) - 2 if number else 0


def __dd_wraps(function, *args, **options):
    def wrapped(wrapper):
        __dd_wrapped.append((wrapper, __dd_name(function)))
        return wrapper
    return wrapped


def __dd_callable(value):
    kind = str(type(value))
    return 'function' in kind or 'method' in kind or 'type' in kind or hasattr(value, '__call__')


def __dd_chdir(path):
    __dd_os.chdir(path)
    __dd_cwd(__dd_os.getcwd())


def __dd_re_sub(pattern, repl, string, count=0, flags=0):
    if isinstance(repl, str):
        return __dd_re.sub(pattern, repl, string, count=count, flags=flags)
    compiled = __dd_re.compile(pattern, flags) if isinstance(pattern, str) else pattern
    return __dd_substitute(compiled, repl, string, count)


def __dd_re_subn(pattern, repl, string, count=0, flags=0):
    compiled = __dd_re.compile(pattern, flags) if isinstance(pattern, str) else pattern
    found = len(list(compiled.finditer(string)))
    text = __dd_re_sub(compiled, repl, string, count)
    return (text, min(found, count) if count else found)


def __dd_substitute(compiled, repl, string, count):
    parts = []
    at = 0
    done = 0
    for found in compiled.finditer(string):
        if count and done >= count:
            break
        parts.append(string[at:found.start()])
        parts.append(repl(found))
        at = found.end()
        done += 1
    parts.append(string[at:])
    return ''.join(parts)


def __dd_pattern_sub(pattern, repl, string, count=0):
    if isinstance(repl, str):
        return pattern.sub(repl, string, count)
    return __dd_substitute(pattern, repl, string, count)
"""

PRELUDE = (
    _PRELUDE
    + VALUES_PRELUDE
    + CLASSES_PRELUDE
    + ENUMS_PRELUDE
    + FILES_PRELUDE
    + UPDATES_PRELUDE
    + MODULES_PRELUDE
)
