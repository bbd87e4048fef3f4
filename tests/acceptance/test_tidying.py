"""Jobs 9, 10, 12, 13: sorting by type, names for Windows, a word in configs, empty folders."""

from __future__ import annotations

import csv
import os
import re
import stat
import unicodedata

from tests.acceptance.job import Job, digests, tree

BY_TYPE = """
import shutil
from pathlib import Path

kinds = {".pdf": "Documents", ".docx": "Documents", ".jpg": "Pictures", ".png": "Pictures",
         ".zip": "Archives", ".mp3": "Music"}
count = 0
for path in sorted(Path(".").iterdir()):
    if not path.is_file() or path.name.startswith("."):
        continue
    folder = Path(kinds.get(path.suffix.lower(), "Other"))
    folder.mkdir(exist_ok=True)
    target = folder / path.name
    shutil.move(str(path), str(target))
    count += 1
print(f"Moved {count} files.")
"""


def test_downloads_are_sorted_by_type_and_come_back_with_their_times(job: Job) -> None:
    names = [
        "a.PDF",
        "b.docx",
        "c.jpg",
        "d.png",
        "e.zip",
        "f.mp3",
        "g",
        "\u00fc \u4e2d.pdf",
        "h i.jpg",
    ]
    for number, name in enumerate(names):
        path = job.folder / name
        path.write_bytes(b"%d" % number * 10)
        path.chmod(0o600 if number % 2 else 0o644)
        os.utime(path, ns=(1, 1_600_000_000_000_000_001 + number))
    (job.folder / "kept").mkdir()
    (job.folder / "kept" / "c.jpg").write_bytes(b"k")
    (job.folder / ".hidden").write_bytes(b"h")
    os.utime(job.folder, ns=(1, 1_500_000_000_000_000_007))
    job.begin()
    job.review(BY_TYPE)
    assert job.kinds() == {"move": 9, "mkdir": 5}
    job.approve()
    assert digests(tree(job.folder)) == digests(job.before)
    assert "Documents/\u00fc \u4e2d.pdf" in job.names()
    assert {"kept/c.jpg", ".hidden"} <= job.names()
    job.undo()


SAFE_NAMES = """
import csv
import os
import re
import unicodedata
from pathlib import Path

RESERVED = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10)}

def key(name):
    return unicodedata.normalize("NFC", name).casefold()

def safe(name):
    name = re.sub(r'[<>:"/|?*]', "_", name).replace(chr(92), "_")
    name = name.rstrip(". ") or "_"
    if name.split(".")[0].strip().lower() in RESERVED:
        name = "_" + name
    return name

rows = []
for folder, folders, files in os.walk(".", topdown=False):
    taken = set()
    for name in sorted(folders + files):
        wanted = safe(name)
        stem, ending = os.path.splitext(wanted)
        number = 2
        while key(wanted) in taken:
            wanted = f"{stem} ({number}){ending}"
            number += 1
        taken.add(key(wanted))
        if wanted != name:
            os.rename(os.path.join(folder, name), os.path.join(folder, wanted))
            rows.append([os.path.join(folder, name), wanted])
with open("renamed.csv", "w", newline="", encoding="utf-8") as out:
    writer = csv.writer(out)
    writer.writerow(["before", "after"])
    writer.writerows(rows)
print(f"Renamed {len(rows)}.")
"""
STRANGE = (
    "con.txt", "AUX", "what?.txt", "a:b.txt", "end.", "space ", 'quote".txt',
    "Readme.md", "README.md", "u\u0308.txt", "\u00fc.txt", "pipe|in/lpt1.log", "fine.txt",
    "Lpt9.tar.gz",
)  # fmt: skip
REFUSED = re.compile(r"^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)|[<>:\"|?*]|[. ]$", re.I)


