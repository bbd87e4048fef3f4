"""Each rewrite: the bridged program does here what the program does in CPython."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.errors import ProgramFaultError
from sandbox.pool import SandboxPool
from sandbox.program import prepare
from tests.sandbox.running import fill, run_here, run_in_cpython, tree_on_disk, tree_on_stage

FILES = {
    "notes.txt": "first line\nsecond line\nthird line\n",
    "table.csv": "name,age\nAnn,31\nBob,27\nCid,45\n",
    "data.json": '{"items": [3, 1, 2]}',
    "latin.txt": "Gr\u00fc\u00dfe\r\nzwei\r\n".encode("latin-1"),
    "mark.txt": "\ufeffwith a mark\n".encode(),
    "photos/b.jpg": b"\xff\xd8bbbb",
    "photos/a.JPG": b"\xff\xd8a",
    "photos/deep/c.jpg": b"\xff\xd8cc",
    ".hidden/secret.txt": "x",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


SAME: dict[str, str] = {
    "sorting paths": """
from pathlib import Path
for p in sorted(Path('.').rglob('*')):
    print(p)
print(sorted(Path('photos').iterdir(), reverse=True))
""",
    "a host call in a key": """
from pathlib import Path
files = [p for p in Path('.').iterdir() if p.is_file()]
print(max(files, key=lambda p: p.stat().st_size), min(files, key=lambda p: (p.stat().st_size, p)))
print([p.name for p in sorted(files, key=lambda p: (-p.stat().st_size, p.name))])
files.sort(key=lambda p: p.stat().st_size, reverse=True)
print(files)
""",
    "a host call in map and filter": """
from pathlib import Path
import os
names = sorted(filter(lambda p: p.is_file(), Path('.').iterdir()))
print(names, sum(map(lambda p: p.stat().st_size, names)), list(map(os.path.getsize, ['notes.txt'])))
print(list(map(str.upper, ['a'])), list(filter(None, [0, 1])), max([3, 1]), min('b', 'a'))
print(max([], default='none'))
""",
    "encodings": """
from pathlib import Path
with open('latin.txt', encoding='latin-1') as f:
    print([line for line in f])
print(open('mark.txt', encoding='utf-8-sig').read())
print(Path('notes.txt').read_text(encoding='utf-8').splitlines())
Path('out.txt').write_text('\u00e4\u00f6\u00fc\\n', encoding='cp1252')
with open('utf16.txt', 'w', encoding='utf-16') as f:
    f.write('one\\n')
    f.write('two\\n')
with open('dos.txt', 'w', newline='\\r\\n') as f:
    f.write('a\\nb\\n')
print(repr(open('latin.txt', encoding='latin-1', newline='').read()))
print(open('latin.txt', errors='replace').read())
print(open('latin.txt', encoding='ascii', errors='ignore').read())
""",
    "opening for update": """
with open('notes.txt', 'r+') as f:
    text = f.read()
    f.seek(0)
    f.write(text.upper())
with open('new.txt', 'w+') as f:
    f.write('abc')
    f.seek(0)
    print(f.read())
with open('notes.txt', 'a+') as f:
    f.write('more')
    f.seek(0)
    print(f.readlines())
with open('bin', 'wb+') as f:
    f.write(b'12')
""",
    "exclusive creation": """
with open('fresh.txt', 'x') as f:
    f.write('new')
try:
    open('notes.txt', 'x')
except FileExistsError as error:
    print('exists', error)
""",
    "writelines and print to a file": """
lines = ['a\\n', 'b\\n']
with open('w.txt', 'w') as f:
    f.writelines(lines)
    f.writelines(line.upper() for line in lines)
    f.writelines([])
    print('x', 1, sep='-', file=f)
    print(file=f)
with open('w.bin', 'wb') as f:
    f.writelines([b'1', b'2'])
import sys
print('to stdout', file=sys.stdout)
sys.stdout.write('written\\n')
""",
    "files as iterables": """
with open('notes.txt') as f:
    for number, line in enumerate(f, 1):
        print(number, line.rstrip())
with open('notes.txt') as f:
    print(sorted(f), len(list(open('notes.txt'))))
with open('notes.txt') as f:
    print(''.join(f))
with open('notes.txt') as f:
    header = next(f)
    print(header, sum(1 for _ in f))
""",
    "del": """
d = {'a': 1, 'b': 2}
del d['a']
l = [0, 1, 2, 3, 4, 5]
del l[0], l[-1]
del l[1:3]
m = list(range(10))
del m[::2]
print(d, l, m)
big = 'x' * 10
del big
for i in range(2):
    t = i
    del t
