"""The single changes that can be made to a module: a comparison turned, a number moved, a statement removed, and so on.

Texts, annotations and decorators stay as they are: to change a message or a type shows nothing of what the tests hold.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
BOUNDARY: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any"}
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
ATOMS = ast.Name | ast.Constant | ast.stmt
"""What is replaced without brackets: names, numbers and whole statements."""

Replacement = tuple[str, ast.expr | ast.stmt, str]
"""An operator, what it replaces, and the new source."""


@dataclass(frozen=True)
class Change:
    """One change of one place, in bytes of the file: what is at `start` to `end` becomes `text`."""

    path: str
    """The module, below the root."""
    line: int
    """Where the changed expression or statement begins, from 1."""
    column: int
    operator: str
    start: int
    end: int
    text: str
    lines: tuple[int, ...]
    """The lines of which a test has to execute one: outside of functions, those of the functions that read the name."""

    @property
    def id(self) -> str:
        """A name for `--only`: the place, the length of what is replaced there, and the operator."""
        return f"{self.path}:{self.line}:{self.column}+{self.end - self.start}:{self.operator}"

    def of(self, source: bytes) -> bytes:
        """The module's source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def shown(self, source: bytes) -> str:
        """Before and after, each in one line: the source lines of the place."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        tail = source.find(b"\n", self.end)
        end = len(source) if tail < 0 else tail
        before = source[begin:end]
        after = source[begin : self.start] + self.text.encode() + source[self.end : end]
        return "  ->  ".join(" ".join(text.decode().split()) for text in (before, after))


def operators(node: ast.AST, inside: ast.AST | None, *, in_branch: bool) -> Iterator[Replacement]:
    """Each change of a node itself: its operator, what is replaced, and the new source."""
    match node:
        case ast.Compare():
            yield from comparisons(node)
        case ast.BinOp() | ast.AugAssign():
            yield from arithmetic(node)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and-or", node, ast.unparse(ast.BoolOp(other, node.values))
        case ast.UnaryOp(op=ast.Not()):
            yield "not", node, ast.unparse(node.operand)
        case ast.Constant(value=bool()):
            yield "flag", node, str(not node.value)
        case ast.Constant(value=int() | float()):
            yield "number", node, repr(node.value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITE:
            yield "opposite", node.func, OPPOSITE[name]
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "never", test, "False"
            yield "always", test, "True"
        case ast.Return(value=ast.expr() as value):
            yield from returns(value, inside)
        case ast.Continue() | ast.Break():
            other_way = "break" if isinstance(node, ast.Continue) else "continue"
            yield other_way, node, other_way
    if in_branch and isinstance(node, ast.stmt) and is_effect(node):
        yield "removed", node, "pass"


def comparisons(node: ast.Compare) -> Iterator[Replacement]:
    """Each comparison of a chain turned, and with its boundary moved."""
    for number, operation in enumerate(node.ops):
        for name, table in (("turned", TURNED), ("boundary", BOUNDARY)):
            if type(operation) in table:
                ops = [*node.ops[:number], table[type(operation)](), *node.ops[number + 1 :]]
                text = ast.unparse(ast.Compare(node.left, ops, node.comparators))
                yield f"{name}{number or ''}", node, text


def arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Replacement]:
    """Another operation of arithmetic, but not with a text or a list, which would fail always."""
    other = ARITHMETIC.get(type(node.op))
    if other is None:
        return
    if isinstance(node, ast.AugAssign):
        if not is_row(node.value):
            yield "arithmetic", node, ast.unparse(ast.AugAssign(node.target, other(), node.value))
    elif not is_row(node.left) and not is_row(node.right):
        yield "arithmetic", node, ast.unparse(ast.BinOp(node.left, other(), node.right))


def returns(value: ast.expr, inside: ast.AST | None) -> Iterator[Replacement]:
    """The opposite of what a function of `bool` returns, and `None` of any other."""
    if isinstance(inside, FUNCTION) and inside.returns is not None and ast.unparse(inside.returns) == "bool":
        yield "opposite", value, f"not ({ast.unparse(value)})"
    elif not (isinstance(value, ast.Constant) and value.value is None):
        yield "none", value, "None"


def is_row(node: ast.expr) -> bool:
    """Whether an expression is written as a text, a list or a tuple, of which only some arithmetic is possible."""
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def is_effect(node: ast.stmt) -> bool:
    """Whether a statement can be removed: a call for its effect, or an assignment (a text alone is a docstring)."""
    value = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Await) else None
    called = value or (node.value if isinstance(node, ast.Expr) else None)
    return isinstance(called, ast.Call) or isinstance(node, ast.Assign | ast.AugAssign)


def parts(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """A node's parts in which something may be changed, and whether each is a statement of a branch."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        branch = name in {"body", "orelse", "finalbody"} and not isinstance(node, ast.Module | ast.ClassDef | FUNCTION)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and not isinstance(part, ast.JoinedStr):
                yield part, branch


