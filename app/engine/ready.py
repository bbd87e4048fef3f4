"""The one place where a model is made ready for a turn, and so where "local only" is kept to.

Router, retries, fallbacks, the lab and the command line all come through here, and a remote model
that was made ready asks again before each of its requests. Thread: engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.accounts import Accounts, RemoteTab
from app.engine.offline import refuse_offline
from app.engine.remotes import RemoteModels
from app.settings import Settings
from app.store.local_only import LocalOnlyStore
from app.store.records import TurnRecord
from models.errors import ModelError
from models.providers import RemoteModelId, is_remote

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from app.engine.warm import ModelSource, ReadyModel


class LocalOnlyError(ModelError):
    """A chat that is local only was to use a model elsewhere."""


class ReadyRoom:
    """Makes models ready for turns; closes what they came from."""

    def __init__(
        self,
        *,
        local: ModelSource,
        remote: RemoteModels,
        accounts: Accounts,
        local_only: LocalOnlyStore,
        settings: Callable[[], Settings],
        clean: Callable[[Model], Model] = lambda model: model,
    ) -> None:
        """`clean`: puts a model behind what takes secrets out of its requests."""
        self._local = local
        self._remote = remote
        self._accounts = accounts
        self._local_only = local_only
        self._settings = settings
        self.clean = clean

    async def ready(self, model_id: str, turn: TurnRecord) -> ReadyModel:
        """The model for a turn.

        Raises: `LocalOnlyError`, and `ModelError` when it cannot be had.
        """
        if not is_remote(model_id):
            made = await self._local.ready(model_id)
            tab = self._accounts.local_tab(turn.turn_id, turn.chat_id, model_id)
            return replace(made, model=self.clean(made.model), tab=made.tab or tab)
        model = self._remote.parse(model_id)
        self.check(model, turn.chat_id)
        made = await self._remote.ready(model, self.tab(model, turn.turn_id, turn.chat_id))
        return replace(made, model=self.clean(made.model))

    def tab(self, model: RemoteModelId, turn_id: str, chat_id: str) -> RemoteTab:
        """The meter of a turn, which also keeps to "local only"."""
        return RemoteTab(
            self._accounts,
            model,
            turn_id=turn_id,
            chat_id=chat_id,
            guard=lambda: self.check(model, chat_id),
        )

    def check(self, model: RemoteModelId, chat_id: str) -> None:
        """Raise `LocalOnlyError` or `OfflineError` if nothing of this chat may go to `model`.

        A server on this machine counts as elsewhere, too: nobody knows what it passes on.
        """
        refuse_offline(self._settings(), f"nothing was sent to {model.provider.label}")
        reason = self._local_only.reason(chat_id)
        if not reason:
            return
        what = "This chat is" if reason == "chat" else f"The folder {reason} is"
        raise LocalOnlyError(
            f"{what} marked local only, so nothing was sent to {model.provider.label}.",
            hint="Choose a model on this machine, or take the mark away.",
        )

    async def reconnect(self) -> None:
        """Connect anew to what is elsewhere: the way there has changed."""
        await self._remote.close()

    async def close(self) -> None:
        """End what was started."""
        await self._local.close()
        await self._remote.close()
