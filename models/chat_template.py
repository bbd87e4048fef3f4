"""A model file's own chat template: rendered in a sandbox, within bounds of time and size.

A template comes with a file from anywhere. It can read nothing but the messages it is given, a
render that takes too long or grows too large is ended, and one that Jinja cannot read is replaced
by ChatML. What can still use up memory at one stroke ends the worker, which the app survives. Knows
nothing of llama.cpp. Thread: the worker's main thread.

Source: `transformers.utils.chat_template_utils` for what a template may count on.
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from jinja2 import BaseLoader, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

CHATML = (
    "{% for m in messages %}"
    "{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""For files that carry no template of their own, or none that can be read."""

_RENDER_S = 5.0
_MOST_CHARS = 16_000_000
_MOST_TEMPLATE_CHARS = 1_000_000
_MOST_REPEATS = 10_000
_GROWING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map"})


class _TooLongError(Exception):
    """Put into the rendering thread when its time is over."""


class _Generation(Extension):
    """``{% generation %}`` marks what a model is trained on; here its content is taken as it is."""

    tags = {"generation"}  # noqa: RUF012  # as Jinja has it

    def parse(self, parser: Parser) -> list[Node]:
        """The content alone."""
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, without what makes much of little."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Refuse repetitions and powers that grow beyond use, and formatting."""
        if operator == "**" and (abs(left) > _MOST_REPEATS or abs(right) > 64):
            raise SecurityError("a power is too large")
        if operator == "*":
            for text, count in ((left, right), (right, left)):
                if not isinstance(text, int | float) and count > _MOST_REPEATS:
                    raise SecurityError("a repetition is too long")
        if operator == "%" and isinstance(left, str | bytes):
            raise SecurityError("a template formats by % ")
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Also refuse methods that pad a text to any width."""
        padding = isinstance(obj, str | bytes) and attr in _GROWING
        return not padding and super().is_safe_attribute(obj, attr, value)


def _environment() -> _Environment:
    made = _Environment(
        loader=BaseLoader(),
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Generation, loopcontrols],
    )
    for name in ("center", "format", "indent", "wordwrap"):
        made.filters.pop(name, None)
    made.filters["indent"] = _indented
    made.filters["tojson"] = _to_json
    return made


class ChatTemplate:
    """A template and the texts of its first and last token.

    `repaired`: why the file's own could not be used, or empty.
    """

    def __init__(self, text: str, *, bos: str, eos: str) -> None:
        self.repaired = ""
        environment = _environment()
        if not text.strip():
            self.repaired, text = "the file has no chat template", CHATML
        elif len(text) > _MOST_TEMPLATE_CHARS:
            self.repaired, text = "the file's chat template is too long", CHATML
        try:
            self._template = environment.from_string(text)
        except (TemplateError, RecursionError) as error:
            self.repaired = f"the file's chat template cannot be read: {error}"
            self._template = environment.from_string(CHATML)
        self._tokens = {"bos_token": bos, "eos_token": eos}

    def render(self, rows: Sequence[Mapping[str, str]]) -> str:
        """The prompt for these messages.

        Raises: `ValueError` when the template refuses them, or is over its bounds.
        """
        values: dict[str, Any] = {
            **self._tokens,
            "messages": [dict(row) for row in rows],
            "add_generation_prompt": True,
            "enable_thinking": False,
            "functions": None,
            "function_call": None,
            "tools": None,
            "tool_choice": None,
            "raise_exception": _refuse,
            "strftime_now": _now,
        }
        pieces: list[str] = []
        size = 0
        try:
            with _at_most(_RENDER_S):
                for piece in self._template.generate(**values):
                    size += len(piece)
                    if size > _MOST_CHARS:
                        raise ValueError("its text is too long")
                    pieces.append(piece)
        except _TooLongError:
            raise ValueError("it takes too long") from None
        except (TemplateError, ValueError):
            raise
        except Exception as error:
            # Whatever a template does wrong is the template's.
            raise ValueError(f"{type(error).__name__}: {error}") from error
        return "".join(pieces)


@contextmanager
def _at_most(seconds: float) -> Generator[None]:
    """End the body with `_TooLongError` when it takes longer."""
    thread = threading.get_ident()
    lock, over = threading.Lock(), [False]

    def end() -> None:
        with lock:
            if not over[0]:
                raised = ctypes.py_object(_TooLongError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over[0] = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
        timer.cancel()


def _refuse(message: str) -> str:
    raise ValueError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _indented(text: str, width: int | str = 4, first: bool = False) -> str:
    """Jinja's filter, for widths that are of use."""
    pad = width if isinstance(width, str) else " " * min(width, 64)
    lines = str(text).split("\n")
    return "\n".join(pad + line if line and (first or n) else line for n, line in enumerate(lines))


def _to_json(value: Any, **options: Any) -> str:
    kept = {k: v for k, v in options.items() if k in {"indent", "separators", "sort_keys"}}
    if isinstance(kept.get("indent"), int):
        kept["indent"] = min(kept["indent"], 16)
    return json.dumps(value, ensure_ascii=bool(options.get("ensure_ascii")), **kept)
