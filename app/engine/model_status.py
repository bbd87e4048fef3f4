"""A model of the catalog as it is on this machine.

Owns that view. Thread: a worker; it looks at the model's file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.engine.fetches import Download
from app.engine.router import Rate
from app.settings import OwnModelSettings, Settings
from app.store.probes import ProbeRecord
from models.catalog import CatalogEntry
from models.fit import Fit, fit_here
from models.library import find_model, model_path, standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is known of a model on this machine. `rates`: of the lab, one a kind of task."""

    speed: ProbeRecord | None = None
    rates: tuple[Rate, ...] = ()

    @property
    def passed(self) -> int:
        """Trials that went right, of all kinds."""
        return sum(rate.passed for rate in self.rates)

    @property
    def trials(self) -> int:
        """Trials of all kinds."""
        return sum(rate.trials for rate in self.rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """A model of the catalog as it is on this machine. `size_bytes` 0: unknown.

    `damaged`: there is a file, and it is not the model; `linked`: its file belongs to another
    program; `download`: how it stands in the queue; `own`: what is set for it alone.
    """

    model_id: str
    name: str
    family: str = ""
    licence: str
    parameters: int
    size_bytes: int
    context_tokens: int
    present: bool
    default: bool
    fit: Fit
    damaged: bool = False
    linked: bool = False
    download: Download | None = None
    measured: Measured = Measured()
    own: OwnModelSettings = field(default_factory=OwnModelSettings)

    @property
    def fetching(self) -> bool:
        """Whether it is under way, or waits for those before it."""
        return self.download is not None and self.download.state not in {"paused", "failed"}


def model_status(
    entry: CatalogEntry,
    folder: Path,
    settings: Settings,
    *,
    download: Download | None = None,
    measured: Measured | None = None,
) -> ModelStatus:
    """Look at the model's file in `folder`, and whether it fits with the context that is set."""
    model_id = f"local:{entry.id}"
    here = find_model(folder, entry)
    path = model_path(folder, entry.id)
    return ModelStatus(
        model_id=model_id,
        name=entry.name,
        family=entry.family,
        licence=entry.licence,
        parameters=entry.parameters,
        size_bytes=here.size_bytes if here else entry.size_bytes,
        context_tokens=entry.context_tokens,
        present=here is not None,
        default=model_id == settings.default_model,
        damaged=here is None and standing(folder, entry) == "damaged",
        linked=here is not None and path.is_symlink(),
        download=download,
        measured=measured or Measured(),
        own=settings.own.get(model_id, OwnModelSettings()),
        fit=fit_here(path, entry, settings.model_for(model_id).context_tokens),
    )
