"""Fetching: resume, verification, space, the next source, and never a half file."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading

import pytest

from models.catalog import HubSource
from models.errors import ModelFetchError, ModelStoppedError
from models.fetch import FetchProgress, fetch
from models.library import (
    find_model,
    model_path,
    partial_bytes,
    read_provenance,
    require_model,
    standing,
)
from models.sources import fetch_from_hub
from tests.models.fetching import CONTENT, HUB, INDEX, SHA256, entry, fetcher_of, get
from tests.models.hub import Hub, serve


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


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


@pytest.mark.parametrize(
    "wrong",
    [b"", CONTENT[:-1], CONTENT + b"x", bytes(len(CONTENT))],
    ids=["empty", "truncated", "longer", "zeroed"],
)
def test_a_wrong_file_under_the_models_name_is_replaced(tmp_path, wrong):
    model_path(tmp_path, "tiny").write_bytes(wrong)
    with serve(Hub(CONTENT)) as hub:
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    assert len(hub.paths) == 1
    assert require_model(tmp_path, entry()).provenance.source == HUB.label
    assert {p.name for p in tmp_path.iterdir()} == {"tiny.gguf", "tiny.gguf.json", "partial"}
    assert list((tmp_path / "partial").iterdir()) == []


def test_a_file_that_was_overwritten_after_its_fetch_is_fetched_again(tmp_path):
    with serve(Hub(CONTENT)) as hub:
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
        path.write_bytes(b"\0" * len(CONTENT))
        os.utime(path, (1_700_000_000, 1_700_000_000))
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    assert len(hub.paths) == 2


def test_a_right_file_put_there_by_hand_is_verified_and_recorded_without_a_download(tmp_path):
    model_path(tmp_path, "tiny").write_bytes(CONTENT)
    progress: list[FetchProgress] = []
    with serve(Hub(CONTENT)) as hub:
        get(entry(), tmp_path, fetcher_of(hub.endpoint), progress)
    assert hub.paths == []
    assert {p.stage for p in progress} == {"verifying"}
    provenance = find_model(tmp_path, entry()).provenance
    assert (provenance.sha256, provenance.checked_against) == (SHA256, "catalog")


def test_a_file_that_was_verified_is_not_read_again(tmp_path):
    model_path(tmp_path, "tiny").write_bytes(CONTENT)
    progress: list[FetchProgress] = []
    get(entry(), tmp_path, fetcher_of("http://127.0.0.1:1"))
    get(entry(), tmp_path, fetcher_of("http://127.0.0.1:1"), progress)
    assert progress == []


def test_a_wrong_file_stays_known_as_damaged_when_no_other_can_be_had(tmp_path):
    path = model_path(tmp_path, "tiny")
    path.write_bytes(bytes(len(CONTENT)))
    with pytest.raises(ModelFetchError, match="no connection"):
        get(entry(), tmp_path, fetcher_of("http://127.0.0.1:1"))
    assert path.exists()
    assert standing(tmp_path, entry()) == "damaged"
    assert read_provenance(tmp_path, "tiny").sha256 != SHA256


def test_a_damaged_link_is_replaced_and_what_it_led_to_is_left_alone(tmp_path):
    folder, target = tmp_path / "models", tmp_path / "mine.bin"
    folder.mkdir()
    target.write_bytes(b"not a model")
    model_path(folder, "tiny").symlink_to(target)
    with serve(Hub(CONTENT)) as hub:
        path = get(entry(), folder, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    assert not path.is_symlink()
    assert target.read_bytes() == b"not a model"


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
    assert caught.value.hint.count("HF_ENDPOINT") == 1
    assert "pip" not in caught.value.hint


def test_an_address_where_nobody_listens_is_no_connection(tmp_path):
    with pytest.raises(ModelFetchError, match="no connection"):
        get(entry(), tmp_path, fetcher_of("http://127.0.0.1:1"))


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
def test_cancelling_ends_a_stalled_fetch_and_keeps_what_is_there(tmp_path, how):
    async def scenario(hub: Hub):
        cancel, begun = asyncio.Event(), asyncio.Event()

        def progress(now: FetchProgress) -> None:
            if now.done_bytes:
                begun.set()

        task = asyncio.create_task(
            fetch(entry(), tmp_path, progress, cancel=cancel, fetcher=fetcher_of(hub.endpoint))
        )
        await asyncio.wait_for(begun.wait(), 60)
        if how == "event":
            cancel.set()
            with pytest.raises(ModelStoppedError):
                await asyncio.wait_for(task, 60)
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 60)

    with serve(Hub(CONTENT, drops=[2_000_000], stall=threading.Event())) as hub:
        asyncio.run(scenario(hub))
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
        await asyncio.wait_for(begun.wait(), 60)
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
