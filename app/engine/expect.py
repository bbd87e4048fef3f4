"""What a request itself says about its result, and whether a program's effects keep to it.

Owns checks that need no understanding: a file that the request names and that was not made, columns
it lists, deletions it does not speak of, endings that no file here has. A check that fails is a
doubt, not a verdict: it costs a small model another try, and the least doubtful program is used
when none is free of doubt. It must not know any particular task. Pure but for reading the stage;
any thread.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

import regex

from sandbox.changeset import Change, ChangeSet
from sandbox.stage import Stage

_SCAN_ENTRIES = 5_000
_READ_BYTES = 200_000
_PATTERN_S = 0.05
_NAMED_EXAMPLES = 3
_LONGEST_NAME_LITERAL = 60

_FILE_NAME = re.compile(
    r"(?<![\w./@-])([\w-]+(?:[./][\w-]+)*\.(?:csv|tsv|txt|md|json|jsonl|html?|xml|log|ya?ml|ini|toml"
    r"|cfg|conf|zip|tar|gz|pdf|docx|xlsx|sql|db|py|js|css|rst|tex|ics|vcf))\b(?![\w@/-]|\.\w)"
)
_MAKES = re.compile(
    r"\b(?:called|named|as|to|into|in|make|write|create|save|produce|generate|build|file)\s+"
    r"(?:(?:an?|the|one|new|single|text|csv|json|file|called|named|it|them)\s+)*[\"'`(]?$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:like|such as|e\.g\.|for example|for instance|becomes?|goes|instead of)\b", re.IGNORECASE
)
_NEW_FOLDER = re.compile(
    r"\b(?:folder|directory)\s+(?:called|named)\s+(?!after\b|by\b|for\b|like\b|as\b|according\b)"
    r"[\"'`]?([\w-]+)",
    re.IGNORECASE,
)
_COLUMNS = re.compile(
    r"\bcolumns?\s+((?:[\w-]+,\s+)*[\w-]+,?\s+and\s+[\w-]+)(?=[\s.,;:)]|$)", re.IGNORECASE
)
_DELETES = re.compile(
    r"\b(delet|remov|eras|get rid|drop|clean|purge|trash|discard|tidy|duplicat|dedup|throw|clear"
    r"|mov|renam|unique|twice|empty|only keep|replac)",
    re.IGNORECASE,
)
_MOVES = re.compile(
    r"\b(mov|renam|sort|organi|put|collect|tidy|group|archiv|name|lower|upper|swap|number|gather"
    r"|separat|split|extension|ending|prefix|suffix|flatten|transfer"
    r"|shift|bring|arrang|file them|store)",
    re.IGNORECASE,
)
_ONLY_PLACES = re.compile(r"\b(mov|copy|copi|renam|delet|back up|backup)\w*", re.IGNORECASE)
_EDITS = re.compile(
    r"\b(add|append|chang|replac|updat|edit|insert|fix|correct|writ|convert|sort|put|fill|remov|cut"
    r"|strip|turn|set|number|mark|translat|clean|lines?|rows?|columns?|text|word)",
    re.IGNORECASE,
)
_ENDINGS_ASKED = re.compile(r"\b(ending|extension|suffix|convert|format|type)s?\b", re.IGNORECASE)
_EVERY_FILE = re.compile(
    r"\b(?:all|every|each|the)\s+files?\b(?!\s+(?:that|which|whose|ending|with|of|last|from))",
    re.IGNORECASE,
)
_KIND_WORD = re.compile(
    r"\b(pictures?|photos?|images?|videos?|movies?|films?|music|songs?|audio|text|documents?|pdfs?"
    r"|csv|tables?|spreadsheets?|logs?|notes?|scripts?|json|xml|html|config\w*|archives?|markdown"
    r"|excel|word|source|code)\b|\.\w{1,5}\b",
    re.IGNORECASE,
)
_MANY = re.compile(r"\b(all|each|every|some|any|those|which)\b", re.IGNORECASE)
_LEAK = re.compile(
    r"<(?:__dd_)?[\w.]+ object at 0x|<_io\.|PosixPath\(|<built-in |<function "
    r"|dict_(?:keys|values|items)\(|<generator object|Counter\(\{|defaultdict\("
)
_WANTS_NUMBER = re.compile(
    r"\b(how many|how much|how often|how long|how old|average|mean|median|sum of|total|percent)\b",
    re.IGNORECASE,
)
_FORM = re.compile(r"\b(?:like|such as|becomes?)\s+[\"'`]?([\w.-]*\d[\w.-]*)(?=[\"'`\s.,;:)]|$)")
_SUFFIX = re.compile(r"(?:\*\*/)?\*?(\.[A-Za-z][A-Za-z0-9]{0,4})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesBefore:
    """The granted folders before a program runs: names of files, and how many have each ending."""

    names: frozenset[str]
    endings: Counter[str]

    @classmethod
    def of(cls, stage: Stage) -> FilesBefore:
        """Look at the stage, up to a bound. Touches the disk: on a worker thread."""
        names: set[str] = set()
        endings: Counter[str] = Counter()
        for grant in stage.grants:
            for entry in islice(stage.scan(str(grant.path), max_depth=None), _SCAN_ENTRIES):
                if entry.path and not entry.is_dir:
                    path = PurePosixPath(entry.path)
                    names.add(path.name)
                    endings[path.suffix.lower()] += 1
        return cls(names=frozenset(names), endings=endings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A program that ran to its end, with what it would change and what it said."""

    source: str
    answer: str
    changes: ChangeSet


