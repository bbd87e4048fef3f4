"""Tools in whole programs: awaited or not, together, misspelt, judged, counted, stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from docx import Document

from sandbox.blobs import BlobStore
from sandbox.effects import Effect
from sandbox.grants import Grants, grants_of
from sandbox.limits import Limits
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import Gate, Verdict
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.stage import FolderGrant, Stage
from sandbox.tools import ToolSet, tool
from tests.sandbox.loopback import Loopback, serve
from tests.sandbox.running import LIMITS, AllowAll, DenyKind, ListJournal, fill


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    with SandboxPool() as started:
        yield started


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    fill(
        path,
        {
            "sales-2024.csv": "region;amount\nNorth;10\nSouth;5\nNorth;7\n",
            "notes.txt": "first line\nTODO: buy milk\n",
            "logs/app.log": "ok\nerror 42 todo\nerror 7\n",
            "logs/raw.bin": b"\0\1TODO",
        },
    )
    return path


class Run:
    """Runs programs with tools on one folder; `journal` is the last one's."""

    def __init__(self, pool: SandboxPool, folder: Path) -> None:
        self._pool = pool
        self._folder = folder
        self.journal = ListJournal()

    def __call__(
        self,
        source: str,
        *,
        grants: Grants | None = None,
        gate: Gate | None = None,
        limits: Limits = LIMITS,
        stop: StopToken | None = None,
        tools: ToolSet | None = None,
    ) -> Outcome:
        blobs = BlobStore(self._folder.parent / "blobs")
        stage = Stage([FolderGrant(path=self._folder.resolve())], blobs)
        stage.push()
        self.journal = ListJournal()
        return Runner(self._pool, limits, tools).run(
            prepare(source, tools),
            program_id="p1",
            stage=stage,
            gate=gate or AllowAll(),
            journal=self.journal,
            listen=lambda _: None,
            stop=stop or StopToken(),
            grants=grants or grants_of(frozenset()),
        )


@pytest.fixture
def run(pool: SandboxPool, folder: Path) -> Run:
    return Run(pool, folder)


QUERY = "'SELECT region, sum(amount) AS s FROM sales_2024 GROUP BY region'"
ROWS = "[{'region': 'North', 's': 17}, {'region': 'South', 's': 5}]"


@pytest.mark.parametrize(
    "source",
    [
        f"print(sql({QUERY}))",
        f"print(await sql({QUERY}))",
        f"rows = await sql(query={QUERY})\nprint(rows)",
        f"def main():\n    return sql({QUERY})\nprint(main())",
        f"def main():\n    return await sql({QUERY})\nprint(main())",
        f"async def main():\n    return await sql({QUERY})\nprint(await main())",
        f"import asyncio\nasync def main():\n    print(await sql({QUERY}))\nasyncio.run(main())",
        f"import asyncio\nprint((await asyncio.gather(sql({QUERY})))[0])",
        f"import asyncio\nt = sql({QUERY})\nr = await asyncio.gather(t)\nprint(r[0])",
        f"import asyncio\nt = asyncio.create_task(sql({QUERY}))\nprint(await t)",
        f"job = sql({QUERY})\nprint(await job)",
        f"print(list(map(sql, [{QUERY}]))[0])",
        f"ask = sql\nprint(ask({QUERY}))",
        f"print(sqll({QUERY}))",
        f"print(sql(qery={QUERY}))",
        "print(sql('SELECT region, sum(amount) AS s FROM t GROUP BY 1', "
        "tables={'t': 'sales-2024.csv'}))",
        f"rows = await sql({QUERY})[:2]\nprint(rows)",
        "from pathlib import Path\nprint(sql('SELECT region, sum(amount) AS s FROM sales_2024 "
        "GROUP BY 1', [Path('sales-2024.csv')]))",
    ],
)
def test_a_tool_is_called_however_people_write_it(run: Run, source: str) -> None:
    outcome = run(source)
    assert outcome.fault is None
    assert outcome.printed.strip() == ROWS
    assert outcome.tool_calls == 1
    assert [effect.kind for effect in run.journal.effects] == ["read"]
    assert run.journal.effects[0].path.endswith("work/sales-2024.csv")


