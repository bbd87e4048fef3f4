"""What the gate names, in plain words: one sentence for each reason, made from its data.

Owns the sentences, for the window and the terminal alike; `tr` translates. It must not judge.
Pure; any thread.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from app.engine.listing import size_text
from sandbox.ports import Reason

Translate = Callable[[str], str]
Data = Mapping[str, str | int]

_SENTENCES: dict[str, str] = {
    "private-to-host": "Sends what is in {source} to {host}.",
    "private-decides-request": "{source} decides whether, or how often, {host} is asked.",
    "private-to-tool": "Gives what is in {source} to the tool {tool}.",
    "untrusted-steers-request": "What is sent to {host} is decided by {source}, which comes from "
    "outside.",
    "untrusted-steers-command": "A command is decided by {source}, from outside: {what}",
    "untrusted-steers-tool": "What the tool {what} is asked is decided by {source}, which comes "
    "from outside.",
    "untrusted-steers-delete": "{source}, which comes from outside, decides that {items} deleted.",
    "untrusted-steers-move": "{source}, which comes from outside, decides that {items} moved.",
    "untrusted-steers-overwrite": "{source}, which comes from outside, decides that {items} "
    "overwritten.",
    "file-steers-delete": "What is written in {source} decides that {items} deleted.",
    "file-steers-move": "What is written in {source} decides that {items} moved.",
    "file-steers-overwrite": "What is written in {source} decides that {items} overwritten.",
    "write-then-execute": "Runs {path}, which this turn has written: {command}",
    "many-requests": "Asks hosts {count} times in one turn.",
    "secret-unbound": "Would use the secret {secret} for {host}, which it is not meant for.",
    "redirect": "{asked} leads to {host}, which is not allowed.",
    "unknown-effect": "Does something that no rule knows: {kind}.",
    "reads-host": "Reads from {host}.",
    "sends": "Sends {size} to {host}.",
    "asks": "The program asks you a question.",
    "uses-tool": "Uses the tool {tool}.",
    "uses-secret": "Uses the secret {secret} for {host}.",
    "runs-command": "Runs a command: {command}",
    "starts-programs": "{path} starts programs by itself ({how}).",
    "credentials": "{path} holds keys or passwords.",
    "credentials-copied": "{path} gets what is in {source}, which holds keys or passwords.",
    "disguised-program": "{path} is a program that looks like a document.",
    "untrusted-program": "{path} is a program, and its content comes from {source}.",
    "written-to-run": "{path} is written and made ready to run.",
    "copy-unverified": "{items} deleted after a copy, {copy}, that nothing has checked.",
    "many-folders": "Deletes {count} folders.",
}
_HOW = {
    "shell": "a start-up file of the shell",
    "autostart": "started when you log in",
    "ssh": "settings of remote log-in",
    "cron": "run on a schedule",
    "git": "run by git",
    "build": "run by build tools",
    "service": "a background service",
}
_LOST = (
    ("deleted", "{n} deleted"),
    ("replaced", "{n} overwritten"),
    ("emptied", "{n} emptied"),
    ("moved-out", "{n} moved out"),
)


def _plain(text: str) -> str:
    return text


def reason_sentence(reason: Reason, tr: Translate = _plain) -> str:
    """One reason as a sentence. An unknown code is shown as it is: nothing is hidden."""
    if reason.code == "bulk-loss":
        return _bulk(reason.data, tr)
    template = _SENTENCES.get(reason.code)
    if template is None:
        return f"{reason.code}: {', '.join(f'{k} {v}' for k, v in reason.data.items())}"
    sentence = tr(template).format_map(_Shown(reason.data, tr))
    more = int(reason.data.get("count", 1)) - 1
    if more > 0 and "path" in reason.data and "{path}" in template:
        sentence += " " + tr("And {0} more.").format(more)
    starts_with_name = template.startswith(("{path}", "{items}"))
    return sentence if starts_with_name else sentence[0].upper() + sentence[1:]


def place_of(reason: Reason, tr: Translate = _plain) -> str:
    """Which lines of the program are responsible: ``line 3 to line 7``; empty when unknown."""
    lines = [reason.data[name] for name in ("source_line", "line") if name in reason.data]
    unique = list(dict.fromkeys(lines))
    if not unique:
        return ""
    return tr(" to ").join(tr("line {0}").format(line) for line in unique)


class _Shown(dict[str, str]):
    """The data of a reason, each as it is shown."""

    def __init__(self, data: Data, tr: Translate) -> None:
        super().__init__({name: str(value) for name, value in data.items()})
        for name in ("source", "path", "copy"):
            if name in data:
                self[name] = _name(str(data[name]), str(data.get("source_kind", "")), tr)
        if "how" in data:
            self["how"] = tr(_HOW.get(str(data["how"]), str(data["how"])))
        self["size"] = size_text(int(data.get("bytes", 0)))
        count = int(data.get("count", 1))
        first = _name(str(data.get("path", "")), "", tr)
        self["items"] = (
            tr("{0} is").format(first) if count == 1 else tr("{0} items are").format(count)
        )

    def __missing__(self, key: str) -> str:
        return "?"


def _name(what: str, kind: str, tr: Translate) -> str:
    if what.startswith(("http://", "https://")):
        parts = urlsplit(what)
        page = f"{parts.hostname or what}{parts.path if parts.path != '/' else ''}"
        return tr("the page {0}").format(page)
    if kind == "listing":
        return tr("the names in {0}").format(posixpath.basename(what) or what)
    if kind == "shown":
        return tr("{0}, which the model has seen,").format(posixpath.basename(what) or what)
    if kind in ("tool", "command"):
        return tr("the result of {0}").format(what)
    name = "/".join(what.rstrip("/").split("/")[-2:] if not kind else what.split("/")[-1:]) or what
    name = name if name.isprintable() else ascii(name)[1:-1]
    called = {"mail": tr("the mail {0}"), "download": tr("the downloaded file {0}"),
              "file": tr("the file {0}")}  # fmt: skip
    return called.get(kind, "{0}").format(name)


def _bulk(data: Data, tr: Translate) -> str:
    parts = [tr(text).format(n=data[code]) for code, text in _LOST if code in data]
    folder = posixpath.basename(str(data["folder"])) or str(data["folder"])
    of = tr(" of {0}").format(data["of"]) if "of" in data else ""
    text = tr("Content of {0}{1} files in {2} is lost: {3} ({4}).").format(
        data["count"], of, folder, ", ".join(parts), size_text(int(data["bytes"]))
    )
    recent = int(data.get("recent", 0))
    return text + (" " + tr("Recent turns took {0} more.").format(recent) if recent else "")
