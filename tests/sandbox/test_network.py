"""Which addresses are reached: names are resolved once, checked, and every redirect again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.addresses import Target, is_public, refusal, target_of
from sandbox.grants import NO_GRANTS, Grants, grants_of, literal_address
from sandbox.network import Network, NetworkLimits, Request, Resolver, Response
from tests.sandbox.loopback import Loopback, serve

PRIVATE_NETWORKS = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
LIMITS = NetworkLimits(connect_s=3.0, silence_s=0.3, total_s=5.0, body_bytes=10_000, redirects=3)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with serve() as loopback:
        yield loopback


def resolving(table: dict[str, Sequence[str]]) -> Resolver:
    async def resolve(name: str, _port: int) -> Sequence[str]:
        if name not in table:
            raise OSError("unknown")
        return table[name]

    return resolve


def allow(_target: Target) -> None:
    """Let every redirect pass."""


def fetch(
    url: str,
    grants: Grants,
    *,
    names: dict[str, Sequence[str]] | None = None,
    method: str = "GET",
    headers: tuple[tuple[str, str], ...] = (),
    limits: NetworkLimits = LIMITS,
) -> Response:
    network = Network(
        grants=grants, limits=limits, resolve=resolving(names) if names is not None else None
    )
    try:
        request = Request(method=method, target=target_of(url), headers=headers)
        return network.start(request, allow, lambda response: response).result(60)
    finally:
        network.close()


def granted(*texts: str) -> Grants:
    return grants_of(frozenset(texts))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "fec0::1",
        "fd00::1",
        "ff02::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)
def test_special_addresses_are_not_public(address: str) -> None:
    parsed = literal_address(address)
    assert parsed is not None
    assert not is_public(parsed)
    assert refusal(target_of("https://example.org/"), address, granted=False)


@given(
    st.sampled_from(PRIVATE_NETWORKS).map(IPv4Network),
    st.integers(min_value=0),
    st.sampled_from(["{}", "{:#x}", "{:d}", "::ffff:{}", "64:ff9b::{}"]),
)
def test_no_address_of_a_private_network_is_public_however_it_is_written(
    network: IPv4Network, offset: int, form: str
) -> None:
    inner = network[offset % network.num_addresses]
    spelled = form.format(int(inner) if form in ("{:#x}", "{:d}") else inner)
    parsed = literal_address(spelled)
    assert parsed is not None
    assert not is_public(parsed)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1111", "64:ff9b::5db8:d70e"])
def test_ordinary_addresses_are_public(address: str) -> None:
    parsed = literal_address(address)
    assert parsed is not None
    assert is_public(parsed)
    assert refusal(target_of("https://example.org/"), address, granted=False) == ""


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost",
        "0.0.0.0",
        "169.254.169.254",
        "metadata.example.org",
        "mixed.example.org",
    ],
)
def test_no_spelling_reaches_this_machine_without_a_grant(server: Loopback, host: str) -> None:
    server.page("/secret", "inner")
    before = len(server.seen)
    names = {
        "127.0.0.1": ["127.0.0.1"],
        "::1": ["::1"],
        "localhost": ["127.0.0.1"],
        "0.0.0.0": ["0.0.0.0"],
        "169.254.169.254": ["169.254.169.254"],
        "metadata.example.org": ["169.254.169.254"],
        "mixed.example.org": ["93.184.215.14", "127.0.0.1"],
    }
    with pytest.raises(PermissionError, match="needs the grant"):
        fetch(f"http://{host}:{server.port}/secret", NO_GRANTS, names=names)
    assert len(server.seen) == before


def test_a_public_name_that_leads_inside_is_refused_even_when_granted(server: Loopback) -> None:
    url = f"http://rebind.example.org:{server.port}/"
    with pytest.raises(PermissionError, match=r"leads to 127\.0\.0\.1"):
        fetch(url, granted("host:rebind.example.org"), names={"rebind.example.org": ["127.0.0.1"]})


def test_link_local_addresses_need_their_own_grant() -> None:
    target = target_of("http://nas.local/")
    assert refusal(target, "169.254.169.254", granted=True)
    assert refusal(target, "10.0.0.4", granted=True) == ""
    assert refusal(target_of("http://169.254.10.1/"), "169.254.10.1", granted=True) == ""


def test_a_granted_loopback_host_is_read(server: Loopback) -> None:
    url = server.page("/page", "hello", headers=(("X-One", "1"),))
    response = fetch(url, granted(f"host:127.0.0.1:{server.port}"))
    assert (response.status, response.body, response.headers["x-one"]) == (200, b"hello", "1")
    assert server.seen[-1][2]["host"] == f"127.0.0.1:{server.port}"


def test_the_checked_address_is_the_one_connected_to(server: Loopback) -> None:
    asked: list[str] = []

    async def resolve(name: str, _port: int) -> Sequence[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.255.255.1"]

    server.page("/pinned", "here")
    network = Network(grants=granted("host:nas.local"), limits=LIMITS, resolve=resolve)
    try:
        target = target_of(f"http://nas.local:{server.port}/pinned")
        found = network.start(Request(method="GET", target=target), allow, lambda r: r).result(60)
    finally:
        network.close()
    assert found.body == b"here"
    assert asked == ["nas.local"]
    assert server.seen[-1][2]["host"] == f"nas.local:{server.port}"


def test_the_next_address_is_tried_when_one_takes_no_connection(server: Loopback) -> None:
    server.page("/second", "ok")
    names = {"localhost": ["::1", "127.0.0.1"]}
    url = f"http://localhost:{server.port}/second"
    assert fetch(url, granted("host:localhost"), names=names).body == b"ok"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_into_a_private_network_is_refused(server: Loopback, status: int) -> None:
    goal = "http://169.254.169.254/latest/meta-data"
    url = server.page("/away", status=status, headers=(("Location", goal),))
    with pytest.raises(PermissionError, match=r"169\.254\.169\.254"):
        fetch(url, granted(f"host:127.0.0.1:{server.port}"))


def test_a_redirect_is_judged_before_it_is_followed(server: Loopback) -> None:
    url = server.page("/from", status=302, headers=(("Location", "/to?x=1"),))
    server.page("/to?x=1", "reached")
    hops: list[str] = []

    def check(target: Target) -> None:
        hops.append(target.text)
        raise PermissionError("not there")

    network = Network(grants=granted("host:127.0.0.1"), limits=LIMITS)
    try:
        request = Request(method="GET", target=target_of(url))
        future = network.start(request, check, lambda r: r)
        with pytest.raises(PermissionError, match="not there"):
            future.result(60)
    finally:
        network.close()
    assert hops == [server.url("/to?x=1")]
    assert all(path != "/to?x=1" for _, path, _, _ in server.seen)


@pytest.mark.parametrize("goal", ["file:///etc/passwd", "ftp://example.org/", "http://u:p@h/"])
def test_a_redirect_to_what_is_no_web_address_is_refused(server: Loopback, goal: str) -> None:
    url = server.page("/odd", status=302, headers=(("Location", goal),))
    with pytest.raises(ValueError, match="a URL"):
        fetch(url, granted("host:127.0.0.1"))


def test_redirects_end(server: Loopback) -> None:
    url = server.page("/loop", status=302, headers=(("Location", "/loop"),))
    with pytest.raises(ConnectionError, match="without end"):
        fetch(url, granted("host:127.0.0.1"))


def test_what_sends_is_not_led_on(server: Loopback) -> None:
    url = server.page("/post", status=307, headers=(("Location", "/page"),))
    response = fetch(url, granted("host:127.0.0.1"), method="POST")
    assert response.status == 307


def test_a_large_answer_is_cut_off(server: Loopback) -> None:
    url = server.page("/large", b"x" * 20_000)
    with pytest.raises(ValueError, match="larger than"):
        fetch(url, granted("host:127.0.0.1"))


@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_small_answer_that_unpacks_to_a_large_one_is_cut_off(
    server: Loopback, packed: object
) -> None:
    name = "gzip" if packed is gzip.compress else "deflate"
    body = packed(b"0" * 50_000_000)  # type: ignore[operator]
    url = server.page("/bomb", body, headers=(("Content-Encoding", name),))
    with pytest.raises(ValueError, match="larger than"):
        fetch(url, granted("host:127.0.0.1"), limits=NetworkLimits(body_bytes=100_000))


def test_a_packed_answer_is_unpacked(server: Loopback) -> None:
    body = gzip.compress(b"plain")
    url = server.page("/gzip", body, headers=(("Content-Encoding", "gzip"),))
    assert fetch(url, granted("host:127.0.0.1")).body == b"plain"


def test_a_broken_packed_answer_is_an_error(server: Loopback) -> None:
    url = server.page("/broken", b"not gzip", headers=(("Content-Encoding", "gzip"),))
    with pytest.raises(ValueError, match="broken data"):
        fetch(url, granted("host:127.0.0.1"))


def test_a_silent_host_ends_in_a_timeout(server: Loopback) -> None:
    url = server.page("/silent", silent=True)
    with pytest.raises(TimeoutError, match="in time"):
        fetch(url, granted("host:127.0.0.1"))


def test_an_unknown_host_is_a_connection_error() -> None:
    with pytest.raises(ConnectionError, match="not known"):
        fetch("http://nowhere.example/", NO_GRANTS, names={})


def test_a_port_that_nobody_listens_on_is_a_connection_error() -> None:
    with serve() as gone:
        url = gone.url("/")
    with pytest.raises(ConnectionError, match="could not be reached"):
        fetch(url, granted("host:127.0.0.1"))


def test_closing_ends_what_is_under_way(server: Loopback) -> None:
    url = server.page("/hangs", silent=True)
    limits = NetworkLimits(silence_s=600.0)
    network = Network(grants=granted("host:127.0.0.1"), limits=limits)
    while server.arrived.acquire(blocking=False):
        pass
    future = network.start(Request(method="GET", target=target_of(url)), allow, lambda r: r)
    assert server.arrived.acquire(timeout=60)
    network.close()
    with pytest.raises(CancelledError):
        future.result(60)


def test_no_proxy_and_no_cookie_comes_from_the_surroundings(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    url = server.page("/direct", "ok", headers=(("Set-Cookie", "a=1"),))
    network = Network(grants=granted("host:127.0.0.1"), limits=LIMITS)
    try:
        for _ in range(2):
            request = Request(method="GET", target=target_of(url))
            assert network.start(request, allow, lambda r: r).result(60).status == 200
    finally:
        network.close()
    assert "cookie" not in server.seen[-1][2]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.org/", "begins with http"),
        ("file:///etc/passwd", "begins with http"),
        ("example.org", "begins with http"),
        ("http://", "begins with http"),
        ("http://user:pw@example.org/", "user name"),
        ("http://example.org:99999/", "not valid"),
        ("http://exa mple.org/", "not valid"),
        ("http://0177.0.0.1/", "not valid"),
        ("http://example.org/" + "a" * 9_000, "longer"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        target_of(url)
