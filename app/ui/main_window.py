"""The window: chats and folders, the open chat, the run panel, and what joins them.

Owns the layout and the actions; the dialogs are in `dialogs.py`. What it shows comes from
`Session`; it must not call the engine itself. Thread: UI.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.engine.events import CallsProgress, ModelActivity
from app.store.records import ChatRecord, ChatView, TurnRecord
from app.ui import words
from app.ui.actions import Actions, Command
from app.ui.capability_panel import CapabilityPanel
from app.ui.chat_header import ChatHeader
from app.ui.composer import Composer
from app.ui.dialogs import Dialogs
from app.ui.empty_state import EmptyState
from app.ui.highlight import warm
from app.ui.notice_bar import NoticeBar
from app.ui.places import PlaceDesk
from app.ui.run_panel import RunPanel
from app.ui.session import Session
from app.ui.sidebar import ChatWish, Sidebar
from app.ui.theme import SPACE_M, SPACE_XS, Theme, Tokens
from app.ui.transcript import Transcript
from app.ui.widgets import column, label, load_icons, refresh_icons
from app.ui.window_state import WindowState

if TYPE_CHECKING:
    from app.lab.standings import Standings
    from app.settings import Settings

PANEL_FROM_PX = 1080
TABS = ("run", "changes", "files", "models")
ALERTING = ("waiting", "failed", "done")


class MainWindow(QMainWindow):
    """The one window. `first_painted` is sent once, when it is on the screen."""

    first_painted = Signal()
    closed = Signal()

    def __init__(self, session: Session, state: WindowState, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self._state = state
        self._theme = theme
        self._painted = False
        self._narrow = False
        self._panel_waits = False
        self._scroll_back = 0
        self._chats: tuple[ChatRecord, ...] = ()
        self.dialogs = Dialogs(session, self)
        self.places = PlaceDesk(session, self)
        self.setWindowTitle(self.tr("Drydock"))
        self.setAcceptDrops(True)
        self.setMinimumSize(640, 480)
        self.resize(1280, 800)

        self.sidebar = Sidebar()
        self.header = ChatHeader()
        self.empty = EmptyState()
        self.transcript = Transcript()
        self.notice = NoticeBar()
        self.composer = Composer()
        self.panel = RunPanel()
        self.capability = CapabilityPanel()
        self.panel.addTab(self.capability, self.tr("Models"))
        self._activity = label("", "meta")
        self._activity.setContentsMargins(SPACE_M, 0, SPACE_M, 0)
        self._activity.hide()
        self._middle = QStackedWidget()
        self._middle.addWidget(self.empty)
        self._middle.addWidget(self.transcript)
        self.setCentralWidget(self._make_splitter())
        self.actions_list = Actions(self, self._commands())
        self._connect_widgets()
        self._connect_session()
        self._restore()
        self._show_chat(None)

    # layout and state

    def _make_splitter(self) -> QSplitter:
        centre = QWidget()
        centre.setProperty("role", "ground")
        layout = column(centre, spacing=0)
        layout.addWidget(self.header)
        layout.addWidget(self._middle, 1)
        around = column(spacing=SPACE_XS)
        around.setContentsMargins(SPACE_M, 0, SPACE_M, 0)
        around.addWidget(self.notice)
        layout.addLayout(around)
        layout.addWidget(self._activity)
        layout.addWidget(self.composer)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setHandleWidth(1)
        for number, part in enumerate((self.sidebar, centre, self.panel)):
            self._splitter.addWidget(part)
            self._splitter.setCollapsible(number, False)
            self._splitter.setStretchFactor(number, int(part is centre))
        centre.setMinimumWidth(360)
        self.panel.setMinimumWidth(200)
        self._splitter.setSizes([232, 748, 300])
        return self._splitter

    def _restore(self) -> None:
        self.restoreGeometry(self._state.data("geometry"))
        self._splitter.restoreState(self._state.data("splitter"))
        self.sidebar.setVisible(self._state.flag("sidebar", True))
        self.panel.setVisible(self._state.flag("panel", True))
        tab = self._state.text("tab")
        self.panel.setCurrentIndex(TABS.index(tab) if tab in TABS else 0)
        self.composer.set_text(self._state.text("unsent"))

    def save_state(self) -> None:
        """Remember size, panels, chat and unsent text."""
        chat = self._session.chat
        self._state.save(
            geometry=QByteArray(self.saveGeometry()),
            splitter=QByteArray(self._splitter.saveState()),
            sidebar=self.sidebar.isVisibleTo(self),
            panel=self.panel.isVisibleTo(self) or (self._narrow and self._panel_waits),
            tab=TABS[self.panel.currentIndex()],
            chat="" if chat is None else chat.chat_id,
            unsent=self.composer.text(),
            scroll=str(self.transcript.from_end()),
            theme=self._theme.choice,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self.first_painted.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the narrow window to the chat; the panel comes back with the room for it."""
        super().resizeEvent(event)
        narrow = event.size().width() < PANEL_FROM_PX
        if narrow and not self._narrow:
            self._panel_waits = self.panel.isVisibleTo(self)
            self.panel.hide()
        elif self._narrow and not narrow and self._panel_waits:
            self.panel.show()
        self._narrow = narrow

    def load(self) -> None:
        """Load the icons and everything the engine knows; called once the window is shown."""
        load_icons()
        refresh_icons(self)
        self._scroll_back = self._state.number("scroll")
        self._session.load(self._state.text("chat"))
        self._session.lab.refresh()
        QTimer.singleShot(0, self, warm)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.save_state()
        super().closeEvent(event)
        self.closed.emit()

    # actions

    def _commands(self) -> list[Command]:
        session = self._session
        in_chat = lambda: session.chat is not None  # noqa: E731  # one word for five rows
        running = lambda: self.transcript.model.live is not None  # noqa: E731  # as above
        return [
            Command(text="New chat", shortcut="Ctrl+N", run=self._new_chat),
            Command(text="Add a folder", shortcut="Ctrl+O", run=self.dialogs.pick_folder),
            Command(text="Write a request", shortcut="Ctrl+L", run=self.composer.setFocus),
            Command(text="Stop", shortcut="Escape", run=self._stop, available=running),
            Command(
                text="Review changes",
                shortcut="Ctrl+R",
                run=self._review_newest,
                available=lambda: self._newest("waiting") is not None,
            ),
            Command(
                text="Undo the changes of the newest turn",
                shortcut="Ctrl+Shift+Z",
                run=self._undo_newest,
                available=lambda: self._newest("done") is not None,
            ),
            Command(
                text="Redo the changes of the newest turn",
                shortcut="Ctrl+Shift+Y",
                run=self._redo_newest,
                available=lambda: self._newest("undone") is not None,
            ),
            Command(
                text="Continue the interrupted turn",
                run=self._resume_newest,
                available=lambda: self._newest("interrupted") is not None,
            ),
            Command(text="Search chats", shortcut="Ctrl+F", run=self._search),
            Command(text="Rename this chat", run=self._rename_this, available=in_chat),
            Command(text="Delete this chat", run=self._delete_this, available=in_chat),
            Command(text="Show or hide the chats", shortcut="Ctrl+B", run=self._toggle_sidebar),
            Command(text="Show or hide run and changes", shortcut="Ctrl+J", run=self._toggle_panel),
            Command(text="Models", shortcut="Ctrl+M", run=self.dialogs.show_models),
            *self.places.commands(),
            Command(text="Secrets", shortcut="Ctrl+Shift+K", run=self.dialogs.show_vault),
            Command(text="Settings", shortcut="Ctrl+,", run=self.dialogs.show_settings),
            Command(text="Theme: as the system", run=lambda: session.choose_theme("system")),
            Command(text="Theme: light", run=lambda: session.choose_theme("light")),
            Command(text="Theme: dark", run=lambda: session.choose_theme("dark")),
            Command(text="Commands", shortcut="Ctrl+K", run=self._show_palette),
            Command(text="Quit Drydock", shortcut="Ctrl+Q", run=self.close),
        ]

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """A folder is added to the chat; a file's path goes into the request."""
        for url in event.mimeData().urls():
            path = Path(url.toLocalFile())
            if path.is_dir():
                self._session.add_folder(str(path))
            elif path.is_file():
                self.composer.insert(str(path) + " ")
        event.acceptProposedAction()

    # wiring

    def _connect_widgets(self) -> None:
        session = self._session
        self.sidebar.new_chat_wanted.connect(self._new_chat)
        self.sidebar.chat_wanted.connect(self._chat_wish)
        self.sidebar.search_changed.connect(session.refresh_chats)
        self.sidebar.add_folder_wanted.connect(self.dialogs.pick_folder)
        self.sidebar.folders_chosen.connect(session.choose_folders)
        self.header.sidebar_wanted.connect(self._toggle_sidebar)
        self.header.panel_wanted.connect(self._toggle_panel)
        self.header.commands_wanted.connect(self._show_palette)
        self.header.explained.connect(self.notice.show_notice)
        self.empty.add_folder_wanted.connect(self.dialogs.pick_folder)
        self.empty.recent_wanted.connect(session.add_folder)
        self.empty.fetch_wanted.connect(session.shelf.fetch)
        self.empty.pause_wanted.connect(session.shelf.pause)
        self.empty.cancel_wanted.connect(session.shelf.cancel)
        self.empty.models_wanted.connect(self.dialogs.show_models)
        self.empty.example_wanted.connect(self._take_example)
        self.empty.demo_wanted.connect(session.open_demo)
        session.suggested.connect(self._take_example)
        self.composer.sent.connect(self._send)
        self.composer.stop_wanted.connect(self._stop)
        self.composer.model_chosen.connect(session.choose_model)
        self.composer.models_wanted.connect(self.dialogs.show_models)
        self.places.watch(self.header, self.composer)
        for part in (self.transcript, self.panel):
            part.review_wanted.connect(self._show_review)
            part.answered.connect(session.answer)
        self.transcript.undo_wanted.connect(session.undo)
        self.transcript.redo_wanted.connect(session.redo)
        self.transcript.resume_wanted.connect(session.resume)
        self.transcript.restart_wanted.connect(session.restart)
        self.transcript.offer_taken.connect(self.places.take_offer)
        self.transcript.offer_looked_at.connect(self.places.look_at_offer)
        self._theme.changed.connect(self._theme_changed)
        lab = session.lab
        self.capability.measure_wanted.connect(lab.measure)
        self.capability.stop_wanted.connect(lab.stop)
        self.capability.cell_wanted.connect(self.dialogs.show_trials)
        lab.standings_changed.connect(self._show_standings)
        lab.progressed.connect(self.capability.show_progress)
        lab.ended.connect(self.capability.show_end)

    def _connect_session(self) -> None:
        session = self._session
        session.chats_changed.connect(self._show_chats)
        session.chat_opened.connect(self._show_chat)
        session.chat_changed.connect(self._update_chat)
        session.draft_changed.connect(self._show_folders)
        session.turn_changed.connect(self._put_turn)
        session.reply_arrived.connect(self.transcript.append_reply)
        session.thinking_arrived.connect(self.transcript.append_thinking)
        session.calls_changed.connect(self._update_calls)
        session.models_changed.connect(self._show_models)
        session.shell_known.connect(self.header.set_shell)
        session.activity_changed.connect(self._show_activity)
        session.fetch_progressed.connect(self.empty.show_progress)
        session.fetch_ended.connect(self.empty.show_end)
        session.settings_changed.connect(self._take_settings)
        session.notice_arrived.connect(self.notice.show_notice)
        session.problem_arrived.connect(self.notice.show_problem)
        session.send_failed.connect(self._send_failed)

    def _take_settings(self, settings: Settings) -> None:
        self._theme.choose(settings.theme)
        self._show_model()

    def _show_chats(self, chats: tuple[ChatRecord, ...]) -> None:
        self._chats = chats
        chat = self._session.chat
        self.sidebar.show_chats(chats, "" if chat is None else chat.chat_id)
        for one in chats:
            if chat is not None and one.chat_id == chat.chat_id:
                self.header.set_title(one.title or self.tr("New chat"))
        self._show_folders()

    def _show_chat(self, view: ChatView | None) -> None:
        self.dialogs.close_review()
        turns = () if view is None else view.turns
        self.transcript.show_chat(turns, self._session.folders)
        self._middle.setCurrentWidget(self.transcript if turns else self.empty)
        if turns and self._scroll_back:
            self.transcript.scroll_back(self._scroll_back)
        self._scroll_back = 0
        title = "" if view is None else view.chat.title
        self.header.set_title(title or self.tr("New chat"))
        self.sidebar.mark("" if view is None else view.chat.chat_id)
        self._show_model()
        self._show_folders()
        self._turns_changed()
        self.composer.setFocus()

    def _update_chat(self, chat: ChatRecord) -> None:
        self.header.set_title(chat.title or self.tr("New chat"))
        self._show_model()
        self._show_folders()

    def _show_standings(self, table: Standings) -> None:
        self.capability.show_standings(table, self._session.model_id)

    def _show_model(self) -> None:
        self.capability.set_model(self._session.model_id)
        self.composer.set_model(self._session.model_id)
        self.places.refresh()

    def _show_folders(self) -> None:
        folders = self._session.folders
        self.sidebar.folders.show_folders(folders)
        self.transcript.set_folders(folders)
        recent = dict.fromkeys(f.path for chat in self._chats for f in chat.folders)
        self.empty.show_folders(folders, list(recent))

    def _show_models(self, models: tuple[object, ...]) -> None:
        known = self._session.models
        del models
        self.composer.set_models(known, self.places.choices)
        self._show_model()
        self.empty.show_models(known)

    def _put_turn(self, turn: TurnRecord) -> None:
        before = self.transcript.model.get(turn.turn_id)
        self.transcript.put(turn)
        self._middle.setCurrentWidget(self.transcript)
        self._turns_changed()
        if before is not None and before.status != turn.status and turn.status in ALERTING:
            QApplication.alert(self)
        if turn.status not in ("waiting", "committing"):
            self.dialogs.close_review(turn.turn_id)

    def _turns_changed(self) -> None:
        self.panel.show_turn(self.transcript.model.last, self._session.folders)
        live = self.transcript.model.live is not None
        self.panel.defined.look(self._session, live=live)
        self.composer.set_running(live)
        self.actions_list.refresh()

    def _update_calls(self, progress: CallsProgress) -> None:
        self.transcript.update_calls(progress)
        self.panel.update_calls(progress)

    def _show_activity(self, activity: ModelActivity) -> None:
        name = words.visible(activity.model_id.partition(":")[2])
        match activity.state:
            case "loading":
                text = self.tr("Loading {0}").format(name)
            case "waiting":
                self._show_waiting(activity.detail)
                return
            case "failed":
                text = self.tr("{0} could not be loaded").format(name)
            case "ready" | "unloaded":
                text = ""
        detail = f", {activity.detail}" if activity.detail and text else ""
        self._activity.setText(text + detail)
        self._activity.setVisible(bool(text))

    def _show_waiting(self, detail: str) -> None:
        self._activity.setText(words.visible(detail))
        self._activity.setVisible(bool(detail))

    # what the actions do

    def _new_chat(self) -> None:
        self._session.start_new()
        self.composer.setFocus()

    def _send(self, text: str) -> None:
        self.notice.hide()
        self._session.send(text)

    def _send_failed(self, text: str) -> None:
        if not self.composer.text():
            self.composer.set_text(text)

    def _take_example(self, text: str) -> None:
        self.composer.set_text(text)
        self.composer.setFocus()

    def _stop(self) -> None:
        if (turn := self.transcript.model.live) is not None:
            self._session.stop(turn.turn_id)

    def _newest(self, status: str) -> TurnRecord | None:
        turn = self.transcript.model.last
        if turn is None or turn.status != status:
            return None
        on_disk = len(words.on_disk(turn))
        match status:
            case "done":
                return turn if turn.committed and on_disk else None
            case "undone":
                return turn if on_disk < len(turn.approved) else None
            case _:
                return turn

    def _review_newest(self) -> None:
        if (turn := self._newest("waiting")) is not None:
            self._show_review(turn.turn_id)

    def _undo_newest(self) -> None:
        if (turn := self._newest("done")) is not None:
            self._session.undo(turn.turn_id)

    def _redo_newest(self) -> None:
        if (turn := self._newest("undone")) is not None:
            self._session.redo(turn.turn_id)

    def _resume_newest(self) -> None:
        if (turn := self._newest("interrupted")) is not None:
            self._session.resume(turn.turn_id)

    def _search(self) -> None:
        self.sidebar.show()
        self.sidebar.search.setFocus()

    def _toggle_sidebar(self) -> None:
        self.sidebar.setVisible(not self.sidebar.isVisible())

    def _toggle_panel(self) -> None:
        self.panel.setVisible(not self.panel.isVisible())

    def _chat_wish(self, wish: ChatWish) -> None:
        chat = next((one for one in self._chats if one.chat_id == wish.chat_id), None)
        if chat is None:
            return
        match wish.what:
            case "open":
                self._session.open_chat(chat.chat_id)
            case "rename":
                self.dialogs.rename(chat)
            case "delete":
                self.dialogs.delete(chat)

    def _show_palette(self) -> None:
        self.actions_list.refresh()
        self.dialogs.show_palette(self.actions_list.all())

    def _show_review(self, turn_id: str) -> None:
        turn = self.transcript.model.get(turn_id)
        if turn is not None and turn.status == "waiting":
            self.dialogs.show_review(turn)

    def _rename_this(self) -> None:
        if self._session.chat is not None:
            self.dialogs.rename(self._session.chat)

    def _delete_this(self) -> None:
        if self._session.chat is not None:
            self.dialogs.delete(self._session.chat)

    def _theme_changed(self, _tokens: Tokens) -> None:
        refresh_icons(self)
        self.transcript.show_colours()
