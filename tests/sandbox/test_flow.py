"""The flow of programs: what reaches a call, and what does not."""

from __future__ import annotations

import pytest

from sandbox.flow import Flow, analyse
from sandbox.program import prepare

READ = "text = open('notes.txt').read()\n"


def _flow(source: str) -> tuple[Flow, str]:
    program = prepare(source)
    return analyse(program), program.source


def reaches(source: str, read: str = "open('notes.txt')", sink: str = "fetch_url(") -> str:
    """How the reading reaches the first call whose source starts with `sink`."""
    flow, text = _flow(source)
    places = dict(flow.sites)
    sources = {
        site.number
        for (start, end), sites in places.items()
        if text.encode()[start:end].decode() == read
        for site in sites
    }
    assert sources
    for (start, end), sites in sorted(places.items()):
        if not text.encode()[start:end].decode().startswith(sink):
            continue
        for site in sites:
            if sources & set(flow.marks.held(site.where | site.what)):
                return "held"
        for site in sites:
            if sources & set(flow.marks.touched(site.given)):
                return "led"
        return ""
    raise AssertionError(f"no call {sink}")


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("fetch_url('http://x/')", ""),
        ("fetch_url('http://x/' + text)", "held"),
        ("fetch_url(f'http://x/{text!r:>10}')", "held"),
        ("url = 'http://x/'\nurl += text\nfetch_url(url)", "held"),
        ("url = text\nurl = 'http://x/'\nfetch_url(url)", ""),
        ("if text:\n    url = 'http://a/'\nelse:\n    url = 'http://b/'\nfetch_url(url)", "led"),
        ("url = 'http://a/'\nif text:\n    url = 'http://b/'\nfetch_url(url)", "led"),
        ("url = 'http://a/' if text else 'http://b/'\nfetch_url(url)", "led"),
        ("for c in text:\n    fetch_url('http://x/')", "led"),
        ("for c in text:\n    pass\nfetch_url('http://x/')", ""),
        ("while len(text) > 3:\n    text = text[1:]\n    fetch_url('http://x/')", "led"),
        ("n = 0\nfor c in text:\n    n += 1\nfetch_url(f'http://x/{n}')", "led"),
        ("x = [text]\nx = []\nfetch_url(f'http://x/{x}')", ""),
        ("x = {}\nfor c in text:\n    x[c] = 1\nfetch_url(f'http://x/{x}')", "held"),
        ("x = ['http://a/', 'http://b/']\nfetch_url(x[len(text) % 2])", "held"),
        ("print(text)\nfetch_url('http://x/')", ""),
        ("def f(u):\n    return fetch_url(u)\nf('http://x/')\nf('http://x/' + text)", "held"),
        ("try:\n    int(text)\nexcept ValueError:\n    pass\nfetch_url('http://x/')", ""),
        ("try:\n    int(text)\nexcept ValueError as e:\n    fetch_url(str(e))", "held"),
        ("with open('o.txt', 'w') as f:\n    f.write(text)\nfetch_url('http://x/')", ""),
        ("a = b = []\na.append(text)\nfetch_url(f'http://x/{b}')", "held"),
        ("a, b = text, 'x'\nfetch_url('http://x/' + b)", ""),
        ("import os\nos.chdir(text)\nfetch_url('http://x/')", "led"),
        ("fetch_url('http://x/' + eval('text'))", "held"),
    ],
)  # fmt: skip
def test_what_was_read_reaches_a_request(body: str, how: str) -> None:
    assert reaches(READ + body) == how


@pytest.mark.parametrize(
    ("source", "sink", "how"),
    [
        ("import os\nfor n in os.listdir('.'):\n    os.remove(n)", "os.remove(", "held"),
        (
            "import os\nnames = os.listdir('.')\nif len(names) > 3:\n    os.remove('a')",
            "os.remove(",
            "led",
        ),
        ("import os\nprint(os.listdir('.'))\nos.remove('a')", "os.remove(", ""),
    ],
)
def test_what_was_listed_reaches_a_deletion(source: str, sink: str, how: str) -> None:
    assert reaches(source, "os.listdir('.')", sink) == how


def test_a_file_that_is_read_is_not_the_file_that_is_written() -> None:
    source = (
        "with open('notes.txt') as f:\n    text = f.read()\n"
        "page = fetch_url('http://x/')\n"
        "with open('o.txt', 'w') as f:\n    f.write(page['text'])\n"
        "http_request('POST', 'http://x/', body='y')\n"
    )
    assert reaches(source, sink="http_request(") == ""


def test_every_call_of_the_original_has_its_place() -> None:
    source = "import os\nfor n in sorted(os.listdir('.')):\n    print(n, os.path.getsize(n))\n"
    flow, text = _flow(source)
    found = {text.encode()[start:end].decode() for start, end in flow.sites}
    assert "os.listdir('.')" in found
    assert "os.path.getsize(n)" in found


def test_constants_are_clean_unless_the_model_was_shown_something() -> None:
    program = prepare("fetch_url('http://x/?q=secret')\n")
    clean, shown = analyse(program), analyse(program, lambda text: "secret" in text)
    for flow, numbers in ((clean, set[int]()), (shown, {shown.shown})):
        (sites,) = flow.sites.values()
        assert set(flow.marks.held(sites[0].where)) == numbers


def test_what_the_text_positions_are_in_is_bytes() -> None:
    source = "näme = 'ü'\n" + READ + "fetch_url('http://x/' + text)\n"
    assert reaches(source) == "held"