def test_a_table_that_sql_read_is_no_reason_for_doubt(run: Run) -> None:
    source = "import csv\nprint(sql('SELECT sum(amount) AS s FROM t', {'t': 'sales-2024.csv'}))"
    assert run(source).doubts == ()


def test_a_name_that_the_program_defines_is_its_own(run: Run) -> None:
    outcome = run("def sql(text):\n    return text.upper()\nprint(sql('mine'))")
    assert (outcome.printed, outcome.tool_calls) == ("MINE\n", 0)


def test_tools_see_what_the_program_wrote_and_not_the_disk(run: Run, folder: Path) -> None:
    source = (
        "with open('new.csv', 'w') as f:\n    f.write('a\\n1\\n2\\n')\n"
        "print(sql('SELECT sum(a) AS s FROM new')[0]['s'])\n"
        "print([m['path'] for m in find_text('1', glob='*.csv')])"
    )
    assert run(source).printed == "3\n['new.csv', 'sales-2024.csv']\n"
    assert not (folder / "new.csv").exists()


def test_files_outside_of_the_folders_are_as_closed_to_tools(run: Run) -> None:
    for call in ("read_document('/etc/passwd')", "find_text('root', '/etc')", "image_info('../x')"):
        outcome = run(call)
        assert outcome.fault is not None
        assert outcome.fault.type in {"PermissionError", "FileNotFoundError"}


def test_text_is_found_in_all_files_but_binary_ones(run: Run) -> None:
    assert run("print(find_text('TODO'))").printed == (
        "[{'path': 'notes.txt', 'line': 2, 'text': 'TODO: buy milk'}]\n"
    )
    found = run("print([(m['path'], m['line']) for m in find_text('todo', ignore_case=True)])")
    assert found.printed == "[('logs/app.log', 2), ('notes.txt', 2)]\n"
    found = run(r"print([m['text'] for m in find_text(r'error \d+$', 'logs', regex=True)])")
    assert found.printed == "['error 7']\n"
    assert run("print(len(find_text('e', limit=2)))").printed == "2\n"


def test_a_pattern_that_takes_for_ever_is_ended(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.find_text._TIME_S", 0.1)
    (folder / "evil.txt").write_text("a" * 5_000 + "!")
    outcome = run("find_text(r'(a|a)*(a|aa)+$', regex=True)")
    assert outcome.fault is not None
    assert "use a simpler pattern" in outcome.fault.message


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("find_text('')", "not empty"),
        ("find_text('(', regex=True)", "not a regular expression"),
        ("find_text('x', 'nowhere')", "nowhere"),
        ("find_text('x', limit=0)", "limit is between"),
        ("read_document('notes.txt', max_chars=0)", "at least 1"),
        ("read_document('logs/raw.bin')", "raw.bin cannot be read"),
        ("image_info('notes.txt')", "notes.txt is not an image"),
        ("sql('SELECT 1 FROM nope')", "no such table"),
        ("sql('DELETE FROM sales_2024')", "only reads"),
        ("sql()", "needs the argument 'query'"),
        ("fetch_url('notes.txt')", "begins with http"),
        ("http_request('BREW', 'http://x.example')", "the method is one of"),
        ("http_request('GET', 'http://x.example', {'a b': 'c'})", "is not valid"),
        ("http_request('GET', 'http://x.example', {'Host': 'c'})", "set by itself"),
    ],
)
def test_what_went_wrong_is_said_in_the_program_s_terms(run: Run, call: str, problem: str) -> None:
    outcome = run(call)
    assert outcome.fault is not None
    assert problem in outcome.fault.message
    assert outcome.fault.line == 1


def test_a_program_can_handle_the_error_of_a_tool(run: Run) -> None:
    source = (
        "try:\n    await read_document('logs/raw.bin')\nexcept ValueError:\n    print('skipped')"
    )
    assert run(source).printed == "skipped\n"


def test_a_misspelt_tool_that_cannot_be_corrected_gets_a_hint(run: Run) -> None:
    outcome = run("read_documents(1, 2, 3, 4)")
    assert outcome.fault is not None
    assert outcome.fault.hint == "Did you mean the tool 'read_document'?"


