"""Small pieces that every screen is made of.

Owns labels, cards, badges, icon buttons, cut texts and error blocks. Everything that shows data
shows it as plain text: nothing a file or a model says is read as markup. It must not know the
engine. Thread: UI.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any, Literal, cast

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.store.records import Problem
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS, TARGET_PX, code_font, tokens

LabelRole = Literal["body", "meta", "muted", "strong", "heading", "empty", "good", "caution"]
ButtonRole = Literal["normal", "primary", "flat", "row", "word", "badge", "icon"]

CUT_LINES = 30
# A growing box takes its height in steps: each step lays the whole transcript out again.
LIVE_STEP_LINES = 4
CUT_CHARS = 4000


def plain_tooltip(text: str) -> str:
    """`text` so that a tooltip shows it literally."""
    if "<" not in text:
        return text
    return "<span>" + html.escape(text).replace("\n", "<br>") + "</span>"


def label(
    text: str = "",
    role: LabelRole = "body",
    *,
    wrap: bool = False,
    selectable: bool = False,
    parent: QWidget | None = None,
) -> QLabel:
    """A plain-text label of a role."""
    made = WrappedLabel(parent) if wrap else QLabel(parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    if role != "body":
        made.setProperty("role", role)
    if selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        made.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return made


def restyle(target: QLabel, role: LabelRole) -> None:
    """Give a label another role."""
    if target.property("role") != role:
        target.setProperty("role", role)
        target.style().unpolish(target)
        target.style().polish(target)


def button(
    text: str,
    role: ButtonRole = "normal",
    *,
    icon: str = "",
    on_click: Callable[[], object] | None = None,
    name: str = "",
    tip: str = "",
) -> QPushButton:
    """A button; `name` is its accessible name where the text alone does not say enough."""
    made = QPushButton(text)
    if role != "normal":
        made.setProperty("role", role)
    if icon:
        set_icon(made, icon, on_accent=role == "primary")
    made.setAccessibleName(name or text)
    made.setAutoDefault(False)
    if tip:
        made.setToolTip(plain_tooltip(tip))
    if on_click is not None:
        made.clicked.connect(lambda _checked=False: on_click())
    return made


def icon_button(
    icon: str, name: str, on_click: Callable[[], object], *, tip: str = "", size_px: int = TARGET_PX
) -> QPushButton:
    """A square button that shows an icon and is called `name`."""
    made = button("", "icon", icon=icon, on_click=on_click, name=name, tip=tip or name)
    made.setFixedSize(size_px, size_px)
    return made


def set_icon(target: QPushButton, icon: str, *, on_accent: bool = False) -> None:
    """Give `target` an icon of the set that follows the theme."""
    target.setProperty("icon_name", icon)
    target.setProperty("icon_on_accent", on_accent)
    target.setIconSize(QSize(16, 16))
    target.setIcon(themed_icon(icon, on_accent=on_accent))


def themed_icon(name: str, *, on_accent: bool = False) -> QIcon:
    """An icon of the set in the colours in force; empty until `load_icons` was called."""
    if not _icons:
        return QIcon()
    colours = tokens()
    colour = colours.on_accent if on_accent else colours.text
    return _icons[0](name, colour, colours.muted)


_icons: list[Callable[[str, str, str], QIcon]] = []


def load_icons() -> None:
    """Load the icon font; costs about 0.2 s, so it waits until the window is on the screen."""
    if _icons:
        return
    import qtawesome  # pyright: ignore[reportMissingTypeStubs]  # the package has none

    def make(name: str, colour: str, disabled: str) -> QIcon:
        icon: Any = cast("Any", qtawesome).icon(name, color=colour, color_disabled=disabled)
        return QIcon(icon)

    _icons.append(make)


def refresh_icons(root: QWidget) -> None:
    """Draw the icons of all buttons under `root` again in the colours in force."""
    for one in root.findChildren(QPushButton):
        if name := one.property("icon_name"):
            one.setIcon(themed_icon(name, on_accent=bool(one.property("icon_on_accent"))))


def hairline() -> QFrame:
    """A one-pixel line."""
    made = QFrame()
    made.setProperty("role", "hairline")
    return made


def frame(role: Literal["card", "alert", "bar", "side"]) -> QFrame:
    """A frame of a role."""
    made = QFrame()
    made.setProperty("role", role)
    return made


def column(
    parent: QWidget | None = None, *, margin: int = 0, spacing: int = SPACE_S
) -> QVBoxLayout:
    """A vertical layout on the grid."""
    made = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    made.setContentsMargins(margin, margin, margin, margin)
    made.setSpacing(spacing)
    return made


def row(parent: QWidget | None = None, *, margin: int = 0, spacing: int = SPACE_S) -> QHBoxLayout:
    """A horizontal layout on the grid."""
    made = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    made.setContentsMargins(margin, margin, margin, margin)
    made.setSpacing(spacing)
    return made


def scrolling(page: QWidget, *, sideways: bool = True) -> QScrollArea:
    """`page` in an area that scrolls, without a frame; `sideways`: also to the right."""
    area = QScrollArea()
    area.setProperty("role", "plain")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(page)
    return area


def clear(layout: QLayout) -> None:
    """Remove and destroy everything in `layout`."""
    while (item := layout.takeAt(0)) is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None at the end, which the stub leaves out
        if (widget := item.widget()) is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None for spacers, which the stub leaves out
            widget.hide()
            widget.deleteLater()


class WrappedLabel(QLabel):
    """Text over several lines that is as high as its width needs, and no higher."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        """One line; Qt's own hint is the height at the narrowest width, far too much."""
        return QSize(40, self.fontMetrics().lineSpacing())


