"""Ordinary automation scripts: the same tree and the same printed text here and in CPython."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.sandbox.running import fill, run_here, run_in_cpython, tree_on_disk, tree_on_stage

FILES = {
    "invoices/inv_2024-01-15_acme.txt": "Invoice 1\nTotal: 120.50 EUR\nCustomer: Acme\n",
    "invoices/inv_2024-02-03_beta.txt": "Invoice 2\nTotal: 80.00 EUR\nCustomer: Beta\n",
    "invoices/inv_2024-02-20_acme.txt": "Invoice 3\nTotal: 19.95 EUR\nCustomer: Acme\n",
    "invoices/readme.md": "# Not an invoice\n",
    "sales.csv": 'date,product,amount,note\n2024-01-01,apple,3,"a, b"\n2024-01-02,pear,5,\n'
    "2024-02-01,apple,7,late\n",
    "people.json": '[{"name": "Ann", "age": 31}, {"name": "Bob", "age": 27}]',
    "app.log": "2024-01-01 10:00:00 INFO start\n2024-01-01 10:00:05 ERROR disk full\n"
    "2024-01-02 11:00:00 WARN slow\n2024-01-02 11:30:00 ERROR timeout after 30s\n",
    "mess/IMG_001.JPG": b"\xff\xd8one",
    "mess/IMG_002.jpg": b"\xff\xd8two",
    "mess/copy of IMG_001.jpg": b"\xff\xd8one",
    "mess/report final (2).docx": b"PK\x03\x04",
    "mess/song.mp3": b"ID3",
    "mess/notes.txt": "TODO buy milk\ncall Bob\nTODO pay rent\n",
    "mess/.DS_Store": b"\x00",
    "empty/": "",
    "deep/a/b/c/file.txt": "deep\n",
    "text.txt": "the quick brown fox\njumps over the lazy dog\nthe end\n",
}

SCRIPTS: dict[str, str] = {
    "sort files by type": """
import os
import shutil

FOLDER = 'mess'
TYPES = {'.jpg': 'Images', '.txt': 'Text', '.docx': 'Documents', '.mp3': 'Music'}

def main():
    moved = 0
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name)
        if not os.path.isfile(path) or name.startswith('.'):
            continue
        _, ext = os.path.splitext(name)
        target = os.path.join(FOLDER, TYPES.get(ext.lower(), 'Other'))
        os.makedirs(target, exist_ok=True)
        shutil.move(path, os.path.join(target, name))
        moved += 1
        print(f'{name} -> {os.path.basename(target)}')
    print(f'Moved {moved} files')

if __name__ == '__main__':
    main()
""",
    "rename by date": """
import re
from pathlib import Path

pattern = re.compile(r'inv_(\\d{4})-(\\d{2})-(\\d{2})_(?P<who>\\w+)\\.txt')
for path in sorted(Path('invoices').glob('*.txt')):
    m = pattern.match(path.name)
    if m:
        year, month, day = m.group(1), m.group(2), m.group(3)
        new = path.with_name(f"{m.group('who')}_{day}.{month}.{year}{path.suffix}")
        path.rename(new)
        print(path.name, '=>', new.name)
""",
    "totals of invoices": """
from collections import defaultdict
from pathlib import Path
import re

totals = defaultdict(float)
for f in Path('invoices').iterdir():
    if f.suffix != '.txt':
        continue
    text = f.read_text(encoding='utf-8')
    amount = float(re.search(r'Total: ([\\d.]+)', text).group(1))
    customer = re.search(r'Customer: (.+)', text).group(1).strip()
    totals[customer] += amount
with open('totals.csv', 'w', encoding='utf-8', newline='') as out:
    out.write('customer,total\\n')
    for customer, total in sorted(totals.items(), key=lambda item: item[1], reverse=True):
        out.write(f'{customer},{total:.2f}\\n')
        print(f'{customer:<10}{total:>10.2f}')
""",
    "group a table": """
import csv
from collections import Counter, defaultdict

with open('sales.csv', newline='', encoding='utf-8') as f:
    reader = csv.DictReader(f)
    rows = [dict(row, amount=int(row['amount'])) for row in reader]
by_month = defaultdict(lambda: Counter())
for row in rows:
    by_month[row['date'][:7]][row['product']] += row['amount']
with open('months.csv', 'w', newline='', encoding='utf-8') as f:
    writer = csv.DictWriter(f, fieldnames=['month', 'product', 'amount'])
    writer.writeheader()
    for month in sorted(by_month):
        for product, amount in by_month[month].most_common():
            writer.writerow({'month': month, 'product': product, 'amount': amount})
