"""What the programs of a chat left for the next one, on the disk: one signed file a turn.

Owns the files' form and which are kept. A file counts as written by this installation alone when
its signature is right: what it holds is given to the interpreter and believed about where data came
from. One of another interpreter, another library of the bridge or another format is named as such.
Thread: any, one writer at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pydantic_monty

from sandbox.artifacts import installation_key
from sandbox.errors import StateUnusableError
from sandbox.origins import Origin
from sandbox.prelude_rooms import library_mark
from sandbox.session_state import FRESH, Definition, SessionState, Variable

VERSION = 1
_MAGIC = b"drydock state\n"
_PURPOSE = b"drydock session state\0"
_LENGTH = struct.Struct("<I")
_MOST_BYTES = 256 * 1024 * 1024
_KEPT_A_CHAT = 20
_SUFFIX = ".state"
_FRESH_HINT = "The next program starts fresh: it has to define again what it needs."


class StateFiles:
    """The states of all chats. `folder`: theirs; `key_path`: of the key that signs them."""

    def __init__(
        self, folder: Path, key_path: Path, scrub: Callable[[bytes], bytes] = bytes
    ) -> None:
        """`scrub`: takes out, without changing the length, what must not be on the disk."""
        self._folder = folder
        self._key_path = key_path
        self._scrub = scrub

    def save(self, chat_id: str, turn_id: str, state: SessionState) -> None:
        """Keep what a turn left; it is there whole or not. Raises OSError."""
        path = self._path(chat_id, turn_id)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, self._signed(self._scrub(_body(state)), chat_id, turn_id))
        others = sorted(path.parent.glob(f"*{_SUFFIX}"), key=lambda one: one.stat().st_mtime)
        for old in others[:-_KEPT_A_CHAT]:
            old.unlink(missing_ok=True)

    def load(self, chat_id: str, turn_id: str) -> SessionState:
        """What a turn left. Raises `StateUnusableError` that says what is wrong."""
        path = self._path(chat_id, turn_id)
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise _unusable("It was forgotten.") from error
        except OSError as error:
            raise _unusable(f"Its file cannot be read ({error.strerror}).") from error
        return _state(self._checked(data, chat_id, turn_id))

    def latest(self, chat_id: str, turn_ids: Sequence[str]) -> str:
        """The latest of these turns, given in their order, that left something; empty for none."""
        return next((t for t in reversed(turn_ids) if self._path(chat_id, t).exists()), "")

    def forget(self, chat_id: str) -> None:
        """Remove all that the programs of a chat left."""
        shutil.rmtree(self._folder / chat_id, ignore_errors=True)

    def forget_strays(self, known: set[str]) -> None:
        """Remove what is of no known chat."""
        for path in self._folder.glob("*"):
            if path.name not in known:
                shutil.rmtree(path, ignore_errors=True)

    def scrub(self) -> None:
        """Take out of all states what has become known since they were written."""
        for path in self._folder.glob(f"*/*{_SUFFIX}"):
            chat_id, turn_id = path.parent.name, path.stem
            with contextlib.suppress(OSError, StateUnusableError):
                body = self._checked(path.read_bytes(), chat_id, turn_id)
                clean = self._scrub(body)
                if clean != body:
                    _write(path, self._signed(clean, chat_id, turn_id))

    def _path(self, chat_id: str, turn_id: str) -> Path:
        return self._folder / chat_id / f"{turn_id}{_SUFFIX}"

    def _signed(self, body: bytes, chat_id: str, turn_id: str) -> bytes:
        packed = zlib.compress(body, 1)
        return _MAGIC + self._signature(packed, chat_id, turn_id) + packed

    def _signature(self, packed: bytes, chat_id: str, turn_id: str) -> bytes:
        said = _PURPOSE + f"{chat_id}\0{turn_id}\0".encode()
        return hmac.new(installation_key(self._key_path), said + packed, hashlib.sha256).digest()

    def _checked(self, data: bytes, chat_id: str, turn_id: str) -> bytes:
        begin = len(_MAGIC) + hashlib.sha256().digest_size
        signature, packed = data[len(_MAGIC) : begin], data[begin:]
        right = self._signature(packed, chat_id, turn_id)
        if not data.startswith(_MAGIC) or not hmac.compare_digest(signature, right):
            raise _unusable("Its file is damaged, or was altered.")
        unpacking = zlib.decompressobj()
        body = unpacking.decompress(packed, _MOST_BYTES)
        if unpacking.unconsumed_tail:
            raise _unusable("Its file is too large.")
        return body


def _write(path: Path, data: bytes) -> None:
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _body(state: SessionState) -> bytes:
    head = {
        "version": VERSION,
        "interpreter": pydantic_monty.__version__,
        "library": library_mark(),
        "feeds": state.feeds,
        "helpers": state.helpers,
        "rooms": state.rooms,
        "names": {name: asdict(variable) for name, variable in state.names.items()},
        "definitions": {name: asdict(item) for name, item in state.definitions.items()},
        "imports": dict(state.imports),
    }
    text = json.dumps(head, ensure_ascii=True).encode("ascii")
    return _LENGTH.pack(len(text)) + text + state.session


def _state(body: bytes) -> SessionState:
    (length,) = _LENGTH.unpack_from(body)
    head: dict[str, Any] = json.loads(body[_LENGTH.size : _LENGTH.size + length])
    if head["version"] != VERSION:
        raise _unusable(f"It was written by another Drydock (format {head['version']}).")
    found = head["interpreter"]
    if found != pydantic_monty.__version__:
        raise _unusable(
            f"It is of the program interpreter {found}, this is {pydantic_monty.__version__}."
        )
    session = body[_LENGTH.size + length :]
    if not session:
        return FRESH
    if head["library"] != library_mark():
        raise _unusable("It was written by another version of Drydock.")
    return SessionState(
        session=session,
        feeds=head["feeds"],
        helpers=tuple(head["helpers"]),
        rooms=tuple(head["rooms"]),
        names={name: _variable(item) for name, item in head["names"].items()},
        definitions={name: Definition(**item) for name, item in head["definitions"].items()},
        imports=head["imports"],
    )


def _variable(found: dict[str, Any]) -> Variable:
    """A variable of an earlier turn: no line of that turn's programs means anything now."""

    def origins(name: str) -> tuple[Origin, ...]:
        items = cast("list[dict[str, Any]]", found[name])
        return tuple(
            Origin(label=item["label"], kind=item["kind"], what=item["what"]) for item in items
        )

    return Variable(plain=found["plain"], held=origins("held"), led=origins("led"))


def _unusable(what: str) -> StateUnusableError:
    return StateUnusableError(
        f"What earlier programs of this chat defined cannot be used any more. {what}",
        hint=_FRESH_HINT,
    )
