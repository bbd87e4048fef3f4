"""Models that other programs have put on this machine, and files that a person chose.

Owns where LM Studio, Ollama, the Hugging Face cache and llama.cpp keep GGUF files, and taking one
of them into the models folder by a link, without a copy. The file stays the other program's. An
imported model is described by its own header, in ``imported.json``; one that has the hash of a
catalog's entry is that entry. Thread: any; hashing reads the whole file, a second per gigabyte.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.catalog import Catalog, CatalogEntry
from models.errors import ModelError
from models.gguf import GgufHeader, read_gguf, split_parts
from models.library import Provenance, model_path, remember_provenance

Owner = Literal["lm-studio", "ollama", "huggingface", "llama.cpp"]
OWNERS: tuple[Owner, ...] = ("lm-studio", "ollama", "huggingface", "llama.cpp")

_LIST = "imported.json"
_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})\Z")
_MOST_FOUND = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model file of another program. `path`: the file, or the first part of a split one."""

    owner: Owner
    name: str
    path: Path
    size_bytes: int


class _Imported(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    family: str
    parameters: int = Field(gt=0)
    context_tokens: int = Field(gt=0)
    size_bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class _File(BaseModel):
    models: tuple[_Imported, ...] = ()


def find_models(
    owner: Owner, home: Path | None = None, environ: Mapping[str, str] | None = None
) -> list[Found]:
    """The GGUF files that `owner` has here, by name. Empty when it is not installed."""
    at = home or Path.home()
    env = os.environ if environ is None else environ
    match owner:
        case "lm-studio":
            roots = [at / ".lmstudio" / "models", at / ".cache" / "lm-studio" / "models"]
            found = (item for root in roots for item in _files(owner, root))
        case "ollama":
            root = Path(env.get("OLLAMA_MODELS") or at / ".ollama" / "models")
            found = _ollama(root)
        case "huggingface":
            cache = (
                env.get("HF_HUB_CACHE")
                or Path(env.get("HF_HOME") or at / ".cache" / "huggingface") / "hub"
            )
            found = _files(owner, Path(cache))
        case "llama.cpp":
            roots = [at / ".cache" / "llama.cpp", at / "Library" / "Caches" / "llama.cpp"]
            if given := env.get("LLAMA_CACHE"):
                roots.insert(0, Path(given))
            found = (item for root in roots for item in _files(owner, root))
    unique = {os.path.realpath(item.path): item for item in found}
    return sorted(unique.values(), key=lambda item: item.name.lower())


def import_model(folder: Path, catalog: Catalog, source: Path, name: str = "") -> CatalogEntry:
    """Take the file at `source` into `folder` by a link; its entry.

    Raises: `ModelError` when it is not a usable model, or when it is here already.
    """
    source = source.expanduser().absolute()
    parts = split_parts(source)
    headers = [read_gguf(part) for part in parts]
    header = headers[0]
    if not header.architecture or header.number("block_count") <= 0:
        raise ModelError(
            f"{source.name} is no language model.",
            hint="Choose the file with the model itself, not a projector or an adapter.",
        )
    if not header.chat_template:
        raise ModelError(
            f"{source.name} is a base model: it continues texts and does not follow requests.",
            hint="Choose its instruct or chat variant.",
        )
    digest = _hash(parts)
    known = next((entry for entry in catalog.entries if entry.sha256 == digest), None)
    entry = known or _entry(header, headers, parts, digest, name or source.stem, catalog)
    path = model_path(folder, entry.id)
    if path.exists() or any(item.sha256 == digest for item in _read(folder).models):
        raise ModelError(f"{entry.name} is here already, with the same content.", hint="Use it.")
    folder.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a link that leads nowhere any more
    path.symlink_to(parts[0].resolve())
    status = path.stat()
    if known is None:
        _write(folder, (*_read(folder).models, _row(entry)))
    if len(parts) == 1:
        remember_provenance(
            folder,
            entry.id,
            Provenance(
                sha256=digest,
                size_bytes=status.st_size,
                source=f"imported from {source.parent.name}",
                checked_against="catalog" if known else "nothing",
                mtime_ns=status.st_mtime_ns,
            ),
        )
    return entry


def is_here(folder: Path, catalog: Catalog, source: Path) -> str:
    """The id of the model whose file is `source`, or that has the hash which its blob is named by;
    empty when it is not here. Reads no content."""
    named = re.fullmatch(r"sha256-([0-9a-f]{64})", source.name)
    real = os.path.realpath(source)
    for entry in catalog.entries:
        path = model_path(folder, entry.id)
        if not path.exists():
            continue
        if os.path.realpath(path) == real or (named and entry.sha256 == named[1]):
            return entry.id
    return ""


def with_imported(catalog: Catalog, folder: Path) -> Catalog:
    """The catalog with the models that were imported into `folder`, after its own."""
    known = {entry.id for entry in catalog.entries}
    more = tuple(
        CatalogEntry(
            id=item.id,
            name=item.name,
            family=item.family,
            licence="see its source",
            parameters=item.parameters,
            context_tokens=item.context_tokens,
        )
        for item in _read(folder).models
        if item.id not in known
    )
    return Catalog(entries=(*catalog.entries, *more))


def forget_imported(folder: Path, model_id: str) -> None:
    """Take an imported model off the list; its file is another matter."""
    wanted = model_id.removeprefix("local:")
    rows = _read(folder).models
    left = tuple(item for item in rows if item.id != wanted)
    if len(left) != len(rows):
        _write(folder, left)


def _entry(
    header: GgufHeader,
    headers: list[GgufHeader],
    parts: tuple[Path, ...],
    digest: str,
    name: str,
    catalog: Catalog,
) -> CatalogEntry:
    said = str(header.metadata.get("general.name") or name)
    base = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "model"
    taken = {entry.id for entry in catalog.entries}
    model_id = base if base not in taken else f"{base}-{digest[:6]}"
    count = sum(_product(tensor.shape) for one in headers for tensor in one.tensors)
    return CatalogEntry(
        id=model_id,
        name=said[:80],
        family=header.architecture,
        licence="see its source",
        parameters=max(1, count),
        context_tokens=max(512, header.number("context_length", 4096)),
        size_bytes=sum(part.stat().st_size for part in parts),
        sha256=digest,
    )


def _product(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _row(entry: CatalogEntry) -> _Imported:
    return _Imported(
        id=entry.id,
        name=entry.name,
        family=entry.family,
        parameters=entry.parameters,
        context_tokens=entry.context_tokens,
        size_bytes=entry.size_bytes,
        sha256=entry.sha256,
    )


def _hash(parts: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        try:
            with part.open("rb") as file:
                while data := file.read(1 << 20):
                    digest.update(data)
        except OSError as error:
            raise ModelError(
                f"{part.name} cannot be read: {error.strerror or error}.",
                hint="Check its permissions.",
            ) from error
    return digest.hexdigest()


def _files(owner: Owner, root: Path) -> Iterator[Found]:
    """GGUF files anywhere under `root`: whole ones, and the first parts of split ones."""
    if not root.is_dir():
        return
    for number, path in enumerate(sorted(root.rglob("*.gguf"))):
        if number >= _MOST_FOUND:
            return
        part = re.search(r"-(\d{5})-of-\d{5}\.gguf\Z", path.name)
        if not path.is_file() or path.name.startswith("mmproj") or (part and int(part[1]) != 1):
            continue
        yield Found(owner=owner, name=path.stem, path=path, size_bytes=path.stat().st_size)


def _ollama(root: Path) -> Iterator[Found]:
    """Models by Ollama's manifests; their files are blobs named by their hash.

    Source: Ollama's model store, ``manifests/HOST/NAMESPACE/MODEL/TAG`` and ``blobs/sha256-...``.
    """
    for path in sorted((root / "manifests").glob("*/*/*/*")):
        try:
            manifest = json.loads(path.read_bytes())
            layers = manifest["layers"]
            digests = [layer["digest"] for layer in layers if layer["mediaType"] == _MODEL_LAYER]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        for digest in digests:
            found = _DIGEST.match(str(digest))
            blob = root / "blobs" / f"sha256-{found[1]}" if found else None
            if blob is not None and blob.is_file():
                name = f"{path.parent.name}-{path.name}"
                size = blob.stat().st_size
                yield Found(owner="ollama", name=name, path=blob, size_bytes=size)


def _read(folder: Path) -> _File:
    try:
        return _File.model_validate_json((folder / _LIST).read_bytes())
    except (OSError, ValidationError):
        return _File()


def _write(folder: Path, rows: tuple[_Imported, ...]) -> None:
    path = folder / _LIST
    draft = path.with_suffix(".new")
    draft.write_text(_File(models=rows).model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
