"""The person's settings: a typed model, read from and written to one JSON file.

A file that cannot be read is never overwritten: it is set aside under another name first.
Thread: engine, or the command line's only thread.
"""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import AppError
from models.prices import OwnPrice
from models.providers import Server
from sandbox.limits import Limits
from sandbox.retention import Policy
from sandbox.workspace.choice import Choice


class _Page(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(_Page):
    """How local models run. `threads` 0: physical cores minus one.

    `candidates`: at most so many programs are written for a request and vote by their effects;
    two that agree are enough. 1: the first that works counts. `grammar`: a program can only be
    written as Python has it, see `models.python_grammar`.
    """

    threads: int = Field(default=0, ge=0, le=256)
    context_tokens: int = Field(default=8192, ge=1024, le=1_048_576)
    reply_tokens: int = Field(default=1200, ge=64, le=32_768)
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    tries: int = Field(default=3, ge=1, le=10)
    candidates: int = Field(default=1, ge=1, le=9)
    grammar: bool = False


class OwnModelSettings(_Page):
    """What differs for one local model; None: as for all."""

    threads: int | None = Field(default=None, ge=0, le=256)
    context_tokens: int | None = Field(default=None, ge=1024, le=1_048_576)
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)


class SandboxSettings(_Page):
    """The bounds of one program; see `sandbox.limits.Limits`.

    `staged_mib`: of one turn, what its programs may write to the stage.
    """

    interpreter_s: float = Field(default=30.0, gt=0, le=3600)
    memory_mib: int = Field(default=256, ge=16, le=16_384)
    file_calls: int = Field(default=100_000, ge=1, le=10_000_000)
    tool_calls: int = Field(default=100, ge=0, le=100_000)
    staged_mib: int = Field(default=4096, ge=16, le=1_048_576)

    def limits(self) -> Limits:
        """The same as the sandbox wants it."""
        return Limits(
            interpreter_s=self.interpreter_s,
            memory_bytes=self.memory_mib * 1024 * 1024,
            file_calls=self.file_calls,
            tool_calls=self.tool_calls,
        )

    @property
    def staged_bytes(self) -> int:
        """The bound of staged content."""
        return self.staged_mib * 1024 * 1024


class WorkspaceSettings(_Page):
    """Where shell commands run. `kind` auto: a microVM if there can be one; never bubblewrap."""

    kind: Choice = "auto"
    timeout_s: float = Field(default=120.0, gt=0, le=86_400)
    cpus: int = Field(default=1, ge=1, le=64)
    memory_mib: int = Field(default=512, ge=192, le=65_536)
    processes: int = Field(default=512, ge=16, le=32_768)


class UndoSettings(_Page):
    """How long undo is kept, and in how much space; 0: without bound.

    `system_bin`: what a run deletes is put into the system's bin too.
    """

    keep_days: int = Field(default=30, ge=0, le=3650)
    keep_mib: int = Field(default=10_240, ge=0, le=104_857_600)
    system_bin: bool = False

    def policy(self) -> Policy:
        """The same as the sandbox wants it."""
        return Policy(
            age_s=self.keep_days * 86_400.0 or None,
            size_bytes=self.keep_mib * 1024 * 1024 or None,
        )


class VaultSettings(_Page):
    """Where new secrets are kept, and how long a keyring may take to answer."""

    keep: Literal["automatic", "keyring", "file"] = "automatic"
    keyring_timeout_s: float = Field(default=5.0, ge=0.5, le=120.0)


