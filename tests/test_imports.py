"""Which file imports which: one way between rooms, no circle among files, late only where that is worth it.

An import is an edge from the file that holds it to the file that answers it, and to the `__init__.py` of each package
that is entered on the way: Python runs those first. Imports in functions and under TYPE_CHECKING are edges too.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

import duologue

ROOT = Path(__file__).parent.parent
BELOW = {
    "errors": set(),
    "former_names": set(),
    "data": {"errors"},
    "prompts": {"errors", "data"},
    "nodes": {"errors", "former_names", "data", "prompts"},
    "graphs": {"errors", "former_names", "data", "prompts", "nodes"},
    "runs": {"errors", "data", "prompts", "nodes", "graphs"},
    "analysis": {"errors", "data"},
    "views": {"errors", "data", "analysis"},
    "studies": {"errors", "data", "prompts", "nodes", "graphs", "runs", "analysis", "views"},
    "labelling": {
        "errors",
        "data",
        "prompts",
        "nodes",
        "graphs",
        "runs",
        "analysis",
        "views",
        "studies",
    },
    "testing": {"errors", "data", "prompts", "nodes", "graphs", "runs", "analysis"},
    "__init__": {
        "errors",
        "former_names",
        "data",
        "prompts",
        "nodes",
        "graphs",
        "runs",
        "analysis",
        "views",
        "studies",
        "hosts",
        "cli",
    },
    "hosts": {"errors", "data", "nodes", "graphs", "runs", "analysis", "views"},
    "cli": {"errors", "data", "prompts", "nodes", "graphs", "runs", "analysis", "views", "studies", "hosts"},
}
"""Each room, or file at the root, with those that it may import."""
FOREIGN = {
    "data": ("langgraph", "langchain", "openai", "jinja2"),
    "analysis": ("langgraph", "langchain", "openai"),
    "views": ("langgraph", "langchain", "openai"),
    "prompts": ("langgraph", "langchain", "openai"),
    "runs": ("langchain", "openai"),
}
"""Packages that have no place in a room."""
LATE = {
    ("__init__.py", ".*"): "the front door opens at once; a room is imported when it is touched",
    ("testing.py", ".*"): "pytest imports it when it starts, whether a test asks for it or not",
    ("studies/.*", ".*"): "one function of the front door does not wait for what another needs, nor ask for its extra",
    ("hosts/mcp_server.py", "(mcp|mcp_types).*"): "an extra, for the one host that speaks MCP",
    ("hosts/(endpoint|trec/serving).py", "starlette.*"): "an extra, for hosts that are servers",
    ("labelling/__main__.py", "(streamlit|starlette|uvicorn).*"): "an extra, in the process of the page alone",
    ("cli/.*", ".*"): "help, completion and the other commands do not wait for what one command needs",
    ("nodes/models/specs.py", "nodes/models/endpoint.py"): "takes seconds, and only one kind of model needs it",
    ("nodes/speakers/remote.py", "(a2a|google|httpx).*"): "an extra, for the one kind of speaker that speaks A2A",
    (
        "nodes/speakers/remote.py",
        "langgraph.pregel.remote",
    ): "brings an HTTP client along, for the one kind of speaker that calls",
    ("data/text/sentence_splitting.py", "pysbd"): "compiles the rules of all its languages",
    ("data/documents/markdown.py", "markdown_it"): "a parser that no source but a document needs",
    ("data/files/workbooks.py", "openpyxl"): "an extra, for one of many formats",
    ("runs/telemetry.py", "opentelemetry.*"): "an extra, for runs that are exported to an address",
    ("data/(files/tables|formats/parquet).py", "pyarrow.*"): "an extra, for one of many formats",
    ("analysis/realism/(adversary|held_out).py", "(sklearn|scipy).*"): "an extra, and slow to import",
    (
        "analysis/labels/(reliability|score_sources).py",
        "analysis/labels/agreement/.*",
    ): "needs the extra stats, and labels are shown without it",
    ("analysis/(tables|terminal_tables).py", "rich.*"): "tables are mostly written to files; only a terminal needs it",
    ("views/.*", "IPython.*"): "is there in a notebook alone",
    ("runs/engine/progress.py", "IPython.*"): "is there in a notebook alone",
    ("runs/divided/ray_tasks.py", "ray.*"): "an extra, for the one engine of that name",
    ("nodes/settings/environment.py", "langsmith"): "only a process that is to trace nothing needs its switch",
    ("nodes/settings/environment.py", "langchain_core.*"): "only a process that traces waits until it has",
    ("runs/folder/merging.py", "resource"): "is there on POSIX alone",
    ("analysis/threads.py", "threadpoolctl"): "an extra, without which a comparison takes more CPU",
    ("views/notebook.py", "views/realism/report.py"): "needs the extra stats, and conversations are shown without it",
}
"""Imports inside functions that are meant: importing file and imported file or package, as patterns, and the reason."""

BESIDE_STUDIES = """
commands: analysis/realism
convert: runs/labels/origins
demo: graphs runs
draw: graphs
hosts/serve_user: graphs/agent_test graphs/casts
labels/agreement: analysis/labels/agreement/report
labels/annotate: runs/labels/annotating runs/labels/copies runs/labels/justifications runs/labels/plan runs/labels/vote_journal
options/completions: analysis/recllmsim graphs graphs/casts
options/run: runs/engine/conduct runs/engine/control
output/failure_lines: runs/folder/failure_reasons
output/overwriting: runs/folder/leftovers
output/tables: analysis/figures
people/validity: runs runs/people/validity
recllmsim/intents: analysis/recllmsim/identification
recllmsim/profiles: runs/people/profiles
recllmsim/satisfaction: analysis/recllmsim/identification/values analysis/recllmsim/satisfaction
  analysis/recllmsim/satisfaction/report