def unmet(
    request: str, finished: Finished, before: FilesBefore, stage: Stage | None = None
) -> list[str]:
    """What `request` says and `finished` does not keep to, one sentence each; usually nothing.

    `stage`: holds the new contents; without it they are not looked at.
    """
    doubts = [
        *_files_not_made(request, finished, before),
        *_folders_not_filled(request, finished),
        *_not_asked_for(request, finished, before),
        *_not_done(request, finished),
        *_odd_moves(request, finished),
        *_other_form(request, finished, before),
        *_literals(request, finished, before),
        *_patterns(finished, before),
        *_odd_answer(request, finished),
    ]
    if stage is not None:
        doubts += _odd_contents(request, finished, before, stage)
    return doubts


def named_outputs(request: str, known: frozenset[str]) -> list[str]:
    """Names of files that `request` wants to be made: said to be made, and not there yet."""
    found: list[str] = []
    for match in _FILE_NAME.finditer(request):
        before = request[: match.start()]
        sentence = re.split(r"[.!?]\s", before)[-1]
        name = PurePosixPath(match[1]).name
        if name in known or name in found or _EXAMPLE.search(sentence):
            continue
        if _MAKES.search(before):
            found.append(match[1])
    return found


def wanted_columns(request: str, known: frozenset[str] = frozenset()) -> list[str]:
    """The columns that a request lists for a new table; empty when it lists none.

    Those that it says of a table in `known`, which is there already, are not wanted ones.
    """
    for match in _COLUMNS.finditer(request):
        sentence = re.split(r"[.!?;]\s", request[: match.start()])[-1]
        named = [PurePosixPath(found[1]).name for found in _FILE_NAME.finditer(sentence)]
        if not named or named[-1] not in known:
            return re.split(r",?\s+and\s+|,\s+", match[1])
    return []


def _files_not_made(request: str, finished: Finished, before: FilesBefore) -> Iterator[str]:
    made = {change.final_path for change in finished.changes.changes if change.kind != "delete"}
    folders = {c.final_path for c in finished.changes.changes if c.kind == "mkdir"}
    for name in named_outputs(request, before.names):
        path = next((path for path in made if path.endswith(f"/{name}")), None)
        if path is None:
            yield f"The task wants a file {name}, and the program made none."
        elif path in folders:
            yield f"{name} has to be a file, and the program made a folder of that name."
    if re.search(r"\bitself\b|\bin place\b", request, re.IGNORECASE):
        named = [PurePosixPath(match[1]).name for match in _FILE_NAME.finditer(request)]
        wanted = [name for name in named if name in before.names]
        changed = {PurePosixPath(path).name for path in made}
        for name in wanted[:1]:
            if name not in changed:
                yield f"The task wants {name} itself to be changed: write the result to {name}."


def _folders_not_filled(request: str, finished: Finished) -> Iterator[str]:
    changes = [change for change in finished.changes.changes if change.kind != "mkdir"]
    for match in _NEW_FOLDER.finditer(request):
        sentence = re.split(r"[.!?]\s", request[: match.start()])[-1]
        if _EXAMPLE.search(sentence):
            continue
        if changes and not any(f"/{match[1]}/" in change.final_path for change in changes):
            yield f"Nothing was put into the folder {match[1]}."


