"""Whole runs: programs that misbehave end with a clear status, the disk stays as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from sandbox.effects import Effect
from sandbox.errors import ProgramFaultError, SandboxUnavailableError
from sandbox.limits import Limits
from sandbox.outcome import CallBatch, Printed, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Verdict
from sandbox.program import prepare
from tests.sandbox.running import (
    AllowAll,
    DenyKind,
    fill,
    run_here,
    tree_on_disk,
    tree_on_stage,
)


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    fill(path, {"a.txt": "alpha\n", "b.csv": "name,age\nAnn,3\n", "sub/c.txt": "c"})
    return path


FAULTS: dict[str, tuple[str, str, int | None, str]] = {
    "an endless loop": ("x = 1\nwhile True:\n    x += 1\n", "TimeLimitError", None, "never ends"),
    "a string of 2 GB": ("x = 'a'\ny = x * (2 << 30)\n", "MemoryError", 2, "one file or one line"),
    "a list without end": (
        "x = []\nwhile True:\n    x.append('y' * 100000)\n",
        "MemoryError",
        None,
        "at a time",
    ),
    "recursion without end": (
        "def f(n):\n    return f(n + 1) + f(n + 2)\nf(0)\n",
        "RecursionError",
        2,
        "loop",
    ),
    "reading outside the folder": ("open('/etc/passwd').read()\n", "PermissionError", 1, ""),
    "reading above the folder": ("open('../x').read()\n", "PermissionError", 1, ""),
    "a binary file as text": (
        "open('bin', 'wb').write(b'\\xff\\xfe\\x00')\nopen('bin').read()\n",
        "UnicodeDecodeError",
        2,
        "latin-1",
    ),
    "a wrong file name": ("\nopen('A.txt').read()\n", "FileNotFoundError", 2, "'a.txt'"),
    "a file that is to be made": ("open('new.xyz').read()\n", "FileNotFoundError", 1, "with 'w'"),
    "a wrong folder": ("open('nope/a.txt').read()\n", "FileNotFoundError", 1, "does not exist"),
    "a wrong column": (
        "import csv\nwith open('b.csv', encoding='utf-8') as f:\n"
        "    rows = list(csv.DictReader(f))\nprint(rows[0]['Name'])\n",
        "KeyError",
        4,
        "'name', 'age'",
    ),
    "a wrong separator": (
        "import csv\nwith open('b.csv', encoding='utf-8', newline='') as f:\n"
        "    rows = list(csv.DictReader(f, delimiter=';'))\nprint(rows[0]['name'])\n",
        "KeyError",
        4,
        "separated by ','",
    ),
    "fields of the wrong writer": (
        "import csv\nwith open('o.csv', 'w') as f:\n    csv.writer(f, fieldnames=['a'])\n",
        "TypeError",
        3,
        "writer.writerow(columns)",
    ),
    "a path that should be a date": (
        "from pathlib import Path\nPath('2020-01-01').timestamp()\n",
        "AttributeError",
        2,
        "datetime(2020, 1, 31)",
    ),
    "a place after the last": ("x = [1]\nx[1] = 2\n", "IndexError", 2, "begin at 0"),
    "a list in which nothing was found": (
        "found = [x for x in ['an error'] if x.startswith('error')]\nprint(found[0])\n",
        "IndexError",
        2,
        "only look at the beginning",
    ),
    "a wrong name": ("total = 1\nprint(totl)\n", "NameError", 2, "'total'"),
    "a wrong function": ("def count(x):\n    return x\ncuont(1)\n", "NameError", 3, "'count'"),
    "a wrong method": ("'abc'.uper()\n", "AttributeError", 1, "'upper'"),
    "a wrong module": ("import nonsense\n", "ModuleNotFoundError", 1, "pathlib"),
    "an exit code": ("import sys\nsys.exit(3)\n", "SystemExit", 2, ""),
    "an exit message": ("import sys\nsys.exit('bad input')\n", "SystemExit", 2, ""),
    "a custom exception": (
        "class MyError(Exception):\n    pass\nraise MyError('oops')\n",
        "MyError",
        3,
        "",
    ),
    "an error in a helper": (
        "from pathlib import Path\nprint(sorted(Path('.').iterdir(),\n"
        "    key=lambda p: p.stat().st_sizes))\n",
        "AttributeError",
        3,
        "",
    ),
    "an error after added lines": ("print(os.sep)\nx = {}\nx['k']\n", "KeyError", 3, ""),
    "an unsupported statement": (
        "try:\n    pass\nexcept* ValueError:\n    pass\n",
        "NotSupportedError",
        1,
        "plain except",
    ),
    "an unknown encoding": ("open('a.txt', encoding='klingon')\n", "LookupError", 1, ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_program_ends_with_a_fault_at_its_line(
    name: str, folder: Path, pool: SandboxPool
) -> None:
    source, kind, line, hint = FAULTS[name]
    before = tree_on_disk(folder)
    limits = Limits(interpreter_s=1.0, memory_bytes=64 * 1024 * 1024)
    outcome = run_here(source, folder, pool, limits=limits).outcome
    assert outcome.status == "error"
    assert outcome.fault is not None
    assert (outcome.fault.type, outcome.fault.line) == (kind, line)
    assert hint in outcome.fault.hint
    assert "monty" not in outcome.fault.brief().casefold()
    assert "__dd" not in outcome.fault.brief()
    assert tree_on_disk(folder) == before


def test_a_refusal_names_the_allowed_folder(folder: Path, pool: SandboxPool) -> None:
    fault = run_here("open('/etc/passwd')\n", folder, pool).outcome.fault
    assert fault is not None
    assert str(folder) in fault.message


def test_a_syntax_error_has_a_line_and_a_hint() -> None:
    with pytest.raises(ProgramFaultError) as caught:
        prepare("x = 1\nif x\n    print(x)\n")
    assert caught.value.fault.type == "SyntaxError"
    assert caught.value.fault.line == 2
    assert caught.value.fault.hint


def test_strange_files_and_names_work(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    names = {"\u00fcml\u00e4ut.txt": "\u00e4\n", "\u4e2d\u6587.txt": "\u5b57", "new\nline.txt": "n"}
    fill(folder, {**names, "empty.txt": "", "bin.dat": b"\x00\xff"})
    source = """
