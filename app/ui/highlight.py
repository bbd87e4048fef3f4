"""Colours for Python and for diffs.

Owns the mapping from tokens to colours. It must not know where the text comes from. A text that
still grows is coloured line by line; a finished one is read as a whole, so that strings over
several lines are right. Thread: UI.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.ui.theme import tokens

type Span = tuple[int, int, str]


@cache
def _lexer() -> Any:
    from pygments.lexers.python import PythonLexer  # pyright: ignore[reportMissingTypeStubs]  # has none

    return PythonLexer(stripnl=False, ensurenl=False)


@cache
def _role_of(token: Any) -> str:
    from pygments.token import Token

    for kind, role in (
        (Token.Comment, "code_comment"),
        (Token.Keyword, "code_keyword"),
        (Token.Operator.Word, "code_keyword"),
        (Token.Literal.String, "code_string"),
        (Token.Literal.Number, "code_number"),
        (Token.Name.Function, "code_name"),
        (Token.Name.Class, "code_name"),
        (Token.Name.Builtin, "code_name"),
    ):
        if token in kind:
            return role
    return ""


def python_spans(source: str) -> list[list[Span]]:
    """For each line of `source`: start, length (in UTF-16 units, as Qt counts) and colour role."""
    lines: list[list[Span]] = [[]]
    column = 0
    for token, text in _lexer().get_tokens(source):
        role = _role_of(token)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
                column = 0
            length = len(part) + sum(ord(char) > 0xFFFF for char in part)
            if role and length:
                lines[-1].append((column, length, role))
            column += length
    return lines


def warm() -> None:
    """Load the lexer, which takes 60 ms, before the first program needs it."""
    python_spans("pass")


class PythonHighlighter(QSyntaxHighlighter):
    """Colours a document of Python."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._whole: list[list[Span]] = []

    def read_all(self) -> None:
        """Read the finished document as a whole."""
        self._whole = python_spans(self.document().toPlainText())
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        if number < len(self._whole):
            spans = self._whole[number]
        elif text.strip():
            spans = python_spans(text)[0]
        else:
            return
        colours = tokens()
        for start, length, role in spans:
            shape = QTextCharFormat()
            shape.setForeground(QColor(getattr(colours, role)))
            self.setFormat(start, length, shape)


class DiffHighlighter(QSyntaxHighlighter):
    """Colours a unified diff by the first character of each line."""

    def highlightBlock(self, text: str) -> None:
        colours = tokens()
        shape = QTextCharFormat()
        match text[:1]:
            case "+":
                shape.setBackground(QColor(colours.added))
            case "-":
                shape.setBackground(QColor(colours.removed))
            case "@":
                shape.setForeground(QColor(colours.muted))
            case _:
                return
        self.setFormat(0, max(1, len(text)), shape)
