"""An engine for widget tests: it answers from records and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.chat_sessions import ChatSession
from app.engine.events import ChatsChanged, Event, TurnChanged
from app.engine.keeper import UndoSpace
from app.engine.mailbox import Mailbox
from app.engine.model_status import ModelStatus
from app.engine.previews import Preview
from app.errors import AppError
from app.paths import Paths
from app.settings import Settings
from app.store.grants import GrantRecord
from app.store.records import ChatRecord, ChatView, ConflictRecord, Folder, Problem, TurnRecord
from app.store.trials import TrialRecord
from models.fit import Fit
from sandbox.verify import Choice
from sandbox.workspace.ladder import RungState
from tests.app.ui import samples
from tests.app.ui.fake_places import FakePlaces
from tests.app.ui.fake_shelf import FakeShelf

PREVIEW = Preview(
    kind="text",
    lines=("@@ -1,3 +1,4 @@", " Shopping", "-milk", "+oat milk", "+bread", " eggs"),
    note="",
)


def model(name: str = "Qwen2.5-Coder 1.5B", **values: object) -> ModelStatus:
    """A model of the catalog."""
    base: dict[str, object] = {
        "model_id": samples.MODEL,
        "name": name,
        "licence": "Apache-2.0",
        "parameters": 1_500_000_000,
        "size_bytes": 1_117_320_768,
        "context_tokens": 32_768,
        "present": True,
        "default": True,
        "fit": Fit(label="fits", context_tokens=8192, needed_bytes=10**9, free_bytes=10**10),
    }
    return ModelStatus(**{**base, **values})  # type: ignore[arg-type]


class FakeSessions:
    """What the chat's programs have defined."""

    def __init__(self, asked: list[tuple[str, object]]) -> None:
        self.found = ChatSession()
        self.problem: AppError | None = None
        self._asked = asked

    async def of(self, chat_id: str) -> ChatSession:
        return self.found

    async def reset(self, chat_id: str) -> ChatSession:
        self._asked.append(("reset", chat_id))
        if self.problem is not None:
            raise self.problem
        found, self.found = self.found, ChatSession()
        return found


