"""`sqlite3`, `fractions`, `urllib.parse` and kin in the interpreter's own Python.

Owns the classes that programs see; parsing is the host's. Fed only to programs that use one of
them. Pure; any thread.
"""

from __future__ import annotations

FORMATS_PRELUDE = """
class __dd_SqlRow:
    def __init__(self, names, values):
        self.names = names
        self.items = values

    def __getitem__(self, key):
        return self.items[self.names.index(key) if isinstance(key, str) else key]

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def keys(self):
        return list(self.names)


class __dd_SqlCursor:
    def __init__(self, connection):
        self.connection = connection
        self.rows = []
        self.description = None
        self.rowcount = -1
        self.lastrowid = None
        self.arraysize = 1

    def kept(self, found):
        names, rows, self.rowcount, self.lastrowid = __dd_parsed(found)
        if self.connection.row_factory is not None:
            rows = [__dd_SqlRow(names, row) for row in rows]
        self.description = None
        if names:
            self.description = [(n, None, None, None, None, None, None) for n in names]
        elif self.rowcount > 0:
            self.connection.total_changes += self.rowcount
        rows.reverse()
        self.rows = rows
        return self

    def execute(self, sql, parameters=()):
        if isinstance(parameters, list):
            parameters = tuple(parameters)
        return self.kept(__dd_sql_run(self.connection.number, sql, parameters, False))

    def executemany(self, sql, parameters):
        rows = [p if isinstance(p, dict) else tuple(p) for p in parameters]
        return self.kept(__dd_sql_run(self.connection.number, sql, rows, True))

    def executescript(self, sql):
        return self.kept(__dd_sql_run(self.connection.number, sql, None, False))

    def fetchone(self):
        return self.rows.pop() if self.rows else None

    def fetchall(self):
        rows = self.rows
        rows.reverse()
        self.rows = []
        return rows

    def fetchmany(self, size=1):
        return [self.rows.pop() for _ in range(min(size, len(self.rows)))]

    def __iter__(self):
        return self

    def __next__(self):
        if not self.rows:
            raise StopIteration
        return self.rows.pop()

    def close(self):
        self.rows = []


class __dd_SqlConnection:
    def __init__(self, database, timeout=5.0, at=None, **options):
        self.row_factory = None
        self.total_changes = 0
        self.number = __dd_parsed(__dd_sql_open(database))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.commit()
        else:
            self.rollback()
        return False

    def cursor(self):
        return __dd_SqlCursor(self)

    def execute(self, sql, parameters=()):
        return __dd_SqlCursor(self).execute(sql, parameters)

    def executemany(self, sql, parameters):
        return __dd_SqlCursor(self).executemany(sql, parameters)

    def executescript(self, sql):
        return __dd_SqlCursor(self).executescript(sql)

    def commit(self):
        __dd_parsed(__dd_sql_commit(self.number))

    def rollback(self):
        __dd_parsed(__dd_sql_rollback(self.number))

    def close(self):
        __dd_sql_close(self.number)


__dd_module_sqlite3 = __dd_Module()
__dd_module_sqlite3.connect = __dd_SqlConnection
__dd_module_sqlite3.Row = __dd_SqlRow
__dd_module_sqlite3.Error = __dd_ParseError
__dd_module_sqlite3.OperationalError = __dd_ParseError
__dd_module_sqlite3.IntegrityError = __dd_ParseError
__dd_module_sqlite3.DatabaseError = __dd_ParseError
__dd_module_sqlite3.PARSE_DECLTYPES = 1


class __dd_Fraction:
    __dd_rich = True

    def __init__(self, numerator=0, denominator=None):
        if isinstance(numerator, __dd_Fraction):
            top, bottom = numerator.numerator, numerator.denominator
        elif isinstance(numerator, int):
            top, bottom = numerator, 1
        else:
            top, bottom = __dd_ratio(numerator)
        if denominator is not None:
            other = __dd_Fraction(denominator)
            top, bottom = top * other.denominator, bottom * other.numerator
        if bottom == 0:
            raise ZeroDivisionError('Fraction(' + str(top) + ', 0)')
        shared = __dd_math.gcd(top, bottom)
        shared = -shared if bottom < 0 else shared
        self.numerator = top // shared
        self.denominator = bottom // shared

    def __str__(self):
        if self.denominator == 1:
            return str(self.numerator)
        return str(self.numerator) + '/' + str(self.denominator)

    def __repr__(self):
        return 'Fraction(' + str(self.numerator) + ', ' + str(self.denominator) + ')'

    def __add__(self, other):
        o = __dd_Fraction(other)
        return __dd_Fraction(
            self.numerator * o.denominator + o.numerator * self.denominator,
            self.denominator * o.denominator,
        )

    def __sub__(self, other):
        return self + -__dd_Fraction(other)

    def __neg__(self):
        return __dd_Fraction(-self.numerator, self.denominator)

    def __mul__(self, other):
        o = __dd_Fraction(other)
        return __dd_Fraction(self.numerator * o.numerator, self.denominator * o.denominator)

    def __truediv__(self, other):
        o = __dd_Fraction(other)
        return __dd_Fraction(self.numerator * o.denominator, self.denominator * o.numerator)

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return __dd_Fraction(other) - self

    def __rmul__(self, other):
        return self * other

    def __rtruediv__(self, other):
        return __dd_Fraction(other) / self

    def __pow__(self, power):
        return __dd_Fraction(self.numerator ** power, self.denominator ** power)

    def __eq__(self, other):
        o = __dd_Fraction(other)
        return self.numerator == o.numerator and self.denominator == o.denominator

    def __hash__(self):
        return hash((self.numerator, self.denominator))

    def __lt__(self, other):
        o = __dd_Fraction(other)
        return self.numerator * o.denominator < o.numerator * self.denominator

    def __gt__(self, other):
        return __dd_Fraction(other).__lt__(self)

    def __le__(self, other):
        return not self.__gt__(other)

    def __ge__(self, other):
        return not self.__lt__(other)

    def __float__(self):
        return self.numerator / self.denominator

    def __int__(self):
        return int(self.numerator / self.denominator)

    def limit_denominator(self, max_denominator=1000000):
        top, bottom = __dd_limited(self.numerator, self.denominator, max_denominator)
        return __dd_Fraction(top, bottom)


__dd_module_fractions = __dd_Module()
__dd_module_fractions.Fraction = __dd_Fraction


class __dd_Matcher:
    def __init__(self, isjunk=None, a='', b='', autojunk=True):
        self.a = a
        self.b = b

    def ratio(self):
        return __dd_ratio_of(list(self.a), list(self.b))

    def quick_ratio(self):
        return __dd_ratio_of(list(self.a), list(self.b))

    def get_opcodes(self):
        return __dd_opcodes(list(self.a), list(self.b))


__dd_SplitUrl = __dd_collections.namedtuple(
    'SplitResult', 'scheme netloc path query fragment'
)
__dd_Url = __dd_collections.namedtuple('ParseResult', 'scheme netloc path params query fragment')


class __dd_ParsedUrl:
    def __init__(self, values, split=False):
        self.split = split
        self.whole = values[0]
        self.parts = values[0][:3] + values[0][4:] if split else values[0]
        self.scheme, self.netloc, self.path = values[0][0], values[0][1], values[0][2]
        self.params, self.query, self.fragment = values[0][3], values[0][4], values[0][5]
        self.hostname = values[1]
        self.port = values[2]
        self.username = values[3]
        self.password = values[4]

    def __iter__(self):
        return iter(self.parts)

    def __getitem__(self, index):
        return self.parts[index]

    def geturl(self):
        return __dd_url_text(self.whole)

    def _replace(self, **values):
        names = ['scheme', 'netloc', 'path', 'params', 'query', 'fragment']
        parts = [values.get(name, old) for name, old in zip(names, self.whole)]
        return __dd_ParsedUrl(__dd_url_parse(__dd_url_text(parts)), self.split)

    def __repr__(self):
        return repr((__dd_SplitUrl if self.split else __dd_Url)(*self.parts))

    def __eq__(self, other):
        return tuple(self.parts) == tuple(other)

    def __len__(self):
        return len(self.parts)


def __dd_urlparse(url, scheme='', allow_fragments=True):
    return __dd_ParsedUrl(__dd_url_parse(url))


def __dd_urlsplit(url, scheme='', allow_fragments=True):
    return __dd_ParsedUrl(__dd_url_parse(url), True)


def __dd_urlunparse(parts):
    return __dd_url_text(list(parts))


def __dd_urlunsplit(parts):
    parts = list(parts)
    return __dd_url_text(parts[:3] + [''] + parts[3:])


class __dd_Dialect:
    pass


class __dd_Sniffer:
    def sniff(self, sample, delimiters=None):
        found = __dd_parsed(__dd_csv_sniff(sample, delimiters))
        dialect = __dd_Dialect()
        dialect.delimiter, dialect.quotechar, dialect.doublequote = found[0], found[1], found[2]
        dialect.skipinitialspace, dialect.lineterminator = found[3], found[4]
        return dialect

    def has_header(self, sample):
        return __dd_csv_has_header(sample)


def __dd_file_digest(file, name):
    return __dd_hashlib.new(name, file.read())
"""
