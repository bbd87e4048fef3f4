"""Which folders may be opened to programs: the person's, and nothing of Drydock's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.demo import make_demo
from app.engine.folders import open_grants
from app.errors import AppError
from app.paths import Paths
from app.store.records import Folder
from tests.fakes import ScriptedModels, program_reply
from tests.turns import ask, engine_with, run


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    home = tmp_path / "person" / "drydock"
    for name in ("undo/turn", "stage", "demo"):
        (home / name).mkdir(parents=True)
    return Paths(home=home)


def granted(path: Path, paths: Paths) -> Path:
    return open_grants([Folder(path=str(path))], paths)[0].path


@pytest.mark.parametrize("inside", [".", "undo", "undo/turn", "stage", "demo", "demo/.."])
def test_a_folder_of_drydocks_own_is_refused(paths: Paths, inside: str) -> None:
    with pytest.raises(AppError, match="belongs to Drydock") as caught:
        granted(paths.home / inside, paths)
    assert caught.value.hint


def test_a_link_to_a_folder_of_drydocks_own_is_refused(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(paths.home)
    with pytest.raises(AppError, match="belongs to Drydock"):
        granted(tmp_path / "link", paths)


def test_a_copy_of_the_demo_folder_is_the_persons(paths: Paths) -> None:
    folder = make_demo(paths).folder
    assert granted(folder, paths) == folder.resolve()


def test_a_folder_beside_the_home_is_the_persons(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "person/drydock-notes").mkdir()
    assert granted(tmp_path / "person/drydock-notes", paths)


def test_the_home_is_closed_in_a_folder_that_holds_it(paths: Paths, tmp_path: Path) -> None:
    grant = open_grants([Folder(path=str(tmp_path / "person"))], paths)[0]
    assert grant.closed == (paths.home.resolve(),)


def test_a_program_does_not_find_the_home_in_a_folder_that_holds_it(tmp_path: Path) -> None:
    home = tmp_path / "drydock"
    home.mkdir()
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    source = (
        "import os\nfrom pathlib import Path\nseen = str(sorted(os.listdir('.')))\n"
        "try:\n    Path('drydock/store.db').write_text('x')\n"
        "except PermissionError as error:\n    seen = f'{seen} {error}'\n"
        "Path('seen.txt').write_text(seen)\n"
    )

    async def work() -> None:
        async with engine_with(home, ScriptedModels(program_reply(source))) as engine:
            turn = await ask(engine, tmp_path)
            assert turn.changes is not None
            turn = await engine.decide(turn.turn_id, approved=[c.id for c in turn.changes.changes])
            assert turn.committed
            seen = (tmp_path / "seen.txt").read_text("utf-8")
            assert seen.startswith("['notes.txt'] ")
            assert "belongs to Drydock" in seen
            with pytest.raises(AppError, match="belongs to Drydock"):
                await engine.new_chat([Folder(path=str(home / "undo"))])

    run(work)
