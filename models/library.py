"""The models that are on this machine: paths, presence, where they came from, removal.

Owns the layout of the models folder: ``<id>.gguf``, ``<id>.gguf.json`` (where it came from) and
``partial/<id>/``. The folder is given by the app; nothing here computes it. Thread: any; blocking
file work of well under a millisecond per model.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from models.catalog import Catalog, CatalogEntry
from models.errors import ModelError
from models.prefix import saved_states


class Provenance(BaseModel):
    """Where a file came from. `checked_against`: whose hash it matched, if anybody's."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size_bytes: int
    source: str
    checked_against: Literal["catalog", "source", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A model file that is ready to be loaded. `provenance` None: put there by hand."""

    entry: CatalogEntry
    path: Path
    size_bytes: int
    provenance: Provenance | None


def model_path(folder: Path, model_id: str) -> Path:
    """Where the file of `model_id` is, or would be. The id may begin with ``local:``."""
    return folder / f"{model_id.removeprefix('local:')}.gguf"


def _provenance_path(folder: Path, model_id: str) -> Path:
    return model_path(folder, model_id).with_suffix(".gguf.json")


def find_model(folder: Path, entry: CatalogEntry) -> InstalledModel | None:
    """The installed file of `entry`, or None."""
    path = model_path(folder, entry.id)
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return None
    return InstalledModel(
        entry=entry, path=path, size_bytes=size, provenance=read_provenance(folder, entry.id)
    )


def require_model(folder: Path, entry: CatalogEntry) -> InstalledModel:
    """The installed file of `entry`. Raises `ModelError` with the command that fetches it."""
    found = find_model(folder, entry)
    if found is None:
        raise ModelError(
            f"{entry.name} is not on this machine yet.",
            hint=f"Fetch it with `drydock models pull {entry.id}` ({entry.size_label}).",
            setting="model.id",
        )
    return found


def list_models(folder: Path, catalog: Catalog) -> tuple[InstalledModel, ...]:
    """Every model of the catalog that is here, in the catalog's order."""
    found = (find_model(folder, entry) for entry in catalog.entries)
    return tuple(model for model in found if model is not None)


def partial_bytes(folder: Path, model_id: str) -> int:
    """Bytes of an interrupted fetch that the next one goes on from; 0 when there is none."""
    place = folder / "partial" / model_id
    return sum(path.stat().st_size for path in place.glob("*.part")) if place.is_dir() else 0


def prefix_folder(folder: Path) -> Path:
    """Where the models' evaluated prompt beginnings are kept (`prefix.py`)."""
    return folder / "prefix"


def remove_model(folder: Path, model_id: str) -> bool:
    """Remove the file and everything about it. False when there was no such file."""
    path = model_path(folder, model_id)
    existed = path.is_file()
    path.unlink(missing_ok=True)
    _provenance_path(folder, model_id).unlink(missing_ok=True)
    shutil.rmtree(folder / "partial" / model_id.removeprefix("local:"), ignore_errors=True)
    for state in saved_states(prefix_folder(folder), path.stem):
        state.unlink(missing_ok=True)
    return existed


def remember_provenance(folder: Path, model_id: str, provenance: Provenance) -> None:
    """Record where the file of `model_id` came from."""
    _provenance_path(folder, model_id).write_text(
        provenance.model_dump_json(indent=1) + "\n", encoding="utf-8"
    )


def read_provenance(folder: Path, model_id: str) -> Provenance | None:
    """Where the file came from, or None when it is not recorded."""
    try:
        return Provenance.model_validate_json(_provenance_path(folder, model_id).read_bytes())
    except (OSError, ValidationError):
        return None
