"""The form for a new secret: name, kind, hosts, methods, value and where it is kept.

Owns what is asked for which kind. It must not keep a value: it goes out with `chosen`, and the
field is emptied. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QFrame, QLineEdit

from app.ui import secret_words
from app.ui.secret_scope import hosts_from, methods_box
from app.ui.secret_session import NewSecret
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S
from app.ui.widgets import button, column, label, row
from app.vault.keepers import KEEPS
from sandbox.secrets import Binding, Kind, bound_host, checked_header

if TYPE_CHECKING:
    from app.vault.keepers import Keep, Standing


class SecretForm(QFrame):
    """`chosen` carries a `NewSecret`; `cancelled`: the person changed their mind."""

    chosen = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._standings: Mapping[Keep, Standing] = {}
        layout = column(self, margin=SPACE_M, spacing=SPACE_S)
        layout.addWidget(label(self.tr("New secret"), "strong"))
        self._form = form = QFormLayout()
        form.setHorizontalSpacing(SPACE_L)
        form.setVerticalSpacing(SPACE_S)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        layout.addLayout(form)
        self.name = self._line(self.tr("Name"), self.tr("github, as programs call it"))
        self.kind = QComboBox()
        self.kind.setAccessibleName(self.tr("Kind"))
        for kind in ("token", "password", "header", "model-key"):
            self.kind.addItem(secret_words.kind(kind), kind)
        form.addRow(self.tr("Kind"), self.kind)
        self.hosts = self._line(self.tr("Hosts"), self.tr("api.github.com, others after a comma"))
        self.methods = methods_box(self.tr("May be used for"))
        form.addRow(self.tr("May be used for"), self.methods)
        self.user = self._line(self.tr("User"), self.tr("who the password belongs to"))
        self.header = self._line(self.tr("Header"), "X-Api-Key")
        self.value = self._line(self.tr("Value"), "", secret=True)
        self.keep = QComboBox()
        self.keep.setAccessibleName(self.tr("Kept in"))
        form.addRow(self.tr("Kept in"), self.keep)
        self.passphrase = self._line(self.tr("Passphrase"), "", secret=True)
        self.again = self._line(self.tr("Passphrase again"), "", secret=True)
        self._problem = label("", "caution", wrap=True)
        self._problem.hide()
        layout.addWidget(self._problem)
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Discard"), on_click=self._cancel))
        self.save = button(self.tr("Add secret"), "primary", on_click=self._choose)
        buttons.addWidget(self.save)
        layout.addLayout(buttons)
        self.kind.currentIndexChanged.connect(self._fit)
        self.keep.currentIndexChanged.connect(self._fit)
        self._fit()

    def _line(self, text: str, example: str, *, secret: bool = False) -> QLineEdit:
        made = QLineEdit()
        made.setAccessibleName(text)
        made.setPlaceholderText(example)
        if secret:
            made.setEchoMode(QLineEdit.EchoMode.Password)
        self._form.addRow(text, made)
        return made

    def offer(self, standings: Mapping[Keep, Standing]) -> None:
        """Say where a secret can be kept; the first place that can be used is chosen."""
        self._standings = standings
        chosen = self.keep.currentData()
        self.keep.blockSignals(True)
        self.keep.clear()
        for keep in KEEPS:
            standing = standings.get(keep)
            usable = keep == "file" or (standing is not None and standing.trouble is None)
            if usable:
                self.keep.addItem(secret_words.place(keep), keep)
        at = self.keep.findData(chosen)
        self.keep.setCurrentIndex(max(0, at))
        self.keep.blockSignals(False)
        self._fit()

    def refuse(self, text: str) -> None:
        """Say why it was not added; what was typed stays."""
        self.save.setEnabled(True)
        self._problem.setText(text)
        self._problem.show()

    def forget(self) -> None:
        """Empty every field."""
        for line in (self.name, self.hosts, self.user, self.header):
            line.clear()
        for line in (self.value, self.passphrase, self.again):
            line.clear()
        self._problem.hide()
        self.save.setEnabled(True)

    def _fit(self, _index: int = 0) -> None:
        """Ask only what the kind and the place need."""
        kind, keep = self.kind.currentData(), self.keep.currentData()
        standing = self._standings.get("file")
        trouble = standing.trouble if standing is not None else None
        asks = keep == "file" and trouble is not None
        for widget, wanted in (
            (self.user, kind == "password"),
            (self.header, kind == "header"),
            (self.methods, kind != "model-key"),
            (self.passphrase, asks),
            (self.again, asks and trouble == "missing"),
        ):
            self._form.setRowVisible(widget, wanted)

    def _choose(self) -> None:
        if self._form.isRowVisible(self.again) and self.passphrase.text() != self.again.text():
            self.refuse(self.tr("The two passphrases are not the same."))
            return
        kind = cast("Kind", self.kind.currentData())
        try:
            binding = Binding(
                name=self.name.text().strip(),
                kind=kind,
                hosts=tuple(bound_host(each) for each in hosts_from(self.hosts.text())),
                methods=tuple(self.methods.currentData() or ()),
                header=checked_header(self.header.text().strip()) if kind == "header" else "",
                user=self.user.text().strip() if kind == "password" else "",
            )
        except ValueError as error:
            text = str(error)
            self.refuse(f"{text[:1].upper()}{text[1:]}.")
            return
        self._problem.hide()
        self.save.setEnabled(False)
        wanted = NewSecret(
            binding=binding,
            value=self.value.text(),
            keep=self.keep.currentData(),
            passphrase=self.passphrase.text() if self._form.isRowVisible(self.passphrase) else "",
        )
        self.chosen.emit(wanted)

    def _cancel(self) -> None:
        self.forget()
        self.cancelled.emit()
