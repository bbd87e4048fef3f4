"""The one review of a turn: what will happen, item by item, and the decision.

Owns the dialog. Closing it decides nothing; only the two buttons do. Keys that arrive within half
a second of its opening are dropped: they were meant for something else. It must not talk to the
engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import monotonic

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QInputDialog,
    QMenu,
    QPushButton,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.engine.day import today
from app.engine.offers import offered
from app.store.records import ConflictRecord, Folder, TurnRecord
from app.ui import words
from app.ui.change_model import COLUMN_DETAIL, ChangeModel
from app.ui.conflict_block import ChoiceMade, ConflictBlock
from app.ui.fault_block import FaultBlock
from app.ui.preview_pane import PreviewPane
from app.ui.review_tabs import review_tabs
from app.ui.review_words import origin, reason_lines, unusual
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, column, frame, label, row
from sandbox.changeset import Change, ChangeSet
from sandbox.grant_budgets import explained
from sandbox.verify import Choice

IGNORE_KEYS_S = 0.5
MIN_SIZE = QSize(860, 560)
_KEYS = (QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.Shortcut)


class _ChangeTree(QTreeView):
    """A tree whose Space switches the row's check box, whichever column is current."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().siblingAtColumn(0)
        if event.key() != Qt.Key.Key_Space or not row.isValid():
            super().keyPressEvent(event)
            return
        role = Qt.ItemDataRole.CheckStateRole
        checked = row.data(role) == Qt.CheckState.Checked
        wanted = Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked
        self.model().setData(row, wanted.value, role)


