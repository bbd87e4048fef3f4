"""What a turn has done so far, across all its programs, with where its data came from.

Owns the join of the flow of a program (which calls reach which) with what those calls really
yielded: labels of what was read, of what lies in the stage, of what the model has been shown. It
must not judge: `policy.py` does. Thread: the gate's; the gate locks.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sandbox.effects import Effect
from sandbox.flow import Flow, Site
from sandbox.labels import PRIVATE, UNTRUSTED, Label, joined, secret_label
from sandbox.origins import Origin, OriginKind, Origins, Reaching
from sandbox.session_state import FRESH, SessionState

_MAIL = (".eml", ".emlx", ".mbox", ".msg")
_DOWNLOADS = frozenset({"downloads", "download", "téléchargements", "descargas", "scaricati"})
_OPENED = frozenset({"open", "open_update"})
_STEERED = 50_000
_Part = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """A deletion, move or overwriting, and the data from elsewhere that it follows."""

    kind: str
    path: str
    line: int | None
    origins: tuple[Origin, ...]
    held: bool


@dataclass(slots=True)
class StagedFile:
    """What is known of a file that the turn wrote or read.

    `origins`: of what was written; `read_at`, `written_from`: (program, call) of its readings and
    of what its content comes from; `wrote`, `read`: when last, as the number of an effect.
    """

    origins: Origins = field(default_factory=Origins)
    read_at: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    written_from: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    wrote: int = 0
    read: int = 0
    is_new: bool = False
    blind: bool = False


class TurnLedger:
    """The effects of a turn with their labels."""

    def __init__(
        self,
        *,
        downloaded: Callable[[str], bool] | None = None,
        place: Callable[[str], str] | None = None,
        shown: Iterable[Origin] = (),
    ) -> None:
        """`downloaded`: whether the system marks a file as from the network; `place`: the one name
        of a path; `shown`: what the model had been shown before the turn."""
        self.files: dict[str, StagedFile] = {}
        self._named: dict[str, Origins] = {}
        self.steered: dict[tuple[str, str], Steered] = {}
        self.outward = 0
        self.counts: dict[str, int] = {}
        self._downloaded = downloaded or _never
        self._place = place or _place
        self._shown = Origins(shown)
        self._program = 0
        self._flow: Flow | None = None
        self._seen: dict[int, Origins] = {}
        self._found: tuple[Origin, ...] = ()
        self._ambient = Origins()
        self._everything = Origins()
        self._version = 0
        self._number = 0
        self._cache: dict[tuple[int, int, str, _Part], tuple[int, Reaching]] = {}

    # programs

    def begin(self, flow: Flow | None, state: SessionState = FRESH) -> None:
        """A program starts; without a flow everything that it learns reaches all that it does.

        `state`: what earlier programs left, with where it came from.
        """
        self._program += 1
        self._flow = flow
        self._found = state.origins()
        self._seen = found_origins(flow, state)
        self._ambient = Origins()
        self._everything = Origins()
        self._cache = {}

    def end(self) -> None:
        """The program is over: what it learned, the model may be told."""
        for origin in self._everything:
            self._shown.add(
                Origin(
                    label=origin.label,
                    kind="shown" if origin.label != UNTRUSTED else origin.kind,
                    what=origin.what,
                    line=origin.line,
                    program=origin.program,
                )
            )

    def labelled(self, state: SessionState) -> SessionState:
        """What the program leaves, with where the data in each variable came from."""
        flow, everywhere = self._flow, self._from_everywhere()

        def origins(name: str) -> tuple[tuple[Origin, ...], tuple[Origin, ...]]:
            if flow is None or name not in flow.left:
                return everywhere.held, everywhere.led
            reach = self._reached_by(flow, flow.left[name])
            return reach.held, reach.led

        return state.with_origins(origins)

    @property
    def has_shown(self) -> bool:
        """Whether the model has been shown anything with a label."""
        return len(self._shown) > 0

    # what reaches a call

    def reaching(self, effect: Effect, part: _Part = "given") -> Reaching:
        """What reaches the call of this effect; `part`: of a `Site`, "given" for all of it."""
        span = effect.span
        if span is None or self._flow is None:
            return self._from_everywhere()
        key = (span.start, span.end, effect.call, part)
        found = self._cache.get(key)
        if found is None or found[0] != self._version:
            found = self._cache[key] = (self._version, self._reaching(effect, part))
        return found[1]

    def _reaching(self, effect: Effect, part: _Part) -> Reaching:
        flow = self._flow
        sites = self._sites(effect)
        if flow is None or not sites:
            return self._from_everywhere()
        return self._reached_by(flow, joined(int(getattr(site, part)) for site in sites))

    def _reached_by(self, flow: Flow, mark: int) -> Reaching:
        held = self._of(flow, set(flow.marks.held(mark)))
        held.update(self._ambient)
        led = self._of(flow, set(flow.marks.touched(mark)))
        inside = {(one.label, one.kind, one.what) for one in held}
        only = [one for one in led if (one.label, one.kind, one.what) not in inside]
        return Reaching(held=tuple(held), led=tuple(only))

    def _of(self, flow: Flow, numbers: set[int]) -> Origins:
        found = Origins(self._shown if flow.shown in numbers else ())
        for number in numbers & self._seen.keys():
            found.update(self._seen[number])
        return found

    def _from_everywhere(self) -> Reaching:
        return Reaching(held=(*self._everything, *self._shown, *self._found), known=False)

    def _sites(self, effect: Effect) -> tuple[Site, ...]:
        """The calls that an effect is of; none when it was made by a helper on behalf of others."""
        if self._flow is None:
            return ()
        sites = self._flow.at(effect.span)
        return tuple(site for site in sites if _is_of(site, effect))

    # what calls yield

    def observe(self, effects: Iterable[Effect]) -> None:
        """Effects of one call that is allowed, in order."""
        for effect in effects:
            self._number += 1
            self.counts[effect.kind] = self.counts.get(effect.kind, 0) + 1
            self._keep(effect, self._yielded(effect))
            match effect.kind:
                case "create" | "modify":
                    self._written(effect)
                case "delete" | "move":
                    self._steer(effect, "given")
                    self._gone(effect)
                    if effect.target is not None:
                        self._name(effect.target, self.reaching(effect).untrusted())
                case _:
                    self.outward += _is_url(effect.path)

    def _keep(self, effect: Effect, origins: Iterable[Origin]) -> None:
        sites = self._flow.at(effect.span) if self._flow is not None else ()
        news = False
        for origin in origins:
            self._everything.add(origin)
            for site in sites:
                news = self._seen.setdefault(site.number, Origins()).add(origin) or news
            if not sites:
                news = self._ambient.add(origin) or news
        self._version += news

    def _yielded(self, effect: Effect) -> tuple[Origin, ...]:
        """What a call learns; that a move or a deletion went well tells what is there."""
        make = self._maker(effect)
        match effect.kind:
            case "read" if _is_url(effect.path):
                return (make(UNTRUSTED, "web"),)
            case "request":
                return (make(UNTRUSTED, "web"),)
            case "read" if effect.folder and effect.call == "find_text":
                return (make(PRIVATE, "file"), *self._inside(effect.path, make))
            case "read" if effect.folder:
                return (make(PRIVATE, "listing"), *self._names_in(effect.path))
            case "read" if effect.size_bytes is None:  # a look: is it there, how old
                return (make(PRIVATE, "listing"),)
            case "read":
                return (make(PRIVATE, "file"), *self._content(effect, make))
            case "delete" | "move":
                return (make(PRIVATE, "listing"),)
            case "tool" | "command":
                kind = "tool" if effect.kind == "tool" else "command"
                return (make(PRIVATE, kind), make(UNTRUSTED, kind))
            case "secret":
                return (make(secret_label(effect.path), "secret"),)
            case _:
                return ()

    def _maker(self, effect: Effect) -> Callable[[Label, OriginKind], Origin]:
        line = effect.span.line if effect.span is not None else None

        def make(label: Label, kind: OriginKind) -> Origin:
            return Origin(
                label=label, kind=kind, what=effect.path, line=line, program=self._program
            )

        return make

    def _inside(
        self, folder: str, make: Callable[[Label, OriginKind], Origin]
    ) -> tuple[Origin, ...]:
        """Labels of all that is in files below a folder, as far as it is known."""
        place = self._place(folder)
        found = [
            one
            for name, file in self.files.items()
            if name.startswith(f"{place}/")
            for one in file.origins
            if one.label != PRIVATE
        ]
        if _is_downloads(f"{folder}/x"):
            found.append(make(UNTRUSTED, "download"))
        return tuple(found)

    def _content(
        self, effect: Effect, make: Callable[[Label, OriginKind], Origin]
    ) -> tuple[Origin, ...]:
        """Labels of a file's content beside that it is the person's."""
        path = effect.path
        found: list[Origin] = []
        file = self._file(path)
        file.read = self._number
        for site in self._flow.at(effect.span) if self._flow is not None else ():
            file.read_at.add((self._program, site.number))
        found.extend(one for one in file.origins if one.label != PRIVATE)
        if path.casefold().endswith(_MAIL):
            found.append(make(UNTRUSTED, "mail"))
        elif not file.is_new and (self._downloaded(path) or _is_downloads(path)):
            found.append(make(UNTRUSTED, "download"))
        return tuple(found)

    def _written(self, effect: Effect) -> None:
        file = self._file(effect.path)
        file.is_new = file.is_new or effect.kind == "create"
        file.wrote = self._number
        reach = self.reaching(effect, "what")
        sites = self._sites(effect)
        own = [one for site in sites for one in self._seen.get(site.number, ())]
        file.origins.update((*reach.held, *reach.led, *own))
        origins = self._sources(sites)
        if effect.kind == "modify" and not file.is_new:
            file.blind = file.blind or not (origins & file.read_at)
            self._steer(effect, "where")
        file.written_from |= origins
        names = self.reaching(effect, "where")
        self._name(effect.path, names.untrusted())

    def _name(self, path: str, origins: Iterable[Origin]) -> None:
        """Who decided on the name of an entry that the turn makes."""
        for origin in origins:
            folder = self._place(posixpath.dirname(path))
            self._named.setdefault(folder, Origins()).add(origin)

    def _sources(self, sites: tuple[Site, ...]) -> set[tuple[int, int]]:
        """The calls whose data is in what is written, and the writing calls: they may read too."""
        flow = self._flow
        if flow is None or not sites:
            return {(self._program, number) for number in self._seen}
        mark = joined(site.what | site.where for site in sites)
        numbers = {*flow.marks.held(mark), *(site.number for site in sites)}
        return {(self._program, number) for number in numbers}

    def _steer(self, effect: Effect, part: _Part) -> None:
        reach = self.reaching(effect, part) if part == "given" else self._where(effect)
        origins = reach.untrusted() or tuple(
            one for one in (*reach.held, *reach.led) if one.label == PRIVATE and one.kind == "file"
        )
        if not origins or len(self.steered) >= _STEERED:
            return
        kind = "overwrite" if effect.kind == "modify" else effect.kind
        own = {(self._program, n) for n in self._seen}
        if not self._is_strange(origins, effect.path, own):
            return
        self.steered[kind, effect.path] = Steered(
            kind=kind,
            path=effect.path,
            line=effect.span.line if effect.span is not None else None,
            origins=origins[:4],
            held=any(one in reach.held for one in origins),
        )

    def _where(self, effect: Effect) -> Reaching:
        """What says where a call acts, with what decides on whether it is made."""
        where, led = self.reaching(effect, "where"), self.reaching(effect, "led")
        return Reaching(held=where.held, led=(*where.led, *led.led), known=where.known)

    def _is_strange(
        self, origins: tuple[Origin, ...], path: str, readers: set[tuple[int, int]]
    ) -> bool:
        """Whether this is more than a file's own content deciding on what happens to it."""
        if any(one.is_strong for one in origins):
            return True
        file = self.files.get(self._place(path))
        return file is None or not (file.read_at & readers)

    def _gone(self, effect: Effect) -> None:
        """A moved entry takes what is known of it, and of what is in it, along."""
        if effect.target is None:
            return
        old, new = self._place(effect.path), self._place(effect.target)
        if old in self.files:
            self.files[new] = self.files[old]
        if effect.folder:
            _follow(self.files, old, new)
        _follow(self._named, old, new)

    def _names_in(self, folder: str) -> list[Origin]:
        """Labels of the names that the turn put into a folder or below it."""
        place = self._place(folder)
        return [
            one
            for name, origins in self._named.items()
            if name == place or name.startswith(f"{place}/")
            for one in origins
        ]

    def _file(self, path: str) -> StagedFile:
        place = self._place(path)
        found = self.files.get(place)
        if found is None:
            found = self.files[place] = StagedFile()
        return found

    def file(self, path: str) -> StagedFile | None:
        """What is known of a file, or None."""
        return self.files.get(self._place(path))


