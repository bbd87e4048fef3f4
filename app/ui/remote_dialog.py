"""Remote models: keys for providers, servers of one's own, which models are offered, and a test.

Owns the dialog. It must not store anything and never shows a key: a change is carried by `chosen`,
a key by `key_given`. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialog,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app.settings import RemoteSettings, ServerSettings, Settings
from app.ui import words
from app.ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS
from app.ui.widgets import button, clear, column, frame, label, row, scrolling
from models.errors import ModelError
from models.providers import COMPATIBLE, checked_address

if TYPE_CHECKING:
    from app.engine.remotes import ProviderStatus, TestResult


class RemoteDialog(QDialog):
    """Settings of remote models.

    `chosen` carries new `Settings`, `key_given` a key's name and value, `test_wanted` a model's id.
    """

    chosen = Signal(object)
    key_given = Signal(str, str)
    test_wanted = Signal(str)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Remote models"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._settings = settings
        self._providers: tuple[ProviderStatus, ...] = ()
        self._results: dict[str, TestResult | None] = {}
        layout = column(self, margin=SPACE_L, spacing=SPACE_M)
        layout.addWidget(label(self.tr("Models elsewhere"), "heading"))
        text = self.tr(
            "Requests, the listing with names, sizes and first lines of small text files, and what "
            "programs print go to the place that you choose. The rest of your files stays here."
        )
        layout.addWidget(label(text, "muted", wrap=True))
        page = QWidget()
        page.setProperty("role", "ground")
        self._body = column(page, spacing=SPACE_S)
        layout.addWidget(scrolling(page), 1)
        buttons = row()
        buttons.addStretch(1)
        buttons.addWidget(button(self.tr("Close"), on_click=self.close))
        layout.addLayout(buttons)
        self._models = column(spacing=SPACE_S)
        self._keys = column(spacing=SPACE_S)
        self._servers = column(spacing=SPACE_S)
        self._lay_out()
        self.resize(680, 640)

    @property
    def remote(self) -> RemoteSettings:
        """The settings as they are now."""
        return self._settings.remote

    def _lay_out(self) -> None:
        self._body.addWidget(label(self.tr("Models offered in the composer"), "strong"))
        self._body.addLayout(self._models)
        self._body.addLayout(self._adder())
        self._body.addSpacing(SPACE_M)
        self._body.addWidget(label(self.tr("Keys"), "strong"))
        note = self.tr("A key given here is kept in memory and ends with Drydock.")
        self._body.addWidget(label(note, "muted", wrap=True))
        self._body.addLayout(self._keys)
        self._body.addSpacing(SPACE_M)
        self._body.addWidget(label(self.tr("Servers of your own"), "strong"))
        note = self.tr("Ollama, LM Studio, llama.cpp, vLLM: any that speaks as OpenAI does.")
        self._body.addWidget(label(note, "muted", wrap=True))
        self._body.addLayout(self._servers)
        self._body.addLayout(self._server_adder())
        self._wrong = label("", "caution", wrap=True)
        self._wrong.hide()
        self._body.addWidget(self._wrong)
        self._body.addStretch(1)
        self._show_models()
        self._show_servers()

    # models

    def _adder(self) -> QVBoxLayout:
        line = row()
        self._provider = QComboBox()
        self._provider.setAccessibleName(self.tr("Provider"))
        self._provider.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._provider.setMaximumWidth(200)
        self._provider.currentIndexChanged.connect(self._offer_names)
        self._name = QLineEdit()
        self._name.setAccessibleName(self.tr("Model's name at the provider"))
        self._name.setPlaceholderText(self.tr("Model's name, as the provider writes it"))
        self._name.returnPressed.connect(self._add_model)
        line.addWidget(self._provider)
        line.addWidget(self._name, 1)
        line.addWidget(button(self.tr("Add model"), on_click=self._add_model))
        around = column()
        around.addLayout(line)
        return around

    def show_providers(self, providers: Sequence[ProviderStatus]) -> None:
        """Show providers and servers with whether there is a key."""
        self._providers = tuple(providers)
        chosen = self._provider.currentData()
        self._provider.clear()
        for provider in providers:
            self._provider.addItem(words.visible(provider.label), provider.provider_id)
        self._provider.setCurrentIndex(max(0, self._provider.findData(chosen)))
        self._show_keys()

    def _offer_names(self, _index: int = 0) -> None:
        chosen = self._provider.currentData()
        names = next((p.names for p in self._providers if p.provider_id == chosen), ())
        completer = QCompleter(list(names), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._name.setCompleter(completer)

    def _add_model(self) -> None:
        provider, name = str(self._provider.currentData() or ""), self._name.text().strip()
        if not provider or not name:
            return
        separator = "/" if provider.startswith(f"{COMPATIBLE}:") else ":"
        model_id = f"{provider}{separator}{name}"
        if model_id not in self.remote.models:
            self._save(models=(*self.remote.models, model_id))
        self._name.clear()
        self._show_models()

    def _show_models(self) -> None:
        clear(self._models)
        if not self.remote.models:
            self._models.addWidget(label(self.tr("None yet."), "muted"))
        for model_id in self.remote.models:
            self._models.addWidget(self._model_card(model_id))

    def _model_card(self, model_id: str) -> QWidget:
        card = frame("card")
        inside = column(card, spacing=SPACE_XS)
        inside.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        line = row()
        line.addWidget(label(words.visible(model_id), wrap=True, selectable=True), 1)
        test = button(self.tr("Test"), name=self.tr("Test {0}").format(model_id),
                      on_click=lambda: self._test(model_id))  # fmt: skip
        line.addWidget(test)
        line.addWidget(button(self.tr("Remove"), name=self.tr("Remove {0}").format(model_id),
                              on_click=lambda: self._remove_model(model_id)))  # fmt: skip
        inside.addLayout(line)
        if model_id in self._results:
            result = self._results[model_id]
            if result is None:
                inside.addWidget(label(self.tr("Asking it for one word."), "muted"))
            else:
                role = "good" if result.ok else "caution"
                inside.addWidget(label(result.message, role, wrap=True, selectable=True))
                if result.hint:
                    inside.addWidget(label(result.hint, wrap=True, selectable=True))
            test.setEnabled(result is not None)
        return card

    def _test(self, model_id: str) -> None:
        self._results[model_id] = None
        self._show_models()
        self.test_wanted.emit(model_id)

    def show_test(self, model_id: str, result: TestResult) -> None:
        """Show what a test found."""
        self._results[model_id] = result
        self._show_models()

    def _remove_model(self, model_id: str) -> None:
        self._results.pop(model_id, None)
        self._save(models=tuple(one for one in self.remote.models if one != model_id))
        self._show_models()

    # keys

    def _show_keys(self) -> None:
        clear(self._keys)
        shown: set[str] = set()
        for provider in self._providers:
            if provider.key_name not in shown:
                shown.add(provider.key_name)
                self._keys.addWidget(self._key_row(provider))

    def _key_row(self, provider: ProviderStatus) -> QWidget:
        holder = QWidget()
        holder.setProperty("role", "plain")
        line = row(holder)
        name = label(words.visible(provider.label.partition(",")[0]))
        name.setMinimumWidth(110)
        line.addWidget(name)
        field = QLineEdit()
        field.setEchoMode(QLineEdit.EchoMode.Password)
        field.setAccessibleName(self.tr("Key for {0}").format(provider.label))
        where = provider.key_page or self.tr("only if the server asks for one")
        held = self.tr("there is a key; a new one replaces it")
        field.setPlaceholderText(held if provider.key else where)
        line.addWidget(field, 1)

        def give() -> None:
            key = field.text()
            field.clear()
            self.key_given.emit(provider.key_name, key)

        field.returnPressed.connect(give)
        text = self.tr("Use key")
        line.addWidget(button(text, name=self.tr("Use key for {0}").format(provider.label),
                              on_click=give))  # fmt: skip
        return holder

    # servers

    def _server_adder(self) -> QVBoxLayout:
        line = row()
        self._server_name = QLineEdit()
        self._server_name.setAccessibleName(self.tr("Server's name"))
        self._server_name.setPlaceholderText(self.tr("Name, such as ollama"))
        self._server_name.setMaximumWidth(180)
        self._address = QLineEdit()
        self._address.setAccessibleName(self.tr("Server's address"))
        self._address.setPlaceholderText("http://127.0.0.1:11434/v1")
        self._address.returnPressed.connect(self._add_server)
        line.addWidget(self._server_name)
        line.addWidget(self._address, 1)
        line.addWidget(button(self.tr("Add server"), on_click=self._add_server))
        around = column()
        around.addLayout(line)
        return around

    def _add_server(self) -> None:
        name, address = self._server_name.text().strip(), self._address.text().strip()
        if not name and not address:
            return
        try:
            server = ServerSettings(name=name, address=checked_address(address))
        except ModelError as error:
            self._tell(f"{error.message} {error.hint}")
            return
        except ValueError:
            self._tell(self.tr("A name has letters, digits, dots, dashes; 40 at most."))
            return
        others = tuple(one for one in self.remote.servers if one.name != name)
        self._save(servers=(*others, server))
        self._server_name.clear()
        self._address.clear()
        self._wrong.hide()
        self._show_servers()

    def _show_servers(self) -> None:
        clear(self._servers)
        for server in self.remote.servers:
            holder = QWidget()
            holder.setProperty("role", "plain")
            line = row(holder)
            text = f"{server.name}  {server.address}"
            line.addWidget(label(words.visible(text), wrap=True, selectable=True), 1)
            line.addWidget(self._remover(server))
            self._servers.addWidget(holder)

    def _remover(self, server: ServerSettings) -> QWidget:
        def remove() -> None:
            self._save(servers=tuple(one for one in self.remote.servers if one != server))
            self._show_servers()

        name = self.tr("Remove {0}").format(server.name)
        return button(self.tr("Remove"), name=name, on_click=remove)

    def _tell(self, text: str) -> None:
        self._wrong.setText(text)
        self._wrong.show()

    def _save(self, **changes: object) -> None:
        remote = self.remote.model_copy(update=changes)
        self._settings = self._settings.model_copy(update={"remote": remote})
        self.chosen.emit(self._settings)
