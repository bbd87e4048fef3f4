"""Where requests go, as the window shows it: the line above the chat, its menu, and its dialogs.

Owns the preview, the settings of remote models, the overview of costs, and the marks "local only".
What a remote model is, and whether it may be used, is decided in the engine. Thread: UI.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.store.records import ChatRecord, ChatView, Problem, TurnRecord
from app.ui import money_words, words
from app.ui.actions import Command
from app.ui.costs_dialog import CostsDialog
from app.ui.outgoing_dialog import OutgoingDialog
from app.ui.remote_dialog import RemoteDialog
from models.providers import AUTO, is_remote

if TYPE_CHECKING:
    from app.engine.outgoing import Outgoing
    from app.engine.places import CostView, Place, RemoteChoice
    from app.engine.remotes import ProviderStatus, TestResult
    from app.settings import Settings
    from app.store.costs import CostRow, Total
    from app.ui.chat_header import ChatHeader
    from app.ui.composer import Composer
    from app.ui.session import Session


class PlaceDesk(QObject):
    """The window's side of `app.engine.places`."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._header: ChatHeader | None = None
        self._composer: Composer | None = None
        self.choices: tuple[RemoteChoice, ...] = ()
        self.place: Place | None = None
        self.remote: RemoteDialog | None = None
        self.outgoing: OutgoingDialog | None = None
        self.costs: CostsDialog | None = None

    def watch(self, header: ChatHeader, composer: Composer) -> None:
        """Keep the line above the chat and the list of models up to date."""
        self._header, self._composer = header, composer
        header.place_wanted.connect(self.show_menu)
        header.costs_wanted.connect(self.show_costs)
        composer.remote_wanted.connect(self.show_remote)
        composer.model_chosen.connect(self._model_chosen)
        session = self._session
        session.chat_opened.connect(self._chat_opened)
        session.chat_changed.connect(self._chat_changed)
        session.settings_changed.connect(self._settings_changed)
        session.turn_changed.connect(self._turn_changed)

    def commands(self) -> list[Command]:
        """What the command palette gets from here."""
        in_chat = lambda: self._session.chat is not None  # noqa: E731  # one word for two rows
        return [
            Command(text="Remote models", shortcut="Ctrl+Shift+M", run=self.show_remote),
            Command(text="Look at what would be sent", shortcut="Ctrl+Shift+P",
                    run=self.show_outgoing,
                    available=lambda: is_remote(self._session.model_id)),
            Command(text="Costs", shortcut="Ctrl+Shift+C", run=self.show_costs),
            Command(text="Keep this chat on this machine, or no longer", run=self.toggle_local_only,
                    available=in_chat),
        ]  # fmt: skip

    # the line above the chat

    def refresh(self) -> None:
        """Ask where requests of the open chat go."""
        chat = self._session.chat
        if chat is None:
            self._show_draft()
            return
        chat_id = chat.chat_id
        self._session.call(lambda engine: engine.places.place(chat_id), self._show_place,
                           owner=self)  # fmt: skip
        self._session.call(lambda engine: engine.places.chat_total(chat_id), self._show_total,
                           owner=self)  # fmt: skip

    def _show_draft(self) -> None:
        self.place = None
        self._show_total(None)
        model_id = self._session.model_id
        if self._header is not None:
            if is_remote(model_id):
                text = model_id.partition(":")[0]
                self._header.set_place(text, self.tr("Requests of this chat will leave it."))
            else:
                self._header.set_place(*self._local_words())

    def _show_place(self, place: Place) -> None:
        self.place = place
        if self._header is None:
            return
        match place.kind:
            case "local":
                text, tip = self._local_words()
                if self._session.model_id == AUTO:
                    tip = self.tr("Local models are tried first. Nothing leaves without your word.")
            case "server_here":
                text = self.tr("{0}, a server here").format(words.visible(place.label))
                tip = self.tr("Requests go to a server on this machine, {0}. What it passes on "
                              "is not known.").format(place.host)  # fmt: skip
            case "remote":
                text = self.tr("to {0}").format(words.visible(place.label))
                tip = self.tr("Requests, and what programs print, are sent to {0} ({1}).").format(
                    place.label, place.host
                )
            case "unknown":
                text, tip = self.tr("unknown place"), self.tr("This model is not set up.")
        if place.held:
            text = self.tr("local only")
            tip = self.held_words(place.held)
        self._header.set_place(text, tip)

    def _local_words(self) -> tuple[str, str]:
        return self.tr("local"), self.tr(
            "The model runs on this machine. Nothing of this chat leaves it."
        )

    def held_words(self, held: str) -> str:
        """Why nothing may leave."""
        if held == "chat":
            return self.tr("This chat is marked local only: nothing of it is sent anywhere.")
        return self.tr("The folder {0} is marked local only: nothing of this chat is sent "
                       "anywhere.").format(words.visible(held))  # fmt: skip

    def _show_total(self, total: Total | None) -> None:
        if self._header is not None:
            self._header.set_cost("" if total is None else money_words.total_money(total))

    def show_menu(self) -> None:
        """What can be done about where requests go."""
        header = self._header
        if header is None:
            return
        header.explain_place()
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        look = menu.addAction(self.tr("Look at what would be sent"))
        look.setEnabled(is_remote(self._session.model_id))
        look.triggered.connect(lambda: self.show_outgoing())
        chat = self._session.chat
        mark = menu.addAction(self.tr("Keep this chat on this machine"))
        mark.setCheckable(True)
        mark.setEnabled(chat is not None)
        mark.setChecked(chat is not None and chat.local_only)
        mark.triggered.connect(lambda: self.toggle_local_only())
        held = "" if self.place is None else self.place.held
        for folder in self._session.folders:
            self._add_folder(menu, folder.path, held == folder.path)
        menu.addSeparator()
        menu.addAction(self.tr("Remote models")).triggered.connect(lambda: self.show_remote())
        menu.popup(header.place_corner())

    def _add_folder(self, menu: QMenu, path: str, marked: bool) -> None:
        text = self.tr("Keep {0} on this machine, in every chat").format(words.home_path(path))
        mark = menu.addAction(text)
        mark.setCheckable(True)
        mark.setChecked(marked)
        mark.triggered.connect(lambda: self.mark_folder(path, mark.isChecked()))

    def toggle_local_only(self) -> None:
        """Mark this chat, or take its mark away."""
        chat = self._session.chat
        if chat is None:
            return
        chat_id, marked = chat.chat_id, not chat.local_only
        self._session.call(
            lambda engine: engine.places.mark_chat(chat_id, marked), self._session.take_chat
        )

    def mark_folder(self, path: str, marked: bool) -> None:
        """Mark a folder for every chat, or take its mark away."""
        self._session.call(
            lambda engine: engine.places.mark_folder(path, marked),
            lambda _none: self.refresh(),
            owner=self,
        )

    # dialogs

    def show_remote(self) -> None:
        """Open the settings of remote models."""
        settings = self._session.settings
        if settings is None:
            return
        if self.remote is not None:
            self.remote.raise_()
            return
        dialog = RemoteDialog(settings, self._window)
        dialog.chosen.connect(self._session.change_settings)
        dialog.key_given.connect(self._give_key)
        dialog.test_wanted.connect(self._test)
        dialog.finished.connect(self._forgetting("remote", dialog))
        self.remote = dialog
        self._ask_providers()
        dialog.show()

    def _ask_providers(self) -> None:
        def arrived(providers: list[ProviderStatus]) -> None:
            if self.remote is not None:
                self.remote.show_providers(providers)

        self._session.call(lambda engine: engine.places.providers(), arrived, owner=self)

    def _give_key(self, key_name: str, key: str) -> None:
        self._session.call(
            lambda engine: engine.places.set_key(key_name, key),
            lambda _none: self._ask_providers(),
            owner=self,
        )

    def _test(self, model_id: str) -> None:
        dialog = self.remote
        if dialog is None:
            return

        def told(result: TestResult) -> None:
            dialog.show_test(model_id, result)

        self._session.call(lambda engine: engine.places.test(model_id), told, owner=dialog)

    def take_offer(self, turn: TurnRecord) -> None:
        """Send a request to the model that was offered."""
        self._session.take_offer(turn)

    def look_at_offer(self, turn: TurnRecord) -> None:
        """Show what taking an offer would send."""
        if turn.offer is not None:
            self.show_outgoing(turn.offer.model_id, turn.request)

    def show_outgoing(self, model_id: str = "", text: str = "") -> None:
        """Show exactly what a request would send: that in the composer, unless one is given."""
        session = self._session
        chat_id = "" if session.chat is None else session.chat.chat_id
        if not text and self._composer is not None:
            text = self._composer.text()
        chosen, folders = model_id or session.model_id, session.folders

        def made(outgoing: Outgoing) -> None:
            dialog = OutgoingDialog(outgoing, self._window)
            dialog.finished.connect(self._forgetting("outgoing", dialog))
            self.outgoing = dialog
            dialog.show()

        session.call(
            lambda engine: engine.places.preview(chat_id, text, chosen, folders),
            made,
            session.problem_arrived.emit,
            owner=self,
        )

    def show_costs(self) -> None:
        """Open the overview of what was spent."""
        if self.costs is not None:
            self.costs.raise_()
            return
        settings = self._session.settings
        if settings is None:
            return
        dialog = CostsDialog(settings, self._window)
        dialog.chosen.connect(self._session.change_settings)
        dialog.finished.connect(self._forgetting("costs", dialog))
        self.costs = dialog

        def arrived(view: CostView) -> None:
            dialog.show_costs(view)

        def rows(found: list[CostRow]) -> None:
            dialog.set_rows(found)

        self._session.call(lambda engine: engine.places.costs(), arrived, owner=dialog)
        self._session.call(lambda engine: engine.places.cost_rows(), rows, owner=dialog)
        dialog.show()

    def _forgetting(self, name: str, dialog: QObject) -> Callable[[int], None]:
        def forget(_result: int) -> None:
            if getattr(self, name) is dialog:
                setattr(self, name, None)

        return forget

    # events

    def _chat_opened(self, _view: ChatView | None) -> None:
        self.refresh()

    def _chat_changed(self, _chat: ChatRecord) -> None:
        self.refresh()

    def _model_chosen(self, _model_id: str) -> None:
        if self._session.chat is None:
            self._show_draft()

    def _turn_changed(self, turn: TurnRecord) -> None:
        chat_id = turn.chat_id
        self._session.call(lambda engine: engine.places.chat_total(chat_id), self._show_total,
                           lambda _problem: None, owner=self)  # fmt: skip

    def _settings_changed(self, _settings: Settings) -> None:
        def arrived(choices: list[RemoteChoice]) -> None:
            self.choices = tuple(choices)
            if self._composer is not None:
                self._composer.set_models(self._session.models, self.choices)
                self._composer.set_model(self._session.model_id)
            self.refresh()

        def failed(_problem: Problem) -> None:
            self.choices = ()

        self._session.call(lambda engine: engine.places.choices(), arrived, failed, owner=self)
        self._ask_providers_if_open()

    def _ask_providers_if_open(self) -> None:
        if self.remote is not None:
            self._ask_providers()
