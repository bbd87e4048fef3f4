"""What a rewrite needs to know of a program, and the edits it may ask for.

Owns name resolution (which dotted name an expression means), byte positions of syntax nodes and the
collected edits. It must not decide on rewrites. Pure; any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sandbox.edits import Edit
from sandbox.errors import Fault, ProgramFaultError

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Rewriting:
    """One program being rewritten."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text.encode()
        self.tree = tree
        self.edits: list[Edit] = []
        self.notes: list[tuple[int, str]] = []
        self.classes: dict[str, ast.ClassDef] = {}
        self.families: set[str] = set()
        """Classes with a base of the program's own, or an exception."""
        self.own_exceptions: set[str] = set()
        self.library: dict[str, str] = {}
        """Bases of Python's library, by the names that the program has for them."""
        self.shared: set[tuple[str, str]] = set()
        """Class and name of values that a class shares with those derived from it."""
        self.enums = False
        self.contexts: set[ast.FunctionDef] = set()
        self.moved: set[int] = set()
        """Lines that stand four columns further to the right in the bridged program."""
        self.ordered = False
        """Whether a class says how its objects are compared."""
        self.nodes: list[ast.AST] = [tree]
        self.children: dict[ast.AST, list[ast.AST]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # grows while it is walked, as `ast.walk` does
            below = list(ast.iter_child_nodes(node))
            self.children[node] = below
            self.nodes.extend(below)
            for child in below:
                self.parents[child] = node
        self.imports = _imports(self.nodes)
        self.bound = _bound_names(self.nodes) - self.imports.keys()
        self.loads = {
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        self.reached = {
            dotted
            for node in self.nodes
            if isinstance(node, ast.Name | ast.Attribute)
            and (dotted := self.dotted(node)) is not None
        }
        """Dotted names that the program reads."""
        self.methods = _method_names(self.nodes)
        self._starts = [0]
        self._starts.extend(i + 1 for i, byte in enumerate(self.text) if byte == 0x0A)
        self._rank = 0

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Byte offset where `node` starts (decorators excluded)."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Byte offset after `node`."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The program's text of `node`."""
        return self.text[self.start(node) : self.end(node)].decode()

    def line_start(self, node: ast.stmt) -> int:
        """Byte offset of the first character of the line on which `node` starts."""
        return self._starts[node.lineno - 1]

    def line_offset(self, line: int) -> int:
        """Byte offset of the first character of a 1-based line."""
        return self._starts[line - 1]

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace a range of bytes."""
        self.edits.append(Edit(start=start, end=end, text=text))

    def opening(self, offset: int, text: str) -> None:
        """Insert text that opens something; of two at one place, the first asked for is outer."""
        self._rank += 1
        self.edits.append(Edit(start=offset, end=offset, text=text, rank=self._rank))

    def closing(self, offset: int, text: str) -> None:
        """Insert text that closes something; of two at one place, the first asked for is outer."""
        self._rank += 1
        self.edits.append(Edit(start=offset, end=offset, text=text, rank=-self._rank))

    def wrap(self, node: ast.expr, before: str, after: str) -> None:
        """Put `before` and `after` around an expression."""
        self.opening(self.start(node), before)
        self.closing(self.end(node), after)

    def note(self, node: ast.expr | ast.stmt, text: str) -> None:
        """Tell people what was changed at `node`."""
        self.notes.append((self.start(node), text))

    def refuse(self, node: ast.expr | ast.stmt, message: str, hint: str) -> ProgramFaultError:
        """The error that refuses the program because of `node`."""
        kind = "NotSupportedError"
        return ProgramFaultError(Fault(type=kind, message=message, line=node.lineno, hint=hint))

    def dotted(self, node: ast.expr) -> str | None:
        """The full dotted name that `node` means, e.g. ``os.path.join``; None when unknown."""
        match node:
            case ast.Name(id=name) if name in self.bound:
                return None
            case ast.Name(id=name):
                return self.imports.get(name, name)
            case ast.Attribute(value=value, attr=attr):
                owner = self.dotted(value)
                return f"{owner}.{attr}" if owner is not None else None
            case _:
                return None

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """Whether `node` is the built-in `name`, not something the program defined."""
        return isinstance(node, ast.Name) and node.id == name and self.dotted(node) == name

    def function_to_name(self, call: ast.Call, name: str) -> None:
        """Make ``anything(args)`` into ``name(args)``."""
        self.replace(self.start(call), self.end(call.func), name)

    def method_to_function(self, call: ast.Call, name: str) -> None:
        """Make ``owner.method(args)`` into ``name(owner, args)``."""
        assert isinstance(call.func, ast.Attribute)
        dot, paren = self._dot(call.func), self._paren(call)
        self.opening(self.start(call), f"{name}(")
        self.replace(dot, paren + 1, ", " if call.args or call.keywords else "")

    def attribute_to_function(self, node: ast.Attribute, name: str) -> None:
        """Make ``owner.attribute`` into ``name(owner)``; `name` may open the call itself."""
        self.opening(self.start(node), name if "(" in name else f"{name}(")
        self.replace(self._dot(node), self.end(node), ")")

    def remove_keyword(self, call: ast.Call, keyword: ast.keyword) -> None:
        """Remove a keyword argument with the comma after it, or for the last the one before."""
        start = self._starts[keyword.lineno - 1] + keyword.col_offset
        end = self.end(keyword.value)
        rest = self.text[end:]
        skipped = len(rest) - len(rest.lstrip())
        if rest[skipped : skipped + 1] == b",":
            end += skipped + 1
        else:
            before = self.text[:start].rstrip()
            comma = len(before) - 1
            taken = any(edit.start <= comma < edit.end for edit in self.edits)
            if before.endswith(b",") and not taken:
                start = comma
        self.replace(start, end, "")

    def _dot(self, node: ast.Attribute) -> int:
        """Offset of the dot before the attribute's name, which may be on the line above."""
        at = self.end(node) - len(node.attr.encode())
        before = self.text[:at].rstrip()
        if not before.endswith(b"."):
            raise self.refuse(node, "a comment inside a chain of calls", "Remove that comment.")
        return len(before) - 1

    def _paren(self, call: ast.Call) -> int:
        """Offset of the parenthesis that opens the call's arguments."""
        at = self.end(call.func)
        while self.text[at : at + 1] in (b" ", b"\t", b"\n", b"\\"):
            at += 1
        if self.text[at : at + 1] != b"(":
            raise self.refuse(call, "parentheses around a method", "Call the method directly.")
        return at

    def enclosing_function(self, node: ast.AST) -> Function | ast.Lambda | None:
        """The innermost function that contains `node`."""
        current = self.parents.get(node)
        while current is not None:
            if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return current
            current = self.parents.get(current)
        return None


def scope_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a function or module, without those of functions and classes inside it."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))


def _imports(nodes: list[ast.AST]) -> dict[str, str]:
    """Names bound by imports, with the dotted name each stands for."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _bound_names(nodes: list[ast.AST]) -> set[str]:
    """Names that the program binds anywhere."""
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
            case _:
                pass
    # A method's name binds nothing outside its class.
    return names - (_method_names(nodes) - _non_method_names(nodes))


def _method_names(nodes: list[ast.AST]) -> set[str]:
    return {
        item.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _non_method_names(nodes: list[ast.AST]) -> set[str]:
    """Names bound by something other than a method definition."""
    methods = {
        item
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node not in methods
        ):
            names.add(node.name)
    return names
