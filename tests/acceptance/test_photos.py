"""Jobs 1 and 2: photos by the date taken, and exact duplicates."""

from __future__ import annotations

import io
import os
import stat
from datetime import UTC, datetime

from PIL import Image

from tests.acceptance.job import Job, digests, tree

BY_DATE = """
from datetime import datetime, timezone
from pathlib import Path

by_time = []
for path in sorted(Path(".").glob("*.jpg")):
    info = await image_info(path)
    taken = info["taken"]
    if taken is None:
        by_time.append(path.name)
        taken = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).isoformat()
    day = taken[:10]
    folder = Path(day[:7])
    target = folder / f"{day}.jpg"
    number = 2
    while target.exists():
        target = folder / f"{day}-{number}.jpg"
        number += 1
    folder.mkdir(exist_ok=True)
    path.rename(target)
print(f"{len(by_time)} photos have no date taken; their modification time was used: {by_time}")
"""


def photo(number: int, taken: datetime | None) -> bytes:
    """A small JPEG of its own with a date taken, or without."""
    made = io.BytesIO()
    exif = Image.Exif()
    if taken is not None:
        exif.get_ifd(0x8769)[0x9003] = taken.strftime("%Y:%m:%d %H:%M:%S")
    colour = (number % 256, number // 256, 7)
    Image.new("RGB", (16, 16), colour).save(made, "JPEG", exif=exif, comment=b"%d" % number)
    return made.getvalue()


def test_two_hundred_photos_go_into_the_folder_of_their_month(job: Job) -> None:
    expected: dict[str, str] = {}
    for number in range(200):
        day = datetime(2024, 1 + number % 12, 1 + number // 2 % 28, 12, tzinfo=UTC)
        has_date = number % 10 != 0
        path = job.folder / f"IMG_{number:04}.jpg"
        path.write_bytes(photo(number, day if has_date else None))
        modified = day if not has_date else datetime(2020, 5, 5, tzinfo=UTC)
        os.utime(path, (modified.timestamp(), modified.timestamp()))
        expected[path.name] = f"{day:%Y-%m}/{day:%Y-%m-%d}"
    job.begin()
    run = job.review(BY_DATE)
    assert job.kinds() == {"move": 200, "mkdir": 12}
    assert "20 photos have no date taken" in run["answer"]
    job.approve()
    after = tree(job.folder)
    assert digests(after) == digests(job.before)
    at = {change["path"]: change["target"] for change in run["changes"] if change["target"]}
    for name, start in expected.items():
        target = at[str(job.folder / name)]
        assert target.startswith(str(job.folder / start))
        relative = os.path.relpath(target, job.folder)
        assert after[relative] == job.before[name]  # content, mode and time
    job.undo()


DUPLICATES = """
import hashlib
import os
from pathlib import Path

by_digest = {}
skipped = []
inodes = set()
for path in sorted(Path(".").rglob("*")):
    if path.is_symlink() or not path.is_file():
        continue
    st = path.stat()
    if st.st_size == 0:
        skipped.append(f"{path} is empty")
        continue
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except PermissionError as error:
        skipped.append(f"{path}: {error}")
        continue
    by_digest.setdefault(digest, []).append(path)
removed = 0
for same in by_digest.values():
    same.sort(key=lambda path: os.stat(path).st_mtime)
    for path in same[1:]:
        removed += os.stat(path).st_size
        path.unlink()
print(f"{removed} bytes in duplicates; skipped: {skipped}")
"""


def test_duplicates_go_and_the_oldest_of_each_stays(job: Job) -> None:
    (job.folder / "in").mkdir()
    for name, content, at in (
        ("new.txt", b"same", 300),
        ("oldest.txt", b"same", 100),
        ("in/old.txt", b"same", 200),
        ("alone.txt", b"sane", 50),
        ("empty1", b"", 1),
        ("empty2", b"", 2),
        (".photo.heic.icloud", b"same", 10),
    ):
        (job.folder / name).write_bytes(content)
        os.utime(job.folder / name, (at, at))
    (job.folder / "link").symlink_to("oldest.txt")
    job.begin()
    run = job.review(DUPLICATES)
    assert job.kinds() == {"delete": 2}
    assert "8 bytes" in run["answer"]
    assert "empty1 is empty" in run["answer"]
    assert ".photo.heic.icloud" in run["answer"]
    assert sum(change["size_before"] for change in run["changes"]) == 8
    job.approve()
    assert job.names() == {
        "oldest.txt", "alone.txt", "empty1", "empty2", ".photo.heic.icloud", "link",
    }  # fmt: skip
    assert stat.S_ISLNK(tree(job.folder)["link"][0])
    job.undo()
