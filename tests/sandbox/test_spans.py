"""Spans: nothing without a provider; with one, every step, without contents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import trace

from sandbox import spans


class _Tracer:
    """Notes the spans that are opened, with their attributes and the thread."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, dict[str, Any]]] = []

    @contextmanager
    def start_as_current_span(
        self, name: str, attributes: dict[str, Any], **_: object
    ) -> Iterator[_Tracer]:
        self.opened.append((name, dict(attributes)))
        with trace.use_span(trace.NonRecordingSpan(trace.INVALID_SPAN_CONTEXT)):
            yield self

    def set_attribute(self, name: str, value: object) -> None:
        self.opened[-1][1][name] = value

    def set_status(self, *_: object) -> None:
        self.opened[-1][1]["failed"] = True


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> _Tracer:
    made = _Tracer()
    monkeypatch.setattr(spans, "_TRACER", made)
    monkeypatch.setattr(spans, "configured", lambda: True)
    return made


def test_there_are_none_unless_somebody_configured_them() -> None:
    assert not spans.configured()
    with spans.span("drydock.run"):
        assert not trace.get_current_span().is_recording()


def test_an_error_is_noted_by_its_type_alone(tracer: _Tracer) -> None:
    with pytest.raises(ValueError, match="secret"), spans.span("drydock.run", program_id="p1"):
        raise ValueError("secret words")
    assert tracer.opened == [
        ("drydock.run", {"program_id": "p1", "error.type": "ValueError", "failed": True})
    ]


def test_work_on_another_thread_is_in_the_span_that_was_open(tracer: _Tracer) -> None:
    seen: list[object] = []
    with spans.span("drydock.program"):
        outer = trace.get_current_span()
        work = spans.carried(lambda: seen.append(trace.get_current_span()))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [outer]
