"""`import duologue`: what a newcomer finds by Tab, and that each of it works."""

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import duologue
from duologue.errors import DataError

TOPIC = {
    "title": "The <b>pier</b>",
    "header": "Keepers",
    "section": "Three keepers lived there. The last left in 1968.",
}


@pytest.fixture(scope="module")
def conversations() -> list[duologue.Conversation]:
    simquac = duologue.graphs.simquac
    return duologue.simulate(simquac.cast(), [simquac.scenario(TOPIC)], limits=duologue.Limits(max_turns=1))


def test_tab_shows_the_names_of_the_front_door_and_the_rooms() -> None:
    expected = (
        "Cast Conversation Limits simulate asimulate load compare show data nodes graphs runs views prompts analysis"
    )
    assert set(expected.split()) <= set(dir(duologue))
    for name in dir(duologue):
        assert getattr(duologue, name) is not None


@pytest.mark.heavy
def test_rooms_are_imported_when_they_are_touched(tmp_path: Path) -> None:
    code = (
        "import sys, duologue; before = 'duologue.graphs' in sys.modules; duologue.graphs; "
        "print(before, 'duologue.graphs' in sys.modules, duologue.casts.registered().keys() >= {'simquac', 'recllmsim'})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = duologue.simulat


def test_conversations_are_shown_as_a_page_escaped_and_in_one_line_of_text(
    conversations: list[duologue.Conversation], tmp_path: Path
) -> None:
    page = duologue.show(conversations, out=tmp_path / "page.html")
    assert repr(page) == "<Page conversations: 1 conversation; .write(FILE.html) saves it>"
    for html in (page._repr_html_(), (tmp_path / "page.html").read_text()):
        assert "&lt;b&gt;pier" in html
        assert "<b>pier" not in html
    alone = duologue.show(conversations[0], out=tmp_path / "alone.html")
    assert "<script" not in (tmp_path / "alone.html").read_text()
    assert "Three keepers" in alone._repr_html_()


def test_a_path_is_shown_by_its_name(conversations: list[duologue.Conversation], tmp_path: Path) -> None:
    duologue.data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    assert repr(duologue.show(tmp_path / "talks.jsonl")).startswith("<Page talks: 1 conversation;")
    with pytest.raises(DataError, match="conversations: holds no conversation"):
        duologue.show([])


@pytest.mark.heavy
def test_two_sources_are_compared_and_the_report_is_written(open_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    sim = duologue.load(open_data / "recllmsim/LLM_agent_user/recipe planning")
    people = open_data / "recllmsim/human_exp_V2"
    report = duologue.compare(sim, people, out=tmp_path / "realism", sample=24)
    assert report.rows
    assert {file.name for file in (tmp_path / "realism").iterdir()} == {"report.html", "report.json"}


@pytest.mark.heavy
def test_references_are_named_and_are_in_the_report(conversations: list[duologue.Conversation], tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    duologue.data.record_lines.write(conversations, tmp_path / "first.jsonl")
    others = {"mine": conversations, "stored": tmp_path / "first.jsonl"}
    report = duologue.compare(conversations, conversations, references=others)
    assert list(report.references) == ["mine", "stored"]


OFFERED = [name for name in duologue.__all__ if callable(getattr(duologue, name)) or name in ("casts", "domains")]


@pytest.mark.parametrize("name", OFFERED)
def test_every_name_of_the_front_door_has_an_example_that_runs(name: str) -> None:
    value = getattr(duologue, name)
    own = value.__doc__ or ""
    assert "Example::" in own
    examples = doctest.DocTestParser().get_doctest(own, {}, name, None, 0)
    assert examples.examples
    before = dict(domains_registered())
    try:
        output: list[str] = []
        doctest.DocTestRunner(verbose=False).run(examples, out=output.append)
        assert not output, "".join(output)
    finally:
        domains_registered().clear()
        domains_registered().update(before)


def domains_registered() -> dict[str, object]:
    """The registry itself: an example adds to it."""
    registered: dict[str, object] = vars(duologue.domains)["_own"]
    return registered


DOORS = ("", "data", "nodes", "graphs", "runs", "analysis", "views")


def functions(door: str) -> dict[str, Callable[..., object]]:
    """The functions that a door has, by name."""
    module = import_module(f"duologue.{door}".rstrip("."))
    return {name: value for name in module.__all__ if inspect.isfunction(value := getattr(module, name))}


@pytest.mark.parametrize("door", DOORS)
def test_a_section_of_parameters_lists_each_one_in_their_order(door: str) -> None:
    for name, function in functions(door).items():
        _, begun, rest = (inspect.getdoc(function) or "").partition("\nArgs:\n")
        listed = re.findall(r"^    (\w+): \S", rest.partition("\n\n")[0], re.MULTILINE)
        assert not begun or listed == list(inspect.signature(function).parameters), name


def test_functions_of_the_front_door_with_many_parameters_explain_them() -> None:
    checked = {name for name, function in functions("").items() if len(inspect.signature(function).parameters) > 2}
    assert checked >= {"simulate", "asimulate", "test", "compare"}
    for name in checked:
        text = inspect.getdoc(functions("")[name]) or ""
        same = text.startswith(f"As `{name[1:]}`, whose parameters")  # what is awaited refers to what waits
        assert same or all(f"\n{section}:" in text for section in ("Args", "Returns", "Raises", "Example:")), name