from pathlib import Path
for p in sorted(Path('.').iterdir()):
    data = p.read_bytes()
    print(repr(p.name), len(data))
    p.rename(p.name + '.bak')
print(repr(open('empty.txt.bak').read()))
"""
    ran = run_here(source, folder, pool)
    assert ran.outcome.fault is None
    assert "'new\\nline.txt' 1" in ran.outcome.printed
    assert set(tree_on_stage(ran.stage)) == {f"{n}.bak" for n in (*names, "empty.txt", "bin.dat")}


def test_a_name_that_is_not_unicode_can_be_renamed(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    fill(folder, {})
    strange = folder / "caf\udce9.txt"
    strange.write_text("coffee")
    source = """
import os
from pathlib import Path
for name in os.listdir('.'):
    print(len(name), os.path.getsize(name), Path(name).read_text())
    os.rename(name, 'new-' + name)
for p in Path('.').glob('new-*'):
    p.rename('plain.txt')
"""
    ran = run_here(source, folder, pool)
    assert ran.outcome.fault is None
    assert ran.outcome.printed == "8 6 coffee\n"
    assert set(tree_on_stage(ran.stage)) == {"plain.txt"}


def test_twenty_thousand_files_are_listed_and_read(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for number in range(20_000):
        (folder / f"{number}.txt").write_bytes(b"x")
    source = """
from pathlib import Path
total = 0
for p in Path('.').glob('*.txt'):
    total += len(p.read_text())
