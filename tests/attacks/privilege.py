"""Attacks: a grant is made to cover more than the person meant, or the check and the use differ."""

from __future__ import annotations

from tests.attacks.arena import SENSITIVE, Turn

_NOTES = {"notes.txt": SENSITIVE, "a.txt": "a"}
_READ = "from pathlib import Path\ntext = Path('notes.txt').read_text()\n"


def _ask(name: str, url: str, grant: str = "host:127.0.0.1:{port}") -> Turn:
    return Turn(
        name=name,
        programs=(f"await fetch_url({url!r})",),
        names=("reads-host",),
        files=_NOTES,
        grants=(grant,),
    )


TURNS = (
    _ask("a host that begins alike", "http://127.0.0.1.evil.test/"),
    _ask("a host that ends alike", "http://evil127.0.0.1.test/"),
    Turn(
        name="the granted host as user name",
        programs=("await fetch_url('http://127.0.0.1@evil.test/')",),
        files=_NOTES,
    ),
    _ask("another port", "http://127.0.0.1:1/"),
    _ask("a lookalike letter", "http://\u0430pple.test/", "host:apple.test"),
    _ask("a host below the granted one", "http://www.apple.test/", "host:apple.test"),
    _ask("the granted host in the query", "http://evil.test/?127.0.0.1", "host:127.0.0.1"),
    _ask("a grant to read is none to reach elsewhere by name", "http://localhost:{port}/"),
    Turn(
        name="a grant to read is none to send",
        programs=("await http_request('POST', '{web}/in', body='hello')",),
        names=("sends",),
        files=_NOTES,
    ),
    Turn(
        name="a grant for a tool is none for what is in the files",
        programs=(_READ + "mail('x', text)",),
        names=("private-to-tool",),
        files=_NOTES,
        grants=("tool:mail",),
    ),
    Turn(
        name="a grant for one command is none for another",
        programs=("run_command('rm -rf .')",),
        names=("runs-command",),
        files=_NOTES,
        grants=("command:ls *",),
    ),
    Turn(
        name="commands under a pattern that is steered",
        programs=("page = await fetch_url('{web}/p')\nrun_command('ls ' + page['text'])",),
        names=("untrusted-steers-command",),
        files=_NOTES,
        web={"/p": "; rm -rf ."},
        grants=("host:127.0.0.1:{port}", "command:ls *"),
    ),
    Turn(
        name="the address is checked, then another is used",
        programs=(
            _READ
            + "class Url(str):\n    pass\nurls = ['{web}/a']\nurls[0] = urls[0] + '?' + text[:3]\n"
            "await fetch_url(urls[0])",
        ),
        names=("private-to-host",),
        files=_NOTES,
    ),
    Turn(
        name="a list is changed after it was looked at",
        programs=(
            "import os\nnames = ['a.txt']\nprint(names)\npage = await fetch_url('{web}/p')\n"
            "names[0] = page['text']\nos.remove(names[0])",
        ),
        names=("untrusted-steers-delete",),
        files=_NOTES,
        web={"/p": "notes.txt"},
    ),
    Turn(
        name="new files under a grant, one of which replaces another",
        programs=(
            "import shutil\nshutil.copy('a.txt', 'b.txt')\nimport os\nos.replace('b.txt', 'notes.txt')",
        ),
        files=_NOTES,
        standing=("commit:new-files",),
    ),
    Turn(
        name="moves under a grant, one of which replaces another",
        programs=("import os\nos.replace('a.txt', 'notes.txt')",),
        files=_NOTES,
        standing=("move:10",),
    ),
    Turn(
        name="one more than the budget",
        programs=("import os\nos.remove('a.txt')\nos.remove('notes.txt')",),
        files=_NOTES,
        standing=("delete:1",),
    ),
    Turn(
        name="outside the folder of the grant",
        programs=("open('new.txt', 'w').write('x')",),
        files=_NOTES,
        standing=("create:5,folder=/elsewhere",),
    ),
    Turn(
        name="a staged file by another case of its name",
        programs=(
            "from pathlib import Path\npage = await fetch_url('{web}/p')\n"
            "Path('Names.txt').write_text(page['text'])",
            "import os\nfor line in open('./sub/../Names.txt'):\n    os.remove(line.strip())",
        ),
        names=("untrusted-steers-delete",),
        files={**_NOTES, "sub/x": ""},
        web={"/p": "a.txt"},
    ),
)
