"""The lines between the app and the model worker: one JSON object per line, in both directions.

Owns the message types and their version, and nothing that acts on them. Commands go to the
worker's standard input, events come from its standard output. A change that an older peer would
misread raises `PROTOCOL`. Thread: any.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

PROTOCOL = 1
"""Version of this protocol; both sides refuse another one."""

FailureCode = Literal[
    "engine_missing",
    "load_failed",
    "no_memory",
    "not_loaded",
    "context_full",
    "bad_request",
    "grammar_failed",
    "internal",
]
"""Why a command failed: the client turns the code into a message with a next step."""

Finish = Literal["stop", "length", "stopped"]
"""`stop`: the model ended; `length`: the token limit was met; `stopped`: somebody stopped it."""


class CommandError(Exception):
    """Inside the worker: a command could not be carried out; becomes a `Failed`."""

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.code: FailureCode = code
        self.message = message


class _Line(BaseModel):
    """A line of the protocol. Unknown fields are ignored, so that fields can be added."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ChatMessage(_Line):
    """One message of a conversation, already reduced to text."""

    role: Literal["system", "user", "assistant"]
    content: str


class Load(_Line):
    """Load a GGUF file. Replaces the model that was loaded before.

    `prefix_folder`: where evaluated prefixes are kept over processes; empty: nowhere.
    """

    op: Literal["load"] = "load"
    id: int
    path: str
    context_tokens: int = Field(gt=0)
    threads: int = Field(gt=0)
    gpu_layers: int = 0
    prefix_folder: str = ""


class Generate(_Line):
    """Generate from `messages` (through the model's chat template) or else from a raw `prompt`.

    The first `prefix_messages` are the same in every chat and hold nobody's data: their
    evaluation is kept on disk, if `Load` named a folder. `grammar`: after an opening fence only a
    Python program can come, and the reply ends with it; `drafts`: guess ahead by look-up, which
    changes no reply.
    """

    op: Literal["generate"] = "generate"
    id: int
    messages: tuple[ChatMessage, ...] = ()
    prompt: str = ""
    max_tokens: int = Field(gt=0)
    temperature: float = Field(default=0.2, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    prefix_messages: int = Field(default=0, ge=0)
    grammar: bool = False
    drafts: bool = True


class Count(_Line):
    """Count the tokens of `text`, or of `messages` as the chat template renders them."""

    op: Literal["count"] = "count"
    id: int
    text: str = ""
    messages: tuple[ChatMessage, ...] = ()


class Stop(_Line):
    """End the generation `id` now; its `Done` follows with `finish="stopped"`."""

    op: Literal["stop"] = "stop"
    id: int


class Unload(_Line):
    """Free the model; the process stays."""

    op: Literal["unload"] = "unload"
    id: int


class Shutdown(_Line):
    """End the process in an orderly way."""

    op: Literal["shutdown"] = "shutdown"


class Hello(_Line):
    """The first line of a worker."""

    event: Literal["hello"] = "hello"
    protocol: int
    pid: int


class Loaded(_Line):
    """The model is ready. `trained_context_tokens`: what its makers trained it for."""

    event: Literal["loaded"] = "loaded"
    id: int
    context_tokens: int
    trained_context_tokens: int
    description: str
    seconds: float


class Evaluating(_Line):
    """How much of the prompt has been read; a few per second at most."""

    event: Literal["evaluating"] = "evaluating"
    id: int
    done_tokens: int
    total_tokens: int


class Delta(_Line):
    """The next piece of the reply: whole characters, never half of one."""

    event: Literal["delta"] = "delta"
    id: int
    text: str


class Done(_Line):
    """The end of a generation, with what it cost.

    `prompt_tokens` = `cached_tokens` (reused from the previous call or from the saved prefix) +
    `evaluated_tokens`; `restored_tokens`: how many of the cached ones came from the disk.
    `first_token_s` is None when there was no token.
    """

    event: Literal["done"] = "done"
    id: int
    finish: Finish
    prompt_tokens: int
    cached_tokens: int
    evaluated_tokens: int
    completion_tokens: int
    first_token_s: float | None
    total_s: float
    restored_tokens: int = 0


class Counted(_Line):
    """The answer to `Count`."""

    event: Literal["counted"] = "counted"
    id: int
    tokens: int


class Unloaded(_Line):
    """The answer to `Unload`."""

    event: Literal["unloaded"] = "unloaded"
    id: int


class Failed(_Line):
    """A command failed; the worker goes on. `message` is for people, without a next step."""

    event: Literal["failed"] = "failed"
    id: int
    code: FailureCode
    message: str


Command = Annotated[Load | Generate | Count | Stop | Unload | Shutdown, Field(discriminator="op")]
Event = Annotated[
    Hello | Loaded | Evaluating | Delta | Done | Counted | Unloaded | Failed,
    Field(discriminator="event"),
]

COMMANDS: TypeAdapter[Command] = TypeAdapter(Command)
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def encode_line(line: BaseModel) -> bytes:
    """One message as bytes, with the newline that ends it."""
    return line.model_dump_json().encode() + b"\n"
