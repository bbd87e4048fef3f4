"""The words for what the gate names: every code has a sentence, and it says the data."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from app.engine.offers import offered
from app.engine.reason_words import place_of, reason_sentence
from app.store.records import Folder
from sandbox.ports import Reason
from tests.app.ui import samples

ROOT = Path(__file__).resolve().parents[3]
DATA: dict[str, str | int] = {
    "host": "example.org", "source": "/home/ann/notes.txt", "source_kind": "file", "count": 3,
    "path": "/home/ann/site/a.txt", "copy": "/home/ann/b.zip", "tool": "mail", "what": "ls",
    "command": "sh x", "secret": "token", "bytes": 1200, "how": "git", "asked": "a.org",
    "kind": "x", "folder": "/home/ann", "deleted": 3, "of": 5, "line": 7, "source_line": 2,
}  # fmt: skip


def _codes() -> list[str]:
    text = "".join(
        (ROOT / "sandbox" / name).read_text(encoding="utf-8") for name in ("policy.py", "review.py")
    )
    found = set(re.findall(r'(?:at\.reason\(|_of\([a-z\[\]0]+, |Reason\(code=)"([a-z-]+)"', text))
    found |= {f"{who}-steers-{what}" for who in ("untrusted", "file")
              for what in ("delete", "move", "overwrite")}  # fmt: skip
    found |= {"untrusted-steers-request", "untrusted-steers-command", "untrusted-steers-tool"}
    return sorted(found - {"granted", "staged", "shown", "asks"})


@pytest.mark.parametrize("code", _codes())
def test_every_code_has_a_sentence_with_its_data(code: str) -> None:
    sentence = reason_sentence(Reason(code=code, data=DATA))
    assert "?" not in sentence
    assert not sentence.startswith(code)
    assert sentence[-1] in ".:x1s" or ":" in sentence


def test_a_code_without_a_sentence_is_shown_and_not_hidden() -> None:
    assert "new-code" in reason_sentence(Reason(code="new-code", data={"a": 1}))


def test_the_responsible_lines_are_told_in_the_order_of_the_flow() -> None:
    assert place_of(Reason(code="x", data=DATA)) == "line 2 to line 7"
    assert place_of(Reason(code="x", data={"line": 3})) == "line 3"
    assert place_of(Reason(code="x")) == ""


def test_a_source_from_a_page_is_told_by_its_host() -> None:
    data = DATA | {"source": "https://evil.test/a?b=secret", "source_kind": "web"}
    sentence = reason_sentence(Reason(code="untrusted-steers-delete", data=data))
    assert sentence.startswith("The page evil.test/a, which comes from outside,")
    assert "secret" not in sentence


TODAY = date(2030, 1, 15)
FOLDERS = [Folder(path=samples.ROOT)]


def test_the_narrowest_grants_that_would_have_answered_are_offered() -> None:
    found = offered(samples.turn(status="waiting"), FOLDERS, TODAY)
    end = f"folder={samples.ROOT},until=2030-02-28"
    assert found == (f"create:5,{end}", f"modify:5,{end}", f"move:50,{end}")


def test_no_grant_is_offered_for_what_a_rule_names_or_what_is_elsewhere() -> None:
    turn = samples.turn(status="waiting", reasons=(Reason(code="bulk-loss"),))
    assert offered(turn, FOLDERS, TODAY) == ()
    assert offered(samples.turn(status="waiting"), [Folder(path="/other")], TODAY) == ()