def _not_asked_for(request: str, finished: Finished, before: FilesBefore) -> Iterator[str]:
    changes = finished.changes.changes
    deleted = [c for c in changes if c.kind == "delete"]
    moved = [c for c in changes if c.kind == "move"]
    modified = [c for c in changes if c.kind == "modify"]
    created = [c for c in changes if c.kind == "create"]
    copies = re.search(r"\b(copy|copies|back ?up|keep the originals?)\b", request, re.IGNORECASE)
    keeps = copies and not re.search(r"\b(mov|delet|remov)", request, re.IGNORECASE)
    if deleted and (keeps or not _DELETES.search(request)):
        yield f"It deleted {_some(deleted)}, which the task does not ask for."
    elif deleted and not re.search(_ONLY_DELETES, request, re.IGNORECASE):
        yield f"{_some(deleted)} got lost: files were given one and the same name or overwritten."
    if moved and (keeps or not _MOVES.search(request)):
        yield f"It moved or renamed {_some(moved)}, which the task does not ask for."
    if modified and _ONLY_PLACES.search(request) and not _EDITS.search(request):
        yield f"It changed the content of {_some(modified)}, which the task does not ask for."
    if created and re.search(r"\bitself\b|\bin place\b", request, re.IGNORECASE):
        outputs = {PurePosixPath(name).name for name in named_outputs(request, before.names)}
        extra = [c for c in created if PurePosixPath(c.path).name not in outputs]
        if extra:
            yield f"It made {_some(extra)}, which the task does not ask for."


def _not_done(request: str, finished: Finished) -> Iterator[str]:
    """What a sentence orders outright, and nothing of its kind has happened."""
    kinds = {change.kind for change in finished.changes.changes}
    if not kinds:
        return
    anew = {"create", "delete"} <= kinds
    for order in _ORDER.findall(request):
        match order.lower():
            case "rename" | "move" if not (kinds & {"move"} or anew):
                yield f"The task says {order}, and no file was moved or renamed."
            case "copy" if not kinds & {"create"}:
                yield "The task says to copy, and nothing was copied."
            case "delete" if not kinds & {"delete", "rmdir", "modify"}:
                yield "The task says to delete, and nothing was deleted."
            case _:
                pass


_ORDER = re.compile(
    r"(?:\A|[.!?]\s+)(?:please\s+|now\s+)?(rename|move|copy|delete)\b", re.IGNORECASE
)
_ONLY_DELETES = (
    r"\b(delet|remov|eras|get rid|drop|clean|purge|trash|discard|tidy|duplicat|dedup|throw|clear"
    r"|twice|only keep|empty)"
)


def _odd_moves(request: str, finished: Finished) -> Iterator[str]:
    moves = [c for c in finished.changes.changes if c.kind == "move" and c.size_before is not None]
    if not _ENDINGS_ASKED.search(request):
        lost = [c for c in moves if _ending(c.path) and _ending(c.path) != _ending(c.final_path)]
        if lost:
            first = lost[0]
            yield (
                f"{PurePosixPath(first.path).name} became {PurePosixPath(first.final_path).name}: "
                "a file keeps its ending; to move it into a folder write folder / p.name."
            )
    hidden = [c for c in finished.changes.changes if c.kind == "mkdir" and _is_hidden(c.path)]
    if hidden and not re.search(r"(?<!\w)\.\w|\bhidden\b|\bdot\b", request):
        yield f"The folder {PurePosixPath(hidden[0].path).name} begins with a dot: leave it out."
    elif hidden and re.search(r"\bwithout (?:the|a) dot\b", request):
        name = PurePosixPath(hidden[0].path).name
        yield f"The folder {name} has to be without the dot: p.suffix[1:]."
    over = [c for c in moves if c.overwrites]
    if over:
        yield f"{_some(over)} replaced another file of the same name."


def _is_hidden(path: str) -> bool:
    return PurePosixPath(path).name.startswith(".")


def _other_form(request: str, finished: Finished, before: FilesBefore) -> Iterator[str]:
    """New names without the form of an example that the request gives, as in "like 2024-03"."""
    places = [c for c in finished.changes.changes if c.kind in {"move", "mkdir"}]
    if not places:
        return
    here = " ".join(_form(name) for name in before.names)
    new = {_form(part) for change in places for part in PurePosixPath(change.final_path).parts}
    for match in _FORM.finditer(request):
        example = match[1].rstrip(".,;:")
        form = _form(example)
        if "9" in form and form not in here and not any(form in name for name in new):
            yield f"No new name has the form of {example}."


