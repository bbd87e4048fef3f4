"""The models that are on this machine: paths, presence, where they came from, removal.

Owns the layout of the models folder: ``<id>.gguf``, ``<id>.gguf.json`` (where it came from) and
``partial/<id>/``, and the rule for when a file counts as the model. The folder is given by the
app; nothing here computes it. Thread: any; blocking file work of well under a millisecond per
model, except `require_model`, which reads all of a file that it has not seen before.

============  ====================================================================================
standing      when
============  ====================================================================================
absent        there is no file
damaged       not a regular file; its size is not the catalog's; or its hash, measured while it had
              this size and time, is not the one that it should have
unverified    its hash is not recorded, or the file was written since
sound         its hash, measured while it had this size and time, is the right one
============  ====================================================================================
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from models.catalog import Catalog, CatalogEntry
from models.errors import ModelError
from models.prefix import saved_states

log = logging.getLogger(__name__)

_GGUF_MAGIC = b"GGUF"
_BY_HAND = "put there by hand"

Standing = Literal["absent", "damaged", "unverified", "sound"]


class Provenance(BaseModel):
    """Where a file came from, and its hash while it had this size and time of writing.

    `checked_against`: whose hash it matched, if anybody's. `first_sha256`: the hash of the file
    that was recorded first, where the present one has another; else empty.
    """

    model_config = ConfigDict(frozen=True)

    sha256: str
    size_bytes: int
    source: str
    checked_against: Literal["catalog", "source", "nothing"]
    mtime_ns: int = 0
    first_sha256: str = ""

    def describes(self, status: os.stat_result) -> bool:
        """Whether the file was not written since the hash was measured."""
        return (self.size_bytes, self.mtime_ns) == (status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A model file that is here and not known to be damaged.

    `provenance` None: nobody has measured the file as it is now.
    """

    entry: CatalogEntry
    path: Path
    size_bytes: int
    provenance: Provenance | None


def model_path(folder: Path, model_id: str) -> Path:
    """Where the file of `model_id` is, or would be. The id may begin with ``local:``."""
    return folder / f"{model_id.removeprefix('local:')}.gguf"


def _provenance_path(folder: Path, model_id: str) -> Path:
    return model_path(folder, model_id).with_suffix(".gguf.json")


def standing(folder: Path, entry: CatalogEntry) -> Standing:
    """Whether the file of `entry` can be used, as far as can be told without hashing it."""
    path = model_path(folder, entry.id)
    try:
        status = path.stat()
    except FileNotFoundError:
        return "absent"
    if not stat.S_ISREG(status.st_mode):
        return "damaged"
    if entry.size_bytes and status.st_size != entry.size_bytes:
        return "damaged"
    record = read_provenance(folder, entry.id)
    if record is None:
        # Without any hash to compare with, the format's first bytes are all there is.
        return "unverified" if entry.sha256 or _begins_as_gguf(path) else "damaged"
    if not record.describes(status):
        return "unverified"
    expected = entry.sha256 or record.first_sha256 or record.sha256
    return "sound" if record.sha256 == expected else "damaged"


def find_model(folder: Path, entry: CatalogEntry) -> InstalledModel | None:
    """The installed file of `entry`; None when there is none, or when it is damaged."""
    path = model_path(folder, entry.id)
    how = standing(folder, entry)
    if how in {"absent", "damaged"}:
        return None
    return InstalledModel(
        entry=entry,
        path=path,
        size_bytes=path.stat().st_size,
        provenance=read_provenance(folder, entry.id) if how == "sound" else None,
    )


def require_model(folder: Path, entry: CatalogEntry) -> InstalledModel:
    """The installed file of `entry`, verified; a second per gigabyte the first time.

    Raises `ModelError` with the command that fetches it when it is absent or damaged.
    """
    verify_model(folder, entry)
    found = find_model(folder, entry)
    if found is not None:
        return found
    damaged = standing(folder, entry) == "damaged"
    what = "is damaged: its file is not the one it should be" if damaged else "is not here yet"
    again = " again" if damaged else ""
    raise ModelError(
        f"{entry.name} {what}.",
        hint=f"Fetch it{again} with `drydock models pull {entry.id}` ({entry.size_label}).",
        setting="model.id",
    )


