"""The engine's surface: what the window and the command line can ask for.

Owns the store and the parts that live as long as the app. Every method runs on the engine's loop;
results are immutable records, progress is posted to the mailbox. Knows no Qt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine import warm
from app.engine.chat_sessions import ChatSessions
from app.engine.day import today
from app.engine.demo import Demo, make_demo
from app.engine.desk import TurnDesk
from app.engine.events import ChatsChanged, Event, Notice
from app.engine.folders import open_grants
from app.engine.keeper import UndoKeeper, UndoSpace
from app.engine.learned import Suggestion, suggestions
from app.engine.mailbox import Mailbox
from app.engine.previews import Preview, Previewer, patch_of_turn
from app.engine.proxy import Proxy
from app.engine.remote_rooms import remote_rooms
from app.engine.replay import Replays
from app.engine.secret_desk import SecretDesk
from app.engine.shelf import ModelShelf
from app.engine.standing import StandingGrants
from app.engine.toolbox import Toolbox, Way
from app.engine.turn_context import TurnContext
from app.engine.turn_tape import forget_tape
from app.engine.warm import LocalModels, ModelSource
from app.engine.workspaces import Workspaces
from app.errors import AppError, NotFoundError
from app.log import scrub_log
from app.paths import Paths
from app.settings import Settings, load_settings, save_settings
from app.store.chats import ChatStore
from app.store.database import open_database
from app.store.grants import GrantRecord, GrantStore, Scope
from app.store.journal import Entry, TurnJournal
from app.store.records import LIVE, ChatRecord, ChatView, ConflictRecord, Folder, TurnRecord
from app.store.trials import TrialStore
from app.vault.keepers import Keeper
from app.vault.redact import Redactor
from models.catalog import Catalog, load_catalog
from sandbox.effects import Effect
from sandbox.grants import NO_GRANTS, Grants
from sandbox.question import PersonsAnswer
from sandbox.verify import Choice

if TYPE_CHECKING:
    from models.remote_client import Connections
    from sandbox.workspace.ladder import RungState

_log = logging.getLogger(__name__)
_HISTORY = 200
_LATEST = 20


class Engine:
    """One engine a process. Made on its loop; `start` once, `close` at the end."""

    def __init__(
        self,
        paths: Paths,
        mailbox: Mailbox,
        *,
        models: ModelSource | None = None,
        catalog: Catalog | None = None,
        keyring: Keeper | None = None,
        connect: Callable[[], Connections] | None = None,
        way: Way = "code",
    ) -> None:
        """`models`: where local models come from; the worker's when not given. `keyring`: of tests.
        `connect`: makes the connections to remote models, the network's when not given. `way`: how
        models work, for the lab's comparisons.

        Raises: `AppError` when the store or the settings cannot be used.
        """
        self.paths = paths
        self._mailbox = mailbox
        self._settings = self._read_settings()
        self._proxy = Proxy()
        self._database = open_database(paths.store)
        self._store = ChatStore(self._database)
        self._journal = TurnJournal(self._database)
        self.trials = TrialStore(self._database)
        redactor = Redactor()
        self._database.scrub = redactor.column
        mailbox.redact(redactor)
        scrub_log(redactor.text)
        self.secrets = SecretDesk(
            paths=paths,
            tables=self._database,
            journal=self._journal,
            mailbox=mailbox,
            redactor=redactor,
            settings=lambda: self._settings,
            keyring=keyring,
        )
        self.shelf = ModelShelf(
            catalog=catalog or load_catalog(),
            folder=paths.models,
            tables=self._database,
            settings=lambda: self._settings,
            mailbox=mailbox,
            rates=lambda: self._steering.rates(),
            busy=lambda: any(turn.status in LIVE for turn in self._store.turns(_LATEST)),
        )
        local = models or LocalModels(
            catalog=lambda: self.shelf.catalog,
            folder=paths.models,
            settings=lambda: self._settings,
            mailbox=mailbox,
        )
        self.shelf.serve(local)
        rooms = remote_rooms(
            paths=paths,
            tables=self._database,
            store=self._store,
            settings=lambda: self._settings,
            mailbox=mailbox,
            local=local,
            catalog=lambda: self.shelf.catalog,
            secrets=self.secrets,
            redactor=redactor,
            connect=connect,
        )
        self.places, self._ready, self._steering = rooms.places, rooms.ready, rooms.steering
        context = TurnContext(
            paths=paths,
            store=self._store,
            journal=self._journal,
            mailbox=mailbox,
            settings=lambda: self._settings,
            states=self.secrets.states,
        )
        self._keeper = UndoKeeper(context)
        self._previewer = Previewer(paths)
        self._standing = StandingGrants(GrantStore(self._database))
        self.workspaces = Workspaces(paths, lambda: self._settings)
        self.sessions = ChatSessions(context)
        self.replays = Replays(context, self.secrets)
        self.toolbox = Toolbox(way)
        self._desk = TurnDesk(
            context,
            models=self._ready,
            steering=self._steering,
            keeper=self._keeper,
            secrets=self.secrets,
            standing=self._standing,
            workspaces=self.workspaces,
            toolbox=self.toolbox,
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def post(self, event: Event) -> None:
        """Tell the engine's listener something that a room above it did."""
        self._mailbox.post(event)

    async def start(self, *, in_background: bool = True) -> None:
        """Recover after a crash; in the background also go on with turns, and warm up."""
        self._proxy.use(self._settings.network.proxy)
        self.secrets.begin()
        await self._desk.recover()
        await self._keeper.tidy()
        await asyncio.to_thread(self.workspaces.sweep, {c.chat_id for c in self._store.chats("")})
        self._mailbox.post(ChatsChanged())
        if in_background:
            self.shelf.fetches.go_on()
            task = asyncio.create_task(self._warm(), name="warm")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _warm(self) -> None:
        await self.secrets.ready()
        self._desk.go_on()
        await asyncio.to_thread(warm.import_heavy)
        try:
            await self._desk.warm()
        except Exception as error:
            _log.warning("sandbox did not start: %s", error)

    async def close(self) -> None:
        """End in order: fetches, turns, models, store."""
        for task in list(self._tasks):
            task.cancel()
        await self.shelf.fetches.close()
        await self._desk.close()
        await asyncio.to_thread(self._previewer.close)
        await asyncio.to_thread(self.workspaces.close)
        await self._ready.close()
        self._proxy.restore()
        await self.secrets.close()
        self._database.close()

    async def workspace_state(self) -> RungState | None:
        """Where shell commands run; None where they cannot."""
        return await asyncio.to_thread(self.workspaces.state)

    # chats

    async def chats(self, query: str = "") -> list[ChatRecord]:
        """Chats, latest first; `query` searches titles and requests."""
        return self._store.chats(query)

    async def open_chat(self, chat_id: str) -> ChatView:
        """A chat with all its turns."""
        return self._store.view(chat_id)

    async def new_chat(self, folders: Sequence[Folder] = (), model_id: str = "") -> ChatRecord:
        """Make a chat. Raises: `AppError` for a folder that cannot be used."""
        checked = self._checked(folders)
        chat = self._store.add_chat(checked, model_id or self._settings.default_model)
        self._mailbox.post(ChatsChanged())
        return chat

    async def demo(self) -> Demo:
        """A fresh copy of the demo folder, and a task for it."""
        return await asyncio.to_thread(make_demo, self.paths)

    async def set_folders(self, chat_id: str, folders: Sequence[Folder]) -> ChatRecord:
        """Replace a chat's folders. Raises: `AppError` for one that cannot be used."""
        return self._save(replace(self._store.chat(chat_id), folders=self._checked(folders)))

    async def set_model(self, chat_id: str, model_id: str) -> ChatRecord:
        """Choose the model for the next turns."""
        self.places.check_id(model_id)
        return self._save(replace(self._store.chat(chat_id), model_id=model_id))

    async def rename_chat(self, chat_id: str, title: str) -> ChatRecord:
        """Give a chat a title."""
        return self._save(replace(self._store.chat(chat_id), title=title.strip()))

    async def delete_chat(self, chat_id: str) -> None:
        """Remove a chat from the store; the folders on the disk are not touched."""
        for turn in self._store.view(chat_id).turns:
            await self._desk.stop(turn.turn_id)
            self._keeper.forget(turn.turn_id)
            forget_tape(self.paths, turn.turn_id)
        self.secrets.states.forget(chat_id)
        self._store.delete_chat(chat_id)
        await asyncio.to_thread(self.workspaces.delete, chat_id)
        self._mailbox.post(ChatsChanged())

    def _checked(self, folders: Sequence[Folder]) -> tuple[Folder, ...]:
        """Folders with their real absolute paths, each once."""
        grants = open_grants(folders, self.paths)
        checked: dict[str, Folder] = {}
        for folder, grant in zip(folders, grants, strict=True):
            checked.setdefault(str(grant.path), Folder(path=str(grant.path), rights=folder.rights))
        return tuple(checked.values())

    def _save(self, chat: ChatRecord) -> ChatRecord:
        saved = self._store.save_chat(chat)
        self._mailbox.post(ChatsChanged())
        return saved

    # turns

    async def send(
        self,
        chat_id: str,
        request: str,
        *,
        seed: int | None = None,
        grants: Grants = NO_GRANTS,
        model_id: str = "",
    ) -> TurnRecord:
        """Begin a turn; returns at once. Raises: `AppError` when it cannot begin.

        `grants`: hosts and tools that the person allowed in advance, for this turn alone;
        `model_id`: another model than the chat's, for this turn alone.
        """
        request = request.strip()
        if not request:
            raise AppError("There is nothing to do yet.", hint="Say what you want done.")
        await self.secrets.ready()
        chat = self._titled(self._store.chat(chat_id), request)
        choice = self._steering.begin(model_id or chat.model_id, request)
        return self._desk.begin(chat, request, seed=seed, grants=grants, choice=choice)

    async def run_program(
        self, chat_id: str, source: str, title: str, *, grants: Grants = NO_GRANTS
    ) -> TurnRecord:
        """Begin a turn with a given program; returns at once."""
        await self.secrets.ready()
        chat = self._titled(self._store.chat(chat_id), title)
        return self._desk.begin_program(chat, source, title, grants=grants)

    def _titled(self, chat: ChatRecord, request: str) -> ChatRecord:
        titled = chat.titled(request)
        return chat if titled is chat else self._store.save_chat(titled)

    async def stop(self, turn_id: str) -> None:
        """Stop a turn; everything that it started has ended when this returns."""
        await self._desk.stop(turn_id)

    async def resume(
        self, turn_id: str, *, grants: Grants = NO_GRANTS, from_start: bool = False
    ) -> TurnRecord:
        """Go on with an interrupted turn where it was, or from its start; returns at once.

        Raises: `AppError` when it is not interrupted, or can only be started again.
        """
        await self.secrets.ready()
        return self._desk.resume(turn_id, grants, from_start=from_start)

    async def answer(
        self, turn_id: str, answer: PersonsAnswer, *, grants: Grants = NO_GRANTS
    ) -> TurnRecord:
        """Answer what a turn's program waits for; it goes on at that call. Returns at once.

        Raises: `AppError` when nothing is asked, or the answer is none of its choices.
        """
        await self.secrets.ready()
        return self._desk.answer(turn_id, answer, grants)

    async def answer_by_grants(self, turn_id: str, grants: Grants) -> TurnRecord:
        """Approve a waiting turn where grants cover all of it; the turn as it is then."""
        await self._desk.answer_by_grants(self._store.turn(turn_id), grants)
        return self._store.turn(turn_id)

    # standing grants

    async def grants(self) -> list[GrantRecord]:
        """The standing grants in force."""
        return self._standing.listed()

    async def add_grant(self, text: str, scope: Scope = "always", chat_id: str = "") -> GrantRecord:
        """Keep a standing grant. Raises: `UsageError` for one that is malformed."""
        return self._standing.add(text, scope, chat_id)

    async def suggested_grants(self) -> tuple[Suggestion, ...]:
        """Rules that the person's own approvals suggest, with what they would have done."""
        turns = self._store.turns(_HISTORY)
        history = [(turn, self._store.turn_folders(turn.turn_id)) for turn in turns]
        return await asyncio.to_thread(suggestions, history, today())

    async def revoke_grant(self, grant_id: str) -> None:
        """Take a standing grant back. Raises: `NotFoundError`."""
        self._standing.revoke(grant_id)

    async def wait(self, turn_id: str) -> TurnRecord:
        """The turn's record once it is no longer at work."""
        return await self._desk.wait(turn_id)

    async def conflicts(
        self, turn_id: str, approved: Collection[str] | None = None
    ) -> tuple[ConflictRecord, ...]:
        """Where the disk no longer fits a waiting turn's changes, each with its choices."""
        return await self._desk.decisions.conflicts(turn_id, approved)

    async def decide(
        self,
        turn_id: str,
        *,
        approved: Collection[str] | None,
        choices: Mapping[str, Choice] | None = None,
        whole: bool = False,
        keep: bool = False,
    ) -> TurnRecord:
        """Commit the changes with these ids; None rejects the whole change set.

        `choices`: "theirs", "ours" or "both" for a change that conflicts; `whole`: apply nothing
        while a conflict has none, the turn then waits with its conflicts; `keep`: where the disk
        refuses something, apply what can be applied and list the rest.
        """
        return await self._desk.decisions.decide(
            turn_id, approved, choices=choices, whole=whole, keep=keep
        )

    async def undo(self, turn_id: str) -> TurnRecord:
        """Take a committed turn back."""
        return await self._desk.decisions.undo(turn_id)

    async def redo(self, turn_id: str) -> TurnRecord:
        """Make the changes of an undone turn again."""
        return await self._desk.decisions.redo(turn_id)

    async def undo_space(self) -> UndoSpace:
        """What undo takes on the disk now; how much it may is in the settings."""
        return await self._keeper.space()

    async def preview(self, turn_id: str, change_id: str) -> Preview:
        """What one change does to one entry, for showing."""
        turn = self._store.turn(turn_id)
        changes = turn.changes.changes if turn.changes is not None else ()
        for change in changes:
            if change.id == change_id:
                return await asyncio.to_thread(self._previewer.preview, turn, change)
        raise NotFoundError(f"There is no change {change_id} in run {turn_id}.")

    async def patch(self, turn_id: str) -> bytes:
        """A turn's changes as a unified patch; see `sandbox.patch`."""
        turn = self._store.turn(turn_id)
        roots = [folder.path for folder in self._store.turn_folders(turn_id)]
        return await asyncio.to_thread(patch_of_turn, turn, roots, self.paths)

    # runs, as the command line sees turns

    async def run_records(self, limit: int = 100) -> list[TurnRecord]:
        """The latest turns of all chats, newest first."""
        return self._store.turns(limit)

    async def run_record(self, turn_id: str) -> TurnRecord:
        """One turn. Raises: `NotFoundError`."""
        return self._store.turn(turn_id)

    async def effects(self, turn_id: str) -> list[Effect]:
        """The effects of a turn's programs, in order."""
        return self._store.effects(turn_id)

    async def journal(self, turn_id: str) -> list[Entry]:
        """The steps of a turn, in order."""
        return self._journal.entries(turn_id)

    async def folders_of(self, turn_id: str) -> tuple[Folder, ...]:
        """The folders as they were granted when the turn began."""
        return self._store.turn_folders(turn_id)

    # settings

    async def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    async def change_settings(self, settings: Settings) -> None:
        """Save and use new settings."""
        await asyncio.to_thread(save_settings, self.paths.settings, settings)
        self._settings = settings
        if self._proxy.use(settings.network.proxy):
            await self._ready.reconnect()
        await self.shelf.fetches.settings_changed()
        await self._keeper.tidy()

    def _read_settings(self) -> Settings:
        try:
            return load_settings(self.paths.settings)
        except AppError as error:
            self._mailbox.post(
                Notice(
                    severity="caution",
                    message=f"{error.message} The defaults are used.",
                    hint=error.hint,
                )
            )
            return Settings()
