"""Results that stay out of a model's context: kept by content, shown as what they are.

Owns the store (a file for each content, its description beside it), excerpts of long texts, and
handles for outside parties. A handle says which artifact and until when, signed with a key of this
installation; it is checked on use, and a wrong one is refused without saying what was wrong with
it. Content is checked against its hash before it is given. Thread: any.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.errors import SandboxError

SHOWN_BYTES = 8 * 1024
"""Longer outputs are kept, and the model gets an excerpt."""

_HEAD_CHARS, _TAIL_CHARS = 3_000, 1_000
_ID = re.compile(r"artifact-[0-9a-f]{16}")
_KEY_BYTES = 32
_MOST_BYTES = 256 * 1024 * 1024
_LIFETIME_S = 3_600
_PURPOSE = b"drydock artifact handle 1\0"


class HandleError(SandboxError):
    """A handle that is not valid here, or not any more."""

    def __init__(self) -> None:
        super().__init__("This handle is not valid.", hint="Ask for a new one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What is known of a kept result. `name`: as a person would call it; `sha256`: in hex."""

    artifact_id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str

    def described(self) -> str:
        """One line for a model that does not see it."""
        return f"{self.artifact_id}: {self.name}, {self.media_type}, {self.size_bytes:,} bytes"


class Artifacts:
    """The artifacts of one home. `folder` is made when the first one is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, data: bytes, *, media_type: str, name: str) -> Artifact:
        """Keep `data`; the same content under the same name is the same artifact.

        Raises `ValueError` for more than 256 MiB.
        """
        if len(data) > _MOST_BYTES:
            raise ValueError("the result is too large to be kept")
        digest = hashlib.sha256(data).hexdigest()
        named = hashlib.sha256(f"{digest}\0{media_type}\0{name}".encode("utf-8", "replace"))
        made = Artifact(
            artifact_id=f"artifact-{named.hexdigest()[:16]}",
            name=name,
            media_type=media_type,
            size_bytes=len(data),
            sha256=digest,
        )
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(self._folder / digest, data)
        _write(self._folder / f"{made.artifact_id}.json", json.dumps(asdict(made)).encode())
        return made

    def get(self, artifact_id: str) -> Artifact:
        """What is known of an artifact; raises `FileNotFoundError`."""
        if not _ID.fullmatch(artifact_id):
            raise FileNotFoundError(2, "No such artifact", artifact_id)
        try:
            found = Artifact(**json.loads((self._folder / f"{artifact_id}.json").read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise FileNotFoundError(2, "No such artifact", artifact_id) from error
        return found

    def read(self, artifact_id: str) -> bytes:
        """The content; raises `FileNotFoundError`, and `OSError` when it is not what was kept."""
        found = self.get(artifact_id)
        data = (self._folder / found.sha256).read_bytes()
        if hashlib.sha256(data).hexdigest() != found.sha256:
            raise OSError(5, "The artifact was changed on the disk", artifact_id)
        return data

    def text(self, artifact_id: str, start: int = 0, chars: int = 4_000) -> str:
        """A part of a text artifact."""
        text = self.read(artifact_id).decode("utf-8", "replace")
        return text[max(start, 0) : max(start, 0) + max(chars, 0)]

    def handle(self, artifact_id: str, *, lifetime_s: int = _LIFETIME_S) -> str:
        """A handle to an artifact for somebody outside, good for `lifetime_s` seconds."""
        found = self.get(artifact_id)
        until = int(time.time()) + max(lifetime_s, 0)
        said = f"{found.artifact_id}.{until}"
        return f"{said}.{self._signature(said)}"

    def opened(self, handle: str) -> tuple[Artifact, bytes]:
        """What a handle stands for. Raises `HandleError` for one that is wrong or too old."""
        said, _, signature = handle.rpartition(".")
        artifact_id, _, until = said.rpartition(".")
        right = hmac.compare_digest(self._signature(said).encode(), signature.encode())
        if not right or not until.isdigit() or int(until) < time.time():
            raise HandleError
        try:
            return self.get(artifact_id), self.read(artifact_id)
        except OSError:
            raise HandleError from None

    def _signature(self, said: str) -> str:
        key = installation_key(self._folder / "handles.key")
        made = hmac.new(key, _PURPOSE + said.encode("utf-8", "replace"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).decode().rstrip("=")


def installation_key(path: Path) -> bytes:
    """The key of this installation at `path`, made at its first use; only its owner reads it.

    Raises `SandboxError` for a file that holds no key: another one would end old handles silently.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)))
    try:
        key = base64.b64decode(path.read_bytes(), validate=True)
    except (OSError, binascii.Error) as error:
        raise SandboxError("The key for handles cannot be read.") from error
    if len(key) != _KEY_BYTES:
        raise SandboxError("The key for handles is damaged.", hint=f"Remove {path}.")
    return key


def excerpt(text: str, kept: Artifact) -> str:
    """Head and tail of a long text, its size, and the way to read more."""
    left_out = len(text) - _HEAD_CHARS - _TAIL_CHARS
    return (
        f"{text[:_HEAD_CHARS]}\n"
        f"[... {left_out:,} of {len(text):,} characters left out; all of it is kept as "
        f"{kept.artifact_id}. Read more in a program with "
        f'artifact_text("{kept.artifact_id}", start={_HEAD_CHARS}, chars=4000) ...]\n'
        f"{text[-_TAIL_CHARS:]}"
    )


def is_long(text: str) -> bool:
    """Whether an output is kept and shown as an excerpt."""
    return len(text) > SHOWN_BYTES // 4 and len(text.encode("utf-8", "replace")) > SHOWN_BYTES


def _write(path: Path, data: bytes) -> None:
    if path.exists() and path.stat().st_size == len(data):
        return
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    part.replace(path)
