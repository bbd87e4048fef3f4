"""A secret in a program: a handle that gives nothing away, sent only where it is bound to."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from app.vault.redact import Redactor
from sandbox.addresses import Target, target_of
from sandbox.blobs import BlobStore
from sandbox.grants import grants_of
from sandbox.outcome import Outcome, StopToken
from sandbox.pool import SandboxPool
from sandbox.ports import TextPieces
from sandbox.program import prepare
from sandbox.runner import Runner
from sandbox.secrets import Binding, BoundHost, bound_host, checked_methods
from sandbox.stage import FolderGrant, Stage
from tests.sandbox.loopback import Loopback, serve
from tests.sandbox.running import LIMITS, AllowAll, ListJournal

VALUE = "ghp_canary0123456789/abc+def"


class OneSecret:
    """A vault with one secret. `sent`: where it went."""

    def __init__(self, binding: Binding, value: str = VALUE) -> None:
        self._binding = binding
        self._value = value
        self._redactor = Redactor()
        self._redactor.learn(binding.name, value)
        self.sent: list[str] = []

    def names(self) -> Sequence[str]:
        return [self._binding.name]

    def binding(self, name: str) -> Binding | None:
        return self._binding if name == self._binding.name else None

    def headers(self, name: str, method: str, target: Target) -> tuple[tuple[str, bytes], ...]:
        assert not self._binding.refusal(method, target)
        self.sent.append(target.text)
        return self._binding.headers(self._value)

    def holds(self, text: str | bytes) -> bool:
        return self._redactor.holds(text)

    def text(self, text: str) -> str:
        return self._redactor.text(text)

    def data(self, data: bytes) -> bytes:
        return self._redactor.data(data)

    def pieces(self) -> TextPieces:
        return self._redactor.stream()


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    made = SandboxPool()
    made.start()
    yield made
    made.close()


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def run(source: str, folder: Path, pool: SandboxPool, secrets: OneSecret) -> Outcome:
    stage = Stage([FolderGrant(path=folder.resolve())], BlobStore(folder.parent / "blobs"))
    stage.push()
    return Runner(pool, LIMITS).run(
        prepare(source),
        program_id="p1",
        stage=stage,
        gate=AllowAll(),
        journal=ListJournal(),
        listen=lambda _: None,
        stop=StopToken(),
        grants=grants_of(frozenset({"host:127.0.0.1", "host:localhost"})),
        secrets=secrets,
    )


def local(**rest: object) -> OneSecret:
    return OneSecret(Binding(name="github", hosts=(BoundHost(name="127.0.0.1"),), **rest))  # type: ignore[arg-type]


LEAKS = [
    "str(h)",
    "repr(h)",
    "f'{h}'",
    "f'{h!r:>80}'",
    "'%s' % h",
    "'{}'.format(h)",
    "''.join([h])",
    "json.dumps(h)",
    "json.dumps({'a': [h]})",
    "json.dumps(h, default=str)",
    "len(h)",
    "list(h)",
    "[c for c in h]",
    "dict(h)",
    "h[0]",
    "h == 'VALUE'",
    "h != 'VALUE'",
    "'VALUE' == h",
    "h < 'VALUE'",
    "h in ['VALUE']",
    "hash(h)",
    "{h: 1}",
    "h.value",
    "h.name",
    "h.__dict__",
    "vars(h)",
    "dir(h)",
    "getattr(h, '_value', None)",
    "h + ''",
    "'' + h",
    "bytes(h)",
    "int(h)",
    "float(h)",
    "bool(h)",
    "type(h)",
    "type(h)('x')",
    "h.encode()",
    "h()",
    "str(h).upper()",
    "base64.b64encode(str(h).encode())",
    "hashlib.sha256(str(h).encode()).hexdigest()",
    "sorted([h, h])",
    "re.sub('x', h, 'x')",
    "open('out.txt', 'w').write(h)",
    "Path('out.txt').write_text(h)",
    "csv.writer(open('out.csv', 'w')).writerow([h])",
    "raise_it(h)",
]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_handle_gives_nothing_away(leak: str, folder: Path, pool: SandboxPool) -> None:
    source = f"""
import base64, csv, hashlib, json, re
from pathlib import Path
def raise_it(h):
    raise ValueError(h)
