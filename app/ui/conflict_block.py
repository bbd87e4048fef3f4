"""What the disk no longer fits in a review, item by item, with what a person can choose.

Owns the choices and how they look; what follows from one for other changes belongs to the review.
The first fifty items have a row each; beyond that, the choice for all stands for the rest, which
are marked in the table of changes. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QScrollArea, QWidget

from app.store.records import ConflictRecord, Folder
from app.ui import words
from app.ui.review_words import choice_meaning, choice_word
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import ElidedLabel, column, label, row
from sandbox.verify import Choice

SHOWN_ROWS = 50
MAX_HEIGHT_PX = 132
_ORDER: tuple[Choice, ...] = ("theirs", "ours", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMade:
    """What the person chose for the changes with these ids."""

    ids: tuple[str, ...]
    choice: Choice


class _ChoiceBox(QComboBox):
    """A choice that the wheel does not change: it belongs to the list around it."""

    def __init__(self, offered: Sequence[Choice], name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPlaceholderText(self.tr("Choose"))
        self.setMinimumWidth(156)
        for choice in offered:
            text = choice_word(choice) if len(offered) > 1 else self.tr("Leave it out")
            self.addItem(text, choice)
            self.setItemData(self.count() - 1, choice_meaning(choice), Qt.ItemDataRole.ToolTipRole)
        self.show_choice(None)

    def show_choice(self, choice: Choice | None) -> None:
        """Show a choice without telling anybody; None: nothing is chosen yet."""
        before = self.blockSignals(True)
        self.setCurrentIndex(-1 if choice is None else self.findData(choice))
        self.blockSignals(before)
        meaning = self.tr("Nothing is applied until this is chosen.")
        self.setToolTip(meaning if choice is None else choice_meaning(choice))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class ConflictBlock(QFrame):
    """The conflicts of a review. `chosen` carries a `ChoiceMade` of the person's."""

    chosen = Signal(object)

    def __init__(self, folders: Sequence[Folder], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "alert")
        self.setAccessibleName(self.tr("Different on disk now"))
        self._folders = tuple(folders)
        self._records: dict[str, ConflictRecord] = {}
        self._choices: dict[str, Choice] = {}
        self._boxes: dict[str, _ChoiceBox] = {}
        self._title = label("", "strong", wrap=True)
        self._scroll = QScrollArea()
        self._scroll.setProperty("role", "plain")
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._all = _ChoiceBox(_ORDER, self.tr("Choose for all of these"))
        self._all.setPlaceholderText(self.tr("Choose for all"))
        self._all.activated.connect(self._choose_for_all)
        layout = column(self, margin=SPACE_S, spacing=SPACE_S)
        head = row()
        head.addWidget(self._title, 1)
        head.addWidget(self._all)
        layout.addLayout(head)
        layout.addWidget(self._scroll)
        self.hide()

    def add(self, records: Sequence[ConflictRecord]) -> tuple[str, ...]:
        """Show these conflicts too; returns the ids of those that can only be left out."""
        self._records |= {one.change_id: one for one in records}
        for one in records:
            self._choices.pop(one.change_id, None)
        self._fill()
        self.setVisible(bool(self._records))
        return tuple(one.change_id for one in records if _offered(one) == ("theirs",))

    def reasons(self) -> Mapping[str, str]:
        """Why the disk no longer fits, by change id."""
        return {change_id: one.reason for change_id, one in self._records.items()}

    def sync(self, wanted: Collection[str]) -> None:
        """Take over which changes are chosen: one that is not keeps what is on disk."""
        for change_id in self._records:
            if change_id not in wanted:
                self._choices[change_id] = "theirs"
            elif self._choices.get(change_id) == "theirs":
                del self._choices[change_id]
        for change_id, box in self._boxes.items():
            box.show_choice(self._choices.get(change_id))

    def choices(self) -> dict[str, Choice]:
        """What is chosen so far, by change id."""
        return dict(self._choices)

    def undecided(self) -> int:
        """How many conflicts have no choice yet."""
        return len(self._records) - len(self._choices)

    def boxes(self) -> list[QComboBox]:
        """The fields to choose with, in the order of the screen."""
        return [self._all, *self._boxes.values()]

    def box_of(self, change_id: str) -> QComboBox:
        """The field of one conflict."""
        return self._boxes[change_id]

    def _fill(self) -> None:
        number = len(self._records)
        self._title.setText(words.no_longer_fit(number))
        inside = QWidget()
        inside.setProperty("role", "plain")
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE_M)
        grid.setVerticalSpacing(SPACE_XS)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        self._boxes = {}
        for place, record in enumerate(list(self._records.values())[:SHOWN_ROWS]):
            self._add_row(grid, place, record)
        if number > SHOWN_ROWS:
            rest = self.tr("{0} more are marked in the table: choose for all of them above.")
            grid.addWidget(label(rest.format(f"{number - SHOWN_ROWS:,}"), "muted", wrap=True),
                           SHOWN_ROWS, 0, 1, 3)  # fmt: skip
        self._scroll.setWidget(inside)
        self._scroll.setFixedHeight(min(MAX_HEIGHT_PX, inside.sizeHint().height()))
        self._all.setVisible(number > 1)
        self._all.show_choice(None)

    def _add_row(self, grid: QGridLayout, place: int, record: ConflictRecord) -> None:
        path = words.short_path(record.path, self._folders)
        grid.addWidget(ElidedLabel(path), place, 0)
        grid.addWidget(label(record.reason, "muted", wrap=True), place, 1)
        box = _ChoiceBox(_offered(record), self.tr("What happens to {0}").format(path))
        box.setAccessibleDescription(record.reason)
        box.show_choice(self._choices.get(record.change_id))

        def activated(_index: int) -> None:
            self._made((record.change_id,), box.currentData())

        box.activated.connect(activated)
        self._boxes[record.change_id] = box
        grid.addWidget(box, place, 2)

    def _choose_for_all(self, _index: int) -> None:
        choice: Choice = self._all.currentData()
        fitting = (one for one in self._records.values() if choice in _offered(one))
        self._made(tuple(one.change_id for one in fitting), choice)
        self._all.show_choice(None)

    def _made(self, ids: tuple[str, ...], choice: Choice) -> None:
        self._choices |= dict.fromkeys(ids, choice)
        self.chosen.emit(ChoiceMade(ids=ids, choice=choice))


def _offered(record: ConflictRecord) -> tuple[Choice, ...]:
    """What can be chosen; leaving the change out can always be."""
    return tuple(one for one in _ORDER if one in record.choices) or ("theirs",)
