"""Which file of `data` imports which: one way, with no circle, not even inside functions."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from duologue import data

ROOT = Path(data.__file__).parent
FILES = {
    (*path.relative_to(ROOT).with_suffix("").parts,)
    if path.name != "__init__.py"
    else path.relative_to(ROOT).parent.parts: path
    for path in ROOT.rglob("*.py")
}
"""Every module by the parts of its name, without `duologue.data`."""


def imports(name, path):
    """The modules of `data` that a file names in an import."""
    package = name if path.name == "__init__.py" else name[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(package) + 1:
            base = (*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                yield (*base, alias.name) if (*base, alias.name) in FILES else base


def circle(graph):
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return [".".join(name) for name in error.args[1]]
    return []


def test_no_file_imports_itself_by_way_of_others():
    graph = {name: set(imports(name, path)) - {name} for name, path in FILES.items()}
    assert len(graph) > 40
    assert circle(graph) == []


@pytest.mark.parametrize(
    ("lower", "upper"),
    [("records", "formats.messages"), ("formats.messages", "domain"), ("domain", "simquac.domain"), ("domain", "recllmsim.domain"),
     ("simquac.domain", "domains"), ("recllmsim.domain", "domains"), ("domains", "loading"), ("domains", "checks"), ("rules.findings", "domain")],
)  # fmt: skip
def test_what_is_general_does_not_know_what_stands_on_it(lower, upper):
    graph = {name: set(imports(name, path)) - {name} for name, path in FILES.items()}

    def below(name, seen=None):
        seen = set() if seen is None else seen
        for other in graph[name] - seen:
            seen.add(other)
            below(other, seen)
        return seen

    assert tuple(lower.split(".")) in below(tuple(upper.split(".")))
    assert tuple(upper.split(".")) not in below(tuple(lower.split(".")))


def test_a_circle_would_be_found():
    assert circle({("a",): {("b",)}, ("b",): {("a",)}}) == ["a", "b", "a"]