def found_origins(flow: Flow | None, state: SessionState) -> dict[int, Origins]:
    """Where the variables that a program finds came from, by the numbers of their sources."""
    found: dict[int, Origins] = {}
    everything = Origins(state.origins())
    for name, (held, led) in flow.found.items() if flow is not None else ():
        variable = state.names.get(name)
        found[held] = everything if variable is None else Origins(variable.held)
        found[led] = Origins(() if variable is None else variable.led)
    return found


def _is_of(site: Site, effect: Effect) -> bool:
    """Whether an effect is of this very call, and not of a helper that was started at its place."""
    call = effect.call.rpartition(".")[2]
    name = site.callee.rpartition(".")[2].removeprefix("__dd_later_").removeprefix("__dd_")
    if effect.kind in ("read", "create", "modify", "delete", "move") and not _is_url(effect.path):
        return name in _OPENED or not site.callee.startswith("__dd_") or site.may_be(call)
    return site.may_be(call)


def _follow[T](known: dict[str, T], old: str, new: str) -> None:
    """What is known of entries below a folder is known of them at its new place."""
    for name in [name for name in known if name.startswith(f"{old}/")]:
        known[new + name[len(old) :]] = known[name]


def _is_url(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def _is_downloads(path: str) -> bool:
    return any(part.casefold() in _DOWNLOADS for part in path.split("/")[:-1])


def _place(path: str) -> str:
    return posixpath.normpath(path).casefold()


def _never(_path: str) -> bool:
    return False
