"""What bridged programs ask of matches, JSON texts and decoding errors.

In the interpreter's own Python. Pure; any thread.
"""

from __future__ import annotations

VALUES_PRELUDE = """
def __dd_lastgroup(found):
    named = [name for name, text in found.groupdict().items() if text is not None]
    return named[-1] if named else None


def __dd_next_of(iterator):
    return lambda: next(iterator)


def __dd_getter(value):
    return lambda key: value[key]


def __dd_container(value):
    return lambda item: item in value


def __dd_sum(iterable, /, start=0):
    items = list(iterable)
    total = sum(items, start)
    if not isinstance(total, float):
        return total
    total = start
    lost = 0.0
    for item in items:
        if isinstance(item, float) and isinstance(total, float):
            new = total + item
            if abs(total) >= abs(item):
                lost += (total - new) + item
            else:
                lost += (item - new) + total
            total = new
        else:
            total = total + item
    return total + lost if lost and __dd_math.isfinite(lost) else total


def __dd_round(number, ndigits=None):
    if isinstance(number, float) and ndigits is not None and 0 <= ndigits < 20:
        if not __dd_math.isfinite(number):
            return number
        return float('{:.{}f}'.format(number, ndigits))
    return round(number, ndigits)


def __dd_place(found, what, name, names):
    number = names.index(name) + 1 if isinstance(name, str) else name
    span = found.span(number)
    return span if what == 'span' else span[0] if what == 'start' else span[1]


def __dd_groups(found, default):
    return tuple([default if item is None else item for item in found.groups()])


def __dd_json_loads(text, object_hook=None, parse_float=None, parse_int=None,
                    object_pairs_hook=None, cls=None):
    if object_pairs_hook is not None:
        object_hook = lambda found: object_pairs_hook(list(found.items()))
    if parse_float is not None or parse_int is not None:
        data = __dd_json_numbers(text)
    else:
        data = __dd_json.loads(text)
    return __dd_json_hooked(data, object_hook, parse_float or float, parse_int or int)


def __dd_json_hooked(value, hook, parse_float, parse_int):
    if isinstance(value, list):
        return [__dd_json_hooked(item, hook, parse_float, parse_int) for item in value]
    if isinstance(value, tuple):
        return parse_float(value[1]) if value[0] == 'float' else parse_int(value[1])
    if isinstance(value, dict):
        found = {}
        for key, item in value.items():
            found[key] = __dd_json_hooked(item, hook, parse_float, parse_int)
        return found if hook is None else hook(found)
    return value


def __dd_json_load(file, **options):
    return __dd_json_loads(file.read(), **options)


def __dd_decode_place(name, error):
    pattern = "'(.*?)' codec can't (?:de|en)code .* in position ([0-9]+)(?:-([0-9]+))?: (.*)"
    found = __dd_re.match(pattern, str(error))
    if found is None:
        return getattr(error, name)
    if name == 'encoding':
        return found.group(1)
    if name == 'reason':
        return found.group(4)
    if name == 'start':
        return int(found.group(2))
    return int(found.group(3) or found.group(2)) + 1


def __dd_start(error):
    return __dd_decode_place('start', error)


def __dd_end(error):
    return __dd_decode_place('end', error)


def __dd_reason(error):
    return __dd_decode_place('reason', error)


def __dd_encoding(error):
    return __dd_decode_place('encoding', error)
"""