def test_a_document_is_read_from_the_stage(run: Run, folder: Path) -> None:
    document = Document()
    document.add_paragraph("Dear Ann")
    document.save(str(folder / "letter.docx"))
    assert run("print(read_document('letter.docx'))").printed == "Dear Ann\n"


def test_tools_find_tools(run: Run) -> None:
    outcome = run("print(search_tools('text of a pdf', limit=1)[0])")
    assert outcome.printed.startswith("async def read_document(")


@pytest.mark.parametrize("module", ["PIL", "pypdf", "requests", "bs4", "exifread"])
def test_a_library_is_answered_with_the_tool_to_use(run: Run, module: str) -> None:
    with pytest.raises(Exception, match=r"image_info|read_document|fetch_url"):
        run(f"import {module}")


def test_calls_that_are_gathered_overlap_and_keep_their_order(run: Run, server: Loopback) -> None:
    urls = [server.page(f"/at-once/{n}", f"page {n}", waits=4) for n in range(4)]
    source = (
        "import asyncio\nasync def main():\n"
        f"    pages = await asyncio.gather(*[fetch_url(u) for u in {urls}])\n"
        "    print([p['text'] for p in pages])\nasyncio.run(main())"
    )
    for url in urls:
        server.pages[url.removeprefix(server.url(""))] = server.pages["/at-once/3"].__class__(
            body=url[-1].encode(), headers=(("Content-Type", "text/plain"),), waits=4
        )
    outcome = run(source, grants=grants_of(frozenset({"host:127.0.0.1"})))
    assert outcome.fault is None
    assert outcome.printed == "['0', '1', '2', '3']\n"


def test_own_coroutines_overlap_in_their_calls(run: Run, server: Loopback) -> None:
    url = server.page("/pair", "x", waits=2, headers=(("Content-Type", "text/plain"),))
    source = (
        "import asyncio\n"
        f"async def get(n):\n    reply = await fetch_url('{url}')\n    return n, reply['text']\n"
        "print(await asyncio.gather(get(1), get(2)))"
    )
    outcome = run(source, grants=grants_of(frozenset({"host:127.0.0.1"})))
    assert (outcome.fault, outcome.printed) == (None, "[(1, 'x'), (2, 'x')]\n")


def test_one_failure_among_gathered_calls_is_the_program_s(run: Run) -> None:
    source = (
        "import asyncio\ntry:\n"
        "    await asyncio.gather(read_document('notes.txt'), read_document('logs/raw.bin'))\n"
        "except ValueError as error:\n    print(error)"
    )
    assert "raw.bin cannot be read" in run(source).printed


def test_a_host_that_was_not_named_is_not_asked(run: Run, server: Loopback) -> None:
    before = len(server.seen)
    outcome = run(f"fetch_url('{server.url('/x')}')")
    assert outcome.fault is not None
    assert "needs the grant host:127.0.0.1" in outcome.fault.message
    assert len(server.seen) == before


def test_what_is_sent_is_a_request_and_what_is_read_a_read(run: Run, server: Loopback) -> None:
    url = server.page("/api", "done", headers=(("Content-Type", "text/plain"),))
    gate = AllowAll()
    source = (
        f"print(http_request('POST', '{url}', {{'X-A': '1'}}, 'data')['text'])\n"
        f"http_request('GET', '{url}')\nhttp_request('GET', '{url}', {{'X-A': '1'}})"
    )
    outcome = run(source, grants=grants_of(frozenset({"host:127.0.0.1"})), gate=gate)
    assert outcome.printed == "done\n"
    assert [effect.kind for effect in gate.judged] == ["request", "read", "request"]
    method, _, headers, body = server.seen[-3]
    assert (method, headers["x-a"], body) == ("POST", "1", b"data")


