"""Text of documents: PDF, DOCX, XLSX, e-mail, web pages and plain text.

Owns recognizing and reading each kind, within bounds. Pure, but slow and fed with what strangers
made: runs in `document_worker.py`'s process, not in the app's.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from sandbox.text_guess import guess

_UNPACKED_BYTES = 100 * 1024 * 1024
_PACKED_FILES = 10_000
_HIDDEN = ("script", "style", "noscript", "template", "head", "svg")
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "p div br li tr h1 h2 h3 h4 h5 h6 table ul ol section article header footer pre blockquote "
        "title dt dd hr figure figcaption main nav aside form",
    )
)


class DocumentError(ValueError):
    """The document cannot be read; the message says why."""


class _Collected:
    """Text up to a limit."""

    def __init__(self, limit_chars: int) -> None:
        self._limit = limit_chars
        self._parts: list[str] = []
        self._chars = 0

    def add(self, parts: Iterable[str]) -> str:
        """Take parts until there are enough; the text, with a note when it was cut."""
        for part in parts:
            self._parts.append(part)
            self._chars += len(part)
            if self._chars > self._limit:
                text = "".join(self._parts)[: self._limit]
                return f"{text}\n[... cut after {self._limit:,} characters ...]"
        return "".join(self._parts)


def text_of(name: str, data: bytes, limit_chars: int) -> str:
    """The text of a document; raises `DocumentError`."""
    read = _reader(name.casefold(), data)
    return _Collected(limit_chars).add(read(data)).strip()


def _reader(name: str, data: bytes) -> Callable[[bytes], Iterator[str]]:
    start = data[:1024].lstrip()
    if start.startswith(b"%PDF-"):
        return _pdf
    if data.startswith(b"PK\x03\x04"):
        return _packed(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise DocumentError("it is an old Office file; save it as .docx or .xlsx first")
    if name.endswith((".eml", ".mht")):
        return _mail
    if name.endswith((".html", ".htm", ".xhtml")) or start[:15].lower().startswith(
        (b"<!doctype html", b"<html")
    ):
        return _page
    if b"\0" in data[:8_000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError("it is not a document that can be read as text")
    return lambda content: iter([guess(content)])


def _packed(data: bytes) -> Callable[[bytes], Iterator[str]]:
    """The reader of an Office file, its packed parts measured before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.infolist()
    except (zipfile.BadZipFile, ValueError, OverflowError) as error:
        raise DocumentError("the file is damaged") from error
    if len(parts) > _PACKED_FILES or sum(part.file_size for part in parts) > _UNPACKED_BYTES:
        raise DocumentError("it unpacks to more than 100 MiB")
    names = {part.filename for part in parts}
    if "word/document.xml" in names:
        return _docx
    if "xl/workbook.xml" in names:
        return _xlsx
    raise DocumentError("it is an archive, not a document")


def _pdf(data: bytes) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError("it is protected with a password")
        for page in reader.pages:
            yield f"{page.extract_text()}\n\n"
    except DependencyError as error:
        raise DocumentError("it is encrypted in a way that cannot be read here") from error
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError("the PDF is damaged") from error


def _docx(data: bytes) -> Iterator[str]:
    from docx import Document
    from docx.table import Table

    try:
        document: Any = Document(io.BytesIO(data))
        for item in document.iter_inner_content():
            if isinstance(item, Table):
                for row in item.rows:
                    yield "\t".join(cell.text.replace("\n", " ") for cell in row.cells) + "\n"
                yield "\n"
            else:
                yield f"{item.text}\n"
    except (KeyError, ValueError, SyntaxError, AttributeError, zipfile.BadZipFile) as error:
        raise DocumentError("the document is damaged") from error


def _xlsx(data: bytes) -> Iterator[str]:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        workbook: Any = load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
        for sheet in workbook.worksheets:
            yield f"# {sheet.title}\n"
            for row in sheet.iter_rows(values_only=True):
                line = "\t".join("" if cell is None else str(cell) for cell in row)
                yield f"{line.rstrip()}\n"
            yield "\n"
    except (KeyError, ValueError, TypeError, SyntaxError, AttributeError) as error:
        raise DocumentError("the workbook is damaged") from error
    except (zipfile.BadZipFile, InvalidFileException) as error:
        raise DocumentError("the workbook is damaged") from error


def _mail(data: bytes) -> Iterator[str]:
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    for name in ("From", "To", "Cc", "Date", "Subject"):
        value = message.get(name)
        if value is not None:
            yield f"{name}: {value}\n"
    yield "\n"
    body = message.get_body(("plain", "html"))
    if body is not None:
        content = body.get_payload(decode=True)
        if isinstance(content, bytes):
            named = body.get_content_charset()
            html = body.get_content_subtype() == "html"
            yield from _page(content, named) if html else [guess(content, named)]
    files = [part.get_filename() or "unnamed" for part in message.iter_attachments()]
    if files:
        yield f"\nAttachments: {', '.join(files)}\n"


def _page(data: bytes, named: str | None = None) -> Iterator[str]:
    from bs4 import BeautifulSoup
    from bs4.element import NavigableString, PreformattedString, Tag

    page = BeautifulSoup(data, "html.parser", from_encoding=named)
    title = page.title.get_text(" ", strip=True) if page.title else ""
    if title:
        yield f"{title}\n\n"
    at_line_start = True
    for node in page.descendants:
        if isinstance(node, Tag):
            if node.name in _BLOCKS and not at_line_start:
                yield "\n"
                at_line_start = True
            elif node.name in ("td", "th") and not at_line_start:
                yield "\t"
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            text = " ".join(str(node).split())
            if text and node.find_parent(_HIDDEN) is None:
                yield text if at_line_start else f" {text}"
                at_line_start = False
    yield "\n"
