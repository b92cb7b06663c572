"""The words of help texts, errors and HTML: short sentences, one term for one thing."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache

from tests.prose import GLOSSARY, VERBS
from tests.test_imports import ROOT, files

WORDS = 25
"""The most words of a sentence, or of a part between semicolons or colons."""
NOT_OURS = re.compile(
    rf"\b((?<!there )is no|(?<!there )are no|{GLOSSARY}|{VERBS}|(?<!LLMs )talks?|gaps?|guard|(?<!--)patience|speakers?|mine"
    r"|goes on|specs?|test half|worth)\b(?!( left)?:)",
    re.IGNORECASE,
)
"""Words that the project has others for. A word before a colon names a column."""
FEWEST = 4
"""The fewest words of a string that is read."""
EXPRESSION = re.compile(r"\(\?|\\|\w\|\w")
"""What only a regular expression holds."""
OTHERS_WORDS = (
    "analysis/realism/measures/",
    "analysis/recllmsim/identification/lexicon.py",
    "cli/former_words.py",
    "nodes/models/offline/",
    "nodes/seeded_faults/assistants.py",
    "nodes/simquac/as_released.py",
    "runs/folder/data_card.py",
    "runs/tuning/page_adapter.py",
)
"""Modules with words of others, or stored ones: former commands, prompts, data cards, what people and users say."""


def text(node: ast.expr | None) -> str:
    """The text of a literal, with `{}` for each value in it; empty for anything else."""
    match node:
        case ast.Constant(value=str(literal)):
            return literal
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
    return ""


def is_prose(literal: str) -> bool:
    """Whether a literal is a sentence or part of one; no expression, no single word, no command line."""
    return len(literal.split()) >= FEWEST and EXPRESSION.search(literal) is None


def not_read(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Docstrings, lists of words that are split, and the pieces of f-strings."""
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                yield docstring
            case ast.Call(func=ast.Attribute(value=words, attr="split" | "splitlines")):
                yield words
            case ast.JoinedStr(values=parts):
                yield from (part for part in parts if isinstance(part, ast.Constant))


@cache
def texts() -> list[tuple[str, str]]:
    """The errors, help texts, descriptions of commands and other strings of four words or more, with their places."""
    result: list[tuple[str, str]] = []
    for path in files(ROOT):
        name = path.relative_to(ROOT).as_posix()
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        others = set(map(id, not_read(nodes)))
        for node in nodes:
            match node:
                case ast.Raise(exc=ast.Call(args=arguments)):
                    result += ((f"{name}:{node.lineno}", text(argument)) for argument in arguments)
                case ast.keyword(arg="help", value=value) | ast.Call(func=ast.Name(id="option"), args=[value, *_]):
                    result.append((f"{name}:{value.lineno}", text(value)))
                case ast.FunctionDef(name=function) if name.startswith("cli/") and function.endswith("_command"):
                    result.append((f"{name}:{node.lineno}", ast.get_docstring(node) or ""))
                case ast.Constant() | ast.JoinedStr() if id(node) not in others and not name.startswith(OTHERS_WORDS):
                    if is_prose(literal := text(node)):
                        result.append((f"{name}:{node.lineno}", literal))
    return result


@cache
def shown() -> list[tuple[str, str]]:
    """The texts of the HTML templates with `{}` for each value in them, and their places."""
    result = []
    for path in sorted((ROOT / "views" / "templates").rglob("*.html")):
        source = re.sub(r"{#.*?#}|{%.*?%}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        plain = re.sub(r"{{.*?}}", "{}", source, flags=re.DOTALL)
        texts_of = [*re.split(r"<[^>]*>", plain), *re.findall(r'(?:title|aria-label)="([^"]*)"', plain)]
        result += ((path.relative_to(ROOT).as_posix(), literal) for literal in texts_of)
    return result


def test_html_uses_the_projects_words():
    assert {place: match.group() for place, literal in shown() if (match := NOT_OURS.search(literal))} == {}
    assert sum(is_prose(literal) for _, literal in shown()) > 80


def test_help_and_errors_use_the_projects_words():
    foreign = {place: match.group() for place, literal in texts() if (match := NOT_OURS.search(literal))}
    assert foreign == {}


def test_the_sentences_of_help_and_errors_are_short():
    long = {}
    for place, literal in texts():
        for sentence in re.split(r"[.!?;:]\s+|\n\n", literal):
            if len(sentence.split()) > WORDS:
                long[place] = sentence
    assert long == {}


def test_there_is_something_to_look_at():
    assert sum(bool(literal) for _, literal in texts()) > 2500
