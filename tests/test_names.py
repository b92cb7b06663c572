"""What things are called: a value is named by a noun, and a docstring begins with one short sentence."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.test_imports import ROOT, files

BARE = frozenset("told said found asked made kept given known held wanted came each mine theirs".split())
"""Words that name no value: whatever a function has at hand was told, found, made or given to it."""
STORED = {
    "data/attempts.py": {"kept"},  # of a draft, in records
    "data/records.py": {"kept"},
    "data/labels/definition.py": {"asked", "kept"},  # front matter of label definitions
    "nodes/state.py": {"kept"},  # of a draft, in states
    "nodes/people/choice.py": {"asked"},  # the option `people:SRC?asked=`
    "nodes/profiles/generation.py": {"kept", "wanted"},  # keys of the graph's state
    "nodes/speakers/threads.py": {"asked"},  # in a side's memory
    "runs/engine/reports.py": {"said"},  # of workers' reports
    "analysis/labels/agreement/abstaining.py": {"held", "kept"},  # rows of reports, as JSON and CSV
    "analysis/realism/card.py": {"made"},
    "analysis/realism/comparing.py": {"made"},  # the parameter of `duologue.compare`
    "analysis/realism/records.py": {"made"},
    "analysis/realism/report.py": {"made"},
    "analysis/realism/statistics/auc.py": {"made"},
    "analysis/recllmsim/identification/leak.py": {"known"},
    "analysis/validity/report.py": {"told"},
    "studies/comparison.py": {"made"},
}
"""Fields that stand in files, JSON documents and public signatures, and keep their names. This list only gets shorter."""
IN_A_SCHEMA = {"analysis/realism/statistics/auc.py:Interval"}
"""Docstrings that stand in a JSON schema that is shipped."""
WORDS = 20
"""The most words of a docstring's first sentence."""


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def bound(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The identifiers that a module gives to something, with their lines."""
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.alias) and (node.asname or node.name):
            yield node.asname or node.name, node.lineno
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name, node.lineno


@cache
def sources() -> dict[str, tuple[list[tuple[str, int]], list[tuple[str, str]]]]:
    """Of each file the identifiers that it binds, and its docstrings' first paragraphs with whose they are."""
    result = {}
    for path in (*files(ROOT), *sorted((ROOT / "examples").rglob("*.py"))):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        result[path.relative_to(ROOT).as_posix()] = (list(bound(nodes)), list(first_lines(nodes)))
    return result


def first_lines(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, (ast.Module, *DEFINITIONS)) and (text := ast.get_docstring(node)):
            yield getattr(node, "name", "module"), re.split(r"\n\s*\n", text)[0].replace("\n", " ")


def test_no_value_is_named_by_a_bare_participle():
    wrong = [
        f"{file}:{line} {name}"
        for file, (names, _) in sources().items()
        for name, line in names
        if name.strip("_").lower() in BARE and name not in STORED.get(file, ())
    ]
    assert wrong == []


def test_every_stored_name_is_still_there():
    used = {file: {name for name, _ in names} & BARE for file, (names, _) in sources().items()}
    assert {file: names for file, names in used.items() if names} == STORED


def test_an_underscore_or_capitals_make_no_noun_of_a_participle():
    assert {
        name.strip("_").lower()
        for name, _ in bound(ast.walk(ast.parse("TOLD = 1\ndef _kept(): ...\nclass Found: ...")))
    } <= BARE


def test_a_docstring_begins_with_one_sentence_of_at_most_twenty_words():
    firsts = {f"{file}:{name}": text for file, (_, lines) in sources().items() for name, text in lines}
    long = {place: text for place, text in firsts.items() if len(text.split()) > WORDS and place not in IN_A_SCHEMA}
    assert long == {}


def test_a_name_is_found_wherever_it_is_bound():
    source = "def told(said, *, kept=1):\n    for each in said:\n        self.made = (found := each)\nimport a as mine"
    names = {name for name, _ in bound(ast.walk(ast.parse(source)))}
    assert names >= {"told", "said", "kept", "each", "made", "found", "mine"}


def test_the_tests_read_the_whole_package():
    assert Path("cli/commands.py").as_posix() in sources()
