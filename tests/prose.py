"""How long the sentences of docs, notebooks, docstrings and messages are, and which words they use: `make words`.

It prints a row for each file and one for all; with `--list` each sentence, paragraph and word to change, with its place.
"""

import argparse
import ast
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.test_imports import ROOT, files

LONGEST, LONG, SHARE, MEAN, PARAGRAPH = 40, 25, 0.03, 16, 80
"""Maximum words of a sentence; words of a long one; maximum share of long ones; maximum mean; maximum of a paragraph."""
FEWEST = 4
"""The minimum words of a sentence: fewer are a heading, a label or a cell."""
GLOSSARY = (
    "is none|alone|errands?|testers?|exchanges?|donors?|planted|plants|learnt|disputed|as released|manners?|theirs|nobody"
    "|somebody|whoever|whatever|(?:tuning|other) half|floors?"
)
"""Words for which the glossary has another one."""
VERBS = "says?|said|tells?|told|knows?|speaks?|hears?"
"""What people do: a program prints, reports and detects."""
THINGS = "it|line|page|file|command|run|note|table|card|error|manifest|docs?|journal|log|report|test|column|row|figure|`code`"
FOREIGN = re.compile(
    rf"\b((?<!there )is no(?= [a-z]+[ .,;:)])|{GLOSSARY})\b|(?:\b|(?<=`))(?:{THINGS})s? (?:{VERBS})\b", re.IGNORECASE
)
"""Words of the glossary, and verbs of people after the name of a thing."""
END = re.compile(r"(?<=[.!?])[\"')\]*]*\s+(?=[\"'(\[*]*[A-Z0-9`{])")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|et al|etc|Fig|no|Sec|approx)\.(?=\s)")
CODE = re.compile(r"``.+?``|`[^`\n]+`|{[a-z:+-]+}`[^`]+`")
MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass
class Measured:
    """The sentences of one file or of all, by their numbers of words."""

    lengths: list[int] = field(default_factory=list)
    to_change: list[str] = field(default_factory=list)
    """What breaks a rule, with its place: sentences over LONGEST words, paragraphs over PARAGRAPH, words."""
    long: list[str] = field(default_factory=list)
    """The sentences over LONG words, with their places."""

    def add(self, place: str, paragraph: str) -> None:
        """Measure a paragraph, a list item, a cell or a message."""
        sentences = [sentence for sentence in split(paragraph) if len(sentence.split()) >= FEWEST]
        for sentence in sentences:
            words = len(sentence.split())
            self.lengths.append(words)
            if words > LONG:
                self.long.append(f"{place}: {words} words: {sentence}")
            if words > LONGEST:
                self.to_change.append(self.long[-1])
        if (words := sum(len(sentence.split()) for sentence in sentences)) > PARAGRAPH:
            self.to_change.append(f"{place}: a paragraph of {words} words: {sentences[0]}")
        self.to_change += (f"{place}: {match.group()!r}: {around(paragraph, match)}" for match in words_of(paragraph))

    @property
    def mean(self) -> float:
        """Words a sentence; 0 where there is none."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0

    @property
    def share(self) -> float:
        """The share of sentences over LONG words."""
        return len(self.long) / len(self.lengths) if self.lengths else 0.0

    def row(self, name: str) -> str:
        return f"{len(self.lengths):6} {self.mean:5.1f} {self.share:6.1%} {len(self.to_change):4}  {name}"


def split(paragraph: str) -> list[str]:
    """The sentences of a paragraph; a piece of code in it is one word."""
    plain = ABBREVIATION.sub(r"\1", CODE.sub("`code`", " ".join(paragraph.split())))
    return END.split(plain.strip())


def words_of(paragraph: str) -> Iterator[re.Match[str]]:
    """Words of FOREIGN outside of code and of what is quoted."""
    return FOREIGN.finditer(re.sub(r"\"[^\"]*\"|“[^”]*”", lambda m: "_" * len(m[0]), CODE.sub("`code`", paragraph)))


def around(paragraph: str, match: re.Match[str]) -> str:
    plain = CODE.sub("`code`", paragraph)
    return " ".join(plain[max(0, match.start() - 40) : match.end() + 40].split())


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs, list items, cells and headings of a page with their lines; code blocks and front matter are left out."""
    body = re.sub(r"\A---\n.*?\n---\n", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    line = 0
    for token in MARKDOWN.parse(body):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline":
            yield line, "".join(pieces(token.children or []))


def pieces(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text":
                yield token.content
            case "code_inline":
                yield "`code`"
            case "softbreak" | "hardbreak":
                yield " "
            case "image":
                yield token.content


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The paragraphs of the docstrings of a module, its public names, constants and fields; a parameter's name is code."""
    for line, text in documented(ast.parse(path.read_text(encoding="utf-8"))):
        paragraphs = re.split(r"\n\s*\n|\n(?=\s*- )|\n(?=\s+\w+: )", text)
        named_as_code = (re.sub(r"\A(\s*)([a-z]\w*): ", r"\1`\2`: ", paragraph) for paragraph in paragraphs)
        yield from ((line, paragraph) for paragraph in named_as_code if not paragraph.lstrip().startswith(">>>"))


def documented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings with their lines; that of a constant or a field is the string below it."""
    for node in ast.walk(tree):
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith(
            "_"
        )
        if (isinstance(node, ast.Module) or named) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text
        if isinstance(node, ast.Module | ast.ClassDef):
            for pair in itertools.pairwise(node.body):
                match pair:
                    case (ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text)), lineno=line)):
                        yield line, text


def notebook(path: Path) -> Iterator[tuple[int, str]]:
    """The paragraphs of a notebook's cells of text, with the cells' numbers."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "markdown":
            yield from ((number, text) for _, text in markdown("".join(cell["source"])))


def sources() -> Iterator[tuple[str, Iterator[tuple[int, str]]]]:
    """Each page, notebook and module with its paragraphs."""
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        ROOT / "data/README.md",
    ]
    for page in sorted(pages):
        yield page.relative_to(ROOT).as_posix(), markdown(page.read_text(encoding="utf-8"))
    for page in sorted((ROOT / "notebooks").glob("*.ipynb")):
        yield page.relative_to(ROOT).as_posix(), notebook(page)
    for module in files(ROOT):
        yield module.relative_to(ROOT).as_posix(), docstrings(module)


def measure(part: str = "") -> dict[str, Measured]:
    """The measures of each file whose path begins with `part`."""
    result: dict[str, Measured] = {}
    for name, paragraphs in sources():
        if name.startswith(part):
            measured = result.setdefault(name, Measured())
            for line, paragraph in paragraphs:
                measured.add(f"{name}:{line}", paragraph)
    return result


def total(parts: Iterable[Measured]) -> Measured:
    """All of them as one."""
    whole = Measured()
    for part in parts:
        whole.lengths += part.lengths
        whole.to_change += part.to_change
        whole.long += part.long
    return whole


def main(arguments: list[str]) -> None:
    """Print the table, or with `--list` what is to change."""
    parser = argparse.ArgumentParser(description="Measure the sentences of the docs and docstrings.")
    parser.add_argument("part", nargs="*", default=[""], help="measure only files whose path begins with this")
    parser.add_argument("--list", action="store_true", help="print each sentence to change")
    given = parser.parse_args(arguments)
    measured = {name: value for part in given.part for name, value in measure(part).items()}
    whole = total(measured.values())
    if given.list:
        print("\n".join(dict.fromkeys([*whole.to_change, *whole.long])))
        return
    print(f"sentences, mean words, share over {LONG}, places to change")
    for name, value in measured.items():
        if value.lengths:
            print(value.row(name))
    print(whole.row("all"))


if __name__ == "__main__":
    main(sys.argv[1:])
