"""Spans of what happens, through OpenTelemetry's API: nothing at all unless somebody configured it.

Owns the names of spans and what they say: ids, counts and names of calls, never contents or paths.
Thread: any.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Generator
from typing import Literal

from opentelemetry import trace

Name = Literal[
    "drydock.turn",
    "drydock.listing",
    "drydock.reply",
    "drydock.program",
    "drydock.bridge",
    "drydock.check",
    "drydock.run",
    "drydock.call",
    "drydock.changes",
]
_TRACER = trace.get_tracer("drydock")


def configured() -> bool:
    """Whether spans go anywhere."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextlib.contextmanager
def span(name: Name, **attributes: str | int | float | bool) -> Generator[None]:
    """A span around a block; an error inside is noted by its type alone."""
    if not configured():
        yield
        return
    with _TRACER.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise


def carried[T](work: Callable[[], T]) -> Callable[[], T]:
    """`work` for another thread, in the span that is open here."""
    context = contextvars.copy_context()
    return lambda: context.run(work)