recllmsim/stats: analysis/recllmsim analysis/recllmsim/counts analysis/recllmsim/figures
recllmsim/text_models: analysis/labels/reliability
running/asking: runs/asking/questions runs/planning/conversations
running/beginning: runs/planning/conversations
running/interrupts: runs/engine/control runs/folder/summary runs/journals/journal
running/progress: runs/engine/figures runs/engine/progress
running/run: graphs/casts/style_filter runs runs/folder/run_state runs/planning/conversations runs/planning/plans runs/telemetry
runs/list: runs/folder/run_state runs/listing
runs/repair: runs/folder/run_state runs/mending
runs/validate: runs/inspection
show: analysis/labels/reliability
simquac/asked_readers: graphs/reading runs/people/next_turn runs/reading
simquac/baseline: analysis analysis/simquac analysis/simquac/answers graphs runs
simquac/readers: analysis/simquac/readers
simquac/stats: analysis/simquac analysis/simquac/figures
simquac/teacher: analysis/simquac analysis/simquac/figures
simquac/validators: analysis
simulate: graphs/casts graphs/casts/settings runs
stats: analysis/labels/counts analysis/labels/reliability analysis/logs
testing/agent_test_run: analysis/testing/result_text
testing/pair_reports: analysis/testing/pairs/pairs_text
testing/report_files: analysis/testing/junit_report analysis/testing/markdown_report analysis/testing/pairs/pairs_text
  analysis/testing/result_text
testing/success_report: analysis/outcomes analysis/testing/pairs/pairs_text analysis/testing/result_text
testing/test: graphs/agent_test graphs/casts runs
tune: analysis/realism/objective analysis/tuning graphs/casts runs/tuning/search
"""
"""What modules of `cli` import of the layers that `studies` joins; a command calls a study, so this only gets shorter."""


@dataclass(frozen=True)
class Import:
    """One name that a file imports."""

    file: str
    """Path of the importing file, relative to the root of its package."""
    line: int
    target: str
    """Path of the imported file, or the dotted name of a module of another package."""
    entered: tuple[str, ...]
    """`__init__.py` files that run before the target."""
    when: Literal["loading", "typing", "calling"]
    absolute: bool = False
    """By the package's own name."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} -> {self.target}"


