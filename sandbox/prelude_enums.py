"""Enums and flags in the interpreter's own Python: members are objects, an enum is their maker.

Owns how members show, compare and combine. Pure; any thread.
"""

from __future__ import annotations

ENUMS_PRELUDE = """
class __dd_Enum:
    __dd_rich = True

    def __str__(self):
        if self.plain is True:
            return str(self.value)
        if not self.name:
            return self.words + '(' + str(self.value) + ')'
        return self.words + '.' + self.name

    def __repr__(self):
        name = '.' + self.name if self.name else ''
        return '<' + self.words + name + ': ' + repr(self.value) + '>'

    def __bool__(self):
        return bool(self.value) if self.plain or self.kind.flag else True

    def __eq__(self, other):
        if hasattr(other, '__dd_member'):
            if self.plain and other.plain:
                return self.value == other.value
            return self is other
        return self.plain and self.value == other

    def __hash__(self):
        return hash(self.value) if self.plain else hash(self.words + '.' + self.name)

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __lt__(self, other):
        found = __dd_plain_enum(self, other)
        return found if found is NotImplemented else self.value < found

    def __le__(self, other):
        found = __dd_plain_enum(self, other)
        return found if found is NotImplemented else self.value <= found

    def __gt__(self, other):
        found = __dd_plain_enum(self, other)
        return found if found is NotImplemented else self.value > found

    def __ge__(self, other):
        found = __dd_plain_enum(self, other)
        return found if found is NotImplemented else self.value >= found

    def __add__(self, other):
        return self.value + (other.value if hasattr(other, '__dd_member') else other)

    def __radd__(self, other):
        return other + self.value

    def __sub__(self, other):
        return self.value - (other.value if hasattr(other, '__dd_member') else other)

    def __rsub__(self, other):
        return other - self.value

    def __mul__(self, other):
        return self.value * other

    def __rmul__(self, other):
        return other * self.value

    def __or__(self, other):
        return self.kind.composed(self.value | __dd_bits(other))

    def __and__(self, other):
        return self.kind.composed(self.value & __dd_bits(other))

    def __xor__(self, other):
        return self.kind.composed(self.value ^ __dd_bits(other))

    def __invert__(self):
        return self.kind.composed(self.kind.every & ~self.value)

    def __contains__(self, other):
        if not self.kind.flag:
            return other in self.value
        return __dd_bits(other) & self.value == __dd_bits(other)

    def __iter__(self):
        if not self.kind.flag:
            return iter(self.value)
        return iter([member for member in self.kind if member.value & self.value])

    def lower(self):
        return self.value.lower()

    def upper(self):
        return self.value.upper()


def __dd_bits(value):
    return value.value if hasattr(value, '__dd_member') else value


def __dd_plain_enum(member, other):
    if not member.plain:
        return NotImplemented
    return other.value if hasattr(other, '__dd_member') else other


class __dd_EnumKind:
    def __init__(self, words, plain, text, pairs, flag=False, of=None, methods=()):
        self.__name__ = words
        self.words = words
        self.__members__ = {}
        self.plain = plain
        self.flag = flag
        self.of = of
        self.every = 0
        self.pieces = {}
        last = 0
        values = {}
        for name, value in pairs:
            if value is __dd_auto:
                value = name.lower() if text else last + 1
                if flag:
                    value = 2 ** (len(bin(last)) - 2) if last else 1
            elif __dd_callable(value):
                value = value(values)
            values[name] = value
            last = max(last, value) if flag else value
            found = None
            for member in self.__members__.values():
                if type(member.value) is type(value) and member.value == value:
                    found = member
            member = found or self.made(name, value)
            self.__members__[name] = member
            setattr(self, name, member)
            if flag:
                self.every = self.every | value
        for name in methods:
            if name not in ('__init__', '__str__', '__repr__', '__eq__', '__hash__'):
                setattr(self, name, getattr(of, name))

    def made(self, name, value):
        given = value if isinstance(value, tuple) else (value,)
        if self.of is None:
            member = __dd_Enum()
        else:
            member = self.of(*given) if hasattr(self.of, '__init__') else self.of()
        member.kind = self
        member.name = name
        member.value = value
        member._value_ = value
        member._name_ = name
        member.plain = self.plain
        member.words = self.words
        member.__dd_member = True
        return member

    def composed(self, value):
        if not self.flag:
            return value
        for member in self.__members__.values():
            if member.value == value:
                return member
        if value not in self.pieces:
            names = [member.name for member in self if member.value & value]
            self.pieces[value] = self.made('|'.join(names), value)
        return self.pieces[value]

    def __call__(self, value):
        if hasattr(value, '__dd_member') and value.kind is self:
            return value
        for member in self.__members__.values():
            if member.value == value:
                return member
        if self.flag and isinstance(value, int) and value & self.every == value:
            return self.composed(value)
        raise ValueError(repr(value) + ' is not a valid ' + self.words)

    def __getitem__(self, name):
        return self.__members__[name]

    def __iter__(self):
        found = []
        for member in self.__members__.values():
            single = not self.flag or bin(member.value).count('1') == 1
            if single and not any([member is other for other in found]):
                found.append(member)
        return iter(found)

    def __len__(self):
        return len(list(self.__iter__()))

    def __contains__(self, value):
        if hasattr(value, '__dd_member'):
            return value.kind is self
        return any([member.value == value for member in self.__members__.values()])

    def __repr__(self):
        return "<enum '" + self.words + "'>"


class __dd_Auto:
    pass


__dd_auto = __dd_Auto()
"""
