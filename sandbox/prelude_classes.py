"""What classes with a base, exceptions of a program's own and orders need while they run.

Owns the family of each class, the native exception that carries a program's own through `raise`,
and comparison by a class's own methods. In the interpreter's own Python. Pure; any thread.
"""

from __future__ import annotations

CLASSES_PRELUDE = """
__dd_family = {}
__dd_carrier = __dd_error_csv
__dd_last = []


class __dd_Exception:
    def __init__(self, *args):
        self.args = args

    def __str__(self):
        args = getattr(self, 'args', ())
        if len(args) == 1:
            return repr(args[0]) if __dd_isinstance(self, KeyError) else str(args[0])
        return str(args) if args else ''

    def __repr__(self):
        args = getattr(self, 'args', ())
        inner = repr(args[0]) if len(args) == 1 else ', '.join([repr(arg) for arg in args])
        return type(self).__name__ + '(' + inner + ')'

    def with_traceback(self, trace):
        return self


def __dd_made(made, bases):
    family = []
    for base in bases:
        for ancestor in [base] + __dd_family.get(base, []):
            if ancestor not in family:
                family.append(ancestor)
    __dd_family[made] = family


def __dd_is_exception(kind):
    return str(kind).endswith("Error'>") or kind in (Exception, BaseException)


def __dd_is_kind(kind, wanted):
    if kind is wanted:
        return True
    for ancestor in __dd_family.get(kind, ()):
        if ancestor is wanted:
            return True
        if __dd_is_exception(ancestor) and __dd_is_exception(wanted):
            if wanted not in __dd_family and isinstance(ancestor(''), wanted):
                return True
    return False


def __dd_is_class(value):
    return str(type(value)) == "<class 'type'>" or isinstance(value, __dd_EnumKind)


def __dd_class(value, fallback):
    if __dd_is_class(value):
        return value
    return value.kind if isinstance(getattr(value, 'kind', None), __dd_EnumKind) else type(value)


def __dd_class_call(owner, name, *args, **options):
    if __dd_is_class(owner):
        return getattr(owner, name)(owner, *args, **options)
    return getattr(owner, name)(*args, **options)


def __dd_shown(value):
    if isinstance(value, str):
        return value
    if hasattr(value, '__str__'):
        return value.__str__()
    return value.__repr__() if hasattr(value, '__repr__') else str(value)


def __dd_represented(value):
    return value.__repr__() if hasattr(value, '__repr__') else repr(value)


def __dd_formatted(value, spec=''):
    return value.__format__(spec) if hasattr(value, '__format__') else format(value, spec)


def __dd_method(function):
    return lambda *args, **options: function(*args, **options)


def __dd_kept(function, name):
    def kept(self):
        known = '__dd_kept_' + name
        if not hasattr(self, known):
            object.__setattr__(self, known, function(self))
        return getattr(self, known)
    return kept


def __dd_value(value, name, owner):
    return getattr(value, name) if hasattr(value, name) else getattr(owner, name)


def __dd_getattr(value, name, *default):
    if hasattr(value, name):
        return getattr(value, name)
    if not hasattr(value, '__getattr__'):
        return getattr(value, name, *default)
    if not default:
        return value.__getattr__(name)
    try:
        return value.__getattr__(name)
    except AttributeError:
        return default[0]


def __dd_hasattr(value, name):
    if hasattr(value, name):
        return True
    if not hasattr(value, '__getattr__'):
        return False
    try:
        value.__getattr__(name)
    except AttributeError:
        return False
    return True


def __dd_property(value, method, name):
    if hasattr(value, method):
        return getattr(value, method)()
    return getattr(value, name)


def __dd_isinstance(value, wanted):
    if isinstance(wanted, tuple):
        for each in wanted:
            if __dd_isinstance(value, each):
                return True
        return False
    if isinstance(wanted, __dd_EnumKind):
        return getattr(value, 'kind', None) is wanted
    return isinstance(value, wanted) or __dd_is_kind(type(value), wanted)


def __dd_issubclass(kind, wanted):
    if isinstance(wanted, tuple):
        for each in wanted:
            if __dd_issubclass(kind, each):
                return True
        return False
    if kind in __dd_family or wanted in __dd_family:
        return __dd_is_kind(kind, wanted)
    return kind is wanted or wanted is object or (kind is bool and wanted is int)


def __dd_raise(error):
    if str(type(error)) == "<class 'type'>" and error in __dd_family:
        error = error()
    if type(error) not in __dd_family:
        return error
    carrier = __dd_carrier(type(error).__name__ + chr(31) + str(error))
    __dd_last[:] = [carrier, error]
    return carrier


def __dd_catch(kinds):
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    native = []
    own = False
    for kind in kinds:
        if kind in __dd_family:
            own = own or (bool(__dd_last) and __dd_is_kind(type(__dd_last[1]), kind))
        else:
            native.append(kind)
            own = own or (bool(__dd_last) and __dd_is_kind(type(__dd_last[1]), kind))
    if own:
        native.append(__dd_carrier)
    return tuple(native)


def __dd_caught(error):
    if __dd_last and __dd_last[0] is error:
        return __dd_last[1]
    return error


def __dd_values(value, names):
    return tuple([getattr(value, name) for name in names])


def __dd_fields_equal(first, second, names):
    if type(first) is not type(second):
        return NotImplemented
    return __dd_values(first, names) == __dd_values(second, names)


def __dd_fields_shown(value, names):
    shown = [name + '=' + repr(getattr(value, name)) for name in names]
    return type(value).__name__ + '(' + ', '.join(shown) + ')'


def __dd_compared(first, second, name, mirror):
    if hasattr(first, name):
        found = getattr(first, name)(second)
        if found is not NotImplemented:
            return found
    if hasattr(second, mirror):
        found = getattr(second, mirror)(first)
        if found is not NotImplemented:
            return found
    return NotImplemented


def __dd_is_less(first, second, name, mirror, sign):
    if hasattr(first, '__dd_order_fields') and type(first) is type(second):
        names = first.__dd_order_fields
        return __dd_natively(__dd_values(first, names), __dd_values(second, names), sign)
    if not hasattr(first, '__dd_rich') and not hasattr(second, '__dd_rich'):
        return __dd_natively(first, second, sign)
    found = __dd_compared(first, second, name, mirror)
    if found is not NotImplemented:
        return found
    if hasattr(first, '__dd_total'):
        less = __dd_compared(first, second, '__lt__', '__gt__')
        if less is NotImplemented:
            more = __dd_compared(first, second, '__gt__', '__lt__')
            if more is NotImplemented:
                more = not first.__le__(second) if hasattr(first, '__le__') else None
                more = first.__ge__(second) and not first == second if more is None else more
            less = not more and not first == second
        same = first == second
        return {'<': less, '<=': less or same, '>': not less and not same, '>=': not less}[sign]
    raise TypeError(
        "'" + sign + "' not supported between instances of '" + __dd_name(type(first))
        + "' and '" + __dd_name(type(second)) + "'"
    )


def __dd_natively(first, second, sign):
    if sign == '<':
        return first < second
    if sign == '<=':
        return first <= second
    if sign == '>':
        return first > second
    return first >= second


def __dd_lt(first, second):
    return __dd_is_less(first, second, '__lt__', '__gt__', '<')


def __dd_le(first, second):
    return __dd_is_less(first, second, '__le__', '__ge__', '<=')


def __dd_gt(first, second):
    return __dd_is_less(first, second, '__gt__', '__lt__', '>')


def __dd_ge(first, second):
    return __dd_is_less(first, second, '__ge__', '__le__', '>=')


def __dd_is_rich(key):
    if isinstance(key, (tuple, list)):
        return any([__dd_is_rich(item) for item in key])
    return hasattr(key, '__dd_rich') or hasattr(key, '__dd_order_fields')


def __dd_key_less(first, second):
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        for a, b in zip(first, second):
            if not a == b:
                return __dd_key_less(a, b)
        return len(first) < len(second)
    return __dd_lt(first, second)


def __dd_merged(places, keys, reverse):
    if len(places) < 2:
        return places
    middle = len(places) // 2
    left = __dd_merged(places[:middle], keys, reverse)
    right = __dd_merged(places[middle:], keys, reverse)
    found = []
    a = b = 0
    while a < len(left) and b < len(right):
        one, two = keys[left[a]], keys[right[b]]
        if __dd_key_less(one, two) if reverse else __dd_key_less(two, one):
            found.append(right[b])
            b += 1
        else:
            found.append(left[a])
            a += 1
    return found + left[a:] + right[b:]


def __dd_len(value):
    return value.__len__() if hasattr(value, '__len__') else len(value)


def __dd_true(value):
    if hasattr(value, '__bool__'):
        return value.__bool__()
    if hasattr(value, '__len__'):
        return value.__len__() != 0
    return value


class __dd_Handled:
    def __init__(self, value, leave):
        self.value = value
        self.leave = leave

    def __enter__(self):
        return self.value

    def __exit__(self, kind, error, trace):
        self.leave(error is None, error)
        return True


class __dd_Left:
    def __init__(self, value, leave):
        self.value = value
        self.leave = leave

    def __enter__(self):
        return self.value

    def __exit__(self, kind, error, trace):
        self.leave(error is None)
        return False
"""
