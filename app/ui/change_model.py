"""A change set as a tree for Qt's views: kinds with counts, changes beneath, check boxes.

Owns which changes are chosen and keeps that consistent: without a change go all that need it,
with a change come all that it needs. Ten thousand changes cost no object per row. It must not
decide or apply anything. Thread: UI.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.store.records import Folder
from app.ui import words
from app.ui.review_words import mark_word
from app.ui.widgets import plain_tooltip
from sandbox.changeset import Change, ChangeKind, ChangeSet
from sandbox.marks import marks

type Index = QModelIndex | QPersistentModelIndex

_NO_INDEX = QModelIndex()
_GROUP_ID = 0
COLUMN_ITEM, COLUMN_DETAIL, COLUMN_SIZE = range(3)
COLUMNS = 3
MANY = 20
"""From so many on, the row of a group names a few of its changes: it may be all that is read."""
EXAMPLES = 2
_NONE = Qt.ItemFlag.NoItemFlags
_SHOWN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_CHECKABLE = _SHOWN | Qt.ItemFlag.ItemIsUserCheckable
_LEAF = _SHOWN | Qt.ItemFlag.ItemNeverHasChildren  # spares the view a question a row
_CHECKABLE_LEAF = _CHECKABLE | Qt.ItemFlag.ItemNeverHasChildren


def closure(start: Iterable[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """All ids that can be reached from `start` along `edges`, `start` included."""
    found: set[str] = set()
    rest = list(start)
    while rest:
        one = rest.pop()
        if one not in found:
            found.add(one)
            rest.extend(edges.get(one, ()))
    return found


class ChangeModel(QAbstractItemModel):
    """Two levels: groups by kind, changes of that kind.

    `chosen_changed` carries how many changes were switched along with the one the person switched.
    """

    chosen_changed = Signal(int)

    def __init__(
        self,
        change_set: ChangeSet,
        folders: Sequence[Folder],
        parent: QObject | None = None,
        *,
        checkable: bool = True,
    ) -> None:
        super().__init__(parent)
        self._folders = tuple(folders)
        self._roots = tuple(folder.path for folder in folders)
        self._checkable = checkable
        self._conflicts: dict[str, str] = {}
        by_kind: dict[ChangeKind, list[Change]] = defaultdict(list)
        for change in change_set.changes:
            by_kind[change.kind].append(change)
        self._kinds: list[ChangeKind] = [kind for kind in words.GROUP_ORDER if kind in by_kind]
        self._groups = [by_kind[kind] for kind in self._kinds]
        self._group_of = {c.id: number for number, group in enumerate(self._groups) for c in group}
        self._needs = {c.id: c.depends_on for c in change_set.changes}
        self._needed_by: dict[str, list[str]] = defaultdict(list)
        for change in change_set.changes:
            for needed in change.depends_on:
                self._needed_by[needed].append(change.id)
        self._chosen = set(self._group_of)
        self._chosen_in = [len(group) for group in self._groups]

    def chosen(self) -> frozenset[str]:
        """The ids of the changes to apply."""
        return frozenset(self._chosen)

    def total(self) -> int:
        """How many changes there are."""
        return len(self._group_of)

    def change_at(self, index: Index) -> Change | None:
        """The change in a row, or None for a group."""
        if not index.isValid() or index.internalId() == _GROUP_ID:
            return None
        return self._groups[index.internalId() - 1][index.row()]

    def show_conflicts(self, reasons: Mapping[str, str]) -> None:
        """Say in their rows which changes (by id) the disk no longer fits, and why."""
        self._conflicts.update(reasons)
        self._tell({self._group_of[one] for one in reasons if one in self._group_of})

    def choose(self, ids: Collection[str], wanted: bool) -> frozenset[str]:
        """Choose these changes or not; returns all that switched, with those that went along."""
        return self._choose(list(ids), wanted)

    def needs(self, change_id: str) -> set[str]:
        """All that this change cannot be made without."""
        return closure([change_id], self._needs) - {change_id}

    def fitting(self, ids: Collection[str]) -> list[str]:
        """Those of `ids` that need nothing which is neither chosen nor among `ids`."""
        there = self._chosen | set(ids)
        return [one for one in ids if closure([one], self._needs) <= there]

    def first_change(self) -> QModelIndex:
        """The first row that is a change; invalid when there is none."""
        return self.index(0, 0, self.index(0, 0)) if self._groups else QModelIndex()

    def index(self, row: int, column: int, parent: Index = _NO_INDEX) -> QModelIndex:
        # `hasIndex` says the same at several times the cost, and this is asked for each row.
        if row < 0 or not 0 <= column < COLUMNS:
            return QModelIndex()
        if not parent.isValid():
            found = row < len(self._groups)
            return self.createIndex(row, column, _GROUP_ID) if found else QModelIndex()
        group = parent.row()
        if parent.internalId() or parent.column() or row >= len(self._groups[group]):
            return QModelIndex()
        return self.createIndex(row, column, group + 1)

    def parent(self, index: Index = _NO_INDEX) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # Qt overloads parent(); the stub cannot say so
        if not index.isValid() or index.internalId() == _GROUP_ID:
            return QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, _GROUP_ID)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        if not parent.isValid():
            return len(self._groups)
        if parent.internalId() == _GROUP_ID and parent.column() == 0:
            return len(self._groups[parent.row()])
        return 0

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return COLUMNS

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and section == COLUMN_SIZE:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Item"), self.tr("What happens"), self.tr("Size"))[section]
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return _NONE
        checkable = self._checkable and index.column() == COLUMN_ITEM
        if index.internalId() == _GROUP_ID:
            return _CHECKABLE if checkable else _SHOWN
        return _CHECKABLE_LEAF if checkable else _LEAF

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        change = self.change_at(index)
        if role == Qt.ItemDataRole.CheckStateRole:
            return self._check_state(index, change)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == COLUMN_SIZE:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if change is None:
            return self._group_data(index, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(change, index.column())
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tooltip(self._whole(change))
            case Qt.ItemDataRole.AccessibleTextRole:
                return " ".join(self._text(change, column) for column in range(3))
            case _:
                return None

    def setData(  # noqa: N802  # Qt override
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not self._checkable:
            return False
        wanted = Qt.CheckState(value) == Qt.CheckState.Checked
        change = self.change_at(index)
        ids = [c.id for c in self._groups[index.row()]] if change is None else [change.id]
        self._choose(ids, wanted)
        return True

    def choose_all(self, wanted: bool) -> None:
        """Choose everything or nothing."""
        self._choose(list(self._group_of), wanted)

    def _choose(self, ids: Sequence[str], wanted: bool) -> frozenset[str]:
        along = closure(ids, self._needs if wanted else self._needed_by) & self._group_of.keys()
        switched = along - self._chosen if wanted else along & self._chosen
        if not switched:
            return frozenset()
        if wanted:
            self._chosen |= switched
        else:
            self._chosen -= switched
        for one in switched:
            self._chosen_in[self._group_of[one]] += 1 if wanted else -1
        self._tell({self._group_of[one] for one in switched}, [Qt.ItemDataRole.CheckStateRole])
        self.chosen_changed.emit(len(switched - set(ids)))
        return frozenset(switched)

    def _tell(self, groups: Iterable[int], roles: Sequence[int] = ()) -> None:
        """Have the rows of these groups drawn again."""
        column = COLUMN_ITEM if roles else COLUMN_SIZE
        for number in groups:
            top = self.index(number, 0)
            self.dataChanged.emit(top, top, roles)
            last = self.index(len(self._groups[number]) - 1, column, top)
            self.dataChanged.emit(self.index(0, 0, top), last, roles)

    def _check_state(self, index: Index, change: Change | None) -> Qt.CheckState | None:
        if not self._checkable or index.column() != COLUMN_ITEM:
            return None
        if change is not None:
            chosen = change.id in self._chosen
            return Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked
        chosen_here = self._chosen_in[index.row()]
        if chosen_here == 0:
            return Qt.CheckState.Unchecked
        everything = chosen_here == len(self._groups[index.row()])
        return Qt.CheckState.Checked if everything else Qt.CheckState.PartiallyChecked

    def _group_data(self, index: Index, role: int) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if index.column() != COLUMN_ITEM:
            return ""
        group = self._groups[index.row()]
        title = words.group_title(self._kinds[index.row()], len(group))
        total_bytes = sum(map(_bytes_of, group))
        text = f"{title}, {words.size(total_bytes)}" if total_bytes else title
        if len(group) < MANY:
            return text
        examples = [words.visible(PurePath(change.path).name) for change in group[:EXAMPLES]]
        return self.tr("{0}, for example {1}").format(text, ", ".join(examples))

    def _text(self, change: Change, column: int) -> str:
        if column == COLUMN_ITEM:
            return words.short_path(change.path, self._folders)
        if column == COLUMN_SIZE:
            return _size_words(change)
        found = [words.change_word(change)]
        if change.id in self._conflicts:
            found.append(self.tr("differs on disk"))
        found += [mark_word(mark) for mark in marks(change, self._roots)]
        text = ", ".join(found)
        if change.target is not None:
            target, path = PurePath(change.target), PurePath(change.path)
            if target.parent == path.parent:
                where = words.visible(target.name)
            elif target.name == path.name:
                where = words.short_path(str(target.parent), self._folders) + "/"
            else:
                where = words.short_path(change.target, self._folders)
            text = f"{text} \u2192 {where}"
        return text

    def _whole(self, change: Change) -> str:
        """Everything about a change: full paths, marks, and what is different on disk."""
        lines = [words.visible(change.path)]
        if change.target:
            lines.append(f"\u2192 {words.visible(change.target)}")
        lines.append(self._text(change, COLUMN_DETAIL))
        if change.id in self._conflicts:
            lines.append(self._conflicts[change.id])
        return "\n".join(lines)


def _bytes_of(change: Change) -> int:
    return (change.size_after if change.size_after is not None else change.size_before) or 0


def _size_words(change: Change) -> str:
    match change.kind:
        case "mkdir" | "rmdir":
            return ""
        case "modify":
            before, after = words.size(change.size_before), words.size(change.size_after)
            return before if before == after else f"{before} \u2192 {after}"
        case "delete":
            return words.size(change.size_before)
        case _:
            known = change.size_after if change.size_after is not None else change.size_before
            return words.size(known)
