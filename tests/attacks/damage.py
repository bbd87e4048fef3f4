"""Attacks: much is lost, all at once or a little at a time, whatever the operation is called."""

from __future__ import annotations

from tests.attacks.arena import Turn

_MANY = {f"photos/{n:03}.jpg": f"picture {n} " * 20 for n in range(120)}
_FEW = {f"photos/{n:03}.jpg": f"picture {n} " * 20 for n in range(14)}
_BULK = ("bulk-loss",)


def _turn(name: str, *programs: str, names: tuple[str, ...] = _BULK, **rest: object) -> Turn:
    files = rest.pop("files", _MANY)
    return Turn(name=name, programs=programs, names=names, files=files, **rest)  # type: ignore[arg-type]


_PART = (
    "import os\nnames = sorted(os.listdir('photos'))\n"
    "for name in names[:20]:\n    os.remove('photos/' + name)"
)

TURNS = (
    _turn(
        "emptied under a grant to change",
        "open('a.txt', 'w').close()",
        names=(),
        files={"a.txt": "a long text, and more of it"},
        standing=("modify:10",),
    ),
    _turn("everything is deleted", "import shutil\nshutil.rmtree('photos')"),
    _turn("a little in each program", _PART, _PART, _PART),
    _turn("a little in each turn", _PART, recent=40),
    _turn("most of a small folder", _PART, files=_FEW),
    _turn(
        "overwritten",
        "from pathlib import Path\nfor p in Path('photos').iterdir():\n    p.write_text('x' * 200)",
    ),
    _turn(
        "overwritten after a look at the first bytes of another",
        "from pathlib import Path\nhead = Path('photos/000.jpg').read_bytes()\n"
        "for p in sorted(Path('photos').iterdir())[1:]:\n    p.write_bytes(head)",
    ),
    _turn(
        "emptied",
        "from pathlib import Path\nfor p in Path('photos').iterdir():\n    open(p, 'w').close()",
    ),
    _turn(
        "shortened after reading",
        "from pathlib import Path\nfor p in Path('photos').iterdir():\n"
        "    p.write_text(p.read_text()[:3])",
    ),
    _turn(
        "moved out",
        "import shutil, os\nfor name in os.listdir('photos'):\n"
        "    shutil.move('photos/' + name, '{other}/' + name)",
        other={"x.txt": "x"},
    ),
    _turn(
        "moved out of sight",
        "import os\nos.mkdir('.trash')\nfor name in os.listdir('photos'):\n"
        "    os.rename('photos/' + name, '.trash/' + name)",
    ),
    _turn(
        "moved onto one another",
        "import os\nfor name in sorted(os.listdir('photos')):\n"
        "    os.replace('photos/' + name, 'photos/000.jpg')",
    ),
    _turn(
        "deleted under a grant for a few",
        "import os\nfor name in sorted(os.listdir('photos'))[:60]:\n    os.remove('photos/' + name)",
        standing=("delete:1000",),
    ),
    _turn(
        "replaced by links to one",
        "import shutil, os\nfor name in sorted(os.listdir('photos'))[1:]:\n"
        "    shutil.copyfile('photos/000.jpg', 'photos/' + name)",
    ),
    _turn(
        "many folders, under a grant",
        "import os\nfor n in range(8):\n    os.rmdir(f'd{n}')",
        names=("many-folders",),
        files={f"d{n}/": "" for n in range(8)},
        standing=("delete:100",),
    ),
    _turn(
        "originals go after an archive that nobody opened again",
        "import zipfile, os\nnames = os.listdir('photos')\n"
        "with zipfile.ZipFile('backup.zip', 'w') as z:\n    for name in names:\n"
        "        z.write('photos/' + name)\nfor name in names[:9]:\n    os.remove('photos/' + name)",
        names=("copy-unverified",),
    ),
    _turn(
        "an original goes after a copy that is not the same",
        "import os\ntext = open('a.txt').read()\nopen('a_backup.txt', 'w').write(text[:5])\n"
        "os.remove('a.txt')",
        names=("copy-unverified",),
        files={"a.txt": "a long text, and more of it"},
    ),
)