class ElidedLabel(QLabel):
    """One line that is cut to fit, with the whole text in its tooltip."""

    def __init__(
        self,
        text: str = "",
        role: LabelRole = "body",
        cut: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__()
        self._whole = ""
        self._cut = cut
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if role != "body":
            self.setProperty("role", role)
        self.set_whole(text)

    def set_whole(self, text: str) -> None:
        """Show `text`."""
        self._whole = text
        self.setAccessibleName(text)
        self.setToolTip(plain_tooltip(text))
        self._fit()

    def sizeHint(self) -> QSize:
        """As wide as the whole text."""
        width = self.fontMetrics().horizontalAdvance(self._whole) + 2
        return QSize(width, super().sizeHint().height())

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        self.setText(metrics.elidedText(self._whole, self._cut, self.width()))


class CodeBox(QPlainTextEdit):
    """Read-only fixed-width text that is as high as its lines, up to `max_lines`."""

    def __init__(self, name: str, *, max_lines: int = 20, wrap: bool = False) -> None:
        super().__init__()
        self._max_lines = max_lines
        self.setProperty("role", "code")
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFont(code_font())
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._wraps = wrap
        if wrap:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
            self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        else:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._shown_lines = 0
        self._line_ends = ""
        self._live = False
        self.fit()

    def set_max_lines(self, max_lines: int) -> None:
        """Change how high the box may grow."""
        self._max_lines = max_lines
        self.fit()

    def fit(self) -> None:
        """Take the height of the text; does nothing while the number of lines stays."""
        lines = int(self.document().size().height()) if self._wraps else self.blockCount()
        if self._live:
            lines = -(-lines // LIVE_STEP_LINES) * LIVE_STEP_LINES
        lines = max(1, min(lines, self._max_lines))
        if lines == self._shown_lines:
            return
        self._shown_lines = lines
        spare = 2 * SPACE_S + 4
        bar = 0 if self._wraps else self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + spare + bar)

    def append_live(self, text: str) -> None:
        """Add `text` at the end and keep the end in view; only the last line is laid out.

        Line ends at the very end wait for what follows them: no empty line is shown for them.
        """
        self._live = not self._wraps
        text = self._line_ends + text
        shown = text.rstrip("\n")
        self._line_ends = text[len(shown) :]
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = self.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(shown)
        self.fit()
        if at_end:
            bar.setValue(bar.maximum())

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self._wraps:
            self.fit()

    def wheelEvent(self, event: Any) -> None:
        """Scroll the page, not the box, unless the box has the focus."""
        if self.hasFocus() and self.verticalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()


class CutText(QWidget):
    """Text that is cut when it is long, with "Show all"."""

    def __init__(self, *, mono: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "plain")
        self._text = ""
        self._label = label(wrap=True, selectable=True)
        if mono:
            self._label.setFont(code_font())
        self._more = button(self.tr("Show all"), "word", on_click=self._show_all)
        layout = column(self, spacing=SPACE_XS)
        layout.addWidget(self._label)
        layout.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self._more.hide()

    def set_text(self, text: str) -> None:
        """Show the beginning of `text`, or all of it when it is short."""
        if text == self._text:
            return
        self._text = text
        short = "\n".join(text[:CUT_CHARS].split("\n")[:CUT_LINES])
        self._more.setVisible(len(short) < len(text))
        if len(short) < len(text):
            lines = text.count("\n") + 1
            self._more.setText(self.tr("Show all, {0} lines").format(f"{lines:,}"))
        self._label.setText(short)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def _show_all(self) -> None:
        self._label.setText(self._text)
        self._more.hide()


class ProblemBlock(QFrame):
    """What happened, why, what to do; details one click away and copyable."""

    def __init__(self, problem: Problem, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "alert")
        self.setAccessibleName(self.tr("Problem"))
        self._problem = problem
        layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        layout.addWidget(label(problem.message, "strong", wrap=True, selectable=True))
        if problem.hint:
            layout.addWidget(label(problem.hint, wrap=True, selectable=True))
        if problem.details:
            self._details = CodeBox(self.tr("Details of the problem"), max_lines=12)
            self._details.setPlainText(problem.details)
            self._details.fit()
            self._details.hide()
            buttons = row()
            show = button(self.tr("Details"), "word", on_click=self._toggle)
            buttons.addWidget(show)
            buttons.addWidget(button(self.tr("Copy details"), "word", on_click=self._copy))
            buttons.addStretch(1)
            layout.addLayout(buttons)
            layout.addWidget(self._details)

    def _toggle(self) -> None:
        self._details.setVisible(not self._details.isVisible())

    def _copy(self) -> None:
        problem = self._problem
        QGuiApplication.clipboard().setText(
            "\n".join(part for part in (problem.message, problem.hint, problem.details) if part)
        )
