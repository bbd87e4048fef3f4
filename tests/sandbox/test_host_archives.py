"""Archives are unpacked inside the folder that was named, and to no more than they should."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from tests.sandbox.running import Ran, run_here, tree_on_stage

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def run(source: str, folder: Path, pool: SandboxPool) -> Ran:
    return run_here(source, folder, pool)


def test_a_member_whose_name_leads_out_is_unpacked_inside(folder: Path, pool: SandboxPool) -> None:
    with zipfile.ZipFile(folder / "evil.zip", "w") as archive:
        archive.writestr("../../out.txt", "x")
        archive.writestr("/etc/passwd", "y")
    ran = run("import zipfile\nzipfile.ZipFile('evil.zip').extractall('to')", folder, pool)
    assert ran.outcome.fault is None
    names = {name for name in tree_on_stage(ran.stage) if name.startswith("to/")}
    assert names == {"to/out.txt", "to/etc", "to/etc/passwd"}


def test_a_link_in_an_archive_is_not_unpacked(folder: Path, pool: SandboxPool) -> None:
    with tarfile.open(folder / "evil.tar", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    ran = run("import tarfile\ntarfile.open('evil.tar').extractall('to')", folder, pool)
    assert ran.outcome.fault is not None
    assert ran.outcome.fault.type == "PermissionError"


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_stopped(
    folder: Path, pool: SandboxPool
) -> None:
    with (
        zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("zeros", "w") as out,
    ):
        for _ in range(100):
            out.write(bytes(MIB))
    assert (folder / "bomb.zip").stat().st_size < MIB
    ran = run("import zipfile\nzipfile.ZipFile('bomb.zip').extractall('to')", folder, pool)
    assert ran.outcome.fault is not None
    assert "far more than its size" in ran.outcome.fault.message


def test_gzip_data_that_unpacks_to_too_much_is_refused(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import gzip\ndata = b''.join([gzip.compress(bytes(1024 * 1024))] * 80)\n"
        "print(len(gzip.decompress(data)))\n"
    )
    ran = run(source, folder, pool)
    assert ran.outcome.fault is not None
    assert "unpacks to too much" in ran.outcome.fault.message


def test_what_is_packed_and_unpacked_is_recorded(folder: Path, pool: SandboxPool) -> None:
    (folder / "a.txt").write_text("alpha", encoding="utf-8")
    source = (
        "import zipfile\nwith zipfile.ZipFile('a.zip', 'w') as z:\n    z.write('a.txt')\n"
        "with zipfile.ZipFile('a.zip') as z:\n    z.extractall('to')\n"
    )
    effects = run(source, folder, pool).outcome.effects
    told = [(e.kind, Path(e.path).name, e.span.line if e.span else None) for e in effects]
    assert ("read", "a.txt", 2) in told
    assert ("create", "a.txt", 4) in told
    assert {name for kind, name, _ in told if kind in ("create", "modify")} >= {"a.zip", "a.txt"}


def test_an_archive_written_here_is_whole_for_everybody(folder: Path, pool: SandboxPool) -> None:
    (folder / "a.txt").write_text("alpha" * 1000, encoding="utf-8")
    source = (
        "import zipfile\nwith zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as z:\n"
        "    z.write('a.txt', 'in/a.txt')\n    z.writestr('b', 'beta')\n"
    )
    ran = run(source, folder, pool)
    data = ran.stage.read_bytes(f"{ran.stage.cwd}/a.zip")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.read("in/a.txt") == b"alpha" * 1000


def test_temporary_files_are_gone_at_the_end(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import tempfile\nfrom pathlib import Path\nd = tempfile.mkdtemp()\n"
        "Path(d, 'x').write_text('x')\nprint(Path(d, 'x').exists())\n"
    )
    ran = run(source, folder, pool)
    assert ran.outcome.printed == "True\n"
    assert tree_on_stage(ran.stage) == {}


def test_xml_with_entities_of_its_own_is_not_read(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import xml.etree.ElementTree as ET\n"
        "ET.fromstring('<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>')\n"
    )
    fault = run(source, folder, pool).outcome.fault
    assert fault is not None
    assert "entities" in fault.message


def test_a_database_query_reaches_no_other_file(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import sqlite3\ndb = sqlite3.connect(':memory:')\ndb.execute(\"ATTACH 'x.db' AS x\")\n"
    )
    fault = run(source, folder, pool).outcome.fault
    assert fault is not None
    assert not (folder / "x.db").exists()
