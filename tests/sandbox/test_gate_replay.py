"""A program that goes on later: what it learned before counts for what is judged now."""

from __future__ import annotations

from pathlib import Path

from app.engine.gate import TurnGate
from sandbox.blobs import BlobStore
from sandbox.changeset import ChangeSet
from sandbox.grants import grants_of
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.program import prepare
from sandbox.review import review_reasons
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from sandbox.tape import Tape
from tests.sandbox.loopback import serve
from tests.sandbox.running import LIMITS, ListJournal, fill
from tests.sandbox.test_tape import Marks


def test_a_page_that_was_read_before_the_restart_still_steers(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    fill(folder, {"a.txt": "a"})
    with SandboxPool() as pool, serve() as web:
        page = web.page("/p", "a.txt")
        source = f"import os\npage = fetch_url('{page}')\nos.remove(page['text'])\n"
        grants = grants_of(frozenset({f"host:127.0.0.1:{web.port}"}))

        def run(tape: Tape) -> tuple[Outcome, TurnGate, ChangeSet]:
            stage = Stage([FolderGrant(path=folder.resolve())], BlobStore(tmp_path / "blobs"))
            stage.push()
            program = prepare(source)
            gate = TurnGate(grants).begin(program)
            outcome = Runner(pool, LIMITS).run(
                program,
                program_id="p1",
                stage=stage,
                gate=gate,
                journal=ListJournal(),
                listen=lambda _: None,
                stop=StopToken(),
                grants=grants,
                tape=tape,
            )
            return outcome, gate, stage.changes()

        marks = Marks()
        first, *_ = run(Tape(marks))
        assert first.fault is None
        again, gate, changes = run(Tape(None, marks.recorded()))
        assert again.fault is None
        assert len(web.seen) == 1, "the page was not asked for again"
        found = review_reasons(gate.ledger, changes)
        assert [reason.code for reason in found] == ["untrusted-steers-delete"]