class ServerSettings(_Page):
    """An OpenAI-compatible server of the person's own."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")
    address: str

    def server(self) -> Server:
        """The same as the models want it."""
        return Server(name=self.name, base_url=self.address)


class PriceSettings(_Page):
    """A price of the person's own, per million tokens; it goes before the price list's."""

    model: str
    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached: Decimal | None = Field(default=None, ge=0)
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")
    date: str = Field(default="", pattern=r"^(\d{4}-\d{2}-\d{2})?$")

    def price(self) -> OwnPrice:
        """The same as the models want it."""
        return OwnPrice(
            model_id=self.model,
            input=self.input,
            output=self.output,
            cached=self.cached,
            currency=self.currency,
            date=self.date,
        )


class RemoteSettings(_Page):
    """Models elsewhere: which are offered, at which servers. Keys are never in here.

    `thinking`: how much a model thinks before it answers; "default" leaves it to the provider.
    """

    models: tuple[str, ...] = ()
    servers: tuple[ServerSettings, ...] = ()
    reply_tokens: int = Field(default=8192, ge=256, le=131_072)
    context_tokens: int = Field(default=128_000, ge=4096, le=2_000_000)
    thinking: Literal["default", "off", "low", "medium", "high"] = "default"
    prices: tuple[PriceSettings, ...] = ()


class BudgetSettings(_Page):
    """How much money may go; None: without bound. A request that could exceed one is not sent.

    `unknown_prices`: whether a model whose price nobody knows may be used under a budget.
    """

    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")
    turn: Decimal | None = Field(default=None, ge=0)
    day: Decimal | None = Field(default=None, ge=0)
    month: Decimal | None = Field(default=None, ge=0)
    unknown_prices: bool = False


class NetworkSettings(_Page):
    """Whether and how connections are made.

    `offline`: none at all. `proxy`: for models' files and models elsewhere; empty: the one of the
    environment. A password is never in here: HTTPS_PROXY may hold one. `mirrors`: hosts that have
    the same files as the Hub, asked after it.
    """

    offline: bool = False
    proxy: str = Field(default="", pattern=r"^(https?://[^\s/@]+/?)?$")
    mirrors: tuple[Annotated[str, Field(pattern=r"^https?://[^\s@]+$")], ...] = ()


class RouterSettings(_Page):
    """Choosing a model for "auto". `good_enough`: the share of tasks of a kind that must work."""

    good_enough: float = Field(default=0.7, ge=0.0, le=1.0)


class Settings(_Page):
    """All settings, one page a topic. `own`: what differs for single local models, by their id."""

    theme: Literal["system", "light", "dark"] = "system"
    default_model: str = "local:qwen2.5-coder-1.5b"
    model: ModelSettings = ModelSettings()
    own: dict[str, OwnModelSettings] = Field(default_factory=dict[str, OwnModelSettings])
    sandbox: SandboxSettings = SandboxSettings()
    undo: UndoSettings = UndoSettings()
    vault: VaultSettings = VaultSettings()
    remote: RemoteSettings = RemoteSettings()
    budget: BudgetSettings = BudgetSettings()
    router: RouterSettings = RouterSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    network: NetworkSettings = NetworkSettings()

    def model_for(self, model_id: str) -> ModelSettings:
        """How a local model runs: its own settings over those for all."""
        own = self.own.get(model_id)
        return self.model.model_copy(update=own.model_dump(exclude_none=True) if own else {})


def load_settings(path: Path) -> Settings:
    """Read the settings; a missing file means the defaults.

    Raises: `AppError` naming the file and each wrong field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise AppError(
            f"The settings cannot be read: {path} ({error}).",
            hint="Fix its permissions, or move the file away to start with the defaults.",
        ) from error
    try:
        return Settings.model_validate_json(text)
    except ValidationError as error:
        wrong = "; ".join(_describe(item["loc"], item["msg"]) for item in error.errors())
        raise AppError(
            f"The settings in {path} are not valid: {wrong}.",
            hint="Correct the file, or move it away to start with the defaults.",
        ) from error


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings atomically. An unreadable former file is kept as ``*.broken``."""
    if path.exists():
        try:
            load_settings(path)
        except AppError:
            path.replace(path.with_suffix(".json.broken"))
    temporary = path.with_suffix(".json.part")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(settings.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _describe(location: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(str(part) for part in location) or 'file'}: {message}"
