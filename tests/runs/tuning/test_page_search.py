"""Searching for pages: a model that writes a better page is followed, one that breaks a page is not."""

from pathlib import Path

import pytest

from duologue.errors import SettingError
from duologue.graphs import casts, recllmsim
from duologue.prompts import Page
from duologue.runs.tuning.page_adapter import refusal, tunable
from duologue.runs.tuning.page_search import PageSearch
from duologue.runs.tuning.search import tune
from duologue.runs.tuning.simulators import Simulator
from tests.runs import tuned_toys as toys

pytest.importorskip("gepa")
PAGE = "user/system"


class Writer:
    """Writes a page anew: the scripted replies one after the other, the last of them for ever."""

    def __init__(self, *pages: str) -> None:
        self.pages, self.prompts = list(pages), []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        page = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        return f"```\n{page}\n```"


def wordy_cast(prompts=None, language=None):
    """A cast whose user writes as many words as its system page says; 5 if it says nothing."""
    pages = recllmsim.cast(prompts=prompts).prompts
    source = pages[PAGE].source
    words = int(source.partition("WORDS ")[2].split()[0]) if "WORDS " in source else 5

    def speaks(messages):
        return " ".join(["more"] * words)

    return recllmsim.cast(user=speaks, assistant=lambda messages: "Here is one more.", prompts=prompts)


@pytest.fixture
def simulator(tmp_path: Path) -> Simulator:
    factory = casts.factory_of("told_toy", wordy_cast, "told_toy")
    source = casts.find("recllmsim").source
    casts.register(casts.CastFactory("told_toy", factory.build, factory.settings, source, "a toy"), replace=True)
    return Simulator("told_toy", toys.written(tmp_path), limit=2, limits={"max_turns": 1})


def shipped() -> str:
    return recllmsim.cast().prompts[PAGE].source


def searched(simulator, out, writer, trials=8, **more):
    search = PageSearch(writer, (PAGE,), trials)
    objective = more.pop("objective", toys.Wordiness())
    return tune(simulator, objective, {}, out=out, pages=search, trials=0, **{"judge": False, **more})


@pytest.mark.heavy
def test_a_better_page_is_found_written_down_and_named_in_the_command(simulator, tmp_path):
    writer = Writer(f"{shipped()}\nWORDS 40 at most", f"{shipped()}\nWORDS 70 at most")
    tuned = searched(simulator, tmp_path / "out", writer, judge=True)
    assert list(tuned.pages) == [PAGE]
    before, after = tuned.page_judgements
    assert (before.value, after.value) == (6.5, 0.0)
    assert "WORDS 70" in (tmp_path / f"out/pages/{PAGE}.md").read_text()
    assert f"--prompts {tmp_path / 'out/pages'}" in tuned.command
    assert "people write 70 words, this user 5" in writer.prompts[0]
    assert tuned.judged is not None
    assert (tuned.judged.start.value, tuned.judged.best.value) == (6.5, 0.0)
    assert casts.find("told_toy")(prompts=tmp_path / "out/pages").prompts[PAGE].source.endswith("WORDS 70 at most")


def test_a_page_that_breaks_its_gaps_is_not_followed_and_the_writer_is_told(simulator, tmp_path):
    objective = toys.Wordiness()
    writer = Writer(
        "WORDS 70 {{ unknown_gap }}", "WORDS 70 {% for n in range(9) %}x{% endfor %}", f"{shipped()}\nWORDS 60"
    )
    tuned = searched(simulator, tmp_path / "out", writer, objective=objective)
    assert "could not be used: the page must have these gaps" in writer.prompts[1]
    assert "could not be used: the page has template syntax" in writer.prompts[2]
    assert "WORDS 60" in (tmp_path / f"out/pages/{PAGE}.md").read_text()
    assert tuned.page_judgements[-1].value == 1.0
    assert not any("WORDS 70" in file.read_text() for file in (tmp_path / "out").rglob("*.md"))


def test_pages_that_do_not_get_better_are_left_as_they_are(simulator, tmp_path):
    tuned = searched(simulator, tmp_path / "out", Writer("WORDS 70 {{ unknown_gap }}"))
    assert (tuned.pages, (tmp_path / "out/pages").exists()) == ({}, False)


@pytest.mark.heavy
def test_a_resumed_search_for_pages_asks_nobody_again(simulator, tmp_path):
    pages = (f"{shipped()}\nWORDS 40 at most", f"{shipped()}\nWORDS 70 at most")
    first = searched(simulator, tmp_path / "out", Writer(*pages))
    objective, writer = toys.Wordiness(), Writer("none")
    again = searched(simulator, tmp_path / "out", writer, objective=objective, resume=True)
    assert (again.pages, again.page_judgements) == (first.pages, first.page_judgements)
    assert (objective.judged, writer.prompts) == ([], [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("Say {{ goal }} in {{ style }}.", "these gaps and no others: goal"),
        ("Say it.", "these gaps and no others: goal"),
        ("Say {{ goal }}. {% if goal %}x{% endif %}", "template syntax"),
        ("Say {{ goal|upper }}.", "template syntax"),
        ("Say {{ goal.__class__ }}.", "template syntax"),
        ("Say {{ goal }", "line 1"),
        ("Say {{ goal }}. <wish>x</wish>", "marks"),
        ("x" * 30_000, "characters"),
    ],
)
def test_a_page_is_text_with_its_own_gaps_and_nothing_else(text, why):
    assert why in refusal(Page("user/system", "Say {{ goal }}."), text)
    assert refusal(Page("user/system", "Say {{ goal }}."), "Tell {{ goal }} shortly.") == ""


def test_only_pages_that_there_are_can_be_searched_for():
    library = recllmsim.cast().prompts
    assert PAGE in tunable(library, [])
    assert not any(name.startswith(("assistant/", "user/repair_", "user/post_")) for name in tunable(library, []))
    with pytest.raises(SettingError, match="no such template"):
        tunable(library, ["user/none"])