print(sum(r['amount'] for r in rows), max(rows, key=lambda r: r['amount'])['product'])
""",
    "count in a log": """
from collections import Counter
from datetime import datetime

levels = Counter()
first = last = None
with open('app.log') as log:
    for line in log:
        date, time, level, *message = line.split()
        levels[level] += 1
        moment = datetime.strptime(f'{date} {time}', '%Y-%m-%d %H:%M:%S')
        first = first or moment
        last = moment
        if level == 'ERROR':
            print(moment.strftime('%d.%m.%Y %H:%M'), ' '.join(message))
print(dict(levels), last - first)
""",
    "find duplicates": """
import hashlib
import os
from collections import defaultdict

def digest(path):
    h = hashlib.sha256()
    with open(path, 'rb') as f:
        while True:
            chunk = f.read(4)
            if not chunk:
                break
            h.update(chunk)
    return h.hexdigest()

groups = defaultdict(list)
for root, dirs, files in os.walk('.'):
    dirs.sort()
    for name in sorted(files):
        path = os.path.join(root, name)
        groups[digest(path)].append(path)
for paths in groups.values():
    if len(paths) > 1:
        paths.sort(key=lambda p: (len(p), p))
        for extra in paths[1:]:
            print('duplicate', extra, 'of', paths[0])
            os.remove(extra)
""",
    "json to table": """
import json
from pathlib import Path

people = json.loads(Path('people.json').read_text())
people.append({'name': 'Zoë', 'age': 5})
people.sort(key=lambda p: p['age'])
text = json.dumps(people, indent=2, ensure_ascii=False)
Path('people_sorted.json').write_text(text, encoding='utf-8')
with open('people.md', 'w', encoding='utf-8') as md:
    print('| name | age |', file=md)
    print('| --- | --- |', file=md)
    for p in people:
        print(f"| {p['name']} | {p['age']} |", file=md)
print(json.dumps({p['name']: p['age'] for p in people}, sort_keys=True))
""",
    "a class with state": """
from dataclasses import dataclass, field
from pathlib import Path

@dataclass
class Entry:
    path: Path
    words: int = 0

@dataclass
class Index:
    root: Path
    entries: list = field(default_factory=list)

    def build(self):
        for path in sorted(self.root.rglob('*.txt')):
            text = path.read_text()
            self.entries.append(Entry(path, len(text.split())))
        return self

    def largest(self):
        return max(self.entries, key=lambda e: (e.words, e.path))

index = Index(Path('.')).build()
for entry in index.entries:
    print(f'{entry.words:4d} {entry.path.as_posix()}')
print('largest', index.largest().path.name)
""",
    "clean up text": """
import re
from pathlib import Path

source = Path('text.txt')
text = source.read_text()
text = re.sub(r'\\bthe\\b', lambda m: m.group(0).upper(), text)
lines = [line.strip().capitalize() for line in text.splitlines() if line.strip()]
source.with_suffix('.clean.txt').write_text('\\n'.join(lines) + '\\n')
words = {}
for word in re.findall(r'[a-z]+', text.lower()):
    words[word] = words.get(word, 0) + 1
for word, count in sorted(words.items(), key=lambda kv: (-kv[1], kv[0]))[:3]:
    print(word, count)
""",
    "backup with checks": """
import shutil
from pathlib import Path

source, backup = Path('invoices'), Path('backup') / 'invoices'
if backup.exists():
    shutil.rmtree(backup)
shutil.copytree(source, backup)
checked = 0
for f in source.rglob('*'):
    if f.is_file():
        twin = backup / f.relative_to(source)
        assert twin.read_bytes() == f.read_bytes(), f'{f} differs'
        checked += 1
print('checked', checked, 'files')
for f in sorted(backup.glob('*.md')):
    f.unlink()
print(sorted(p.name for p in backup.iterdir()))
""",
    "remove empty folders": """
import os
removed = []
for root, dirs, files in os.walk('.', topdown=False):
    for d in sorted(dirs):
        path = os.path.join(root, d)
        if not os.listdir(path):
            os.rmdir(path)
            removed.append(path)
print(removed)
""",
    "number the photos": """
import glob
import os

photos = sorted(glob.glob('mess/*.[jJ][pP][gG]'), key=str.lower)
for number, photo in enumerate(photos, start=1):
    folder, name = os.path.split(photo)
    target = os.path.join(folder, f'photo_{number:03d}.jpg')
    os.rename(photo, target)
    print(name, '->', os.path.basename(target))