@dataclass
class FakeEngine:
    """Records in, calls out. `asked` holds (method, arguments) in order."""

    mailbox: Mailbox
    stored: list[ChatRecord] = field(default_factory=list)
    turns: dict[str, list[TurnRecord]] = field(default_factory=dict)
    catalog: list[ModelStatus] = field(default_factory=lambda: [model()])
    asked: list[tuple[str, object]] = field(default_factory=list)
    refuse: AppError | None = None
    fault: Problem | None = None
    conflicting: tuple[ConflictRecord, ...] = ()
    space: UndoSpace = field(default_factory=lambda: UndoSpace(size_bytes=1_240_000_000, runs=14))
    measured: list[TrialRecord] = field(default_factory=list)
    closed: bool = False
    shell: RungState | None = None
    current: Settings = field(default_factory=Settings)

    @property
    def trials(self) -> FakeEngine:
        """Its own store of trials."""
        return self

    @property
    def paths(self) -> Paths:
        """A home in which there is nothing."""
        return Paths(home=Path("/nowhere"))

    def all(self) -> list[TrialRecord]:
        """Every trial, oldest first."""
        return self.measured

    def __post_init__(self) -> None:
        self.shelf = FakeShelf(self.asked, lambda: self.catalog)
        self.sessions = FakeSessions(self.asked)
        self.places = FakePlaces(self.asked, self._chat, self._keep)

    def _chat(self, chat_id: str) -> ChatRecord:
        return next(chat for chat in self.stored if chat.chat_id == chat_id)

    def _keep(self, chat: ChatRecord) -> None:
        self.stored = [chat if one.chat_id == chat.chat_id else one for one in self.stored]

    def post(self, *events: Event) -> None:
        """Tell the window something."""
        for event in events:
            self.mailbox.post(event)

    async def start(self) -> None:
        self.asked.append(("start", None))

    async def close(self) -> None:
        self.closed = True

    async def workspace_state(self) -> RungState | None:
        return self.shell

    async def chats(self, query: str = "") -> list[ChatRecord]:
        return [chat for chat in self.stored if query.lower() in chat.title.lower()]

    async def open_chat(self, chat_id: str) -> ChatView:
        for chat in self.stored:
            if chat.chat_id == chat_id:
                return ChatView(chat=chat, turns=tuple(self.turns.get(chat_id, ())))
        raise AppError("There is no such chat.")

    async def new_chat(self, folders: Sequence[Folder] = (), model_id: str = "") -> ChatRecord:
        self.asked.append(("new_chat", (tuple(folders), model_id)))
        if self.refuse is not None:
            raise self.refuse
        chat = samples.chat(f"c{len(self.stored) + 1}", "", folders=tuple(folders))
        self.stored.insert(0, chat)
        self.post(ChatsChanged())
        return chat

    async def set_folders(self, chat_id: str, folders: Sequence[Folder]) -> ChatRecord:
        self.asked.append(("set_folders", tuple(folders)))
        return self._change(chat_id, folders=tuple(folders))

    async def set_model(self, chat_id: str, model_id: str) -> ChatRecord:
        self.asked.append(("set_model", model_id))
        return self._change(chat_id, model_id=model_id)

    async def rename_chat(self, chat_id: str, title: str) -> ChatRecord:
        return self._change(chat_id, title=title)

    async def delete_chat(self, chat_id: str) -> None:
        self.stored = [chat for chat in self.stored if chat.chat_id != chat_id]
        self.post(ChatsChanged())

    async def send(self, chat_id: str, request: str) -> TurnRecord:
        self.asked.append(("send", request))
        if self.refuse is not None:
            raise self.refuse
        turns = self.turns.setdefault(chat_id, [])
        turn = samples.turn(
            "writing", f"t{len(turns) + 1}", chat_id=chat_id, request=request, started=samples.NOW
        )
        turns.append(turn)
        return turn

    async def stop(self, turn_id: str) -> None:
        self.asked.append(("stop", turn_id))
        self.post(TurnChanged(turn=replace(self._turn(turn_id), status="stopped")))

    async def resume(self, turn_id: str) -> TurnRecord:
        self.asked.append(("resume", turn_id))
        return self._turn(turn_id)

    async def conflicts(
        self, turn_id: str, approved: Collection[str] | None = None
    ) -> tuple[ConflictRecord, ...]:
        self.asked.append(("conflicts", turn_id))
        wanted = (one for one in self.conflicting if approved is None or one.change_id in approved)
        return tuple(wanted)

    async def decide(
        self,
        turn_id: str,
        *,
        approved: Collection[str] | None,
        choices: Mapping[str, Choice] | None = None,
        whole: bool = False,
        keep: bool = False,
    ) -> TurnRecord:
        self.asked.append(("decide", approved))
        if self.refuse is not None:
            raise self.refuse
        turn = self._turn(turn_id)
        if approved is None:
            return replace(turn, status="rejected")
        self.asked.append(("choices", dict(choices or {})))
        self.asked.append(("keep", keep))
        if self.fault is not None and not keep:
            return replace(turn, problem=self.fault)
        left = tuple(
            one
            for one in self.conflicting
            if one.change_id in approved and one.change_id not in (choices or {})
        )
        if whole and left:
            return replace(turn, conflicts=left)
        return replace(turn, status="done", committed=True, approved=tuple(sorted(approved)))

    async def undo(self, turn_id: str) -> TurnRecord:
        self.asked.append(("undo", turn_id))
        return replace(self._turn(turn_id), status="undone", committed=False)

    async def redo(self, turn_id: str) -> TurnRecord:
        self.asked.append(("redo", turn_id))
        return replace(self._turn(turn_id), status="done", committed=True)

    async def grants(self) -> list[GrantRecord]:
        """Those that stand."""
        return []

    async def undo_space(self) -> UndoSpace:
        return self.space

    async def preview(self, turn_id: str, change_id: str) -> Preview:
        self.asked.append(("preview", change_id))
        return PREVIEW

    async def settings(self) -> Settings:
        return self.current

    async def change_settings(self, settings: Settings) -> None:
        self.asked.append(("settings", settings))
        self.current = settings

    async def never(self) -> None:
        """A call that does not end by itself."""
        await asyncio.Event().wait()

    def _change(self, chat_id: str, **values: object) -> ChatRecord:
        for number, chat in enumerate(self.stored):
            if chat.chat_id == chat_id:
                self.stored[number] = replace(chat, **values)  # type: ignore[arg-type]
                self.post(ChatsChanged())
                return self.stored[number]
        raise AppError("There is no such chat.")

    def _turn(self, turn_id: str) -> TurnRecord:
        return next(t for turns in self.turns.values() for t in turns if t.turn_id == turn_id)
