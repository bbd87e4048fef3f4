"""Offline means no connection to anything: every attempt in this process is watched for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.engine.engine import Engine
from app.engine.offline import OfflineError
from app.settings import NetworkSettings
from app.store.records import Folder
from sandbox.grants import grants_of
from sandbox.secrets import Binding, BoundHost
from tests.app.vault.canaries import DictKeyring
from tests.fakes import ScriptedModels
from tests.remote_turns import MODEL, remote_chat, remote_engine
from tests.sandbox.loopback import serve
from tests.turns import run

_attempts: list[str] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: it cannot be taken away again, so it looks whether it is wanted."""
    if _attempts is None:
        return
    match event:
        case "socket.connect" | "socket.sendto" if not isinstance(arguments[1], str | bytes):
            _attempts.append(f"{event} {arguments[1]}")
        case "socket.getaddrinfo":
            _attempts.append(f"{event} {arguments[0]}")
        case "subprocess.Popen" if "pip" in str(arguments[1]):
            _attempts.append(f"{event} {arguments[1]}")


sys.addaudithook(_watch)


@pytest.fixture
def attempts() -> Iterator[list[str]]:
    """What was tried to connect to."""
    global _attempts
    _attempts = []
    yield _attempts
    _attempts = None


async def go_offline(engine: Engine) -> None:
    settings = await engine.settings()
    network = NetworkSettings(offline=True)
    await engine.change_settings(settings.model_copy(update={"network": network}))


async def everything(engine: Engine, folder: Path, url: str) -> None:
    """All that connects to something when it may."""
    with pytest.raises(OfflineError):
        await engine.shelf.fetch("local:smollm2-135m")
    ended = await engine.shelf.fetches.run("local:smollm2-135m")
    assert "offline" in ended.problem
    tested = await engine.places.test(MODEL)
    assert not tested.ok
    assert "offline" in tested.message
    assert tested.hint
    chat = await remote_chat(engine, folder)
    turn = await engine.wait((await engine.send(chat.chat_id, "Count the files")).turn_id)
    assert turn.status == "failed"
    assert turn.problem is not None
    assert "offline" in turn.problem.message
    local = await engine.new_chat([Folder(path=str(folder))], "local:scripted")
    for call in (f"fetch_url({url!r})", f"http_request('POST', {url!r}, body='x')"):
        started = await engine.run_program(
            local.chat_id, f"reply = await {call}\n", "read", grants=grants_of(["host:127.0.0.1"])
        )
        turn = await engine.wait(started.turn_id)
        assert turn.status == "failed", turn
        fault = turn.programs[-1].fault
        assert fault is not None
        assert "offline" in fault.message


def test_nothing_is_connected_to(drydock_home: Path, tmp_path: Path, attempts: list[str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()

    async def work() -> None:
        async with remote_engine(drydock_home, local=ScriptedModels()) as (engine, server):
            await go_offline(engine)
            attempts.clear()
            await everything(engine, folder, f"{server.address}/page")
            assert attempts == []
            assert server.received == []

    run(work)


def test_the_watch_sees_a_connection(
    drydock_home: Path, tmp_path: Path, attempts: list[str]
) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home) as (engine, _):
            attempts.clear()
            await engine.places.test(MODEL)
            assert any("127.0.0.1" in one for one in attempts)

    run(work)


def test_a_turn_that_is_under_way_connects_no_more(
    drydock_home: Path, tmp_path: Path, attempts: list[str]
) -> None:
    """The settings are asked right before each connection, not when the turn began."""
    from sandbox.addresses import target_of
    from sandbox.network import Network, Request

    offline = False
    with serve() as server:
        network = Network(grants=grants_of(["host:127.0.0.1"]), offline=lambda: offline)
        try:
            request = Request(method="GET", target=target_of(server.page("/page", "hello")))
            answer = network.start(request, lambda _: None, lambda response: response)
            assert answer.result(60).status == 200
            offline = True
            attempts.clear()
            refused = network.start(request, lambda _: None, lambda response: response)
            with pytest.raises(PermissionError, match="offline"):
                refused.result(60)
            assert attempts == []
        finally:
            network.close()


def test_a_secret_is_not_tried(drydock_home: Path, attempts: list[str]) -> None:
    async def work() -> None:
        async with remote_engine(drydock_home, keyring=DictKeyring()) as (engine, _):
            host = BoundHost(name="127.0.0.1", port=9)
            await engine.secrets.add(Binding(name="here", hosts=(host,)), "value-of-it", "keyring")
            await go_offline(engine)
            attempts.clear()
            trial = await engine.secrets.trial("here")
            assert trial.works is None
            assert "offline" in trial.message
            assert attempts == []

    run(work)


def test_the_command_line_has_a_switch(
    drydock_home: Path, attempts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for argv in (
        ["models", "pull", "smollm2-135m", "qwen2.5-coder-0.5b", "--offline"],
        ["--offline", "models", "pull", "smollm2-135m"],
        ["--offline", "models", "test", "openai:gpt-5"],
    ):
        assert cli.run(argv) in {1, 4}, argv
        assert "offline" in capsys.readouterr().err
    assert attempts == []