class Places:
    """The places of a module, with the lines that a test has to execute for each."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.starts = [0, *(number + 1 for number, byte in enumerate(source) if byte == ord("\n"))]
        self.tree = ast.parse(source)
        functions = [node for node in ast.walk(self.tree) if isinstance(node, FUNCTION)]
        self.bodies = tuple(sorted({line.lineno for function in functions for line in function.body}))
        innermost: dict[ast.Name, int] = {}
        for function in functions:
            for statement in (
                node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function
            ):
                names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                innermost |= dict.fromkeys(names, statement.lineno)
        self.reads: dict[str, set[int]] = {}
        for name, line in innermost.items():
            self.reads.setdefault(name.id, set()).add(line)

    def changes(self) -> Iterator[Change]:
        """All changes of the module, in the order of its lines."""
        yield from self.below(self.tree, None, (), in_branch=False)

    def below(
        self, node: ast.AST, inside: ast.AST | None, lines: tuple[int, ...], *, in_branch: bool
    ) -> Iterator[Change]:
        """The changes of a node and of its parts; `lines` are those of the statement around it."""
        if isinstance(node, ast.stmt):
            lines = (node.lineno,) if inside is not None else self.readers(node)
        for name, place, text in operators(node, inside, in_branch=in_branch):
            start, end = self.starts[place.lineno - 1], self.starts[place.end_lineno - 1]
            bracketed = text if isinstance(place, ATOMS) else f"({text})"
            own = tuple(range(place.lineno, place.end_lineno + 1)) if inside is not None else ()
            yield Change(
                self.path, place.lineno, place.col_offset, name,
                start + place.col_offset, end + place.end_col_offset, bracketed, (*lines, *own),
            )  # fmt: skip
        for part, branch in parts(node):
            body = isinstance(node, FUNCTION) and isinstance(part, ast.stmt)
            yield from self.below(part, node if body else inside, lines, in_branch=branch)

    def readers(self, node: ast.stmt) -> tuple[int, ...]:
        """The lines that show what a statement outside of functions does: those that read its names, or all bodies."""
        if isinstance(node, FUNCTION):
            return tuple(statement.lineno for statement in node.body)
        names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        return tuple(line for name in names for line in self.reads.get(name, ())) or self.bodies


def changes_of(root: Path, folders: Iterable[str]) -> dict[str, list[Change]]:
    """All changes that can be made in each folder, those of folders below it included."""
    return {
        folder: [
            change
            for path in sorted((root / folder).rglob("*.py"))
            for change in Places(path.relative_to(root).as_posix(), path.read_bytes()).changes()
        ]
        for folder in folders
    }


def drawn(changes: dict[str, list[Change]], number: int, seed: int) -> list[Change]:
    """So many changes, as many from each folder where it has them, by a digest of the seed."""

    def rank(change: Change) -> bytes:
        return hashlib.sha256(f"{seed} {change.id}".encode()).digest()

    rows = zip_longest(*(sorted(of_folder, key=rank) for of_folder in changes.values()))
    return [change for row in rows for change in row if change is not None][:number]
