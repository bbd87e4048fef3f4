"""Programs keep results, read parts of them and look at pictures."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from sandbox.artifacts import Artifacts
from sandbox.blobs import BlobStore
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from tests.sandbox.running import LIMITS, AllowAll, ListJournal


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20)).save(out, "PNG")
    return out.getvalue()


def _run(source: str, tmp_path: Path, pool: SandboxPool, *, sees: bool) -> Outcome:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    (folder / "a.png").write_bytes(_png())
    stage = Stage([FolderGrant(path=folder)], BlobStore(tmp_path / "blobs"))
    stage.push()
    runner = Runner(pool, LIMITS, artifacts=Artifacts(tmp_path / "artifacts"))
    return runner.run(
        prepare(source),
        program_id="p1",
        stage=stage,
        gate=AllowAll(),
        journal=ListJournal(),
        listen=lambda _: None,
        stop=StopToken(),
        sees=sees,
    )


def test_a_model_that_sees_gets_the_picture_and_the_program_words(
    tmp_path: Path, pool: SandboxPool
) -> None:
    outcome = _run("print(look('a.png'))", tmp_path, pool, sees=True)
    assert "PNG, 30 x 20 pixels" in outcome.printed
    assert "shown to you" in outcome.printed
    kept = outcome.looks[0]
    assert kept.media_type == "image/png"
    assert Artifacts(tmp_path / "artifacts").read(kept.artifact_id) == _png()
    assert [effect.kind for effect in outcome.effects] == ["read"]


def test_a_model_that_does_not_see_is_told_what_it_is(tmp_path: Path, pool: SandboxPool) -> None:
    outcome = _run("print(look('a.png'))", tmp_path, pool, sees=False)
    assert "PNG, 30 x 20 pixels" in outcome.printed
    assert "cannot see pictures" in outcome.printed
    assert not outcome.looks


def test_a_result_is_kept_and_read_in_parts_by_a_later_program(
    tmp_path: Path, pool: SandboxPool
) -> None:
    source = "kept = keep_artifact('x' * 9000 + 'end', 'long.txt')\nprint(kept['id'])"
    first = _run(source, tmp_path, pool, sees=False)
    (kept,) = first.kept
    assert first.printed.strip() == kept.artifact_id
    assert kept.size_bytes == 9_003
    later = f"print(artifact_text('{kept.artifact_id}', start=9000))"
    assert _run(later, tmp_path, pool, sees=False).printed == "end\n"


def test_what_is_not_there_is_a_missing_file(tmp_path: Path, pool: SandboxPool) -> None:
    source = (
        "try:\n    artifact_text('artifact-0000000000000000')\n"
        "except FileNotFoundError:\n    print('no')"
    )
    assert _run(source, tmp_path, pool, sees=False).printed == "no\n"
