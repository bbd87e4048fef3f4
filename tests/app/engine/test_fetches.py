"""The queue of downloads: its order, pausing, faults, and that it survives the app's end."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.events import FetchEnded, FetchProgressed
from app.engine.mailbox import Mailbox
from app.engine.offline import OfflineError
from app.paths import Paths
from app.settings import NetworkSettings
from models import fetch as fetching
from models.catalog import Catalog
from models.errors import ModelError
from models.library import model_path, partial_bytes
from tests.fakes import ScriptedModels
from tests.models.fetching import CONTENT, HUB, entry
from tests.models.hub import Hub, serve
from tests.turns import run

A, B, C = (replace(entry(HUB), id=name, name=name.upper()) for name in "abc")
CATALOG = Catalog(entries=(A, B, C))


@pytest.fixture(autouse=True)
def _plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fetching, "_MARGIN_BYTES", 0)


@asynccontextmanager
async def engine_at(home: Path, *, background: bool = False) -> AsyncGenerator[Engine]:
    engine = Engine(Paths(home=home), Mailbox(), models=ScriptedModels(), catalog=CATALOG)
    await engine.start(in_background=background)
    try:
        yield engine
    finally:
        await engine.close()


async def until(true: Callable[[], object]) -> None:
    """Wait for something; the test's own bound is the limit."""
    while not true():  # noqa: ASYNC110  # some of it has no event
        await asyncio.sleep(0.01)


def states(engine: Engine) -> dict[str, str]:
    found = {name: engine.shelf.fetches.download(f"local:{name}") for name in "abc"}
    return {name: item.state for name, item in found.items() if item is not None}


def here(home: Path, name: str) -> bool:
    return model_path(home / "models", name).exists()