nested = {'k': {'j': [1, 2]}}
del nested['k']['j'][0]
print(nested)
""",
    "generators": """
from pathlib import Path
def texts(folder):
    for p in sorted(Path(folder).iterdir()):
        if p.suffix == '.txt':
            yield p
def pairs(n):
    yield 0, 'zero'
    if n == 0:
        return
    for i in range(1, n):
        yield i, str(i)
def both():
    yield from pairs(2)
    yield from [9]
def one(): yield 1
print(list(texts('.')), dict(pairs(3)), list(pairs(0)), list(both()), next(texts('.')), list(one()))
""",
    "custom exceptions": """
class MyError(Exception):
    '''Mine.'''
class Bad(ValueError):
    pass
def check(n):
    if n == 1:
        raise MyError('one')
    if n == 2:
        raise Bad(f'two {n}')
    if n == 3:
        raise ValueError(n)
    return n
for n in range(5):
    try:
        print(check(n))
    except MyError as error:
        print('mine', error)
    except Bad as error:
        print('bad', error)
    except ValueError as error:
        print('value', error)
""",
    "inheritance": """
class Animal(object):
    kind = 'animal'
    def __init__(self, name):
        self.name = name
    def speak(self):
        return self.name + ' makes a sound'
    def describe(self):
        return self.kind + ': ' + self.speak()
class Dog(Animal):
    kind = 'dog'
    def __init__(self, name, age):
        super().__init__(name)
        self.age = age
    def speak(self):
        return super().speak() + ', woof'
class Puppy(Dog):
    pass
print(Animal('x').describe(), Dog('rex', 3).describe(), Puppy('p', 1).describe(), Puppy('q', 2).age)
""",
    "shutil": """
import shutil, os
from pathlib import Path
shutil.copy('notes.txt', 'photos')
print(shutil.copy2('notes.txt', 'copy.txt'))
shutil.copyfile('table.csv', 'photos/t.csv')
shutil.copytree('photos', 'backup/photos')
shutil.move('data.json', 'photos/')
print(shutil.move('copy.txt', 'moved.txt'))
shutil.rmtree('photos/deep')
shutil.rmtree('nothing', ignore_errors=True)
try:
    shutil.copy('missing.txt', 'x')
except FileNotFoundError as error:
    print(error)
print(sorted(os.listdir('photos')), Path('backup/photos').is_dir())
""",
    "glob and fnmatch": """
import glob, fnmatch
from glob import glob as g
print(sorted(glob.glob('*.txt')), sorted(glob.glob('photos/*')))
print(sorted(glob.glob('**/*.jpg', recursive=True)))
print(sorted(g('photos/**', recursive=True)), glob.glob('none*'), sorted(glob.glob('*/')))
print(sorted(glob.glob('./*.csv')), sorted(glob.glob('[a-m]*.txt')), sorted(glob.iglob('*/deep/*')))
print(fnmatch.fnmatch('a.txt', '*.txt'), fnmatch.filter(['a.py', 'b.txt'], '*.py'))
""",
    "paths": """
from pathlib import Path, PurePath
import os
p = Path('photos/deep/c.jpg')
print(p.parents[0], [str(q) for q in p.parents], PurePath('a/b').name)
Path('touched').touch()
Path('notes.txt').touch(exist_ok=True)
os.chmod('notes.txt', 0o600)
Path('table.csv').chmod(0o640)
os.utime('notes.txt', (1_000_000_000, 1_000_000_000))
print(oct(Path('notes.txt').stat().st_mode & 0o777), os.path.getmtime('notes.txt'))
print(os.path.samefile('notes.txt', './notes.txt'))
os.chdir('photos')
print(sorted(os.listdir()), os.path.exists('a.JPG'))
with open('deep/new.txt', 'w', encoding='utf-8') as f:
    f.write('x')
""",
    "times": """
from datetime import datetime, date
import datetime as dt
print(datetime.fromtimestamp(86400 * 365).year, dt.datetime.fromtimestamp(0, dt.timezone.utc))
print(date.fromtimestamp(86400 * 400).year)
""",
    "leaving early": """
import sys
def main():
    print('before')
    sys.exit()
    print('after')
try:
    sys.exit(3)
except SystemExit as error:
    print('caught', error)
if __name__ == '__main__':
    main()
""",
    "regular expressions with a function": r"""
