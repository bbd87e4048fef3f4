"""Where a turn's time went, as one bar: the model, each program, and the rest.

Owns the division and its painting. Needs no service and no more than the turn's record. Thread: UI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.store.records import TurnRecord
from app.ui import words
from app.ui.theme import tokens

_HEIGHT_PX, _GAP_PX, _LEAST_PX, _RADIUS_PX = 12, 2, 3, 3

Kind = Literal["model", "program", "failed", "rest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a turn's time. `name`: as people read it."""

    kind: Kind
    name: str
    seconds: float


class Timeline(QWidget):
    """The bar. Nothing is shown of a turn that took no time."""

    def __init__(self, turn: TurnRecord, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parts = self._divided(turn)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Where the time went"))
        said = "\n".join(f"{part.name}: {words.seconds(part.seconds)}" for part in self.parts)
        self.setAccessibleDescription(said)
        self.setToolTip(said)
        self.setMouseTracking(True)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = tokens()
        colour_of: dict[Kind, str] = {
            "model": colours.heat_3,
            "program": colours.good,
            "failed": colours.danger,
            "rest": colours.line,
        }
        for part, left, width in self._places():
            path = QPainterPath()
            path.addRoundedRect(QRectF(left, 0, width, _HEIGHT_PX), _RADIUS_PX, _RADIUS_PX)
            painter.fillPath(path, QColor(colour_of[part.kind]))

    def _places(self) -> list[tuple[Part, float, float]]:
        """Each part with its left edge and width; the shortest are still seen."""
        room = self.width() - _GAP_PX * max(len(self.parts) - 1, 0)
        least = min(_LEAST_PX, room / max(len(self.parts), 1))
        total = sum(part.seconds for part in self.parts) or 1.0
        wide = [max(least, room * part.seconds / total) for part in self.parts]
        scale = room / (sum(wide) or 1.0)
        places: list[tuple[Part, float, float]] = []
        left = 0.0
        for part, width in zip(self.parts, wide, strict=True):
            places.append((part, left, width * scale))
            left += width * scale + _GAP_PX
        return places

    def _divided(self, turn: TurnRecord) -> tuple[Part, ...]:
        parts: list[Part] = []
        if turn.usage.model_s > 0:
            parts.append(Part(kind="model", name=self.tr("Model"), seconds=turn.usage.model_s))
        for program in turn.programs:
            kind: Kind = "failed" if program.status == "error" else "program"
            name = self.tr("Program {0}").format(program.index)
            if kind == "failed":
                name = self.tr("Program {0}, failed").format(program.index)
            parts.append(Part(kind=kind, name=name, seconds=program.wall_s))
        rest = turn.seconds - sum(part.seconds for part in parts)
        if rest > 0.05 * turn.seconds:
            parts.append(Part(kind="rest", name=self.tr("Checks and review"), seconds=rest))
        return tuple(parts)