def test_downloads_run_one_after_the_other_in_the_order_asked(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            fetches = engine.shelf.fetches
            for name in "bca":
                await engine.shelf.fetch(f"local:{name}")
            await until(lambda: partial_bytes(drydock_home / "models", "b"))
            assert states(engine) == {"b": "downloading", "c": "waiting", "a": "waiting"}
            last = fetches.download("local:a")
            assert last is not None
            assert last.ahead == 2
            statuses = {status.name: status for status in await engine.shelf.models()}
            assert statuses["B"].fetching
            assert statuses["C"].fetching
            assert not statuses["B"].present
            gate.set()
            await until(lambda: not states(engine))
            assert [status.present for status in await engine.shelf.models()] == [True] * 3

    with serve(Hub(CONTENT, drops=[2_000_000], stall=gate)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)
    assert len(hub.paths) == 4


def test_a_paused_download_keeps_what_is_there_and_lets_the_next_one_go(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            await engine.shelf.fetch("local:a")
            await engine.shelf.fetch("local:b")
            await until(lambda: partial_bytes(drydock_home / "models", "a"))
            await engine.shelf.fetches.pause("local:a")
            gate.set()
            await until(lambda: states(engine) == {"a": "paused"})
            assert here(drydock_home, "b")
            paused = engine.shelf.fetches.download("local:a")
            assert paused is not None
            assert paused.done_bytes > 0
            await engine.shelf.fetch("local:a")
            await until(lambda: not states(engine))
            assert model_path(drydock_home / "models", "a").read_bytes() == CONTENT

    with serve(Hub(CONTENT, drops=[2_000_000], stall=gate)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)
    assert "range" in hub.asked[-1]


def test_the_queue_goes_on_when_the_app_starts_again(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    async def first() -> None:
        async with engine_at(drydock_home) as engine:
            for name in "abc":
                await engine.shelf.fetch(f"local:{name}")
            await engine.shelf.fetches.pause("local:c")
            await until(lambda: partial_bytes(drydock_home / "models", "a"))

    async def second() -> None:
        async with engine_at(drydock_home, background=True) as engine:
            await until(lambda: states(engine) == {"c": "paused"})
            assert here(drydock_home, "a")
            assert here(drydock_home, "b")

    with serve(Hub(CONTENT, drops=[2_000_000], stall=gate)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(first)
        gate.set()
        have = partial_bytes(drydock_home / "models", "a")
        run(second)
    assert have > 0
    assert hub.asked[1]["range"] == f"bytes={have}-"


def test_the_command_line_does_not_go_on_with_the_queue(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            engine.shelf.fetches._store.put("local:a", "waiting")
        async with engine_at(drydock_home) as engine:
            assert states(engine) == {"a": "waiting"}

    with serve(Hub(CONTENT)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)
    assert hub.paths == []


def test_a_failed_download_says_why_and_does_not_hold_up_the_others(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            await engine.shelf.fetch("local:a")
            await engine.shelf.fetch("local:b")
            await until(lambda: states(engine) == {"a": "failed"})
            assert here(drydock_home, "b")
            failed = engine.shelf.fetches.download("local:a")
            assert failed is not None
            assert "403" in failed.problem
            assert failed.hint
            await engine.shelf.fetch("local:a")  # once more
            await until(lambda: not states(engine))
            assert here(drydock_home, "a")

    with serve(Hub(CONTENT, answers=[(403, {})])) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)


def test_a_download_that_is_given_up_frees_its_space(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            await engine.shelf.fetch("local:a")
            await until(lambda: partial_bytes(drydock_home / "models", "a"))
            await engine.shelf.fetches.cancel("local:a")
            assert states(engine) == {}
            assert partial_bytes(drydock_home / "models", "a") == 0
            ended = [one for one in engine._mailbox.drain() if isinstance(one, FetchEnded)]
            assert [one.cancelled for one in ended] == [True]

    with serve(Hub(CONTENT, drops=[2_000_000], stall=gate)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)


def test_progress_tells_bytes_speed_and_time_left(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[FetchProgressed] = []

    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            post = engine._mailbox.post
            monkeypatch.setattr(
                engine._mailbox,
                "post",
                lambda event: (
                    seen.append(event) if isinstance(event, FetchProgressed) else post(event)
                ),
            )
            await engine.shelf.fetches.run("local:a")

    with serve(Hub(CONTENT)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)
    assert any(one.bytes_per_s and one.seconds_left is not None for one in seen)
    assert any(one.verifying for one in seen)
    assert seen[-1].done_bytes == seen[-1].total_bytes == len(CONTENT)


def test_offline_stops_what_is_under_way_and_online_goes_on(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            await engine.shelf.fetch("local:a")
            await until(lambda: partial_bytes(drydock_home / "models", "a"))
            online = await engine.settings()
            offline = online.model_copy(update={"network": NetworkSettings(offline=True)})
            await engine.change_settings(offline)
            assert states(engine) == {"a": "waiting"}
            with pytest.raises(OfflineError, match="offline"):
                await engine.shelf.fetch("local:b")
            gate.set()
            asked = len(hub.paths)
            await engine.change_settings(online)
            await until(lambda: not states(engine))
            assert len(hub.paths) == asked + 1
            assert here(drydock_home, "a")

    with serve(Hub(CONTENT, drops=[2_000_000], stall=gate)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(work)


def test_a_mirror_of_the_settings_is_asked_when_the_hub_refuses(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(mirror: str) -> None:
        async with engine_at(drydock_home) as engine:
            settings = await engine.settings()
            network = NetworkSettings(mirrors=(mirror,))
            await engine.change_settings(settings.model_copy(update={"network": network}))
            ended = await engine.shelf.fetches.run("local:a")
            assert not ended.problem

    with serve(Hub(b"", status=429)) as hub, serve(Hub(CONTENT)) as mirror:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        run(lambda: work(mirror.endpoint))
    assert here(drydock_home, "a")


def test_the_proxy_of_the_settings_is_used_and_then_taken_back(
    drydock_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://models.invalid")
    monkeypatch.delenv("HTTP_PROXY", raising=False)

    async def work(proxy: str) -> None:
        async with engine_at(drydock_home) as engine:
            settings = await engine.settings()
            network = NetworkSettings(proxy=proxy)
            await engine.change_settings(settings.model_copy(update={"network": network}))
            ended = await engine.shelf.fetches.run("local:a")
            assert not ended.problem

    with serve(Hub(CONTENT)) as proxy:
        run(lambda: work(proxy.endpoint))
    assert proxy.paths[0].startswith("http://models.invalid/")
    assert "HTTP_PROXY" not in os.environ


def test_an_unknown_model_is_not_queued(drydock_home: Path) -> None:
    async def work() -> None:
        async with engine_at(drydock_home) as engine:
            with pytest.raises(ModelError, match="no model named"):
                await engine.shelf.fetch("local:nope")
            assert states(engine) == {}

    run(work)