def verify_model(folder: Path, entry: CatalogEntry) -> Standing:
    """Hash the file if nobody has since it was written, and record that. Raises `ModelError`."""
    if standing(folder, entry) != "unverified":
        return standing(folder, entry)
    path = model_path(folder, entry.id)
    try:
        status = path.stat()
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            f"{entry.name} cannot be read: {error.strerror or error}.",
            hint=f"Check the permissions of {path}, or fetch it again.",
        ) from error
    return record_hash(folder, entry, digest, status)


def record_hash(folder: Path, entry: CatalogEntry, digest: str, status: os.stat_result) -> Standing:
    """Record the hash of the file as it was at `status`; returns what that makes of it.

    A folder that cannot be written is no error: the file is then hashed again the next time.
    """
    known = read_provenance(folder, entry.id)
    first = (known.first_sha256 or known.sha256) if known else digest
    if known and digest in {known.sha256, known.first_sha256}:
        source, checked = known.source, known.checked_against
    else:
        source, checked = _BY_HAND, "nothing"
    record = Provenance(
        sha256=digest,
        size_bytes=status.st_size,
        source=source,
        checked_against="catalog" if digest == entry.sha256 else checked,
        mtime_ns=status.st_mtime_ns,
        first_sha256="" if digest in {first, entry.sha256} else first,
    )
    try:
        remember_provenance(folder, entry.id, record)
    except OSError as error:
        log.info("model %s: its hash could not be recorded: %s", entry.id, error.strerror)
    return "sound" if digest == (entry.sha256 or first) else "damaged"


def _begins_as_gguf(path: Path) -> bool:
    """Source: the GGUF specification, "File Structure": the magic number ``GGUF``."""
    try:
        with path.open("rb") as file:
            return file.read(len(_GGUF_MAGIC)) == _GGUF_MAGIC
    except OSError:
        return False


def list_models(folder: Path, catalog: Catalog) -> tuple[InstalledModel, ...]:
    """Every model of the catalog that is here, in the catalog's order."""
    found = (find_model(folder, entry) for entry in catalog.entries)
    return tuple(model for model in found if model is not None)


def partial_bytes(folder: Path, model_id: str) -> int:
    """Bytes of an interrupted fetch that the next one goes on from; 0 when there is none."""
    place = folder / "partial" / model_id
    return sum(path.stat().st_size for path in place.glob("*.part")) if place.is_dir() else 0


def discard_partial(folder: Path, model_id: str) -> None:
    """Remove what an interrupted fetch has left."""
    shutil.rmtree(folder / "partial" / model_id.removeprefix("local:"), ignore_errors=True)


def prefix_folder(folder: Path) -> Path:
    """Where the models' evaluated prompt beginnings are kept (`prefix.py`)."""
    return folder / "prefix"


def remove_model(folder: Path, model_id: str) -> int | None:
    """Remove the file and everything about it. The bytes of the file; None: there was none.

    A link is removed, not what it leads to: 0 bytes.
    """
    path = model_path(folder, model_id)
    size = None
    with contextlib.suppress(FileNotFoundError):
        size = 0 if path.is_symlink() else path.stat().st_size
    path.unlink(missing_ok=True)
    _provenance_path(folder, model_id).unlink(missing_ok=True)
    discard_partial(folder, model_id)
    for state in saved_states(prefix_folder(folder), path.stem):
        state.unlink(missing_ok=True)
    return size


def remember_provenance(folder: Path, model_id: str, provenance: Provenance) -> None:
    """Record where the file of `model_id` came from, in one step."""
    path = _provenance_path(folder, model_id)
    draft = path.with_suffix(".new")
    draft.write_text(provenance.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def read_provenance(folder: Path, model_id: str) -> Provenance | None:
    """Where the file came from, or None when it is not recorded."""
    try:
        return Provenance.model_validate_json(_provenance_path(folder, model_id).read_bytes())
    except (OSError, ValidationError):
        return None
