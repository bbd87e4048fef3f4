"""The window's way to the secrets: every wish of the vault's dialog as a call into the engine.

Owns no value: one that is asked for goes to who asked, and is kept by nobody. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.store.records import Problem

if TYPE_CHECKING:
    from app.bridge import Bridge
    from app.engine.engine import Engine
    from app.engine.secret_desk import SecretView
    from app.engine.secret_trial import Trial
    from app.vault.keepers import Keep, Standing
    from sandbox.secrets import Binding

OnProblem = Callable[[Problem], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What there is, and how each place for values stands."""

    views: Sequence[SecretView]
    standings: Mapping[Keep, Standing]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSecret:
    """A secret as the form gives it. `passphrase`: for the encrypted file, where it is locked."""

    binding: Binding
    value: str
    keep: Keep
    passphrase: str = ""

    def __repr__(self) -> str:
        return f"NewSecret({self.binding.name!r})"


class SecretSession(QObject):
    """Calls into the engine; each answer comes back on this thread."""

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge

    def look(
        self, on_done: Callable[[Secrets], object], on_error: OnProblem, owner: QObject
    ) -> None:
        """What there is."""

        async def ask(engine: Engine) -> Secrets:
            views = await engine.secrets.all()
            return Secrets(views=views, standings=await engine.secrets.standings())

        self._bridge.call(ask, on_done, on_error, owner=owner)

    def add(
        self,
        wanted: NewSecret,
        on_done: Callable[[object], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Add a secret."""

        async def work(engine: Engine) -> None:
            if wanted.passphrase:
                await engine.secrets.unlock_file(wanted.passphrase)
            await engine.secrets.add(wanted.binding, wanted.value, wanted.keep)

        self._bridge.call(work, on_done, on_error, owner=owner)

    def rotate(
        self,
        name: str,
        value: str,
        on_done: Callable[[object], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Give a secret a new value."""
        self._bridge.call(
            lambda engine: engine.secrets.rotate(name, value), on_done, on_error, owner=owner
        )

    def rebind(
        self,
        binding: Binding,
        on_done: Callable[[object], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Change where a secret may go; its value stays."""
        self._bridge.call(
            lambda engine: engine.secrets.rebind(binding), on_done, on_error, owner=owner
        )

    def remove(
        self, name: str, on_done: Callable[[object], object], on_error: OnProblem, owner: QObject
    ) -> None:
        """Forget a secret."""
        self._bridge.call(
            lambda engine: engine.secrets.remove(name), on_done, on_error, owner=owner
        )

    def reveal(
        self, name: str, on_done: Callable[[str], object], on_error: OnProblem, owner: QObject
    ) -> None:
        """The value, because the person asked to see it."""
        self._bridge.call(
            lambda engine: engine.secrets.reveal(name), on_done, on_error, owner=owner
        )

    def trial(
        self, name: str, on_done: Callable[[Trial], object], on_error: OnProblem, owner: QObject
    ) -> None:
        """Try a secret at its host."""
        self._bridge.call(lambda engine: engine.secrets.trial(name), on_done, on_error, owner=owner)

    def unlock_keyring(
        self, on_done: Callable[[object], object], on_error: OnProblem, owner: QObject
    ) -> None:
        """Have the system ask for the keyring's password."""
        self._bridge.call(
            lambda engine: engine.secrets.unlock_keyring(), on_done, on_error, owner=owner
        )

    def unlock_file(
        self,
        passphrase: str,
        on_done: Callable[[object], object],
        on_error: OnProblem,
        owner: QObject,
    ) -> None:
        """Open the encrypted file."""
        self._bridge.call(
            lambda engine: engine.secrets.unlock_file(passphrase), on_done, on_error, owner=owner
        )
