"""Where a secret may go: its hosts, and whether it is for reading alone.

Owns the small form that changes them. Thread: UI.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from app.ui.theme import SPACE_S, SPACE_XS
from app.ui.widgets import button, column, label, row
from sandbox.secrets import Binding, bound_host

READING = ("GET", "HEAD")


def methods_box(name: str) -> QComboBox:
    """A choice of the methods that a secret may be used with."""
    made = QComboBox()
    made.setAccessibleName(name)
    made.addItem(made.tr("Reading and sending, which is asked about"), ())
    made.addItem(made.tr("Reading only (GET, HEAD)"), READING)
    return made


def hosts_from(text: str) -> tuple[str, ...]:
    """The hosts in what was typed, split at commas and spaces."""
    return tuple(text.replace(",", " ").split())


class SecretScope(QWidget):
    """`chosen` carries the new `Binding`; hidden until it is asked for."""

    chosen = Signal(object)

    def __init__(self, binding: Binding) -> None:
        super().__init__()
        self.setProperty("role", "plain")
        self._binding = binding
        layout = column(self, spacing=SPACE_XS)
        line = row(spacing=SPACE_S)
        self.hosts = QLineEdit(", ".join(host.text for host in binding.hosts))
        self.hosts.setAccessibleName(self.tr("Hosts of {0}").format(binding.name))
        self.hosts.setPlaceholderText(self.tr("api.github.com, others after a comma"))
        self.hosts.returnPressed.connect(self._choose)
        line.addWidget(self.hosts, 1)
        self.methods = methods_box(self.tr("What {0} may be used for").format(binding.name))
        if binding.methods and binding.methods != READING:
            self.methods.addItem(", ".join(binding.methods), binding.methods)
        at = [self.methods.itemData(one) for one in range(self.methods.count())]
        self.methods.setCurrentIndex(at.index(binding.methods) if binding.methods in at else 0)
        self.methods.setVisible(binding.kind != "model-key")
        line.addWidget(self.methods)
        self.save = button(self.tr("Save hosts"), on_click=self._choose)
        line.addWidget(self.save)
        layout.addLayout(line)
        self._problem = label("", "caution", wrap=True)
        self._problem.hide()
        layout.addWidget(self._problem)
        self.hide()

    def _choose(self) -> None:
        try:
            hosts = tuple(bound_host(each) for each in hosts_from(self.hosts.text()))
        except ValueError as error:
            text = str(error)
            self.refuse(f"{text[:1].upper()}{text[1:]}.")
            return
        self._problem.hide()
        methods = tuple(self.methods.currentData() or ())
        self.chosen.emit(replace(self._binding, hosts=hosts, methods=methods))

    def refuse(self, text: str) -> None:
        """Say why it was not changed; what was typed stays."""
        self._problem.setText(text)
        self._problem.show()
