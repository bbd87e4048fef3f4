"""Workspaces through a real engine: made when used, kept with the chat, gone with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.workspaces import Workspaces
from app.errors import NotFoundError
from app.paths import Paths
from app.settings import Settings, WorkspaceSettings
from app.store.records import Folder, TurnRecord
from sandbox.grants import grants_of
from tests.fakes import ScriptedModels
from tests.turns import engine_with, run

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WRITES = "echo b >> a.txt; mkdir n; echo c > n/c; pwd"
KEEPS = "echo kept > /root/kept"
GRANTS = grants_of(frozenset({f"command:{WRITES}", f"command:{KEEPS}", "command:cat *"}))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text(json.dumps({"workspace": {"kind": "bubblewrap"}}))
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    return folder


async def execute(engine: Engine, folder: Path, source: str) -> TurnRecord:
    chat = await engine.new_chat([Folder(path=str(folder))])
    turn = await engine.run_program(chat.chat_id, source, "test", grants=GRANTS)
    return await engine.wait(turn.turn_id)


def test_a_command_is_reviewed_committed_and_undone(home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(home, ScriptedModels([])) as engine:
            source = f"print(run_command({WRITES!r})['stdout'])"
            turn = await execute(engine, folder, source)
            assert turn.status == "waiting", turn.problem
            assert turn.programs[0].printed.strip() == f"/workspace/{folder.name}"
            assert (folder / "a.txt").read_text() == "a\n"
            assert turn.changes is not None
            ids = {change.id for change in turn.changes.changes}
            turn = await engine.decide(turn.turn_id, approved=ids)
            assert (folder / "a.txt").read_text() == "a\nb\n"
            assert (folder / "n/c").read_text() == "c\n"
            await engine.undo(turn.turn_id)
            assert (folder / "a.txt").read_text() == "a\n"
            assert not (folder / "n").exists()

    run(work)


def test_a_workspace_stays_with_its_chat_and_goes_with_it(home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(home, ScriptedModels([])) as engine:
            turn = await execute(engine, folder, f"run_command({KEEPS!r})")
            chat_id = turn.chat_id
            (info,) = engine.workspaces.list()
            assert (info.chat_id, info.rung, info.running) == (chat_id, "bubblewrap", True)
            assert info.size_bytes > 0
        async with engine_with(home, ScriptedModels([])) as engine:
            source = "print(run_command('cat /root/kept')['stdout'])"
            turn = await engine.run_program(chat_id, source, "again", grants=GRANTS)
            turn = await engine.wait(turn.turn_id)
            assert turn.programs[0].printed.strip() == "kept"
            await engine.delete_chat(chat_id)
            assert engine.workspaces.list() == ()
            assert list((home / "workspaces/chats").iterdir()) == []

    run(work)


def test_a_command_needs_its_grant(home: Path, folder: Path) -> None:
    async def work() -> None:
        async with engine_with(home, ScriptedModels([])) as engine:
            chat = await engine.new_chat([Folder(path=str(folder))])
            turn = await engine.run_program(chat.chat_id, "run_command('touch x')", "test")
            turn = await engine.wait(turn.turn_id)
            assert turn.status in ("failed", "asking")
            assert not (home / "workspaces/chats" / chat.chat_id / chat.chat_id).exists()

    run(work)


def test_what_belongs_to_no_chat_is_swept(home: Path) -> None:
    workspaces = Workspaces(Paths(home=home), Settings)
    (home / "workspaces/chats/abc123").mkdir(parents=True)
    (home / "workspaces/chats/def456").mkdir()
    workspaces.sweep({"def456"})
    assert [info.chat_id for info in workspaces.list()] == ["def456"]
    with pytest.raises(NotFoundError):
        workspaces.reset("abc123")
    with pytest.raises(NotFoundError):
        workspaces.delete("../../etc")


def test_off_is_none(home: Path) -> None:
    settings = Settings(workspace=WorkspaceSettings(kind="off"))
    workspaces = Workspaces(Paths(home=home), lambda: settings)
    assert workspaces.state() is None
    assert workspaces.of("abc123") is None
