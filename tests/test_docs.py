"""Links of the documentation lead somewhere, and the modules and names that it gives are those of today."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from duologue.nodes.models.faults import MEANINGS
from tests.tree import ROOT, file_of, files

LAYERS = ("analysis", "cli", "data", "duologue", "graphs", "hosts", "nodes", "prompts", "runs", "studies", "views")
DOTTED = re.compile(rf"`+(?:from |import )?((?:{'|'.join(LAYERS)})(?:\.[A-Za-z_]\w*)+)(?=[`(:\[,= ])")
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[tuple[Path, str]]:
    """The documentation's files with their text."""
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        yield path, path.read_text()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        yield path, "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def anchors(text):
    """The anchors of a page's headings, as a page on GitHub has them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolves(dotted):
    """Whether a path of a module, or of what a module holds, leads to something of today."""
    parts = dotted.removeprefix("duologue.").split(".")
    for end in range(len(parts), -1, -1):
        if file_of(tuple(parts[:end])) is not None:
            if not parts[end:]:
                return True
            value: object = import_module(".".join(["duologue", *parts[:end]]))
            for name in parts[end:]:
                fields = getattr(value, "model_fields", {}) | getattr(value, "__annotations__", {})
                if not hasattr(value, name) and name not in fields:
                    return False
                value = getattr(value, name, fields.get(name))
            return True
    return False


def test_every_link_of_the_documentation_leads_to_a_file_and_a_heading():
    dead = []
    for page, text in pages():
        for link in LINK.findall(FENCED.sub("", text)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert dead == []


def test_every_path_of_a_module_or_a_name_in_the_documentation_is_one_of_today():
    texts = [*pages(), *((path, path.read_text()) for path in files())]
    stale = set()
    for page, text in texts:
        for dotted in {*DOTTED.findall(text)}:
            try:
                right = resolves(dotted)
            except ImportError:
                right = False
            if not right:
                stale.add((page.relative_to(ROOT).as_posix(), dotted))
    assert sorted(stale) == []


def test_the_page_on_reliability_says_what_happens_at_each_fault():
    page = (ROOT / "docs/run/runs.md").read_text()
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))
    assert [name for name in MEANINGS if name not in named] == []
