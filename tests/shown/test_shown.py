"""Every command and every block of Python of README and docs runs, each page in a folder of its own.

The files have the names of the docs and are small (`folder.py`, `before.py`); models are those of the tests' endpoint.
`NOT_RUN` lists the commands that no test can run, with the reason.
"""

import itertools
import json
import re
import shutil
import tomllib
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.shown.before import BEFORE
from tests.shown.folder import furnish
from tests.shown.pages import Step, pages, saved, steps, text_of
from tests.tree import ROOT

NOT_RUN = {
    r"pip install ": "a package index: the extras are compared with pyproject.toml",
    r"pytest ": "a test of this project, which compares the figures",
    r"make ": "the suite itself: the targets are compared with the Makefile",
    r"git clone ": "the network",
    r"\. \.venv": "a shell's own command",
    r"export ": "a shell's own command",
    r"ray start ": "machines of a cluster",
    r".* --ray HOST.*": "machines of a cluster: tests/runs/test_ray.py starts Ray on this one",
    r"langgraph dev": "a server: tests/server starts it",
    r"curl ": "that server",
    r"duologue label (?!.*--(?:write|read|release|out) )": "a page until Ctrl-C: tests/labelling opens it",
    r".*--to inspect": "the extra inspect: tests/hosts/test_inspect.py writes its logs",
    r"inspect view": "a server of Inspect: tests/hosts/test_inspect.py reads what it shows",
    r"duologue serve-user ": "a server until Ctrl-C: tests/cli/hosts starts it",
    r".*[ :]local:": "a language model on this machine: tests/nodes/models/test_local.py asks one",
    r"python examples/trained_student": "a language model on this machine, trained for an hour",
    r".* (?:anthropic|ollama):": "another provider's package: tests/nodes/models has one",
}
SMALLER = {"--draws": 8, "--trials": 2, "--repeats": 4, "--seeds": 1, "--trees": 2, "--sample": 3}
"""The greatest values of options that only make a command longer."""
FEWER = {
    "duologue simulate recllmsim": ("--limit", "48"),
    "python -m tests.intervals": ("--draws", "8"),
}
"""Options of the same kind that a command is given where it has them not."""
MODELS = {"openai:NAME": "openai:gpt-4.1-mini", "openai:OTHER": "openai:gpt-4.1-nano"}
MAY_BE_ONE = {"check", "test", "annotate", "validity"}
"""Commands that end with 1 for findings, for failures, and for a model whose replies hold no label, as the endpoint's do."""
ANALYSES = re.compile(r"duologue (?:agreement|check|compare|papers|simquac|stats) |python -m")
"""Commands that change no file but their own: one that an earlier page has is not run again."""


@cache
def plan() -> dict[str, list[Step]]:
    """The steps that run, by page."""
    seen: set[str] = set()
    planned: dict[str, list[Step]] = {}
    for step in (step for page in pages() for step in steps(page)):
        if step.is_python or not (step.text in seen or reason(step)):
            planned.setdefault(step.page, []).append(step)
        if not step.is_python and ANALYSES.match(step.text):
            seen.add(step.text)
    return planned


def reason(step: Step) -> str:
    """Why a command is not run; empty if it is."""
    return next((why for begin, why in NOT_RUN.items() if re.match(begin, step.text)), "")


def as_run(step: Step) -> dict[str, Any]:
    """A step for the process that runs it: with models of the endpoint and smaller numbers."""
    text = step.text
    for name, model in MODELS.items():
        text = text.replace(name, model)
    words = [] if step.is_python else replace(step, text=text).words
    words = words[2:] if words[:1] == ["/usr/bin/time"] else words
    for place, (option, value) in enumerate(itertools.pairwise(words)):
        if option in SMALLER:
            words[place + 1] = str(min(int(value), SMALLER[option]))
    for begin, (option, value) in FEWER.items():
        if text.startswith(begin) and not {option, "--sample"} & set(words):
            words += [option, value]
    return asdict(step) | {"text": text, "words": words}


def with_preparations(page: str, found: list[Step]) -> list[Step]:
    """The steps of a page, with what `BEFORE` has before them."""
    result, waiting = [], dict(BEFORE.get(page, {}))
    for step in found:
        for begin in [begin for begin in waiting if step.text.startswith(begin)]:
            result.append(Step(f"before {page}", 0, waiting.pop(begin), is_python=True))
        result.append(step)
    assert not waiting, f"{page} has no step that begins so: {list(waiting)}"
    return result


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, open_data: Path) -> Path:
    folder = tmp_path_factory.mktemp("source")
    furnish(folder, open_data)
    return folder


LONG = ("docs/data/", "docs/papers/", "docs/people/")
"""Pages whose commands analyse whole data sets."""


@pytest.mark.heavy
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] * page.startswith(LONG)) for page in plan()]
)
def test_the_commands_and_the_python_of_a_page_run(
    page: str, source: Path, tmp_path: Path, forks: Any, faulty: Any
) -> None:
    if page == "docs/papers/simquac.md":
        for name in ("datasets", "torch", "transformers"):
            pytest.importorskip(name)
    folder = tmp_path / "page"
    shutil.copytree(source, folder, symlinks=True)
    for name, text in saved(ROOT / page):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    found = with_preparations(page, plan()[page])
    (folder / "plan.json").write_text(json.dumps([as_run(step) for step in found]), encoding="utf-8")
    code = (ROOT / "tests/shown/run.py").read_text(encoding="utf-8")
    environment = {**faulty().environment, "ROOT": str(ROOT)}
    done = forks.run("-c", code, "plan.json", cwd=folder, environment=environment)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(found), done.stderr
    wrong = [
        f"{step.page}:{step.line}: {step.text}\nended with {result['code']}: {result['output']}"
        for step, result in zip(found, results, strict=True)
        if result["code"] not in ((0, 1) if MAY_BE_ONE & {*step.text.split()[:2]} else (0,))
    ]
    assert not wrong, "\n\n".join(wrong)


def test_each_reason_not_to_run_a_command_is_needed_and_names_what_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    left_out = [step for page in pages() for step in steps(page) if not step.is_python and reason(step)]
    assert {reason(step) for step in left_out} == set(NOT_RUN.values())
    for step in left_out:
        for names in re.findall(r"duologue\[([\w,-]+)\]", step.text):
            assert set(names.split(",")) <= extras.keys(), step
        if step.words[0] == "make":
            assert step.words[1] in targets, step
        for path in re.findall(r"(?:tests|docs)/\S+\.py", step.text):
            assert (ROOT / path).is_file(), step
        for module in re.findall(r"-m (tests\S+)", step.text):
            assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), step
    for path in re.findall(r"tests/[\w/.]*\w", " ".join(NOT_RUN.values())):
        assert (ROOT / path).exists(), path


def test_every_page_with_a_command_or_python_has_steps() -> None:
    every = [step for page in pages() for step in steps(page)]
    assert sum(step.is_python for step in every) > 40
    assert sum(not step.is_python and not reason(step) for step in every) > 80
    for page in pages():
        blocks = re.findall(r"^```(?:sh|python)$|^    (?:duologue|python) ", text_of(page), re.MULTILINE)
        assert not blocks or any(step.page == page.relative_to(ROOT).as_posix() for step in every), page
