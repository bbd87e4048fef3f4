"""The window's style sheet, made from colours by role.

Owns how each kind of widget looks. It must not choose colours (`theme.py` does) and must not
name a single screen: rules go by widget class or by the `role` property. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Literal

from app.paths import ASSETS

_SHEET = Template("""
QWidget { font-size: 13px; color: $text; }
QMainWindow, QDialog { background: $ground; }
QToolTip { background: $raised; color: $text; border: 1px solid $line; padding: 4px; }

QLabel { background: transparent; }
QLabel[role="meta"] { font-size: 11px; color: $muted; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="heading"] { font-size: 15px; font-weight: 600; }
QLabel[role="empty"] { font-size: 20px; font-weight: 600; }
QLabel[role="good"] { color: $good; }
QLabel[role="caution"] { color: $caution; }

QFrame[role="card"] { background: $raised; border: 1px solid $line; border-radius: 6px; }
QFrame[role="alert"] {
    background: $raised; border: 1px solid $line; border-left: 3px solid $caution;
    border-radius: 6px;
}
QFrame[role="bar"] { background: $ground; border: none; border-bottom: 1px solid $line; }
QFrame[role="side"] { background: $ground; border: none; }
QFrame[role="hairline"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QWidget[role="plain"], QScrollArea[role="plain"] { background: transparent; border: none; }
QWidget[role="ground"] { background: $ground; }

QPushButton, QToolButton {
    background: $raised; border: 1px solid $line; border-radius: 6px;
    padding: 5px 11px; min-height: 18px;
}
QPushButton:hover, QToolButton:hover { background: $sunken; }
QPushButton:pressed, QToolButton:pressed { background: $selected; }
QPushButton:disabled, QToolButton:disabled { color: $muted; background: $ground; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: 4px 10px; }
QPushButton[role="primary"] {
    background: $accent; color: $on_accent; border: 1px solid $accent; font-weight: 600;
}
QPushButton[role="primary"]:hover { border-color: $text; }
QPushButton[role="primary"]:focus { border: 2px solid $text; }
QPushButton[role="primary"]:disabled {
    background: $sunken; color: $muted; border-color: $line;
}
QPushButton[role="flat"], QToolButton[role="flat"] {
    background: transparent; border: 1px solid transparent;
}
QPushButton[role="flat"]:hover, QToolButton[role="flat"]:hover {
    background: $sunken; border-color: $line;
}
QPushButton[role="flat"]:focus, QToolButton[role="flat"]:focus {
    border: 2px solid $accent;
}
QPushButton[role="row"] {
    background: transparent; border: 1px solid transparent; text-align: left;
    padding: 5px 7px;
}
QPushButton[role="row"]:hover { background: $sunken; }
QPushButton[role="row"]:focus { border: 2px solid $accent; padding: 4px 6px; }
QPushButton[role="icon"] {
    background: transparent; border: 1px solid transparent; padding: 0; min-height: 0;
}
QPushButton[role="icon"]:hover { background: $sunken; border-color: $line; }
QPushButton[role="icon"]:focus { border: 2px solid $accent; padding: 0; }
QPushButton[role="word"], QToolButton[role="word"] {
    background: transparent; border: 1px solid transparent; color: $accent;
    padding: 2px 4px; min-height: 16px;
}
QPushButton[role="word"]:hover { text-decoration: underline; }
QPushButton[role="word"]:focus, QToolButton[role="word"]:focus {
    border: 1px solid $accent; padding: 2px 4px;
}
QPushButton[role="badge"] {
    background: transparent; border: 1px solid $line; border-radius: 9px;
    font-size: 11px; color: $muted; padding: 1px 8px; min-height: 14px;
}
QPushButton[role="badge"]:hover { color: $text; }
QPushButton[role="badge"]:focus { border: 1px solid $accent; color: $text; }

QLineEdit, QPlainTextEdit, QComboBox {
    background: $raised; border: 1px solid $line; border-radius: 6px; padding: 4px 7px;
    selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit, QComboBox { min-height: 20px; }
QSpinBox, QDoubleSpinBox { min-height: 26px; }
QLineEdit:focus, QPlainTextEdit:focus, QComboBox:focus {
    border: 1px solid $accent;
}
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url("$icons/caret-$tone.svg"); width: 14px; height: 14px; }
QComboBox[role="flat"] { background: transparent; border: 1px solid transparent; color: $muted; }
QComboBox[role="flat"]:hover { background: $sunken; color: $text; }
QComboBox[role="flat"]:focus { border: 1px solid $accent; color: $text; }
QComboBox QAbstractItemView {
    background: $raised; border: 1px solid $line; selection-background-color: $selected;
    selection-color: $text;
}
QPlainTextEdit[role="code"] {
    background: $sunken; border: none; border-radius: 4px; padding: 4px;
}
QPlainTextEdit[role="code"]:focus { border: 1px solid $accent; padding: 3px; }
QPlainTextEdit[role="bare"] { background: transparent; border: none; padding: 0; }

QTreeView, QListView, QTableView {
    background: $raised; border: 1px solid $line; border-radius: 6px; outline: none;
}
QListView[role="plain"], QTreeView[role="plain"] { background: transparent; border: none; }
QTreeView:focus, QListView:focus { border: 1px solid $accent; }
QListView[role="plain"]:focus { border: none; }
QTreeView::item, QListView::item {
    min-height: 28px; padding: 0 4px; border: 1px solid transparent;
}
QTreeView::item:selected, QListView::item:selected { background: $selected; color: $text; }
QTreeView::item:hover, QListView::item:hover { background: $sunken; }
QTreeView::item:selected:hover, QListView::item:selected:hover { background: $selected; }
QListView::item:focus { border: 1px solid $accent; border-radius: 4px; }
QTreeView::indicator {
    width: 14px; height: 14px; border: 1px solid $muted; border-radius: 3px; background: $raised;
}
QTreeView::indicator:checked, QTreeView::indicator:indeterminate {
    background: $accent; border-color: $accent;
}
QTreeView::indicator:checked { image: url("$icons/check-$tone.svg"); }
QTreeView::indicator:indeterminate { image: url("$icons/minus-$tone.svg"); }
QHeaderView::section {
    background: $ground; color: $muted; font-size: 11px; border: none;
    border-bottom: 1px solid $line; padding: 4px 8px;
}
QTableView { background: $ground; border: none; outline: none; }
QTableView QHeaderView::section { border: none; padding: 2px 4px; }
QTableView QTableCornerButton::section { background: $ground; border: none; }
QTableView QHeaderView { background: $ground; border: none; }

QTabWidget::pane { border: none; border-top: 1px solid $line; }
QTabBar { background: transparent; }
QTabBar::tab {
    background: transparent; color: $muted; border: none; padding: 7px 12px;
    border-bottom: 2px solid transparent;
}
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:focus { color: $accent; }

QProgressBar {
    background: $sunken; border: 1px solid $line; border-radius: 4px; min-height: 8px;
    max-height: 8px;
}
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $line; border-radius: 4px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QMenu { background: $raised; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 6px 20px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selected; color: $text; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
""")


def style_sheet(colours: Mapping[str, str], tone: Literal["light", "dark"]) -> str:
    """The whole sheet; `colours` maps each role to ``#rrggbb``, `tone` picks the drawn marks."""
    return _SHEET.substitute(colours, tone=tone, icons=(ASSETS / "icons").as_posix())
