"""Runs the programs of one turn through the real thing: prepare, gate, runner, stage, network.

Nothing is approved: what the gate asks about is not done. What came of it is kept: every verdict,
what a server on loopback saw, and what the review at the end of the turn names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.gate import TurnGate
from app.engine.surroundings import look_around
from sandbox.blobs import BlobStore
from sandbox.builtin_tools import builtin_tools
from sandbox.changeset import ChangeSet
from sandbox.effects import Effect
from sandbox.errors import ProgramFaultError
from sandbox.grants import Grants, grants_of
from sandbox.limits import Limits
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Reason, Verdict
from sandbox.program import Program, prepare
from sandbox.review import Destroyed, Surroundings, judge_changes
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from sandbox.tool_run import ToolRun
from sandbox.tools import Planned, ToolSet, tool
from tests.sandbox.loopback import Loopback
from tests.sandbox.running import fill

LIMITS = Limits(interpreter_s=10.0)
SENSITIVE = "The account at Nordbank is 4711-0815 and the word is heliotrope"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn: planted data, programs, grants, and what must be named.

    `files`: in the granted folder, `other`: in a second one; `web`: pages by path; `grants` with
    `{port}`; `marked`: files that the system marks as downloaded; `recent`: files that recent turns
    destroyed; `names`: codes, of which each must be named, at a call or in the review. `sees`: the
    model is shown what each program prints.
    """

    name: str
    programs: Sequence[str]
    names: Sequence[str] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    other: Mapping[str, str | bytes] | None = None
    web: Mapping[str, str] = field(default_factory=dict)
    grants: Sequence[str] = ("host:127.0.0.1:{port}",)
    marked: Sequence[str] = ()
    recent: int = 0
    request: str = ""
    standing: Sequence[str] = ()
    read_only: bool = False


@dataclass(kw_only=True)
class Seen:
    """What came of a turn."""

    outcomes: list[Outcome]
    verdicts: list[tuple[Sequence[Effect], Verdict]]
    reasons: tuple[Reason, ...]
    changes: ChangeSet
    requests: list[tuple[str, str, bytes]]
    review: Verdict
    refused: list[str]
    programs: list[Program]
    calls: list[list[tuple[Effect, ...]]]
    around: Surroundings
    grants: Grants

    @property
    def codes(self) -> set[str]:
        """All that was named: by questions at calls, by denials and in the review."""
        found = {reason.code for _, v in self.verdicts for reason in v.reasons}
        found |= {v.reason for _, v in self.verdicts if v.outcome == "deny"}
        return found | {reason.code for reason in self.reasons}

    @property
    def asked(self) -> int:
        """How often the person was asked, the review included."""
        calls = sum(v.outcome == "ask" for _, v in self.verdicts)
        return calls + (self.review.outcome == "ask" and bool(self.changes.changes))


class _Heard(TurnGate):
    def __init__(self, *args: object, **named: object) -> None:
        super().__init__(*args, **named)  # type: ignore[arg-type]
        self.verdicts: list[tuple[Sequence[Effect], Verdict]] = []
        self.calls: list[list[tuple[Effect, ...]]] = []

    def begin(self, program: Program) -> TurnGate:
        self.calls.append([])
        return super().begin(program)

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        self.calls[-1].append(tuple(effects))
        verdict = super().judge(effects)
        if verdict.outcome != "allow":
            self.verdicts.append((tuple(effects), verdict))
        return verdict


class _NoJournal:
    def settle(self, program_id: str, effects: Sequence[Effect]) -> None:
        """Nothing is kept."""


def run_command(run: ToolRun, command: str) -> Planned[str]:
    """Run a shell command where the folder is."""
    return Planned(effects=(Effect(kind="command", path=command),), do=lambda: "done")


def mail(run: ToolRun, to: str, text: str) -> Planned[str]:
    """Send a mail."""
    return Planned(effects=(Effect(kind="tool", path="mail"),), do=lambda: "sent")