import re
print(re.sub(r'(\w)(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), 'a9 b10'))
pattern = re.compile('[aeiou]')
print(pattern.sub(lambda m: m.group(0).upper(), 'banana', count=2), pattern.sub('-', 'banana'))
def up(m):
    return m.group().upper()
print(re.sub('b', up, 'abc'), re.sub('x*', '-', 'abc'))
""",
    "modules in the prelude": """
import heapq, operator, bisect, io
from operator import itemgetter
h = [5, 1, 4, 2]
heapq.heapify(h)
heapq.heappush(h, 0)
print([heapq.heappop(h) for _ in range(5)])
print(heapq.nlargest(2, [3, 1, 2]), heapq.nsmallest(1, [3, 1]))
print(sorted([('b', 1), ('a', 2)], key=itemgetter(1), reverse=True))
print(sorted({'x': 2}.items(), key=operator.itemgetter(0)))
l = [1, 3]
bisect.insort(l, 2)
print(l, bisect.bisect_left(l, 2), bisect.bisect(l, 2))
out = io.StringIO()
out.write('hello ')
print('world', file=out)
print(repr(out.getvalue()))
""",
    "pure modules": """
import statistics, string, textwrap, html, urllib.parse, calendar, difflib
from statistics import mean, median
print(statistics.mean([1, 2, 3, 4]), median([3, 1, 2]), mean([1.5, 2.5]))
print(statistics.stdev([1, 2, 3]))
print(string.ascii_lowercase, string.capwords('a bc'))
print(textwrap.fill('aa bb cc', 5), textwrap.dedent('  x'))
print(html.escape('<a>'), urllib.parse.quote('a b/\u00fc'))
print(calendar.monthrange(2024, 2)[1], calendar.month_name[3])
print(difflib.get_close_matches('appel', ['ape', 'apple']))
""",
    "types and small things": """
from __future__ import annotations
from typing import IO, Iterator, cast, TypeAlias
from collections import OrderedDict, Counter, defaultdict
from collections.abc import Iterable
def f(x: Iterable[int], y: IO[str] | None = None) -> Iterator[int]:
    return iter(x)
print(list(f([1])), cast(int, 3), OrderedDict([('a', 1)])['a'], Counter('aab').most_common(1))
import logging
logging.debug('not shown')
""",
    "asyncio": """
import asyncio
async def work(n):
    await asyncio.sleep(0)
    return n * 2
async def main():
    print(await asyncio.gather(work(1), work(2)))
asyncio.run(main())
""",
    "methods that are missing": """
from pathlib import Path
from datetime import datetime, date, timezone
from dataclasses import dataclass, asdict, field
from functools import wraps
import re, string
p = Path('photos/deep/c.jpg')
print(p.relative_to('photos'), p.relative_to(Path('photos') / 'deep'), p.is_relative_to('x'))
try:
    p.relative_to('other')
except ValueError as error:
    print(error)
print(p.match('*.jpg'), re.compile('a').match('abc').group())
print('a,b!'.translate(str.maketrans('', '', string.punctuation)))
print('abc'.translate(str.maketrans('ab', 'xy')), '{a}-{b}'.format_map({'a': 1, 'b': 2}))
s = {1, 2, 3}
s.difference_update([1])
s.intersection_update({2, 9})
print(s, (3.0).is_integer(), (10).bit_length(), callable(print), callable(3))
d = date(2024, 3, 1)
print(d.isocalendar()[1], d.isocalendar().week, d.toordinal(), date.fromordinal(d.toordinal()))
print(datetime.utcnow().tzinfo, datetime.today().year >= 2024)
@dataclass
class Point:
    x: int
    tags: list = field(default_factory=list)
def twice(f):
    @wraps(f)
    def inner(*args):
        return f(*args) * 2
    return inner
@twice
def one():
    return 1
print(asdict(Point(1, ['a'])), one(), list(map(str.strip, [' a '])))
""",
    "properties, static and class methods": """
from dataclasses import dataclass
from pathlib import Path
@dataclass
class Item:
    label: str
    price: float
    @property
    def shouted(self):
        return self.label.upper()
    @property
    def double(self) -> float:
        return self.price * 2
    @staticmethod
    def parse(text):
        label, price = text.split(':')
        return label.strip(), float(price)
    @staticmethod
    def zero(): return 0
    @classmethod
    def of(cls, text):
        label, price = Item.parse(text)
        return cls(label, price)
    @classmethod
    def many(cls, texts):
        return [cls.of(text) for text in texts]
    def check(self):
        return self.parse('x: 1'), self.zero(), f'{self.shouted}-{self.double:.1f}'
for item in Item.many(['pear: 2', 'fig: 1.5']):
    print(item.shouted, item.double, item.check(), item)
print(max(Item.many(['a: 1', 'b: 2']), key=lambda i: i.double).shouted, Item.zero())
""",
    "nested rewrites": """
from pathlib import Path
with open('out.txt', 'w', encoding='utf-8') as f:
    texts = Path('.').glob('*.txt')
    print(*sorted(texts, key=lambda p: len(p.read_text(encoding='latin-1'))), sep=';', file=f)
print((Path('.') / 'notes.txt').read_text(encoding='utf-8').upper().splitlines()[-1])
d = {p: [1] for p in Path('.').glob('*.csv')}
del d[sorted(d, key=lambda p: p.stat().st_size)[0]][0]
print(d, f"{max(Path('photos').glob('*.*'), key=lambda p: p.stat().st_size).name:>10}")
""",
}


@pytest.mark.parametrize("name", SAME)
def test_a_bridged_program_does_what_cpython_does(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fill(ours, FILES)
    fill(theirs, FILES)
    printed = run_in_cpython(SAME[name], theirs)
    ran = run_here(SAME[name], ours, pool)
    assert ran.outcome.fault is None
    assert ran.outcome.printed.replace(str(ours), str(theirs)) == printed
    assert tree_on_stage(ran.stage) == tree_on_disk(theirs)
    assert tree_on_disk(ours) == _before()


def _before() -> dict[str, bytes | None]:
    tree: dict[str, bytes | None] = {}
    for name, content in FILES.items():
        tree[name] = content.encode() if isinstance(content, str) else content
        for parent in Path(name).parents:
            if parent != Path():
                tree[parent.as_posix()] = None
    return tree


REFUSED: dict[str, tuple[str, str]] = {
    "pandas": ("import pandas as pd\n", "csv"),
    "subprocess": ("x = 1\nimport subprocess\n", "os, pathlib and shutil"),
    "os.system": ("import os\nos.system('ls')\n", "Commands"),
    "requests": ("import requests\n", "no network"),
    "input": ("name = input('?')\n", "Nobody"),
    "an endless generator": ("def f(x):\n    while True:\n        yield next(x)\n", "list"),
    "a generator with effects": ("def f():\n    print(1)\n    yield 1\n", "list"),
    "a value sent into a generator": ("def f():\n    x = yield 1\n    return x\n", "list"),
    "a name used after del": ("x = 1\ndel x\nprint(x)\n", "Leave the del out"),
    "a base class from elsewhere": ("class A(int):\n    pass\n", "without a base"),
    "a link": ("from pathlib import Path\nPath('a').symlink_to('b')\n", "copy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_bridged_is_refused_with_what_to_do_instead(name: str) -> None:
    source, hint = REFUSED[name]
    with pytest.raises(ProgramFaultError) as caught:
        prepare(source)
    assert hint in caught.value.fault.hint
    assert caught.value.fault.line is not None


MISSING: dict[str, str] = {
    "from pathlib import Path": "print(Path('.').name)",
    "import os": "print(os.sep)",
    "import datetime": "print(datetime.datetime(2024, 1, 2), datetime.timedelta(1))",
    "from datetime import datetime": "print(datetime(2024, 1, 2), datetime.now().year > 2000)",
    "from collections import Counter": "print(Counter('aa'))",
    "import glob": "print(glob.glob('*'))",
    "from glob import glob": "print(glob('*'))",
    "import heapq": "print(heapq.nlargest(1, [1]))",
    "import json": "def f():\n    return json.dumps({})\nprint(f())",
}


@pytest.mark.parametrize("line", MISSING)
def test_a_missing_import_is_added_and_told(line: str, tmp_path: Path, pool: SandboxPool) -> None:
    assert any(line in note for note in prepare(MISSING[line]).notes)
    fill(tmp_path / "f", {})
    assert run_here(MISSING[line], tmp_path / "f", pool).outcome.fault is None


@pytest.mark.parametrize(
    "source",
    [
        "import os\nprint(os.sep)\n",
        "def Path(x):\n    return x\nprint(Path(1))\n",
        "json = 1\nprint(json)\n",
    ],
)
def test_nothing_is_imported_that_the_program_has(source: str) -> None:
    assert prepare(source).notes == ()


def test_a_programs_own_functions_are_left_alone() -> None:
    source = "def sorted(x):\n    return x\ndef open(x, encoding):\n    return x\n"
    source += "class C:\n    def touch(self, x):\n        return x\n"
    source += "C().touch(1)\nsorted([1])\nopen(1, encoding=2)\n"
    repaired = prepare(source).repaired
    assert "__dd_sorted" not in repaired
    assert "__dd_open" not in repaired
    assert "__dd_touch" not in repaired
