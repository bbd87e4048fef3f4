"""What goes wrong between here and a server, each against one on the loopback."""

from __future__ import annotations

import asyncio
import errno
import hashlib

import pytest

from models.catalog import HubSource, with_mirrors
from models.errors import ModelFetchError
from models.fetch import fetch
from models.library import find_model, model_path, partial_bytes
from models.partial import PartialFile
from tests.models.fetching import CONTENT, HUB, SHA256, entry, fetcher_of, get
from tests.models.hub import Hub, serve

SMALL = b"GGUF" + bytes(range(20))
SMALL_HASH = hashlib.sha256(SMALL).hexdigest()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def small(**values):
    return entry(sha256=SMALL_HASH, size_bytes=len(SMALL), **values)


def mirrored(*endpoints: str):
    """A model whose Hub is the first address, and whose mirrors are the others."""
    first, *rest = endpoints
    return with_mirrors(entry(HubSource(repo=HUB.repo, file=HUB.file, mirror=first)), rest)


def fetch_it(what, folder):
    return asyncio.run(fetch(what, folder, lambda _: None, free_bytes=lambda _: 10**12))


def test_a_connection_that_is_dropped_at_any_byte_is_taken_up_again(tmp_path):
    whole = len(SMALL) + 54  # with the head of the answer
    with serve(Hub(SMALL)) as hub:
        for cut in range(whole):
            hub.raw_drops = [cut]
            path = get(small(), tmp_path / str(cut), fetcher_of(hub.endpoint),
                       free_bytes=lambda _: 10**12)  # fmt: skip
            assert path.read_bytes() == SMALL, cut


def test_a_corrupted_byte_is_noticed_and_the_next_source_is_asked(tmp_path):
    bad = bytearray(CONTENT)
    bad[1_234_567] ^= 1
    with serve(Hub(bytes(bad))) as wrong, serve(Hub(CONTENT)) as right:
        path = fetch_it(mirrored(wrong.endpoint, right.endpoint), tmp_path)
        assert len(wrong.paths) == len(right.paths) == 1
    assert path.read_bytes() == CONTENT


def test_a_corrupted_byte_and_no_other_source_leaves_nothing(tmp_path):
    bad = bytearray(CONTENT)
    bad[0] ^= 1
    with serve(Hub(bytes(bad))) as hub, pytest.raises(ModelFetchError, match="checksum"):
        fetch_it(mirrored(hub.endpoint), tmp_path)
    assert not model_path(tmp_path, "tiny").exists()
    assert partial_bytes(tmp_path, "tiny") == 0


def test_a_mirror_goes_on_where_the_first_host_broke_off(tmp_path):
    with serve(Hub(CONTENT, drops=[1_500_000, 0, 0, 0])) as first, serve(Hub(CONTENT)) as second:
        path = fetch_it(mirrored(first.endpoint, second.endpoint), tmp_path)
    assert path.read_bytes() == CONTENT
    start = int(second.asked[0]["range"][6:-1])
    assert start > 1_000_000
    assert "if-range" not in second.asked[0]
    assert "127.0.0.1" in find_model(tmp_path, entry()).provenance.source


def test_bytes_of_two_hosts_that_do_not_fit_are_fetched_again_from_the_second(tmp_path):
    bad = bytes(len(CONTENT))
    with serve(Hub(bad, drops=[1_500_000, 0, 0, 0])) as first, serve(Hub(CONTENT)) as second:
        path = fetch_it(mirrored(first.endpoint, second.endpoint), tmp_path)
    assert path.read_bytes() == CONTENT
    assert ["range" in asked for asked in second.asked] == [True, False]


def test_without_any_checksum_no_bytes_of_two_hosts_are_joined(tmp_path):
    bad = bytes(len(CONTENT))
    with serve(Hub(bad, drops=[1_500_000, 0, 0, 0])) as first, serve(Hub(CONTENT)) as second:
        source = HubSource(repo=HUB.repo, file=HUB.file, mirror=first.endpoint)
        what = with_mirrors(entry(source, sha256="", size_bytes=0), [second.endpoint])
        path = fetch_it(what, tmp_path)
    assert path.read_bytes() == CONTENT
    assert "range" not in second.asked[0]


def test_a_redirect_is_followed_to_the_storage_and_its_resume_too(tmp_path):
    with serve(Hub(CONTENT, drops=[1_200_000])) as storage, serve(Hub(b"")) as hub:
        there = f"{storage.endpoint}/blob?signed=1"
        hub.answers = [(302, {"location": there, "x-linked-etag": f'"{SHA256}"'})] * 2
        path = get(entry(sha256=""), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    assert storage.paths == ["/blob?signed=1"] * 2
    assert "range" in storage.asked[1]
    assert find_model(tmp_path, entry(sha256="")).provenance.checked_against == "source"


def test_redirects_without_end_are_given_up(tmp_path):
    with serve(Hub(b"")) as hub:
        hub.answers = [(302, {"location": f"{hub.endpoint}/again"})] * 50
        with pytest.raises(ModelFetchError, match="TooManyRedirects"):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))