def files(root: Path) -> list[Path]:
    """The package's Python files: those at its root and in its rooms."""
    return sorted(root.glob("*.py")) + sorted(path for room in BELOW for path in (root / room).rglob("*.py"))


def room(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


@cache
def file_of(root: Path, parts: tuple[str, ...]) -> str | None:
    """The file of a module, by the parts of its name below the package; None if there is none."""
    for path in (Path(*parts).with_suffix(".py") if parts else None, Path(*parts, "__init__.py")):
        if path is not None and (root / path).is_file():
            return path.as_posix()
    return None


def statements(tree: ast.AST, when: str = "loading") -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Each import statement with the time at which it is executed."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # holds no statement
            continue
        inner = when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = "calling"
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            inner = "typing"
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, when
        else:
            yield from statements(node, inner)


def imports(root: Path) -> list[Import]:
    """All imports of a package whose root folder this is; an import of the package by its name counts as relative."""
    result = []
    for path in files(root):
        package = path.parent.relative_to(root).parts
        file = path.relative_to(root).as_posix()
        for node, when in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                dotted = [(0, tuple(alias.name.split(".")), "") for alias in node.names]
            else:
                dotted = [(node.level, tuple((node.module or "").split(".")), alias.name) for alias in node.names]
            for level, module, name in dotted:
                module = tuple(part for part in module if part)
                if level == 0 and module[0] != "duologue":
                    result.append(Import(file, node.lineno, ".".join(module), (), when))
                    continue
                base = (*package[: len(package) - level + 1], *module) if level else module[1:]
                submodule = file_of(root, (*base, name)) if name else None
                parts = (*base, name) if submodule else base
                target = submodule or file_of(root, base)
                assert target, f"{file}:{node.lineno}: {'.'.join(base)} is not there"
                entered = [file_of(root, parts[:n]) for n in range(1, len(parts)) if parts[:n] != package[:n]]
                result.append(Import(file, node.lineno, target, tuple(one for one in entered if one), when, level == 0))
    return result


def circles(edges: dict[str, set[str]]) -> set[frozenset[str]]:
    """Groups of files, each of which reaches each other one of its group (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: set[frozenset[str]] = set()

    def visit(file: str) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for target in sorted(edges.get(file, ())):
            if target not in index:
                visit(target)
                low[file] = min(low[file], low[target])
            elif target in stack:
                low[file] = min(low[file], index[target])
        if low[file] == index[file]:
            group = {stack.pop()}
            while file not in group:
                group.add(stack.pop())
            if len(group) > 1 or file in edges.get(file, ()):
                groups.add(frozenset(group))

    for file in sorted(edges):
        if file not in index:
            visit(file)
    return groups


def among_files(imports: Iterable[Import]) -> dict[str, set[str]]:
    """The files that each file imports, its own package's `__init__.py` aside unless it asks it for a name."""
    edges: dict[str, set[str]] = {}
    for statement in imports:
        if statement.target.endswith(".py"):
            edges.setdefault(statement.file, set()).update((statement.target, *statement.entered))
    return edges


def hidden(root: Path) -> set[str]:
    """Names of an `__init__.py` that stand before a module of the same name: `package: name`."""
    result = set()
    for path in files(root):
        if path.name != "__init__.py":
            continue
        package = path.parent.relative_to(root).parts
        tree = ast.parse(path.read_text())
        bound = {(node.name, False) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for node, _ in statements(tree):
            whole = isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module
            bound |= {(alias.asname or alias.name, whole and alias.asname is None) for alias in node.names}
        result |= {
            f"{'.'.join(package)}: {name}" for name, itself in bound if not itself and file_of(root, (*package, name))
        }
    return result


@cache
def ours() -> tuple[Import, ...]:
    return tuple(imports(ROOT))


def test_imports_run_one_way_between_rooms():
    assert {room(statement.file) for statement in ours()} <= set(BELOW)
    wrong = [
        str(statement)
        for statement in ours()
        if statement.target.endswith(".py")
        and room(statement.target) != room(statement.file)
        and room(statement.target) not in BELOW[room(statement.file)]
    ]
    assert wrong == []


def test_nothing_that_speaks_to_models_is_imported_below_the_nodes():
    wrong = [
        str(statement)
        for statement in ours()
        if not statement.target.endswith(".py")
        and statement.target.startswith(FOREIGN.get(room(statement.file), ("\0",)))
        # runs asks LangGraph for one thing: the error of its recursion limit.
        and not (statement.file == "runs/engine/conversing.py" and statement.target.startswith("langgraph"))
    ]
    assert wrong == []


def test_pytest_imports_the_package_once():
    loaded = [module for module in sys.modules.values() if "_show_in_notebooks" in getattr(module, "__dict__", ())]
    assert {id(module) for module in loaded} == {id(duologue)}


def test_inside_the_package_imports_are_relative():
    assert [str(statement) for statement in ours() if statement.absolute] == []


def test_no_files_import_each_other_in_a_circle():
    assert circles(among_files(ours())) == set()


def test_an_import_inside_a_function_has_a_reason():
    late = {(statement.file, statement.target) for statement in ours() if statement.when == "calling"}
    meant = {
        (file, target): {key for key in LATE if re.fullmatch(key[0], file) and re.fullmatch(key[1], target)}
        for file, target in late
    }
    assert [f"{file} -> {target}" for (file, target), reasons in meant.items() if not reasons] == []
    assert set().union(*meant.values()) == set(LATE), "a reason that no import has"


def test_commands_reach_past_the_studies_for_less_and_less():
    meant: dict[str, list[str]] = {}
    for word in BESIDE_STUDIES.split():
        if word.endswith(":"):
            file = word.removesuffix(":")
            meant[file] = []
        else:
            meant[file].append(word)
    present: dict[str, set[str]] = {}
    for statement in ours():
        joined = room(statement.target) in ("analysis", "runs", "graphs")
        if joined and room(statement.file) == "cli" and statement.when != "typing":
            target = statement.target.removesuffix(".py").removesuffix("/__init__")
            file = statement.file.removesuffix(".py").removeprefix("cli/")
            present.setdefault(file, set()).add(target)
    new = {file: targets - {*meant.get(file, ())} for file, targets in present.items()}
    assert {file: targets for file, targets in new.items() if targets} == {}, "call a function of studies"
    assert {file: sorted(targets) for file, targets in present.items()} == meant, "take out what is no longer imported"


def test_no_name_of_a_package_hides_a_module_of_it():
    assert hidden(ROOT) == set()


def package(root: Path, **sources: str) -> Path:
    """A package of these files: `data__a` is `data/a.py`."""
    for name, source in sources.items():
        path = root / (name.replace("__", "/", 1) + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    for folder in {path.parent for path in root.rglob("*.py")} - {root}:
        (folder / "__init__.py").touch()
    return root


def test_a_circle_through_the_package_that_is_entered_is_found(tmp_path):
    root = package(tmp_path, data____init__="from ..nodes.b import c", data__a="", nodes__b="from ..data.a import d")
    assert circles(among_files(imports(root))) == {frozenset({"data/__init__.py", "nodes/b.py"})}


@pytest.mark.parametrize(
    "late", ["def f():\n    from .b import c", "if TYPE_CHECKING:\n    from .b import c", "from duologue.data import b"]
)
def test_a_circle_is_found_however_it_is_imported(tmp_path, late):
    root = package(tmp_path, data__a=late, data__b="from . import a", data__c="from . import a, b")
    assert circles(among_files(imports(root))) == {frozenset({"data/a.py", "data/b.py"})}


def test_a_function_that_hides_its_module_is_found_and_a_module_given_as_itself_is_not(tmp_path):
    root = package(tmp_path, data____init__="from .a import a\nfrom . import b\nfrom .b import c as d", data__a="")
    package(root, data__b="", data__d="")
    assert hidden(root) == {"data: a", "data: d"}
