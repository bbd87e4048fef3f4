"""A model of the catalog as it is on this machine.

Owns that view. Thread: a worker; it looks at the model's file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.settings import Settings
from models.catalog import CatalogEntry
from models.fit import Fit, fit_here
from models.library import find_model, model_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """A model of the catalog as it is on this machine. `size_bytes` 0: unknown."""

    model_id: str
    name: str
    licence: str
    parameters: int
    size_bytes: int
    context_tokens: int
    present: bool
    default: bool
    fetching: bool
    fit: Fit


def model_status(
    entry: CatalogEntry, folder: Path, settings: Settings, *, fetching: bool
) -> ModelStatus:
    """Look at the model's file in `folder`, and whether it fits with the context that is set."""
    model_id = f"local:{entry.id}"
    here = find_model(folder, entry)
    return ModelStatus(
        model_id=model_id,
        name=entry.name,
        licence=entry.licence,
        parameters=entry.parameters,
        size_bytes=here.size_bytes if here else entry.size_bytes,
        context_tokens=entry.context_tokens,
        present=here is not None,
        default=model_id == settings.default_model,
        fetching=fetching,
        fit=fit_here(model_path(folder, entry.id), entry, settings.model.context_tokens),
    )