def test_a_redirect_to_something_that_is_no_web_address_is_named(tmp_path):
    with serve(Hub(b"")) as hub:
        hub.answers = [(302, {"location": "ftp://127.0.0.1/model"})]
        with pytest.raises(ModelFetchError, match="none of the web"):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert len(hub.paths) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "access was refused"), (403, "access was refused"), (404, "not there"),
     (429, "too many requests"), (500, "status 500"), (503, "status 503")],
)  # fmt: skip
def test_each_status_is_told_in_words_and_leads_to_the_mirror(tmp_path, status, words):
    with serve(Hub(b"", status=status)) as broken:
        with pytest.raises(ModelFetchError, match=words) as caught:
            fetch_it(mirrored(broken.endpoint), tmp_path)
        assert caught.value.hint
        assert len(broken.paths) == 1
        with serve(Hub(CONTENT)) as sound:
            path = fetch_it(mirrored(broken.endpoint, sound.endpoint), tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_patience_gets_it(tmp_path, status):
    with serve(Hub(CONTENT)) as hub:
        hub.answers = [(status, {"retry-after": "0"})] * 2
        path = get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert path.read_bytes() == CONTENT
    assert len(hub.paths) == 3


def test_patience_ends(tmp_path):
    with serve(Hub(CONTENT)) as hub:
        hub.answers = [(429, {"retry-after": "0"})] * 50
        with pytest.raises(ModelFetchError, match="too many requests"):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert len(hub.paths) == 3


def test_a_wait_that_is_too_long_is_told_and_not_waited_for(tmp_path):
    with serve(Hub(CONTENT)) as hub:
        hub.answers = [(429, {"retry-after": "3600"})]
        with pytest.raises(ModelFetchError, match="wait 60 min"):
            get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert len(hub.paths) == 1


def test_a_server_that_names_no_length_is_bounded_by_the_catalog(tmp_path):
    with serve(Hub(CONTENT, chunked=True)) as hub:
        assert get(entry(), tmp_path / "right", fetcher_of(hub.endpoint)).read_bytes() == CONTENT
    with (
        serve(Hub(CONTENT + b"x" * 100_000, chunked=True)) as hub,
        pytest.raises(ModelFetchError, match="sends more than"),
    ):
        get(entry(), tmp_path / "more", fetcher_of(hub.endpoint))
    assert partial_bytes(tmp_path / "more", "tiny") == 0
    with (
        serve(Hub(CONTENT[:-1], chunked=True)) as hub,
        pytest.raises(ModelFetchError, match="again and again"),
    ):
        get(entry(), tmp_path / "less", fetcher_of(hub.endpoint))


@pytest.mark.parametrize("length", [len(CONTENT) - 1, len(CONTENT) + 1, 0])
def test_a_file_of_a_wrong_size_is_never_installed(tmp_path, length):
    content = (CONTENT + b"x")[:length]
    with serve(Hub(content)) as hub, pytest.raises(ModelFetchError):
        get(entry(), tmp_path, fetcher_of(hub.endpoint))
    assert not model_path(tmp_path, "tiny").exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_in_the_middle_is_named_and_the_next_fetch_goes_on(
    tmp_path, monkeypatch, code
):
    write = PartialFile.append

    def full(self: PartialFile, data: bytes) -> None:
        if self.size() > 1_000_000:
            raise OSError(code, "No space left on device")
        write(self, data)

    with serve(Hub(CONTENT)) as hub:
        with monkeypatch.context() as small_disk:
            small_disk.setattr(PartialFile, "append", full)
            with pytest.raises(ModelFetchError, match="became full") as caught:
                get(entry(), tmp_path, fetcher_of(hub.endpoint))
        assert "goes on" in caught.value.hint
        have = partial_bytes(tmp_path, "tiny")
        assert have > 1_000_000
        assert get(entry(), tmp_path, fetcher_of(hub.endpoint)).read_bytes() == CONTENT
    assert hub.asked[-1]["range"] == f"bytes={have}-"


def test_requests_go_through_the_proxy_of_the_environment(tmp_path, monkeypatch):
    with serve(Hub(CONTENT)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.endpoint)
        monkeypatch.setenv("NO_PROXY", "")
        path = get(entry(), tmp_path, fetcher_of("http://models.invalid"))
    assert path.read_bytes() == CONTENT
    assert proxy.paths[0].startswith("http://models.invalid/")


def test_a_proxy_that_is_not_there_is_an_error_with_a_next_step(tmp_path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(ModelFetchError) as caught:
        get(entry(), tmp_path, fetcher_of("http://models.invalid"))
    assert caught.value.hint


def test_an_address_that_is_none_is_an_error_and_no_crash(tmp_path):
    with pytest.raises(ModelFetchError, match="not valid"):
        get(entry(), tmp_path, fetcher_of("http://127.0.0.1:port"))
    with pytest.raises(ModelFetchError, match="none of the web"):
        get(entry(), tmp_path, fetcher_of("hub.example"))