def test_names_become_safe_for_windows_and_none_is_merged(job: Job) -> None:
    for number, name in enumerate(STRANGE):
        path = job.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"%d" % number)
    job.begin()
    job.review(SAFE_NAMES)
    job.approve()
    after = tree(job.folder)
    paths = [name for name in after if name not in (".", "renamed.csv")]
    assert not [name for name in paths if any(REFUSED.search(part) for part in name.split("/"))]
    folded = {unicodedata.normalize("NFC", name).casefold() for name in paths}
    assert len(folded) == len(paths) == len(job.before) - 1
    kept = digests(after) - digests({"m": after["renamed.csv"]})
    assert kept == digests(job.before)
    with (job.folder / "renamed.csv").open(encoding="utf-8", newline="") as mapping:
        rows = list(csv.reader(mapping))
    assert rows[0] == ["before", "after"]
    assert len(rows) - 1 == sum(REFUSED.search(p.rsplit("/", 1)[-1]) is not None for p in job.before
                                if p != ".") + 2  # fmt: skip
    job.undo()


CONFIGS = r"""
import re
from pathlib import Path

word = re.compile(r"(?<![A-Za-z0-9_.-])api\.old(?![A-Za-z0-9_-]|\.[A-Za-z0-9_])")
count = 0
for path in sorted(Path(".").rglob("*")):
    if path.is_file() and path.suffix in (".ini", ".json", ".yaml", ".conf"):
        text = path.read_bytes().decode("latin-1")  # every byte is a character, and stays one
        changed = word.sub("api.new", text)
        if changed != text:
            path.write_bytes(changed.encode("latin-1"))
            count += 1
print(f"Changed {count} files.")
"""


def test_one_word_changes_in_all_configs_and_nothing_else_of_them(job: Job) -> None:
    expected: dict[str, bytes] = {}
    for number in range(50):
        end = ("\n", "\r\n")[number % 2]
        encoding = ("utf-8", "latin-1", "utf-8-sig")[number % 3]
        ending = (".ini", ".json", ".yaml", ".conf")[number % 4]
        text = f"# k\u00f6nig {number}{end}host = api.old{end}other = my-api.old{end}"
        text += f"x = api.older{end}"
        text += f"url = http://api.old/path{end}sub = www.api.old" + ("" if number % 5 else end)
        path = job.folder / f"{number % 7}" / f"c{number:02}{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode(encoding))
        path.chmod((0o644, 0o600, 0o755)[number % 3])
        new = text.replace("host = api.old", "host = api.new").replace("//api.old/", "//api.new/")
        expected[os.path.relpath(path, job.folder)] = new.encode(encoding)
    (job.folder / "notes.txt").write_text("api.old", encoding="utf-8")
    job.begin()
    run = job.review(CONFIGS)
    assert job.kinds() == {"modify": 50}
    assert run["answer"] == "Changed 50 files."
    job.approve()
    after = tree(job.folder)
    for name, content in expected.items():
        assert (job.folder / name).read_bytes() == content
        assert after[name][0] == job.before[name][0]
    assert after["notes.txt"] == job.before["notes.txt"]
    job.undo()


EMPTY = """
import os

removed = []
for folder, folders, files in os.walk(".", topdown=False):
    if folder == "." or os.path.islink(folder):
        continue
    if not os.listdir(folder):
        os.rmdir(folder)
        removed.append(folder)
print(f"Removed {len(removed)} empty folders.")
"""


def test_only_truly_empty_folders_go_and_link_loops_are_safe(job: Job) -> None:
    for name in ("e1", "e2/e3/e4", "e5", "e6", "hidden", "full", "linked", "target"):
        (job.folder / name).mkdir(parents=True)
    (job.folder / "hidden" / ".keep").write_bytes(b"")
    (job.folder / "full" / "f").write_bytes(b"f")
    (job.folder / "linked" / "loop").symlink_to("..")
    (job.folder / "to-target").symlink_to("target")
    (job.folder / "target" / "f").write_bytes(b"t")
    job.begin()
    run = job.review(EMPTY)
    assert job.kinds() == {"rmdir": 6}
    assert run["answer"] == "Removed 6 empty folders."
    job.approve()
    left = {name for name, (mode, _, _) in tree(job.folder).items() if stat.S_ISDIR(mode)}
    assert left == {".", "hidden", "full", "linked", "target"}
    assert {"linked/loop", "to-target", "hidden/.keep"} <= job.names()
    job.undo()


def test_more_than_five_deleted_folders_are_asked_about_even_under_a_standing_grant(
    job: Job,
) -> None:
    for number in range(6):
        (job.folder / f"e{number}").mkdir()
    job.begin()
    job.review(EMPTY, "--grant", "commit:new-files")
    assert job.run["status"] == "waiting"