total
"""
    ran = run_here(source, folder, pool, limits=Limits(interpreter_s=20.0))
    assert ran.outcome.fault is None
    assert ran.outcome.value == "20000"
    assert ran.outcome.file_calls > 20_000
    assert len(ran.journal.effects) == 20_001
    batches = [b for b in ran.heard if isinstance(b, CallBatch)]
    assert sum(g.count for b in batches for g in b.groups if not g.folder) == 20_000
    assert len(batches) < 2_000


def test_too_many_file_calls_end_the_program(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import os\nwhile True:\n    try:\n        os.path.exists('a.txt')\n"
        "    except BaseException:\n        pass\n"
    )
    outcome = run_here(source, folder, pool, limits=Limits(file_calls=50)).outcome
    assert outcome.fault is not None
    assert (outcome.fault.type, outcome.fault.line) == ("CallLimitError", 4)


def test_a_file_over_the_limit_is_not_read(folder: Path, pool: SandboxPool) -> None:
    outcome = run_here("open('a.txt').read()\n", folder, pool, limits=Limits(read_bytes=3)).outcome
    assert outcome.fault is not None
    assert outcome.fault.type == "OSError"


def test_printed_text_keeps_head_and_tail(folder: Path, pool: SandboxPool) -> None:
    source = "for i in range(10000):\n    print('line', i)\n"
    outcome = run_here(source, folder, pool, limits=Limits(printed_chars=1000)).outcome
    assert outcome.printed.startswith("line 0\n")
    assert outcome.printed.endswith("line 9999\n")
    assert "characters cut" in outcome.printed
    assert len(outcome.printed) < 1100


@pytest.mark.parametrize(
    "source",
    [
        "while True:\n    pass\n",
        "import os\nwhile True:\n    os.path.exists('a.txt')\n",
        "while True:\n    print('x')\n",
    ],
)
def test_stop_ends_a_program_that_would_go_on(source: str, folder: Path, pool: SandboxPool) -> None:
    stop = StopToken()
    timer = threading.Timer(0.3, stop.stop)
    timer.start()
    limits = Limits(interpreter_s=30.0, file_calls=10_000_000)
    outcome = run_here(source, folder, pool, stop=stop, limits=limits).outcome
    assert outcome.status == "stopped"
    assert outcome.fault is None
    assert run_here("1 + 1\n", folder, pool).outcome.value == "2"


def test_a_stopped_token_ends_a_run_at_once(folder: Path, pool: SandboxPool) -> None:
    stop = StopToken()
    stop.stop()
    assert run_here("while True:\n    pass\n", folder, pool, stop=stop).outcome.status == "stopped"


ANSWERS: dict[str, tuple[str, str | None]] = {
    "the last expression": ("x = 2\nx * 3\n", "6"),
    "a text as it is": ("'a' + 'b'\n", "ab"),
    "nothing": ("x = print('y')\nNone\n", None),
    "the last assignment": ("def f():\n    return [1]\nresult = f()\n", "[1]"),
    "the value of main": (
        "def main():\n    return 'done'\nif __name__ == '__main__':\n    main()\n",
        "done",
    ),
    "the value of an async main": (
        "import asyncio\nasync def main():\n    return 7\nasyncio.run(main())\n",
        "7",
    ),
    "an object with its own text": (
        "class A:\n    def __str__(self):\n        return 'me'\nA()\n",
        "me",
    ),
    "paths": ("from pathlib import Path\nsorted(Path('.').glob('*.txt'))\n", "['a.txt']"),
    "one path": ("from pathlib import Path\nPath('x') / 'y'\n", "x/y"),
    "an exit with success": ("import sys\nprint('hi')\nsys.exit(0)\n", None),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_last_value_is_the_answer(name: str, folder: Path, pool: SandboxPool) -> None:
    source, answer = ANSWERS[name]
    outcome = run_here(source, folder, pool).outcome
    assert (outcome.status, outcome.value) == ("ok", answer)


def test_effects_carry_kind_path_size_and_place(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import os, shutil\n"
        "open('a.txt').read()\n"
        "with open('n.txt', 'w', encoding='utf-8') as f:\n"
        "    for i in range(3):\n"
        "        f.write('\u00e4')\n"
        "os.rename('a.txt', 'd.txt')\n"
        "os.remove('b.csv')\n"
        "os.makedirs('x/y')\n"
        "shutil.rmtree('sub')\n"
    )
    ran = run_here(source, folder, pool)
    root = str(folder)
    seen = [
        (e.kind, e.path.removeprefix(root), e.size_bytes, e.folder, e.span.line if e.span else None)
        for e in ran.outcome.effects
    ]
    assert seen == [
        ("read", "/a.txt", 6, False, 2),
        ("create", "/n.txt", 6, False, 3),
        ("move", "/a.txt", None, False, 6),
        ("delete", "/b.csv", 15, False, 7),
        ("create", "/x/y", None, True, 8),
        ("delete", "/sub/c.txt", None, False, 9),
        ("delete", "/sub", None, True, 9),
    ]
    encoded = source.encode()
    spans = [e.span for e in ran.outcome.effects if e.span]
    assert encoded[spans[1].start : spans[1].end].startswith(b"open('n.txt'")
    assert encoded[spans[2].start : spans[2].end] == b"os.rename('a.txt', 'd.txt')"
    assert ran.journal.effects == list(ran.outcome.effects)


def test_changes_carry_the_line_that_made_them(folder: Path, pool: SandboxPool) -> None:
    ran = run_here("x = 1\nopen('n.txt', 'w', encoding='utf-8').write('x')\n", folder, pool)
    evidence = ran.stage.changes().changes[0].evidence
    assert {(e.program_id, e.line) for e in evidence} == {("p1", 2)}


def test_a_denied_effect_is_not_done_and_raises(folder: Path, pool: SandboxPool) -> None:
    source = (
        "import os\ntry:\n    os.remove('a.txt')\nexcept PermissionError as error:\n"
        "    print('denied:', error)\nprint(os.path.exists('a.txt'))\n"
    )
    ran = run_here(source, folder, pool, gate=DenyKind("delete"))
    assert ran.outcome.printed == "denied: that is not allowed in this chat\nTrue\n"
    assert ran.journal.effects == []


def test_the_gate_sees_the_target_that_a_move_replaces(folder: Path, pool: SandboxPool) -> None:
    gate = AllowAll()
    run_here("import os\nos.replace('a.txt', 'b.csv')\n", folder, pool, gate=gate)
    assert [e.kind for e in gate.judged] == ["move", "delete"]


def test_a_pattern_that_matched_nothing_is_told(folder: Path, pool: SandboxPool) -> None:
    source = "from pathlib import Path\nfor p in Path('.').glob('*.jpeg'):\n    p.unlink()\n"
    assert any("*.jpeg" in note for note in run_here(source, folder, pool).outcome.notes)
    assert run_here(source + "Path('n').write_text('x')\n", folder, pool).outcome.notes == ()


def test_printed_text_is_told_in_order(folder: Path, pool: SandboxPool) -> None:
    ran = run_here("print('a')\nprint('b')\nopen('a.txt').read()\n", folder, pool)
    text = "".join(event.text for event in ran.heard if isinstance(event, Printed))
    assert text == "a\nb\n"


def test_sleeping_takes_no_time_and_names_of_the_system_are_hidden(
    folder: Path, pool: SandboxPool
) -> None:
    source = (
        "import time, os\ntime.sleep(60)\nprint(sorted(os.environ), os.getenv('SECRET', 'none'))\n"
    )
    ran = run_here(source, folder, pool, limits=Limits(interpreter_s=30.0))
    assert ran.outcome.fault is None
    assert "none" in ran.outcome.printed
    assert "SHELL" not in ran.outcome.printed


def test_a_run_leaves_no_trace_of_the_one_before(folder: Path, pool: SandboxPool) -> None:
    run_here("leaked = 1\n", folder, pool)
    fault = run_here("print(leaked)\n", folder, pool).outcome.fault
    assert fault is not None
    assert fault.type == "NameError"


def test_text_given_to_eval_cannot_touch_files(folder: Path, pool: SandboxPool) -> None:
    ran = run_here("exec(\"open('a.txt', 'w')\")\n", folder, pool)
    assert ran.outcome.fault is not None
    assert ran.outcome.fault.type == "PermissionError"
    assert ran.stage.changes().changes == ()


def test_a_lost_worker_is_an_error_and_the_next_run_works(folder: Path, pool: SandboxPool) -> None:
    class KillingGate(AllowAll):
        def judge(self, effects: Sequence[Effect]) -> Verdict:
            for child in psutil.Process().children(recursive=True):
                child.kill()
            return super().judge(effects)

    with pytest.raises(SandboxUnavailableError):
        run_here("open('a.txt').read()\n", folder, pool, gate=KillingGate())
    assert run_here("open('a.txt').read()\n", folder, pool).outcome.value == "alpha\n"


def test_line_ends_are_kept_when_asked_for(tmp_path: Path, pool: SandboxPool) -> None:
    folder = tmp_path / "work"
    fill(folder, {"dos.txt": "a\r\nb\r\n", "unix.txt": "a\nb"})
    source = """
