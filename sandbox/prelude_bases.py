"""Classes of Python's library that programs derive from, in the interpreter's own Python.

Owns `dict`, `list`, named tuples, `HTMLParser` and `JSONEncoder` as bases: a class of the program
takes their methods over as it does those of its own bases. `LIBRARY_BASES` says which there are and
what they have. Fed only to programs that use one of them. Pure; any thread.
"""

from __future__ import annotations

import ast

BASES_PRELUDE = """
def __dd_dict_of(value):
    if not hasattr(value, '__dd_data'):
        object.__setattr__(value, '__dd_data', {})
    return value.__dd_data


def __dd_plain_dict(*args, **values):
    if args and hasattr(args[0], '__dd_data'):
        return dict(args[0].__dd_data, **values)
    return dict(*args, **values)


def __dd_native(value):
    return value.__dd_data if hasattr(value, '__dd_data') else value


class __dd_DictBase:
    def __init__(self, *args, **values):
        __dd_dict_of(self).update(__dd_plain_dict(*args, **values))

    def __getitem__(self, key):
        data = __dd_dict_of(self)
        if key not in data and hasattr(self, '__missing__'):
            return self.__missing__(key)
        return data[key]

    def __setitem__(self, key, value):
        __dd_dict_of(self)[key] = value

    def __delitem__(self, key):
        __dd_dict_of(self).pop(key)

    def __contains__(self, key):
        return key in __dd_dict_of(self)

    def __iter__(self):
        return iter(__dd_dict_of(self))

    def __len__(self):
        return len(__dd_dict_of(self))

    def __repr__(self):
        return repr(__dd_dict_of(self))

    def __eq__(self, other):
        return __dd_dict_of(self) == __dd_native(other)

    def __or__(self, other):
        return __dd_dict_of(self) | __dd_native(other)

    def keys(self):
        return __dd_dict_of(self).keys()

    def values(self):
        return __dd_dict_of(self).values()

    def items(self):
        return __dd_dict_of(self).items()

    def get(self, key, default=None):
        return __dd_dict_of(self).get(key, default)

    def pop(self, *args):
        return __dd_dict_of(self).pop(*args)

    def popitem(self):
        return __dd_dict_of(self).popitem()

    def setdefault(self, key, default=None):
        return __dd_dict_of(self).setdefault(key, default)

    def update(self, *args, **values):
        __dd_dict_of(self).update(__dd_plain_dict(*args, **values))

    def clear(self):
        __dd_dict_of(self).clear()

    def copy(self):
        return dict(__dd_dict_of(self))


class __dd_UserDictBase:
    def __init__(self, *args, **values):
        self.data = {}
        self.update(*args, **values)

    def __getitem__(self, key):
        if key not in self.data and hasattr(self, '__missing__'):
            return self.__missing__(key)
        return self.data[key]

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        self.data.pop(key)

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == (other.data if hasattr(other, 'data') else other)

    def keys(self):
        return self.data.keys()

    def values(self):
        return [self[key] for key in self.data]

    def items(self):
        return [(key, self[key]) for key in self.data]

    def get(self, key, default=None):
        return self[key] if key in self else default

    def pop(self, key, *default):
        if default and key not in self:
            return default[0]
        found = self[key]
        self.__delitem__(key)
        return found

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args, **values):
        for key, value in __dd_plain_dict(*args, **values).items():
            self[key] = value

    def clear(self):
        self.data.clear()


def __dd_list_of(value):
    if not hasattr(value, '__dd_data'):
        object.__setattr__(value, '__dd_data', [])
    return value.__dd_data


class __dd_ListBase:
    def __init__(self, items=()):
        __dd_list_of(self).extend(list(items))

    def __getitem__(self, place):
        return __dd_list_of(self)[place]

    def __setitem__(self, place, value):
        __dd_list_of(self)[place] = value

    def __delitem__(self, place):
        __dd_list_of(self).pop(place)

    def __contains__(self, item):
        return item in __dd_list_of(self)

    def __iter__(self):
        return iter(__dd_list_of(self))

    def __reversed__(self):
        return iter(__dd_list_of(self)[::-1])

    def __len__(self):
        return len(__dd_list_of(self))

    def __repr__(self):
        return repr(__dd_list_of(self))

    def __eq__(self, other):
        return __dd_list_of(self) == __dd_native(other)

    def __add__(self, other):
        return __dd_list_of(self) + __dd_native(other)

    def __iadd__(self, other):
        __dd_list_of(self).extend(list(other))
        return self

    def __mul__(self, count):
        return __dd_list_of(self) * count

    def append(self, item):
        __dd_list_of(self).append(item)

    def extend(self, items):
        __dd_list_of(self).extend(list(items))

    def insert(self, place, item):
        __dd_list_of(self).insert(place, item)

    def pop(self, place=-1):
        return __dd_list_of(self).pop(place)

    def remove(self, item):
        __dd_list_of(self).remove(item)

    def index(self, item, *limits):
        return __dd_list_of(self).index(item, *limits)

    def count(self, item):
        return __dd_list_of(self).count(item)

    def reverse(self):
        __dd_list_of(self).reverse()

    def sort(self, key=None, reverse=False):
        __dd_list_of(self)[:] = __dd_sorted(__dd_list_of(self), key=key, reverse=reverse)

    def copy(self):
        return list(__dd_list_of(self))

    def clear(self):
        __dd_list_of(self).clear()


class __dd_TupleBase:
    def __init__(self, *args, **values):
        names = self.__dd_names
        if len(args) > len(names):
            raise TypeError('takes ' + str(len(names)) + ' values but more were given')
        for name, value in zip(names, args):
            object.__setattr__(self, name, value)
        for name in list(names)[len(args):]:
            if name in values:
                object.__setattr__(self, name, values.pop(name))
            elif name in self.__dd_defaults:
                object.__setattr__(self, name, self.__dd_defaults[name])
            else:
                raise TypeError("missing 1 required positional argument: '" + name + "'")
        if values:
            raise TypeError("got an unexpected keyword argument '" + list(values)[0] + "'")

    def __dd_tuple(self):
        return tuple([getattr(self, name) for name in self.__dd_names])

    def __setattr__(self, name, value):
        raise AttributeError("can't set attribute")

    def __getitem__(self, place):
        return self.__dd_tuple()[place]

    def __iter__(self):
        return iter(self.__dd_tuple())

    def __len__(self):
        return len(self.__dd_names)

    def __contains__(self, item):
        return item in self.__dd_tuple()

    def __repr__(self):
        shown = [name + '=' + repr(getattr(self, name)) for name in self.__dd_names]
        return type(self).__name__ + '(' + ', '.join(shown) + ')'

    def __eq__(self, other):
        return self.__dd_tuple() == tuple(other) if __dd_is_tuple(other) else False

    def __hash__(self):
        return hash(self.__dd_tuple())

    def __lt__(self, other):
        return self.__dd_tuple() < tuple(other)

    def __le__(self, other):
        return self.__dd_tuple() <= tuple(other)

    def __gt__(self, other):
        return self.__dd_tuple() > tuple(other)

    def __ge__(self, other):
        return self.__dd_tuple() >= tuple(other)

    def __add__(self, other):
        return self.__dd_tuple() + tuple(other)

    def _asdict(self):
        return dict(zip(self.__dd_names, self.__dd_tuple()))

    def _replace(self, **changes):
        return type(self)(**{**self._asdict(), **changes})

    def index(self, item):
        return self.__dd_tuple().index(item)

    def count(self, item):
        return self.__dd_tuple().count(item)


def __dd_is_tuple(value):
    return isinstance(value, tuple) or hasattr(value, '__dd_names')


class __dd_HTMLParserBase:
    def __init__(self, *, convert_charrefs=True):
        self.convert_charrefs = convert_charrefs
        self.rawdata = ''
        self.line = (1, 0)
        self.tag_text = None

    def reset(self):
        self.rawdata = ''

    def feed(self, data):
        self.rawdata = self.rawdata + data
        self.goahead(0)

    def close(self):
        self.goahead(1)

    def goahead(self, end):
        events, self.rawdata = __dd_html_events(
            self.rawdata, bool(end), bool(getattr(self, 'convert_charrefs', True))
        )
        for name, args, place, text in events:
            self.line = place
            self.tag_text = text
            getattr(self, name)(*args)

    def getpos(self):
        return self.line

    def get_starttag_text(self):
        return self.tag_text

    def handle_starttag(self, tag, attrs):
        pass

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        pass

    def handle_data(self, data):
        pass

    def handle_comment(self, data):
        pass

    def handle_decl(self, decl):
        pass

    def handle_pi(self, data):
        pass

    def handle_entityref(self, name):
        pass

    def handle_charref(self, name):
        pass

    def unknown_decl(self, data):
        pass


class __dd_JSONEncoderBase:
    def __init__(self, **options):
        self.options = options

    def default(self, o):
        raise TypeError(
            'Object of type ' + __dd_name(type(o)) + ' is not JSON serializable'
        )

    def encode(self, o):
        return __dd_json_dumps(o, default=self.default, **getattr(self, 'options', {}))


class __dd_HandlerBase:
    def __init__(self, level=0):
        self.level = __dd_level(level)
        self.formatter = None
        self.filters = []

    def setLevel(self, level):
        self.level = __dd_level(level)

    def setFormatter(self, formatter):
        self.formatter = formatter

    def addFilter(self, filter):
        self.filters.append(filter)

    def format(self, record):
        return (self.formatter or __dd_Formatter()).format(record)

    def handle(self, record):
        if record.levelno >= self.level and __dd_log_passes(self.filters, record):
            self.emit(record)

    def handleError(self, record):
        return None

    def flush(self):
        return None

    def close(self):
        return None


class __dd_FilterBase:
    def filter(self, record):
        return True


__dd_module_html_parser = __dd_Module()
__dd_module_html_parser.HTMLParser = __dd_HTMLParserBase
"""

_STAND_INS = {
    "dict": "__dd_DictBase",
    "collections.OrderedDict": "__dd_DictBase",
    "collections.UserDict": "__dd_UserDictBase",
    "list": "__dd_ListBase",
    "html.parser.HTMLParser": "__dd_HTMLParserBase",
    "json.JSONEncoder": "__dd_JSONEncoderBase",
    "logging.Filter": "__dd_FilterBase",
    "logging.Handler": "__dd_HandlerBase",
    "__dd_TupleBase": "__dd_TupleBase",
}


def _methods() -> dict[str, frozenset[str]]:
    return {
        node.name: frozenset(item.name for item in node.body if isinstance(item, ast.FunctionDef))
        for node in ast.parse(BASES_PRELUDE).body
        if isinstance(node, ast.ClassDef)
    }


_METHODS = _methods()
LIBRARY_BASES: dict[str, tuple[str, frozenset[str]]] = {
    dotted: (stand_in, _METHODS[stand_in]) for dotted, stand_in in _STAND_INS.items()
}
"""By the full name of a base: the class that stands for it, and its methods."""
