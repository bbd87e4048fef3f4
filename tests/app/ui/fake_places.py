"""The part of the fake engine that is about remote models: answers from records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from app.engine.accounts import Left
from app.engine.outgoing import Outgoing
from app.engine.places import CostView, Place, RemoteChoice
from app.engine.remotes import ProviderStatus, TestResult
from app.store.costs import CostRow, DayTotal, Total
from app.store.records import ChatRecord, Folder
from models.metering import Used
from models.prices import Listed, Money
from models.providers import PROVIDERS

CLAUDE = "anthropic:claude-sonnet-4-6"
HERE = "compatible:ollama/qwen3-coder"


def choices() -> list[RemoteChoice]:
    """Two that are offered, one with a price."""
    price = Listed(
        name="Claude Sonnet 4.6", input=Decimal(3), output=Decimal(15), context_tokens=1_000_000
    )
    return [
        RemoteChoice(model_id=CLAUDE, name="Claude Sonnet 4.6", place="Anthropic", price=price),
        RemoteChoice(model_id=HERE, name="qwen3-coder", place="ollama", price=None),
    ]


def total(cents: int = 0, **values: object) -> Total:
    """A total of so many cents."""
    base: dict[str, object] = {
        "requests": 4, "input_tokens": 5200, "output_tokens": 610, "seconds": 21.0,
        "money": (("USD", Decimal(cents) / 100),) if cents else (),
    }  # fmt: skip
    return Total(**{**base, **values})  # type: ignore[arg-type]


def days() -> tuple[DayTotal, ...]:
    """Two weeks of two models."""
    last = date(2026, 11, 29)
    found: list[DayTotal] = []
    for number in range(14):
        day = last - timedelta(days=13 - number)
        found.append(DayTotal(day=day, model_id=CLAUDE, total=total(8 + 5 * number % 31)))
        local = total(input_tokens=9000 + 700 * (number % 5), output_tokens=1400)
        found.append(DayTotal(day=day, model_id="local:qwen2.5-coder-1.5b", total=local))
    return tuple(found)


def outgoing(**values: object) -> Outgoing:
    """What would be sent to Anthropic."""
    base: dict[str, object] = {
        "model_id": CLAUDE,
        "place": "Anthropic (api.anthropic.com)",
        "url": "https://api.anthropic.com/v1/messages",
        "body": b'{"model": "claude-sonnet-4-6", "max_tokens": 8192, "messages": []}',
        "system": "You are Drydock. You do tasks on the person's files.",
        "messages": (
            (
                "user",
                "Today is Sunday, 2026-11-29\nCurrent folder: 41 files\n- bill.pdf  90 kB\n"
                "- notes.txt  1.2 kB\n\nTask: Sort Downloads into folders by type",
            ),
        ),
        "tools": ("run_code", "search_tools"),
        "least": Used(input_tokens=1480),
        "most": Used(input_tokens=1480, output_tokens=8192),
        "least_money": Money(amount=Decimal("0.00444"), currency="USD", source="list"),
        "most_money": Money(amount=Decimal("0.12732"), currency="USD", source="list"),
        "budgets": (Left(name="day", limit=Decimal(2), spent=Decimal("0.31"), currency="USD"),),
    }
    return Outgoing(**{**base, **values})  # type: ignore[arg-type]


@dataclass
class FakePlaces:
    """Records in, calls out. `chat_of` gives the fake engine's chats."""

    asked: list[tuple[str, object]]
    chat_of: Callable[[str], ChatRecord]
    save: Callable[[ChatRecord], None]
    offered: list[RemoteChoice] = field(default_factory=list[RemoteChoice])
    kept: Place | None = None
    spent: Total = field(default_factory=Total)
    keys: set[str] = field(default_factory=set[str])
    result: TestResult = field(
        default_factory=lambda: TestResult(ok=True, message="Anthropic (api.anthropic.com) "
                                                            "answers: ok")
    )  # fmt: skip
    marked: set[str] = field(default_factory=set[str])

    async def choices(self) -> list[RemoteChoice]:
        return self.offered

    async def place(self, chat_id: str, model_id: str = "") -> Place:
        if self.kept is not None:
            return self.kept
        chat = self.chat_of(chat_id)
        held = "chat" if chat.local_only else next(iter(self.marked), "")
        if chat.model_id.startswith("anthropic:"):
            return Place(kind="remote", label="Anthropic", host="api.anthropic.com", held=held)
        if chat.model_id.startswith("compatible:"):
            return Place(kind="server_here", label="ollama", host="127.0.0.1", held=held)
        return Place(kind="local", label="", host="", held=held)

    async def chat_total(self, chat_id: str) -> Total:
        return self.spent

    async def mark_chat(self, chat_id: str, local_only: bool) -> ChatRecord:
        from dataclasses import replace

        self.asked.append(("mark_chat", (chat_id, local_only)))
        chat = replace(self.chat_of(chat_id), local_only=local_only)
        self.save(chat)
        return chat

    async def mark_folder(self, path: str, local_only: bool) -> None:
        self.asked.append(("mark_folder", (path, local_only)))
        (self.marked.add if local_only else self.marked.discard)(path)

    async def providers(self) -> list[ProviderStatus]:
        return [
            ProviderStatus(
                provider_id=one.id,
                label=one.label,
                host=one.host,
                key_name=one.key_name,
                key_page=one.key_page,
                key=one.key_name in self.keys,
                names=("claude-sonnet-4-6", "claude-haiku-4-5") if one.id == "anthropic" else (),
            )
            for one in PROVIDERS
        ]

    async def set_key(self, key_name: str, key: str) -> None:
        self.asked.append(("set_key", (key_name, key)))
        self.keys.add(key_name)

    async def test(self, model_id: str) -> TestResult:
        self.asked.append(("test", model_id))
        return self.result

    async def preview(
        self, chat_id: str, request: str, model_id: str = "", folders: Sequence[Folder] = ()
    ) -> Outgoing:
        self.asked.append(("preview", (chat_id, request, model_id)))
        return outgoing()

    async def costs(self, start: object = None) -> CostView:
        budget = Left(name="day", limit=Decimal(2), spent=Decimal("0.31"), currency="USD")
        return CostView(days=days(), today=total(31), month=total(412), budgets=(budget,))

    async def cost_rows(self, start: object = None) -> list[CostRow]:
        money = Money(amount=Decimal("0.00408"), currency="USD", source="genai-prices 0.2.3")
        at = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
        used = Used(input_tokens=1200, cached_tokens=800, output_tokens=40, seconds=2.5)
        base = {"at": at, "turn_id": "t1", "chat_id": "c1", "used": used}
        return [
            CostRow(request_id="r1", model_id=CLAUDE, state="settled", money=money, **base),  # type: ignore[arg-type]
            CostRow(request_id="r2", model_id=HERE, state="settled", money=None, **base),  # type: ignore[arg-type]
        ]