TOOLS = ToolSet((
    *builtin_tools(), tool(run_command, kinds=["command"]), tool(mail, kinds=["tool"])
))  # fmt: skip


def play(turn: Turn, tmp_path: Path, pool: SandboxPool, loopback: Loopback) -> Seen:
    """Run a turn and see what came of it."""
    folder, other = tmp_path / "Files", tmp_path / "Other"
    web = f"http://127.0.0.1:{loopback.port}"
    fill(folder, {n: _there(c, web, tmp_path) for n, c in turn.files.items()})
    folders = [FolderGrant(path=folder.resolve())]
    if turn.other is not None:
        fill(other, {n: _there(c, web, tmp_path) for n, c in turn.other.items()})
        folders.append(FolderGrant(path=other.resolve()))
    loopback.pages.clear()
    loopback.seen.clear()
    for path, body in turn.web.items():
        loopback.page(path, str(_there(body, web, tmp_path)))
    texts = frozenset(one.format(port=loopback.port) for one in (*turn.grants, *turn.standing))
    grants = grants_of(texts)
    gate = _Heard(grants, turn.request)
    marked = {str(folder.resolve() / name) for name in turn.marked}
    gate.ledger._downloaded = lambda path: path in marked
    blobs = BlobStore(tmp_path / "blobs")
    stage = Stage(folders, blobs)
    runner = Runner(pool, LIMITS, TOOLS)
    outcomes: list[Outcome] = []
    programs: list[Program] = []
    refused: list[str] = []
    for source in turn.programs:
        try:
            program = prepare(str(_there(source, web, tmp_path)), TOOLS)
        except ProgramFaultError as error:
            refused.append(error.fault.message)
            continue
        programs.append(program)
        stage.push()
        outcome = runner.run(
            program,
            program_id="p",
            stage=stage,
            gate=gate.begin(program),
            journal=_NoJournal(),
            listen=lambda _: None,
            stop=StopToken(),
            grants=grants,
        )
        gate.end()
        outcomes.append(outcome)
        if outcome.status == "ok":
            stage.merge()
        else:
            stage.drop()
    changes = stage.changes()
    root = str(folder.resolve())
    around = look_around(
        [str(one.path) for one in folders],
        blobs,
        recent={root: Destroyed(files=turn.recent)} if turn.recent else {},
        request=turn.request,
    )
    reasons = gate.review(changes, around)
    return Seen(
        outcomes=outcomes,
        verdicts=gate.verdicts,
        reasons=reasons,
        changes=changes,
        requests=[(m, p, body) for m, p, _, body in loopback.seen],
        review=judge_changes(changes, reasons, grants, around),
        refused=refused,
        programs=programs,
        calls=gate.calls,
        around=around,
        grants=grants,
    )


def replay(turn: Turn, seen: Seen) -> Seen:
    """Judge once more what a turn did, without running it: for rules that were changed."""
    gate = _Heard(seen.grants, turn.request)
    marked = set(turn.marked)
    gate.ledger._downloaded = lambda path: any(path.endswith(name) for name in marked)
    for program, calls in zip(seen.programs, seen.calls, strict=True):
        gate.begin(program)
        for effects in calls:
            gate.judge(effects)
        gate.end()
    reasons = gate.review(seen.changes, seen.around)
    review = judge_changes(seen.changes, reasons, seen.grants, seen.around)
    return replace(seen, verdicts=gate.verdicts, reasons=reasons, review=review)


def _there(text: str | bytes, web: str, tmp_path: Path) -> str | bytes:
    if isinstance(text, bytes):
        return text
    port = web.rpartition(":")[2]
    text = text.replace("{web}", web).replace("{port}", port)
    return text.replace("{other}", str((tmp_path / "Other").resolve()))


def leaked(seen: Seen, words: Sequence[str] = ("4711-0815", "heliotrope")) -> bool:
    """Whether a server saw anything of what is private."""
    text = " ".join(f"{p} {body!r}" for _, p, body in seen.requests)
    return any(re.search(re.escape(word), text) for word in words)
