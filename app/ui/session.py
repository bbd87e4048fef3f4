"""What the window is about right now: the open chat, or a new one that is not stored yet.

Owns the calls into the engine and the routing of its events. It must not make widgets; screens
listen to its signals. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge, EventBatch
from app.engine.events import (
    CallsProgress,
    ChatsChanged,
    Event,
    FetchEnded,
    FetchesChanged,
    FetchProgressed,
    LabEnded,
    LabProgressed,
    ModelActivity,
    Notice,
    ReplyDelta,
    ThinkingDelta,
    TurnChanged,
)
from app.store.grants import GrantRecord
from app.store.records import (
    ChatRecord,
    ChatView,
    ConflictRecord,
    Folder,
    Problem,
    TurnRecord,
)
from app.ui.lab_session import LabSession
from app.ui.question_block import Answered
from app.ui.review_dialog import Decision, PreviewWish
from app.ui.secret_session import SecretSession
from app.ui.shelf_session import ShelfSession

if TYPE_CHECKING:
    from app.engine.demo import Demo
    from app.engine.engine import Engine
    from app.engine.keeper import UndoSpace
    from app.engine.model_status import ModelStatus
    from app.engine.previews import Preview
    from app.settings import Settings


class Session(QObject):
    """The window's side of the engine. Each signal carries one typed record, or nothing."""

    chats_changed = Signal(object)  # tuple[ChatRecord, ...]
    chat_opened = Signal(object)  # ChatView, or None for a new chat
    chat_changed = Signal(object)  # ChatRecord
    draft_changed = Signal()
    turn_changed = Signal(object)  # TurnRecord of the open chat
    reply_arrived = Signal(object)  # ReplyDelta
    thinking_arrived = Signal(object)  # ThinkingDelta
    calls_changed = Signal(object)  # CallsProgress
    models_changed = Signal(object)  # tuple[ModelStatus, ...]
    shell_known = Signal(object)  # RungState, or None where commands cannot be run
    activity_changed = Signal(object)  # ModelActivity
    fetch_progressed = Signal(object)  # FetchProgressed
    fetch_ended = Signal(object)  # FetchEnded
    settings_changed = Signal(object)  # Settings
    notice_arrived = Signal(object)  # Notice
    problem_arrived = Signal(object)  # Problem
    suggested = Signal(str)  # a request to put into the composer
    send_failed = Signal(str)  # the text, so that it is not lost

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.lab = LabSession(bridge, self)
        self.secrets = SecretSession(bridge, self)
        self.shelf = ShelfSession(bridge, self)
        self.chat: ChatRecord | None = None
        self.models: tuple[ModelStatus, ...] = ()
        self.settings: Settings | None = None
        self._draft_folders: tuple[Folder, ...] = ()
        self._draft_model = ""
        self._query = ""
        self._visit = 0
        self._starting = False
        self._told_of: set[str] = set()
        bridge.arrived.connect(self._take)
        bridge.failed.connect(self.problem_arrived)

    # what is known

    @property
    def folders(self) -> tuple[Folder, ...]:
        """The folders of the open or the new chat."""
        return self._draft_folders if self.chat is None else self.chat.folders

    @property
    def model_id(self) -> str:
        """The model of the open or the new chat; empty while that is not known."""
        if self.chat is not None:
            return self.chat.model_id
        default = "" if self.settings is None else self.settings.default_model
        return self._draft_model or self._stand_in() or default

    def _stand_in(self) -> str:
        """A model that is here, where the default one is not; "" where no stand-in is needed."""
        here = [model for model in self.models if model.present]
        return "" if not here or any(model.default for model in here) else here[0].model_id

    # chats

    def load(self, chat_id: str = "") -> None:
        """Ask for everything that the window shows; opens `chat_id` if there is one."""
        self.refresh_settings()
        self.refresh_models()
        self.refresh_chats()
        self._bridge.call(
            lambda engine: engine.workspace_state(), self.shell_known.emit, owner=self
        )
        if chat_id:
            self._open(chat_id, lambda _problem: self.start_new())

    def refresh_chats(self, query: str | None = None) -> None:
        """Ask for the chats again; `query` None keeps the search."""
        if query is not None:
            self._query = query
        wanted = self._query

        def arrived(chats: list[ChatRecord]) -> None:
            if wanted == self._query:
                self.chats_changed.emit(tuple(chats))

        self._bridge.call(lambda engine: engine.chats(wanted), arrived, owner=self)

    def start_new(self) -> None:
        """Leave the open chat for a new one. It is stored with its first request."""
        self._visit += 1
        self._starting = False
        self.chat = None
        self._draft_folders = ()
        self.chat_opened.emit(None)

    def open_chat(self, chat_id: str) -> None:
        """Open a chat."""
        self._open(chat_id, self.problem_arrived.emit)

    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat a title."""
        self._bridge.call(lambda engine: engine.rename_chat(chat_id, title), self._put_chat)

    def delete(self, chat_id: str) -> None:
        """Delete a chat with its turns."""

        def gone(_none: None) -> None:
            if self.chat is not None and self.chat.chat_id == chat_id:
                self.start_new()

        self._bridge.call(lambda engine: engine.delete_chat(chat_id), gone, owner=self)

    def choose_folders(self, folders: tuple[Folder, ...]) -> None:
        """Replace the folders of this chat."""
        if self.chat is None:
            self._draft_folders = folders
            self.draft_changed.emit()
            return
        chat_id = self.chat.chat_id
        self._bridge.call(lambda engine: engine.set_folders(chat_id, folders), self._put_chat)

    def add_folder(self, path: str) -> None:
        """Add a folder to this chat, to be read and written."""
        if all(folder.path != path for folder in self.folders):
            self.choose_folders((*self.folders, Folder(path=path)))

    def open_demo(self) -> None:
        """Take a fresh copy of the demo folder into this chat, and suggest its task."""

        def made(demo: Demo) -> None:
            self.add_folder(str(demo.folder))
            self.suggested.emit(demo.task)

        self._bridge.call(lambda engine: engine.demo(), made, owner=self)

    def choose_model(self, model_id: str) -> None:
        """Choose the model of this chat."""
        if self.chat is None:
            self._draft_model = model_id
            return
        chat_id = self.chat.chat_id
        self._bridge.call(lambda engine: engine.set_model(chat_id, model_id), self._put_chat)

    # turns

    def send(self, text: str) -> None:
        """Begin a turn, in a new chat if none is open."""
        if self.chat is not None:
            self._send(self.chat.chat_id, text)
            return
        if self._starting:
            self.send_failed.emit(text)
            return
        self._starting = True
        visit = self._visit
        folders, model_id = self._draft_folders, self._draft_model or self._stand_in()

        def made(chat: ChatRecord) -> None:
            self._starting = False
            if visit == self._visit:
                self.chat = chat
                self.chat_opened.emit(ChatView(chat=chat, turns=()))
            self._send(chat.chat_id, text)

        def failed(problem: Problem) -> None:
            self._starting = False
            self._send_failed(problem, text)

        self._bridge.call(
            lambda engine: engine.new_chat(folders, model_id), made, failed, owner=self
        )

    def stop(self, turn_id: str) -> None:
        """Stop a turn."""
        self._bridge.call(lambda engine: engine.stop(turn_id))

    def resume(self, turn_id: str) -> None:
        """Go on with an interrupted turn."""
        self._bridge.call(lambda engine: engine.resume(turn_id))

    def restart(self, turn_id: str) -> None:
        """Run an interrupted turn again from its start."""
        self._bridge.call(lambda engine: engine.resume(turn_id, from_start=True))

    def answer(self, answered: Answered) -> None:
        """Answer what a turn's program asks."""
        self._bridge.call(lambda engine: engine.answer(answered.turn_id, answered.answer))

    def decide(
        self,
        decision: Decision,
        on_done: Callable[[TurnRecord], object],
        on_error: Callable[[Problem], object],
    ) -> None:
        """Carry a decision to the engine; all of it is applied, or nothing and the turn waits."""

        def settled(turn: TurnRecord) -> None:
            self._put_turn(turn)
            on_done(turn)
            if decision.word and turn.status == "rejected":
                self._send(turn.chat_id, decision.word)

        def failed(problem: Problem) -> None:
            self.problem_arrived.emit(problem)
            on_error(problem)

        self._bridge.call(
            lambda engine: engine.decide(
                decision.turn_id,
                approved=decision.approved,
                choices=decision.choices,
                whole=True,
                keep=decision.keep,
            ),
            settled,
            failed,
            owner=self,
        )

    def grants(self, on_done: Callable[[Sequence[GrantRecord]], object], owner: QObject) -> None:
        """Ask for the standing grants; dropped when `owner` is gone."""
        self._bridge.call(lambda engine: engine.grants(), on_done, owner=owner)

    def revoke_grant(
        self, grant_id: str, on_done: Callable[[Sequence[GrantRecord]], object], owner: QObject
    ) -> None:
        """Take a standing grant back; gives those that are left."""
        self._bridge.call(
            lambda engine: engine.revoke_grant(grant_id),
            lambda _none: self.grants(on_done, owner),
            owner=owner,
        )

    def add_grants(self, texts: tuple[str, ...]) -> None:
        """Keep standing grants that the person gave along with an approval."""
        for text in texts:
            self._bridge.call(
                lambda engine, text=text: engine.add_grant(text), lambda _made: None, owner=self
            )

    def conflicts(
        self,
        turn_id: str,
        on_done: Callable[[tuple[ConflictRecord, ...]], object],
        owner: QObject,
    ) -> None:
        """Ask where the disk no longer fits a waiting turn; dropped when `owner` is gone."""
        self._bridge.call(lambda engine: engine.conflicts(turn_id), on_done, owner=owner)

    def undo(self, turn_id: str) -> None:
        """Take a committed turn back."""
        self._bridge.call(lambda engine: engine.undo(turn_id), self._put_turn)

    def redo(self, turn_id: str) -> None:
        """Make the changes of an undone turn again."""
        self._bridge.call(lambda engine: engine.redo(turn_id), self._put_turn)

    def preview(
        self,
        wish: PreviewWish,
        on_done: Callable[[Preview], object],
        on_error: Callable[[Problem], object],
        owner: QObject,
    ) -> None:
        """Fetch a preview; the callbacks are dropped when `owner` is gone."""
        self._bridge.call(
            lambda engine: engine.preview(wish.turn_id, wish.change.id),
            on_done,
            on_error,
            owner=owner,
        )

    # models and settings

    def refresh_models(self) -> None:
        """Ask which models there are."""

        def arrived(models: list[ModelStatus]) -> None:
            self.models = tuple(models)
            self.models_changed.emit(self.models)

        self._bridge.call(lambda engine: engine.shelf.models(), arrived, owner=self)

    def refresh_settings(self) -> None:
        """Ask for the settings in force."""
        self._bridge.call(lambda engine: engine.settings(), self._put_settings)

    def change_settings(self, settings: Settings) -> None:
        """Save new settings."""

        def saved(_none: None) -> None:
            self._put_settings(settings)
            self.refresh_models()

        self._bridge.call(lambda engine: engine.change_settings(settings), saved, owner=self)

    def undo_space(self, on_done: Callable[[UndoSpace], object], owner: QObject) -> None:
        """Ask how much undo takes on the disk; dropped when `owner` is gone."""
        self._bridge.call(lambda engine: engine.undo_space(), on_done, owner=owner)

    def choose_theme(self, theme: str) -> None:
        """Save another theme."""
        if self.settings is not None:
            self.change_settings(self.settings.model_copy(update={"theme": theme}))

    # the rest

    def call[T](
        self,
        make: Callable[[Engine], Coroutine[Any, Any, T]],
        on_done: Callable[[T], object] | None = None,
        on_error: Callable[[Problem], object] | None = None,
        *,
        owner: QObject | None = None,
    ) -> None:
        """Ask the engine for something that only one screen is about."""
        self._bridge.call(make, on_done, on_error, owner=owner)

    def take_chat(self, chat: ChatRecord) -> None:
        """A chat was changed by such a call."""
        self._put_chat(chat)

    def _open(self, chat_id: str, on_error: Callable[[Problem], object]) -> None:
        self._visit += 1
        visit = self._visit

        def arrived(view: ChatView) -> None:
            if visit == self._visit:
                self.chat = view.chat
                self.chat_opened.emit(view)

        self._bridge.call(lambda engine: engine.open_chat(chat_id), arrived, on_error, owner=self)

    def take_offer(self, turn: TurnRecord) -> None:
        """Send a turn's request again, to the model that was offered for it."""
        if turn.offer is not None:
            self._send(turn.chat_id, turn.request, turn.offer.model_id)

    def _send(self, chat_id: str, text: str, model_id: str = "") -> None:
        self._bridge.call(
            lambda engine: (
                engine.send(chat_id, text, model_id=model_id)
                if model_id
                else engine.send(chat_id, text)
            ),
            self._sent,
            lambda problem: self._send_failed(problem, text),
            owner=self,
        )

    def _sent(self, turn: TurnRecord) -> None:
        """The turn as it began; what events have told of it since is newer and stays."""
        if turn.turn_id not in self._told_of:
            self._put_turn(turn)

    def _send_failed(self, problem: Problem, text: str) -> None:
        self.problem_arrived.emit(problem)
        self.send_failed.emit(text)

    def _put_chat(self, chat: ChatRecord) -> None:
        if self.chat is not None and self.chat.chat_id == chat.chat_id:
            self.chat = chat
            self.chat_changed.emit(chat)

    def _put_turn(self, turn: TurnRecord) -> None:
        if self.chat is not None and turn.chat_id == self.chat.chat_id:
            self.turn_changed.emit(turn)

    def _put_settings(self, settings: Settings) -> None:
        self.settings = settings
        self.settings_changed.emit(settings)

    def _take(self, batch: EventBatch) -> None:
        stale = False
        for event in batch.events:
            stale = self._route(event) or stale
        if stale:
            self.refresh_chats()

    def _route(self, event: Event) -> bool:
        """Hand an event on; true if the list of chats is out of date."""
        match event:
            case ChatsChanged():
                return True
            case TurnChanged():
                self._told_of.add(event.turn.turn_id)
                self._put_turn(event.turn)
                return True
            case ReplyDelta() | CallsProgress() | ThinkingDelta():
                self._route_live(event)
            case ModelActivity():
                self.activity_changed.emit(event)
            case FetchProgressed():
                self.fetch_progressed.emit(event)
            case FetchesChanged():
                self.refresh_models()
            case FetchEnded():
                self.fetch_ended.emit(event)
                self.refresh_models()
            case Notice():
                self.notice_arrived.emit(event)
            case LabProgressed() | LabEnded():
                pass  # `LabSession` listens for itself
        return False

    def _route_live(self, event: ReplyDelta | CallsProgress | ThinkingDelta) -> None:
        if self.chat is None or event.chat_id != self.chat.chat_id:
            return
        match event:
            case ReplyDelta():
                self.reply_arrived.emit(event)
            case ThinkingDelta():
                self.thinking_arrived.emit(event)
            case CallsProgress():
                self.calls_changed.emit(event)