""",
    "collect todos": """
from pathlib import Path

def find_todos(folder):
    for path in sorted(Path(folder).rglob('*.txt')):
        with path.open(encoding='utf-8') as f:
            for number, line in enumerate(f, 1):
                if line.startswith('TODO'):
                    yield path, number, line[5:].strip()

todos = list(find_todos('.'))
with open('todos.txt', 'w') as out:
    out.writelines(f'[ ] {text} ({path.name}:{number})\\n' for path, number, text in todos)
print(len(todos), 'todos')
""",
    "errors are handled": """
import os
from pathlib import Path

class NotReadable(Exception):
    pass

def load(path):
    try:
        return Path(path).read_text(encoding='utf-8')
    except FileNotFoundError:
        raise NotReadable(f'{path} is missing')
    except UnicodeDecodeError as error:
        raise NotReadable(f'{path} is no text') from error

for name in ['text.txt', 'nothing.txt', 'mess/IMG_001.JPG']:
    try:
        print(name, len(load(name)))
    except NotReadable as error:
        print('skipped:', error)
    finally:
        print('done', name)
""",
    "merge text files": """
from pathlib import Path
parts = []
for p in sorted(Path('invoices').glob('inv_*.txt')):
    parts.append(f'=== {p.name} ===\\n{p.read_text().rstrip()}')
Path('all_invoices.txt').write_text('\\n\\n'.join(parts) + '\\n')
with open('all_invoices.txt', 'a') as f:
    f.write('--- end ---\\n')
print(len(Path('all_invoices.txt').read_text().splitlines()))
""",
    "a report of sizes": """
import os
from pathlib import Path

def human(size):
    for unit in ['B', 'KB', 'MB']:
        if size < 1024:
            return f'{size:.1f} {unit}'
        size /= 1024
    return f'{size:.1f} GB'

sizes = {}
for path in Path('.').rglob('*'):
    if path.is_file():
        key = path.suffix.lower() or '(none)'
        sizes.setdefault(key, []).append(path.stat().st_size)
for suffix, values in sorted(sizes.items()):
    print(f'{suffix:>8} {len(values):3} files {human(sum(values))}')
total = sum(os.path.getsize(os.path.join(r, f)) for r, _, fs in os.walk('.') for f in fs)
print('total', human(total))
""",
    "words with stdlib": """
import itertools
import statistics
import string
import textwrap
from collections import Counter

text = open('text.txt').read().translate(str.maketrans('', '', string.punctuation))
words = text.split()
print(Counter(words).most_common(2), statistics.median(len(w) for w in words))
for length, group in itertools.groupby(sorted(words, key=len), key=len):
    print(length, sorted(set(group)))
print(textwrap.fill(' '.join(words), width=20))
""",
    "walk with pathlib and match": """
from pathlib import Path
counts = {}
for path in sorted(Path.cwd().rglob('*')):
    relative = path.relative_to(Path.cwd())
    match path.suffix.lower():
        case '.txt' | '.md' | '.log':
            kind = 'text'
        case '.jpg':
            kind = 'image'
        case '' if path.is_dir():
            kind = 'folder'
        case _:
            kind = 'other'
    counts[kind] = counts.get(kind, 0) + 1
    if len(relative.parts) > 3:
        print(relative.as_posix(), relative.parent.name, relative.parents[1])
print(counts)
""",
    "log with a logger and options": """
import sys
import logging
from typing import Optional, List, Dict
from contextlib import suppress

logger = logging.getLogger(__name__)

def pick(values: List[int], limit: Optional[int] = None) -> Dict[str, int]:
    chosen = [v for v in values if limit is None or v < limit]
    logger.debug('picked %d', len(chosen))
    return {'count': len(chosen), 'sum': sum(chosen)}

with suppress(FileNotFoundError):
    open('nowhere.txt')
print(pick([1, 5, 9], limit=6))
if len(sys.argv) > 5:
    sys.exit('too many')
""",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_the_same_here_and_in_cpython(
    name: str, tmp_path: Path, pool: SandboxPool
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    fill(ours, FILES)
    fill(theirs, FILES)
    before = tree_on_disk(ours)
    printed = run_in_cpython(SCRIPTS[name], theirs)
    ran = run_here(SCRIPTS[name], ours, pool)
    assert ran.outcome.fault is None
    assert ran.outcome.printed.replace(str(ours), str(theirs)) == printed
    assert tree_on_stage(ran.stage) == tree_on_disk(theirs)
    assert tree_on_disk(ours) == before
