"""Buttons side by side that go on in the next line where they do not fit.

Thread: UI.
"""

from __future__ import annotations

from typing import override

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget


class FlowRow(QWidget):
    """Lays out its widgets from left to right and from top to bottom; hidden ones take no room."""

    def __init__(self, *, spacing: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._spacing = spacing
        self._widgets: list[QWidget] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add(self, widget: QWidget) -> None:
        """Add a widget at the end."""
        widget.setParent(self)
        self._widgets.append(widget)

    @override
    def hasHeightForWidth(self) -> bool:
        """Narrower is higher."""
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        """The height of all lines."""
        return self._laid_out(width, move=False)

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = self._shown()
        width = sum(one.sizeHint().width() for one in shown) + self._spacing * (len(shown) - 1)
        return QSize(max(0, width), self._laid_out(width, move=False))

    def minimumSizeHint(self) -> QSize:
        """As wide as the widest."""
        shown = self._shown()
        return QSize(max((one.sizeHint().width() for one in shown), default=0), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        super().resizeEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Lay out anew, after widgets came or went."""
        self.setMinimumHeight(self._laid_out(self.width(), move=True))

    def _shown(self) -> list[QWidget]:
        return [one for one in self._widgets if not one.isHidden()]

    def _laid_out(self, width: int, *, move: bool) -> int:
        x = y = height = 0
        right = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        for one in self._shown():
            size = one.sizeHint()
            if x and x + size.width() > width:
                x, y = 0, y + height + self._spacing
                height = 0
            if move:
                left = width - x - size.width() if right else x
                one.setGeometry(QRect(QPoint(left, y), size))
            x += size.width() + self._spacing
            height = max(height, size.height())
        return y + height