h = secret("github")
print({leak.replace("VALUE", VALUE)})
"""
    secrets = local()
    outcome = run(source, folder, pool, secrets)
    told = f"{outcome.printed} {outcome.value} {outcome.fault} {outcome.notes}"

    assert outcome.status in ("ok", "error")
    assert VALUE not in told
    assert not secrets.holds(told)
    assert "True" not in outcome.printed or leak in {"bool(h)", "h != 'VALUE'"}
    assert secrets.sent == []


def test_a_handle_is_sent_to_its_host_and_the_answer_gives_it_back_to_nobody(
    folder: Path, pool: SandboxPool, server: Loopback
) -> None:
    basic = base64.b64encode(f"me:{VALUE}".encode()).decode()
    url = server.page("/echo", f"you sent {VALUE} and {basic}", headers=(("X-Echo", VALUE),))
    secrets = local()
    outcome = run(
        f"""
h = secret("github")
a = http_request("GET", "{url}", auth=h)
b = await http_request("GET", "{url}", auth=await secret("github"))
for r in (a, b):
    print(r["status"], r["text"], r["headers"]["x-echo"], r["data"])
    Path("out.bin").write_bytes(r["data"])
print(VALUE := r["text"].split()[2], "".join(reversed(r["text"].split()[2])))
""".replace("h = secret", "from pathlib import Path\nh = secret"),
        folder,
        pool,
        secrets,
    )

    assert outcome.status == "ok", outcome.fault
    assert [seen[2]["authorization"] for seen in server.seen] == [f"Bearer {VALUE}"] * 2
    assert "200 you sent [secret:github]" in outcome.printed
    assert VALUE[::-1] not in outcome.printed
    assert not secrets.holds(outcome.printed)
    kinds = [(effect.kind, effect.path, effect.target) for effect in outcome.effects]
    assert ("secret", "github", url) in kinds


@pytest.mark.parametrize(
    ("rest", "header", "sent"),
    [
        ({}, "authorization", f"Bearer {VALUE}"),
        (
            {"kind": "password", "user": "me"},
            "authorization",
            "Basic " + base64.b64encode(f"me:{VALUE}".encode()).decode(),
        ),
        ({"kind": "header", "header": "X-Api-Key"}, "x-api-key", VALUE),
    ],
)
def test_every_kind_goes_as_its_header(
    rest: dict[str, object],
    header: str,
    sent: str,
    folder: Path,
    pool: SandboxPool,
    server: Loopback,
) -> None:
    url = server.page("/", "fine")
    outcome = run(
        f"print(http_request('GET', '{url}', auth=secret('github'))['status'])",
        folder,
        pool,
        local(**rest),
    )

    assert outcome.printed == "200\n"
    assert server.seen[0][2][header] == sent


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("http_request('GET', 'http://localhost:1/', auth=secret('github'))", "bound to 127.0.0.1"),
        ("http_request('GET', 'https://evil.example/', auth=secret('github'))", "bound to"),
        ("http_request('POST', 'http://127.0.0.1:1/', auth=secret('github'))", "not with POST"),
        ("http_request('GET', 'http://127.0.0.1:1/', auth=secret('other'))", "there are: github"),
        ("http_request('GET', 'http://127.0.0.1:1/', auth='github')", "cannot take str"),
        ("http_request('GET', 'http://127.0.0.1:1/', auth={'name': 'github'})", "cannot take dict"),
        ("fetch_url(secret('github'))", "cannot take"),
        ("search_tools(secret('github'))", "cannot take"),
        (
            "http_request('GET', 'http://127.0.0.1:1/', {'authorization': 'x'}, "
            "auth=secret('github'))",
            "set by auth",
        ),
        (f"http_request('GET', 'http://127.0.0.1:1/?q={VALUE}')", "holds the value"),
        (f"http_request('GET', 'http://127.0.0.1:1/', {{'x': '{VALUE}'}})", "holds the value"),
        (f"http_request('POST', 'http://127.0.0.1:1/', body='a{VALUE}')", "holds the value"),
        (
            f"http_request('POST', 'http://127.0.0.1:1/', body={VALUE.encode().hex()!r})",
            "holds the value",
        ),
    ],
)
def test_what_a_secret_is_not_for_is_refused(
    call: str, said: str, folder: Path, pool: SandboxPool
) -> None:
    secrets = local(methods=("GET", "HEAD"))
    outcome = run(f"print({call})", folder, pool, secrets)

    assert outcome.fault is not None
    assert said in outcome.fault.message
    assert VALUE not in outcome.fault.message
    assert secrets.sent == []


def test_a_secret_does_not_go_along_to_another_host(
    folder: Path, pool: SandboxPool, server: Loopback
) -> None:
    server.page("/end", "the end")
    other = server.url("/end", host="localhost")
    url = server.page("/begin", status=302, headers=(("Location", other),))
    back = server.page("/back", status=302, headers=(("Location", "/end"),))
    outcome = run(
        f"print(http_request('GET', '{url}', auth=secret('github'))['text'])\n"
        f"print(http_request('GET', '{back}', auth=secret('github'))['text'])",
        folder,
        pool,
        local(),
    )

    assert outcome.printed == "the end\nthe end\n"
    seen = [(path, "authorization" in headers) for _, path, headers, _ in server.seen]
    assert seen == [("/begin", True), ("/end", False), ("/back", True), ("/end", True)]


def test_a_redirect_with_the_value_in_its_address_is_not_followed(
    folder: Path, pool: SandboxPool, server: Loopback
) -> None:
    server.page("/end", "the end")
    other = server.url(f"/end?token={VALUE}", host="localhost")
    url = server.page("/begin", status=302, headers=(("Location", other),))
    outcome = run(f"http_request('GET', '{url}', auth=secret('github'))", folder, pool, local())

    assert outcome.fault is not None
    assert outcome.fault.type == "PermissionError"
    assert VALUE not in outcome.fault.message
    assert [path for _, path, _, _ in server.seen] == ["/begin"]


def test_a_value_in_a_file_is_not_printed_whole_or_in_pieces(
    folder: Path, pool: SandboxPool
) -> None:
    (folder / ".env").write_text(f"TOKEN={VALUE}\n")
    outcome = run(
        """
