"""`drydock run` with remote models, `models test` and `costs`, as commands."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.cli import run
from app.paths import Paths
from app.settings import (
    BudgetSettings,
    PriceSettings,
    RemoteSettings,
    ServerSettings,
    Settings,
    save_settings,
)
from tests.wire.openai_chat import answer, fault
from tests.wire.reply import Call, Reply
from tests.wire.server import Answer, WireServer, serving

MODEL = "compatible:here/qwen3-coder"
PRICE = PriceSettings(model=MODEL, input=Decimal(3), output=Decimal(15))
ASKS = Reply(calls=(Call(args={"source": 'open("new.txt", "w").write("x")\nprint("made")'}),))
ANSWERS = Reply(text="I made new.txt.")


class Served:
    """A server on a loop of its own, since a command has its own."""

    def __init__(self, *answers: Answer) -> None:
        import asyncio

        self.server: WireServer | None = None
        self._ready, self._done = threading.Event(), asyncio.Event()

        async def work() -> None:
            self._loop = asyncio.get_running_loop()
            async with serving(*answers) as server:
                self.server = server
                self._ready.set()
                await self._done.wait()

        self._thread = threading.Thread(target=lambda: asyncio.run(work()), daemon=True)
        self._thread.start()
        self._ready.wait(60)

    def close(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(60)


@pytest.fixture
def serve(drydock_home: Path) -> Iterator[Any]:
    """Starts the server "here", and writes settings that name it."""
    started: list[Served] = []

    def start(*answers: Answer, **settings: Any) -> WireServer:
        served = Served(*answers)
        started.append(served)
        assert served.server is not None
        here = ServerSettings(name="here", address=f"{served.server.address}/v1")
        remote = RemoteSettings(models=(MODEL,), servers=(here,), prices=(PRICE,))
        save_settings(Paths(home=drydock_home).settings, Settings(remote=remote, **settings))
        return served.server

    yield start
    for served in started:
        served.close()


def last_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def command(folder: Path, *more: str) -> list[str]:
    return ["run", "Make a file", "--folder", str(folder), "--model", MODEL, "--json", *more]


def test_a_run_with_a_remote_model_tells_what_it_cost(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(answer(ASKS), answer(ANSWERS))
    assert run(command(tmp_path, "--approve", "all")) == 0
    told = last_json(capsys)
    assert (tmp_path / "new.txt").read_text("utf-8") == "x"
    assert told["answer"] == "I made new.txt."
    # 2 x (1200 read at 3 + 40 written at 15) per million
    assert (told["usage"]["money"], told["usage"]["currency"]) == ("0.0084", "USD")
    assert len(server.received) == 2
    assert run(["costs", "--json"]) == 0
    assert last_json(capsys)["today"]["money"] == {"USD": "0.0084"}
    assert run(["costs", "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_key_is_taken_from_standard_input_for_this_run(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    server = serve(answer(ANSWERS))
    monkeypatch.setattr(sys, "stdin", io.StringIO("sk-from-stdin\n"))
    assert run(command(tmp_path, "--key-stdin", "--approve", "never")) == 0
    assert server.received[0].headers["authorization"] == "Bearer sk-from-stdin"
    assert "sk-from-stdin" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("openai:gpt-5", "no key for OpenAI"),
        ("compatible:nowhere/x", "no server named nowhere"),
        ("anthropic:", "does not say which model"),
    ],
)
def test_what_cannot_be_used_ends_with_exit_code_4(
    model: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["run", "x", "--folder", str(tmp_path), "--model", model, "--json"])
    assert code == 4
    error = last_json(capsys)["error"]
    assert words in error["message"]
    assert error["hint"]


def test_a_fault_of_the_provider_ends_with_exit_code_4(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(fault(401, "invalid_api_key", "Wrong."))
    assert run(command(tmp_path)) == 4
    assert "does not take the key" in last_json(capsys)["error"]["message"]


def test_a_budget_stops_a_run_and_says_what_is_left(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(answer(ANSWERS), budget=BudgetSettings(day=Decimal("0.05")))
    assert run(command(tmp_path)) == 4
    assert "0.05 USD is left" in last_json(capsys)["error"]["message"]
    assert not server.received


def test_local_only_sends_nothing(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(answer(ANSWERS))
    assert run(command(tmp_path, "--local-only")) == 4
    assert "local only" in last_json(capsys)["error"]["message"]
    assert not server.received


def test_a_provider_that_is_not_known_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "x", "--folder", str(tmp_path), "--model", "nobody:x", "--json"]) == 2
    assert "no provider named nobody" in last_json(capsys)["error"]["message"]


def test_a_test_says_what_is_wrong(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    serve(answer(ANSWERS), fault(404, "model_not_found", "No."))
    assert run(["models", "test", MODEL, "--json"]) == 0
    assert run(["models", "test", MODEL, "--json"]) == 4
    assert last_json(capsys)["error"]["code"] == "no_such_model"
