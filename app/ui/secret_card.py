"""One secret in the vault's dialog: what it is, where it goes, and what can be done with it.

Owns showing a value, which happens on purpose only and ends by itself after ten seconds.
Thread: UI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QLineEdit

from app.ui import secret_words, words
from app.ui.secret_scope import SecretScope
from app.ui.theme import SPACE_M, SPACE_S, SPACE_XS, code_font
from app.ui.widgets import button, column, label, row

if TYPE_CHECKING:
    from app.engine.secret_desk import SecretView
    from app.engine.secret_trial import Trial

SHOWN_S = 10


class SecretCard(QFrame):
    """One secret; the signals carry its name, `rotated` also the new value;
    `rebound` carries the new `Binding`."""

    show_wanted = Signal(str)
    copy_wanted = Signal(str)
    test_wanted = Signal(str)
    remove_wanted = Signal(str)
    rotated = Signal(str, str)
    rebound = Signal(object)

    def __init__(self, view: SecretView) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.name = name = view.record.name
        self._left_s = 0
        layout = column(self, margin=SPACE_M, spacing=SPACE_XS)
        line = row(spacing=SPACE_S)
        line.addWidget(label(name, "strong"))
        line.addWidget(label(_kind(view), "meta"))
        line.addStretch(1)
        self.test = button(
            self.tr("Test"),
            name=self.tr("Test {0}").format(name),
            tip=self.tr("Sends it to its host and looks at the answer"),
            on_click=lambda: self.test_wanted.emit(name),
        )
        self.reveal = button(
            self.tr("Show"),
            name=self.tr("Show the value of {0}").format(name),
            tip=self.tr("For ten seconds"),
            on_click=self._show_or_hide,
        )
        self.copy = button(
            self.tr("Copy"),
            name=self.tr("Copy the value of {0}").format(name),
            tip=self.tr("The clipboard is cleared after 30 seconds"),
            on_click=lambda: self.copy_wanted.emit(name),
        )
        self.rotate = button(
            self.tr("Replace"),
            name=self.tr("Replace the value of {0}").format(name),
            on_click=self._toggle_new,
        )
        self.change = button(
            self.tr("Change"),
            name=self.tr("Change where {0} may go").format(name),
            tip=self.tr("The hosts that it is sent to, and what for"),
            on_click=lambda: self.scope.setVisible(self.scope.isHidden()),
        )
        self.remove = button(
            self.tr("Remove"),
            name=self.tr("Remove {0}").format(name),
            on_click=lambda: self.remove_wanted.emit(name),
        )
        for each in (self.test, self.reveal, self.copy, self.rotate, self.change, self.remove):
            line.addWidget(each)
        layout.addLayout(line)
        layout.addWidget(label(_facts(view), "muted", wrap=True))
        if view.trouble is not None:
            text = f"{view.message} {view.hint}".strip()
            layout.addWidget(label(text, "caution", wrap=True))
        self._value = label("", wrap=True)
        self._value.setFont(code_font())
        self._value.hide()
        layout.addWidget(self._value)
        self._note = label("", "meta", wrap=True)
        self._note.hide()
        layout.addWidget(self._note)
        layout.addLayout(self._new_value())
        self.scope = SecretScope(view.record.binding)
        self.scope.chosen.connect(self.rebound)
        layout.addWidget(self.scope)
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._tick)

    def _new_value(self) -> Any:
        """The line that takes a new value; hidden until it is asked for."""
        line = row(spacing=SPACE_S)
        self.new_value = QLineEdit()
        self.new_value.setEchoMode(QLineEdit.EchoMode.Password)
        self.new_value.setPlaceholderText(self.tr("New value"))
        self.new_value.setAccessibleName(self.tr("New value of {0}").format(self.name))
        self.new_value.returnPressed.connect(self._save_new)
        self.save_new = button(self.tr("Save new value"), on_click=self._save_new)
        for each in (self.new_value, self.save_new):
            each.hide()
            line.addWidget(each)
        return line

    @property
    def shown_value(self) -> str:
        """The value, while it is shown."""
        return self._value.text()

    def show_value(self, value: str) -> None:
        """Show the value for ten seconds."""
        self._value.setText(words.visible(value))
        self._value.show()
        self._left_s = SHOWN_S
        self.reveal.setText(self.tr("Hide"))
        self._tell_left()
        self._timer.start()

    def hide_value(self) -> None:
        """Hide the value now."""
        self._timer.stop()
        self._value.clear()
        self._value.hide()
        self._note.hide()
        self.reveal.setText(self.tr("Show"))

    def tell(self, text: str, *, caution: bool = False) -> None:
        """Say how something went."""
        self._note.setProperty("role", "caution" if caution else "meta")
        self._note.style().polish(self._note)
        self._note.setText(text)
        self._note.show()

    def show_trial(self, trial: Trial) -> None:
        """Say how a test went."""
        self.test.setEnabled(True)
        self.tell(f"{trial.message} {trial.hint}".strip(), caution=trial.works is False)

    def _show_or_hide(self) -> None:
        if self._timer.isActive():
            self.hide_value()
        else:
            self.show_wanted.emit(self.name)

    def _tick(self) -> None:
        self._left_s -= 1
        if self._left_s <= 0:
            self.hide_value()
        else:
            self._tell_left()

    def _tell_left(self) -> None:
        self.tell(self.tr("Hidden again in {0} s.").format(self._left_s))

    def _toggle_new(self) -> None:
        opened = self.new_value.isHidden()
        self.new_value.clear()
        self.new_value.setVisible(opened)
        self.save_new.setVisible(opened)
        if opened:
            self.new_value.setFocus()

    def _save_new(self) -> None:
        value = self.new_value.text()
        if value:
            self._toggle_new()
            self.rotated.emit(self.name, value)

    def hideEvent(self, event: Any) -> None:
        """A value that nobody looks at is not shown when the card comes back."""
        self.hide_value()
        super().hideEvent(event)


def _kind(view: SecretView) -> str:
    return secret_words.kind(view.record.binding.kind)


def _facts(view: SecretView) -> str:
    record, binding = view.record, view.record.binding
    hosts = ", ".join(host.text for host in binding.hosts)
    parts = [
        secret_words.goes_to(hosts, binding.methods),
        secret_words.kept_in(record.keep),
        secret_words.last_used(record.used, record.uses),
    ]
    return " ".join(parts)