class _DetailDelegate(QStyledItemDelegate):
    """Cuts at the end: what happens and its marks are said first, and stay readable."""

    def initStyleOption(  # noqa: N802  # Qt override
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight  # pyright: ignore[reportAttributeAccessIssue]  # a field of the option that the stub leaves out


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the person decided.

    `approved`: ids to apply, None: rejected; `choices`: by change id, what to do where the disk no
    longer fits; `keep`: where the disk refuses something, apply the rest; `word`: what the model
    is told along with a rejection.
    """

    turn_id: str
    approved: frozenset[str] | None
    choices: Mapping[str, Choice] = field(default_factory=dict[str, Choice])
    keep: bool = False
    word: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewWish:
    """The change whose preview should be shown."""

    turn_id: str
    change: Change


class ReviewDialog(QDialog):
    """Shows a turn's change set.

    `decided` carries a `Decision`, `preview_wanted` a `PreviewWish`; `grants_wanted` the standing
    grants, as a tuple of texts, that the person gives along with an approval.
    """

    decided = Signal(object)
    grants_wanted = Signal(object)
    preview_wanted = Signal(object)

    def __init__(
        self,
        turn: TurnRecord,
        folders: Sequence[Folder],
        parent: QWidget | None = None,
        *,
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Review the changes"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._clock_s = clock_s
        self._shown_at_s = clock_s()
        self._turn = turn
        self._folders = tuple(folders)
        change_set = turn.changes if turn.changes is not None else ChangeSet()
        self.model = ChangeModel(change_set, folders, self)
        self.model.chosen_changed.connect(self._chosen_changed)
        self.preview = PreviewPane()
        self.tree = self._make_tree()
        self._went: set[str] = set()
        self.conflicts = ConflictBlock(folders)
        self.conflicts.chosen.connect(self._choice_made)
        self.fault = FaultBlock()
        self.fault.keep_wanted.connect(lambda: self._approve(keep=True))
        self._note = label("", "muted", wrap=True)
        self._note.hide()
        self.reject_button = button(self.tr("Reject"), on_click=self._reject_all,
                                    name=self.tr("Reject all changes"))  # fmt: skip
        self.approve_button = button("", "primary", on_click=lambda: self._approve())
        for one in (self.reject_button, self.approve_button):
            one.setAutoDefault(True)

        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(
            label(words.sentence(change_set.changes, folders, turn.programs), "heading", wrap=True)
        )
        self._add_unusual(layout, change_set.changes)
        layout.addWidget(self.fault)
        layout.addWidget(self.conflicts)
        layout.addWidget(self._make_middle(), 1)
        layout.addWidget(self._note)
        buttons = row()
        self._later = label(self.tr("Escape closes this and decides nothing."), "meta")
        buttons.addWidget(self._later)
        buttons.addStretch(1)
        self.word_button = button(
            self.tr("Reject with a word"), on_click=self._reject_with_a_word,
            name=self.tr("Reject all changes and tell the model why"),
        )  # fmt: skip
        buttons.addWidget(self.reject_button)
        buttons.addWidget(self.word_button)
        self.standing_button = self._make_standing()
        if self.standing_button is not None:
            buttons.addWidget(self.standing_button)
        buttons.addWidget(self.approve_button)
        layout.addLayout(buttons)
        room = self.screen().availableSize()
        self.resize(
            max(MIN_SIZE.width(), min(1040, room.width() - 40)),
            max(MIN_SIZE.height(), min(680, room.height() - 40)),
        )
        self._set_order()
        self._chosen_changed(0)
        self._drop_early_keys()
        self._unfold()
        self.tree.setCurrentIndex(self.model.first_change())

    @property
    def turn_id(self) -> str:
        """The turn under review."""
        return self._turn.turn_id

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._shown_at_s = self._clock_s()
        self.reject_button.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _KEYS and self._clock_s() - self._shown_at_s < IGNORE_KEYS_S:
            return True
        return super().eventFilter(watched, event)

    def _unfold(self) -> None:
        """Show all rows; last, since each change of the tree's surroundings lays them out again."""
        self.ensurePolished()
        self.tree.ensurePolished()
        for group in range(self.model.rowCount()):
            self.tree.setFirstColumnSpanned(group, QModelIndex(), True)
        self.tree.expandAll()

    def _drop_early_keys(self) -> None:
        for widget in (self, *self.findChildren(QWidget)):
            widget.installEventFilter(self)

    def show_conflicts(self, records: Sequence[ConflictRecord]) -> None:
        """Show where the disk no longer fits; what can only be left out is left out."""
        if not (own := self._on_their_own(records)):
            return
        only_theirs = self.conflicts.add(own)
        self.model.show_conflicts(self.conflicts.reasons())
        self._drop_early_keys()
        self._set_order()
        self._whole.setSizes([self._whole.height(), 0])  # the program is at its least height
        self._leave_out(only_theirs)
        self._chosen_changed(0)

    def _on_their_own(self, records: Sequence[ConflictRecord]) -> list[ConflictRecord]:
        """Without those that are in the way only because something that they need is."""
        ids = {one.change_id for one in records}
        return [
            one
            for one in records
            if one.choices != ("theirs",) or not (self.model.needs(one.change_id) & ids)
        ]

    def decide_again(self, turn: TurnRecord) -> None:
        """Nothing was applied: show where the disk has changed, or what it refused, and go on."""
        self._turn = turn
        self._set_busy(False)
        self.fault.show_problem(turn.problem)
        if turn.problem is not None:
            self._whole.setSizes([self._whole.height(), 0])
        self.show_conflicts(turn.conflicts)
        self._shown_at_s = self._clock_s()
        self.reject_button.setFocus()

    def _choice_made(self, made: ChoiceMade) -> None:
        if made.choice == "theirs":
            self._leave_out(made.ids)
        else:
            back = self.model.fitting([*made.ids, *self._went])
            self._went -= self.model.choose(back, True)
        self._chosen_changed(0)

    def _leave_out(self, ids: Sequence[str]) -> None:
        """Keep theirs; what cannot be without these goes along, and can come back with them."""
        self._went |= self.model.choose(ids, False) - set(ids)

    def _make_tree(self) -> QTreeView:
        tree = _ChangeTree()
        tree.setAccessibleName(self.tr("Changes"))
        tree.setUniformRowHeights(True)
        tree.setIndentation(16)
        tree.setModel(self.model)
        tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        tree.setExpandsOnDoubleClick(True)
        tree.setAllColumnsShowFocus(True)
        tree.setTabKeyNavigation(False)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(2, 118)
        tree.setItemDelegateForColumn(COLUMN_DETAIL, _DetailDelegate(tree))
        tree.selectionModel().currentChanged.connect(self._selected)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._show_menu)
        return tree

    def _make_middle(self) -> QWidget:
        self._sides = QSplitter(Qt.Orientation.Horizontal)
        self._sides.setChildrenCollapsible(False)
        self._sides.addWidget(self.tree)
        self._sides.addWidget(self.preview)
        self._sides.setSizes([640, 380])
        self._whole = whole = QSplitter(Qt.Orientation.Vertical)
        whole.setChildrenCollapsible(False)
        whole.addWidget(self._sides)
        if tabs := review_tabs(self._turn, self):
            whole.addWidget(tabs)
            whole.setSizes([420, 200])
        whole.setStretchFactor(0, 1)
        return whole

    def _add_unusual(self, layout: QVBoxLayout, changes: Sequence[Change]) -> None:
        named = reason_lines(self._turn.reasons, self.tr)
        found = unusual(changes, self._folders)
        if not (named or found):
            return
        block = frame("alert")
        block.setAccessibleName(self.tr("Look at this first"))
        inside = column(block, margin=SPACE_S, spacing=SPACE_XS)
        for one in named:
            inside.addWidget(label(one, "strong", wrap=True))
        for one in found:
            inside.addWidget(label(one, wrap=True))
        layout.addWidget(block)

    def _set_order(self) -> None:
        first = [self.fault.keep_button, *self.conflicts.boxes(), self.tree]
        for before, after in pairwise(first):
            self.setTabOrder(before, after)
        self.setTabOrder(self.tree, self.preview)
        self.setTabOrder(self.preview, self.reject_button)
        self.setTabOrder(self.reject_button, self.word_button)
        self.setTabOrder(self.word_button, self.approve_button)

    def _chosen_changed(self, along: int) -> None:
        chosen = self.model.chosen()
        self.conflicts.sync(chosen)
        number, undecided = len(chosen), self.conflicts.undecided()
        text = self.tr("Approve {0}").format(words.changes_count(number))
        self.approve_button.setText(text)
        self.approve_button.setAccessibleName(text)
        self.approve_button.setEnabled(number > 0 and not undecided)
        notes: list[str] = []
        if along:
            notes.append(
                self.tr("{0} that cannot be made without each other went along.").format(
                    words.changes_count(along)
                )
            )
        if undecided:
            notes.append(
                self.tr("Choose what happens to {0} that differ on disk, then approve.").format(
                    words.changes_count(undecided)
                )
                if undecided > 1
                else self.tr(
                    "Choose what happens to the change that differs on disk, then approve."
                )
            )
        self._note.setText(" ".join(notes))
        self._note.setVisible(bool(notes))

    def _selected(self, current: QModelIndex, _before: QModelIndex) -> None:
        change = self.model.change_at(current)
        programs = [one.program_id for one in self._turn.programs]
        self.preview.show_origin("" if change is None else origin(change, programs))
        if change is None:
            self.preview.show_message("", self.tr("Select a change to see what it does."))
            return
        self.preview.show_message(self._title(change), self.tr("Reading"))
        self.preview_wanted.emit(PreviewWish(turn_id=self.turn_id, change=change))

    def ask_preview(self) -> None:
        """Ask for the preview of the selected change."""
        change = self.model.change_at(self.tree.currentIndex())
        if change is not None:
            self.preview_wanted.emit(PreviewWish(turn_id=self.turn_id, change=change))

    def shows(self, change: Change) -> bool:
        """Whether `change` is still the selected one."""
        current = self.model.change_at(self.tree.currentIndex())
        return current is not None and current.id == change.id

    def _title(self, change: Change) -> str:
        return words.short_path(change.target or change.path, self._folders)

    def title_of(self, change: Change) -> str:
        """The heading of a change's preview."""
        return self._title(change)

    def _show_menu(self, _where: object) -> None:
        change = self.model.change_at(self.tree.currentIndex())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if change is not None:
            menu.addAction(self.tr("Copy the path")).triggered.connect(
                lambda: QGuiApplication.clipboard().setText(change.path)
            )
            folder = QUrl.fromLocalFile(str(Path(change.path).parent))
            menu.addAction(self.tr("Open its folder")).triggered.connect(
                lambda: QDesktopServices.openUrl(folder)
            )
        menu.addAction(self.tr("Choose all")).triggered.connect(lambda: self.model.choose_all(True))
        menu.addAction(self.tr("Choose none")).triggered.connect(
            lambda: self.model.choose_all(False)
        )
        menu.popup(self.cursor().pos())

    def _approve(self, *, keep: bool = False) -> None:
        """Stays open until the changes are applied: they may be in conflict with the disk."""
        approved = self.model.chosen()
        made = self.conflicts.choices()
        choices: dict[str, Choice] = {one: made[one] for one in made if one in approved}
        self._set_busy(True)
        self.decided.emit(
            Decision(turn_id=self.turn_id, approved=approved, choices=choices, keep=keep)
        )

    def _make_standing(self) -> QPushButton | None:
        """Approve, and allow the same from now on; not offered where anything is unusual."""
        grants = offered(self._turn, self._folders, today())
        if not grants:
            return None
        meaning = " ".join(explained(one) for one in grants)

        def approve() -> None:
            self.grants_wanted.emit(grants)
            self._approve()

        return button(
            self.tr("Approve, and allow from now on"), on_click=approve, tip=meaning,
            name=self.tr("Approve, and from now on allow: {0}").format(meaning),
        )  # fmt: skip

    def _reject_with_a_word(self) -> None:
        asking = QInputDialog(self)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setWindowTitle(self.tr("Reject with a word"))
        asking.setLabelText(self.tr("What should be done instead?"))
        asking.setOkButtonText(self.tr("Reject and send"))

        def told(word: str) -> None:
            self.decided.emit(Decision(turn_id=self.turn_id, approved=None, word=word.strip()))
            self.close()

        asking.textValueSelected.connect(told)
        asking.open()

    def _reject_all(self) -> None:
        self.decided.emit(Decision(turn_id=self.turn_id, approved=None))
        self.close()

    def _set_busy(self, busy: bool) -> None:
        self._later.setText(
            self.tr("Applying the changes.")
            if busy
            else self.tr("Escape closes this and decides nothing.")
        )
        asking = (self.reject_button, self.word_button, self.standing_button, self.approve_button)
        parts = (self.fault, self.conflicts, self.tree, *asking)
        for widget in (one for one in parts if one is not None):
            widget.setEnabled(not busy)
        if not busy:
            self._chosen_changed(0)