for name in ['dos.txt', 'unix.txt']:
    with open(name, newline='', encoding='utf-8') as f:
        print([line for line in f], f.read())
    with open(name) as f:
        print(f.readlines())
"""
    lines = run_here(source, folder, pool).outcome.printed.splitlines()
    assert lines[0] == "['a\\r\\n', 'b\\r\\n'] "
    assert lines[1] == lines[3].replace("'b'", "'b\\n'") == "['a\\n', 'b\\n']"


def test_a_class_of_the_program_is_shown_as_it_says(folder: Path, pool: SandboxPool) -> None:
    source = "class E(Exception):\n    pass\ntry:\n    raise E('x')\nexcept E as e:\n"
    source += "    print(type(e).__name__, e)\n"
    assert run_here(source, folder, pool).outcome.printed == "E x\n"


READS = {
    "with commas": ("list(csv.reader(f))", True),
    "with its separator": ("list(csv.reader(f, delimiter=';'))", False),
    "with its separator by hand": ("[line.split(';') for line in f]", False),
}


@pytest.mark.parametrize("name", READS)
def test_a_table_read_with_the_wrong_separator_is_doubted(
    name: str, folder: Path, pool: SandboxPool
) -> None:
    read, doubted = READS[name]
    (folder / "d.csv").write_text("name;age\nAnn;3\n", encoding="utf-8")
    source = f"import csv\nwith open('d.csv', newline='') as f:\n    rows = {read}\n"
    outcome = run_here(source, folder, pool).outcome
    doubt = "d.csv is separated by ';': read it with delimiter=';'."
    assert outcome.doubts == ((doubt,) if doubted else ())