@pytest.mark.parametrize("kind", ["read", "request"])
def test_what_the_gate_denies_is_not_sent(run: Run, server: Loopback, kind: str) -> None:
    before = len(server.seen)
    call = f"fetch_url('{server.url('/x')}')"
    if kind == "request":
        call = f"http_request('POST', '{server.url('/x')}')"
    outcome = run(call, grants=grants_of(frozenset({"host:127.0.0.1"})), gate=DenyKind(kind))
    assert outcome.fault is not None
    assert outcome.fault.message == "that is not allowed in this chat"
    assert len(server.seen) == before


class DenySecond:
    """A gate that allows the first read of a host, and no other."""

    def __init__(self) -> None:
        self.seen: list[Effect] = []

    def judge(self, effects: Sequence[Effect]) -> Verdict:
        self.seen.extend(effects)
        return Verdict(outcome="allow" if len(self.seen) == 1 else "deny", message="not on")


def test_every_redirect_is_put_to_the_gate(run: Run, server: Loopback) -> None:
    url = server.page("/hop", status=302, headers=(("Location", "/goal"),))
    gate = DenySecond()
    outcome = run(f"fetch_url('{url}')", grants=grants_of(frozenset({"host:127.0.0.1"})), gate=gate)
    assert outcome.fault is not None
    assert outcome.fault.message == "not on"
    assert [(effect.path, effect.target) for effect in gate.seen] == [
        (url, None),
        (server.url("/goal"), url),
    ]


def test_calls_that_leave_the_machine_are_counted(run: Run, server: Loopback) -> None:
    url = server.page("/many", "x")
    limits = Limits(interpreter_s=5.0, tool_calls=3)
    source = (
        f"for n in range(5):\n    try:\n        fetch_url('{url}')\n"
        "    except BaseException:\n        pass"
    )
    outcome = run(source, grants=grants_of(frozenset({"host:127.0.0.1"})), limits=limits)
    assert outcome.fault is not None
    assert outcome.fault.type == "CallLimitError"
    assert run("for n in range(9):\n    find_text('x')", limits=limits).fault is None


def test_stop_ends_a_program_that_waits_for_a_host(run: Run, server: Loopback) -> None:
    url = server.page("/never", silent=True)
    stop = StopToken()
    while server.arrived.acquire(blocking=False):
        pass

    def press() -> None:
        assert server.arrived.acquire(timeout=60)
        stop.stop()

    presser = threading.Thread(target=press)
    presser.start()
    outcome = run(
        f"await fetch_url('{url}')", grants=grants_of(frozenset({"host:127.0.0.1"})), stop=stop
    )
    presser.join()
    assert outcome.status == "stopped"


def test_a_tool_of_the_app_s_own_is_called_like_any_other(run: Run) -> None:
    def add_note(title: str, pinned: bool = False) -> dict[str, object]:
        """Keep a note."""
        return {"title": title, "pinned": pinned}

    tools = ToolSet([tool(add_note, kinds=["tool"])])
    gate = AllowAll()
    outcome = run("print(await add_note('milk', pinned=True))", tools=tools, gate=gate)
    assert outcome.printed == "{'title': 'milk', 'pinned': True}\n"
    assert [(effect.kind, effect.path) for effect in gate.judged] == [("tool", "add_note")]
    denied = run("add_note('milk')", tools=tools, gate=DenyKind("tool"))
    assert denied.fault is not None


def test_many_short_calls_in_a_row_are_within_the_limits(run: Run) -> None:
    limits = Limits(tool_calls=200)
    assert run("for n in range(200):\n    search_tools('pdf')", limits=limits).fault is None


def test_what_a_result_holds_is_read_as_an_attribute_too(run: Run) -> None:
    source = """
found = find_text('TODO')
print(sorted({(hit.path, hit['line']) for hit in found}))
class Box:
    path = 'own'
print(Box().path)
"""
    outcome = run(source)
    assert (outcome.fault, outcome.printed) == (
        None,
        "[('notes.txt', 2)]\nown\n",
    )


def test_standard_error_is_kept_apart_from_what_is_printed(run: Run) -> None:
    source = "import sys\nprint('out')\nprint('odd', file=sys.stderr)\nsys.stderr.write('end')\n"
    outcome = run(source)
    assert (outcome.printed, outcome.warned) == ("out\n", "odd\nend")