text = open(".env").read()
print(text)
for letter in text:
    print(letter, end="")
text
""",
        folder,
        pool,
        local(),
    )

    assert VALUE not in outcome.printed
    assert outcome.printed.count("TOKEN=[secret:github]") == 2
    assert outcome.value == "TOKEN=[secret:github]\n"


def test_a_value_that_would_break_the_request_is_refused_without_being_told(
    folder: Path, pool: SandboxPool, server: Loopback
) -> None:
    url = server.page("/", "fine")
    broken = OneSecret(
        Binding(name="github", hosts=(BoundHost(name="127.0.0.1"),)), f"{VALUE}\r\nX-Other: 1"
    )
    outcome = run(f"http_request('GET', '{url}', auth=secret('github'))", folder, pool, broken)

    assert outcome.fault is not None
    assert "breaks the request" in outcome.fault.message
    assert VALUE not in outcome.fault.message
    assert server.seen == []


@pytest.mark.parametrize(
    ("host", "url", "goes"),
    [
        ("api.example.com", "https://api.example.com/x", True),
        ("API.Example.com.", "https://api.example.com/x", True),
        ("api.example.com", "https://api.example.com:8443/x", False),
        ("api.example.com:8443", "https://api.example.com:8443/x", True),
        ("api.example.com:8443", "https://api.example.com/x", False),
        ("api.example.com", "http://api.example.com/x", False),
        ("api.example.com:80", "http://api.example.com/x", False),
        ("example.com", "https://api.example.com/x", False),
        ("api.example.com", "https://api.example.com.evil.net/x", False),
        ("localhost", "http://localhost:5000/x", True),
        ("localhost", "http://localhost.evil.net/x", False),
        ("127.0.0.1", "http://127.0.0.1:5000/x", True),
        ("127.0.0.1:5000", "http://127.0.0.1:5001/x", False),
        ("[::1]:5000", "http://[::1]:5000/x", True),
        ("10.0.0.1", "http://10.0.0.1/x", False),
        ("https://api.example.com/v1", "https://api.example.com/x", True),
    ],
)
def test_a_binding_covers_its_host_alone_and_over_tls_alone(
    host: str, url: str, goes: bool
) -> None:
    binding = Binding(name="github", hosts=(bound_host(host),))

    assert (binding.refusal("GET", target_of(url)) == "") is goes


def test_a_models_key_is_not_for_programs() -> None:
    binding = Binding(name="openai", kind="model-key", hosts=(bound_host("api.openai.com"),))

    assert "programs cannot" in binding.refusal("GET", target_of("https://api.openai.com/v1"))


@pytest.mark.parametrize("text", ["", "*", "*.example.com", "a b", "a:0", "a:70000", "u@h"])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        bound_host(text)


def test_methods_are_known_ones() -> None:
    assert checked_methods(["get", "GET", "Post"]) == ("GET", "POST")
    with pytest.raises(ValueError, match="TRACE is no method"):
        checked_methods(["trace"])