def _form(text: str) -> str:
    """The form of a name: each digit a 9, words an a."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text.lower()))


def _literals(request: str, finished: Finished, before: FilesBefore) -> Iterator[str]:
    """Endings and names in the program that have nothing to do with the request or the folders."""
    literals = _strings(finished.source)
    endings = {m[1].lower() for text in literals if (m := _SUFFIX.match(text))}
    here = {ending for ending in before.endings if ending}
    asked = request.lower()
    if endings and not endings & here and not any(ending in asked for ending in endings):
        told = ", ".join(ending for ending, _ in before.endings.most_common(6) if ending)
        yield f"No file here ends in {' or '.join(sorted(endings))}; here are: {told}."
    elif (
        endings
        and here - endings
        and _EVERY_FILE.search(request)
        and not _KIND_WORD.search(request)
    ):
        yield f"The task is about all files, but only {', '.join(sorted(endings))} were taken."
    single = [
        text
        for text in literals
        if text in before.names and text not in request and len(text) <= _LONGEST_NAME_LITERAL
    ]
    if len(set(single)) > 1 and _MANY.search(request) and finished.changes.changes:
        names = ", ".join(sorted(set(single))[:_NAMED_EXAMPLES])
        yield f"It only looks at files that it names ({names}): go through all with a loop."


def _patterns(finished: Finished, before: FilesBefore) -> Iterator[str]:
    """Patterns for names that fit no name here; asked only when nothing came of the program."""
    if any(change.kind != "mkdir" for change in finished.changes.changes):
        return
    if not before.names or not re.search(r"\.(?:name|stem)\b", finished.source):
        return
    names = sorted(before.names)
    texts = [*names, *(PurePosixPath(name).stem for name in names)]
    for pattern in _regexes(finished.source):
        if not any(_fits(pattern, text) for text in texts):
            shown = ", ".join(repr(name) for name in names[:_NAMED_EXAMPLES])
            yield f"The pattern {pattern} fits no name here; they are like {shown}."


def _regexes(source: str) -> list[str]:
    """The patterns that a program gives to `re`, as far as they are written out."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re")),
                args=[ast.Constant(value=str(text)), *_],
            ):
                found.append(text)
            case _:
                pass
    return found


def _fits(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=_PATTERN_S) is not None
    except (regex.error, TimeoutError):
        return True


def _odd_answer(request: str, finished: Finished) -> Iterator[str]:
    answer = finished.answer
    if _LEAK.search(answer):
        yield "The answer shows an object and not its content: print its values."
    if (
        not finished.changes.changes
        and _WANTS_NUMBER.search(request)
        and answer
        and not re.search(r"\d", answer)
    ):
        yield "The task asks for a number, and the answer has none."


def _odd_contents(
    request: str, finished: Finished, before: FilesBefore, stage: Stage
) -> Iterator[str]:
    columns = wanted_columns(request, before.names)
    dotless = re.search(r"\bwithout (?:the|a|their) dots?\b", request, re.IGNORECASE) is not None
    for change in finished.changes.changes:
        ending = _ending(change.final_path)
        if (
            not change.has_new_content
            or ending not in _TEXT
            or (change.size_after or 0) > _READ_BYTES
        ):
            continue
        try:
            text = stage.read_bytes(change.final_path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        name = PurePosixPath(change.final_path).name
        if _LEAK.search(text):
            yield f"{name} holds an object's description and not its content: write its values."
        elif not text.strip() and "empty" not in request.lower():
            yield f"{name} is empty."
        elif ending in {".csv", ".tsv"} and change.kind == "create":
            yield from _odd_table(name, text, columns, dotless=dotless)


def _odd_table(name: str, text: str, columns: Sequence[str], *, dotless: bool) -> Iterator[str]:
    first = text.splitlines()[0]
    mark = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
    except csv.Error:
        return
    if len(rows) < 2:
        yield f"{name} has no rows below its first line."
    if dotless and any(cell.startswith(".") for row in rows for cell in row):
        yield f"{name} has endings with their dot: p.suffix[1:] is without it."
    header = [cell.strip().lower() for cell in rows[0]]
    if columns and header != [column.lower() for column in columns]:
        shown = ",".join(rows[0])[:80]
        yield (
            f"The first line of {name} has to be {','.join(columns)}, and is {shown}: "
            f"use columns = {list(columns)}."
        )


_TEXT = frozenset(
    {".csv", ".tsv", ".txt", ".md", ".json", ".html", ".log", ".ini", ".conf", ".cfg"}
)


def _strings(source: str) -> list[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _some(changes: Sequence[Change]) -> str:
    names = ", ".join(PurePosixPath(change.path).name for change in changes[:_NAMED_EXAMPLES])
    more = len(changes) - _NAMED_EXAMPLES
    return f"{names} and {more} more" if more > 0 else names
