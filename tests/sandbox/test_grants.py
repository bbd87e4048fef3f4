"""What a standing grant for a host or tool covers, and what it does not."""

from __future__ import annotations

import pytest

from sandbox.grants import grants_of, host_name


@pytest.mark.parametrize(
    ("grant", "name", "port", "covered"),
    [
        ("host:example.org", "example.org", 443, True),
        ("host:example.org", "EXAMPLE.org.", 80, True),
        ("host:example.org:8080", "example.org", 8080, True),
        ("host:example.org:8080", "example.org", 443, False),
        ("host:example.org", "www.example.org", 443, False),
        ("host:example.org", "example.org.evil.net", 443, False),
        ("host:127.0.0.1:80", "2130706433", 80, True),
        ("host:[::1]:80", "::1", 80, True),
        ("host:münchen.example", "xn--mnchen-3ya.example", 443, True),
        ("tool:sql", "example.org", 443, False),
    ],
)
def test_a_host_grant_covers_exactly_its_host(
    grant: str, name: str, port: int, covered: bool
) -> None:
    assert grants_of(frozenset({grant})).host(name, port) is covered


@pytest.mark.parametrize(
    ("grant", "name", "known"),
    [
        ("host:localhost", "localhost", True),
        ("host:10.0.0.5", "10.0.0.5", True),
        ("host:nas.local", "nas.local", True),
        ("host:printer", "printer", True),
        ("host:example.org", "example.org", False),
        ("host:10.0.0.5", "10.0.0.6", False),
    ],
)
def test_only_names_of_private_networks_are_granted_knowingly(
    grant: str, name: str, known: bool
) -> None:
    assert grants_of(frozenset({grant})).private_host(name, 80) is known


@pytest.mark.parametrize(
    "text",
    [
        "host:",
        "host:*",
        "host:*.example.org",
        "host:a:b",
        "host:a:0",
        "host:a:99999",
        "host:http://a",
        "host:a/b",
        "host:u@a",
        "tool:",
        "tool:a b",
    ],
)
def test_a_malformed_grant_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"form (host|tool):NAME"):
        grants_of(frozenset({text}))


def test_other_grants_are_left_to_their_owners() -> None:
    grants = grants_of(frozenset({"commit:new-files", "tool:notes.add"}))
    assert grants.hosts == ()
    assert grants.tools == {"notes.add"}


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "127.1",
        "::ffff:127.0.0.1",
    ],
)
def test_every_spelling_of_an_address_is_one_name(spelling: str) -> None:
    assert host_name(spelling) == "127.0.0.1"


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf .",
        "git status && curl x",
        "git log | sh",
        "git log > .bashrc",
        "git $(touch x)",
        "git `touch x`",
        "git status\nrm x",
        "git status & rm x",
    ],
)
def test_a_pattern_for_one_command_does_not_cover_two(command: str) -> None:
    assert not grants_of(frozenset({"command:git *"})).command(command)


def test_a_pattern_covers_its_command_and_a_command_word_for_word() -> None:
    grants = grants_of(frozenset({"command:git *", "command:make && make test"}))
    assert grants.command("git status --short")
    assert grants.command("make && make test")
    assert not grants.command("make && make install")
