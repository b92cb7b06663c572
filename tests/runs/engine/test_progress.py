"""Progress of runs that Python code begins: in a notebook's cell, at a terminal, in a log."""

import asyncio
import io
import re
import sys
import threading
from collections import Counter
from types import SimpleNamespace

import pytest

import duologue
from duologue import runs
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.replies import draft
from duologue.runs import Conduct
from duologue.runs.engine import progress
from duologue.runs.engine.figures import RunFigures
from duologue.runs.engine.reports import EndpointNow

LIMITS = Limits(max_turns=1)
TIME = re.compile(r"^\d\d:\d\d:\d\d ", re.MULTILINE)


class Shown:
    """What a notebook's cell shows."""

    def __init__(self):
        self.bundles, self.places = [], 0
        self.enough = threading.Event()

    def display(self, bundle, raw, display_id):
        assert raw
        assert display_id
        self.places += 1
        self.update(bundle, raw)
        return self

    def update(self, bundle, raw):
        assert raw
        self.bundles.append(bundle)
        if len(self.bundles) == 3:
            self.enough.set()

    @property
    def texts(self):
        return [bundle["text/plain"].splitlines()[0] for bundle in self.bundles]


@pytest.fixture
def cell(monkeypatch):
    """A cell that is renewed all the time."""
    shown = Shown()
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr("IPython.display.display", shown.display)
    monkeypatch.setattr(progress, "A_SECOND", 0.001)
    return shown


def waiting_for(event):
    """A user who asks once the event has come."""

    async def user(state, runtime):
        assert await asyncio.to_thread(event.wait, 20)
        return {"drafts": [draft("Who lived there?")]}

    return simquac.cast().replace(user_simulator=user)


@pytest.mark.parametrize("out", [None, "run"])
def test_a_cell_shows_how_far_a_run_is_in_one_place_and_keeps_the_last_figures(cell, topics, out):
    conversations = duologue.simulate(waiting_for(cell.enough), simquac.scenarios(topics(2)), limits=LIMITS, out=out)
    assert len(conversations) == 2
    assert cell.places == 1
    assert cell.texts[0].startswith("0/2 conversations")
    assert cell.texts[-1].startswith("2/2 conversations  2 turns")
    assert '<progress max="2" value="2"' in cell.bundles[-1]["text/html"]


async def test_it_is_shown_inside_a_running_loop_and_when_awaited(cell, topics):
    scenarios = simquac.scenarios(topics(1))
    duologue.simulate(waiting_for(cell.enough), scenarios, limits=LIMITS)
    assert (cell.places, cell.texts[-1][:18]) == (1, "1/1 conversations ")
    await duologue.asimulate(simquac.cast(), scenarios, limits=LIMITS, conduct=Conduct(progress=True))
    assert (cell.places, cell.texts[-1][:18]) == (2, "1/1 conversations ")


def test_a_run_of_less_than_a_second_shows_nothing_in_a_cell_unless_it_is_asked_for(cell, topics, monkeypatch):
    monkeypatch.setattr(progress, "A_SECOND", 1000.0)
    for setting, places in ((None, 0), (False, 0), (True, 1)):
        conduct = Conduct(progress=setting)
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(2)), limits=LIMITS, conduct=conduct)
        assert cell.places == places
    assert [text[:17] for text in cell.texts] == ["0/2 conversations", "2/2 conversations"]


def test_in_a_cell_it_can_be_turned_off(cell, topics):
    begun = threading.Event()
    threading.Timer(0.05, begun.set).start()
    scenarios = simquac.scenarios(topics(1))
    duologue.simulate(waiting_for(begun), scenarios, limits=LIMITS, conduct=Conduct(progress=False))
    assert cell.places == 0


def test_a_display_that_fails_ends_no_run(cell, topics, monkeypatch):
    seen = threading.Event()

    def broken(bundle, raw):
        seen.set()
        raise RuntimeError("the kernel is gone")

    monkeypatch.setattr(cell, "update", broken)
    (conversation,) = duologue.simulate(waiting_for(seen), simquac.scenarios(topics(1)), limits=LIMITS)
    assert conversation.finished


def test_a_script_prints_nothing_unless_it_is_asked_for(topics, capsys):
    for setting, output in ((None, ""), (False, ""), (True, "HH:MM:SS 2/2 conversations, 2 turns\n")):
        conduct = Conduct(progress=setting)
        duologue.simulate(simquac.cast(), simquac.scenarios(topics(2)), limits=LIMITS, conduct=conduct)
        out, err = capsys.readouterr()
        assert (out, re.sub(r"(turns).*", r"\1", TIME.sub("HH:MM:SS ", err))) == ("", output)


def test_a_log_gets_a_line_now_and_then(topics, monkeypatch):
    class Log(io.StringIO):
        lines, enough = 0, threading.Event()

        def flush(self):
            self.lines += 1
            if self.lines == 3:
                self.enough.set()

    monkeypatch.setattr(sys, "stderr", log := Log())
    monkeypatch.setattr(progress, "A_MINUTE", 0.001)
    conduct = Conduct(progress=True)
    duologue.simulate(waiting_for(log.enough), simquac.scenarios(topics(1)), limits=LIMITS, conduct=conduct)
    lines = log.getvalue().splitlines()
    assert all(map(TIME.match, lines))
    lines = [TIME.sub("", line) for line in lines]
    assert len(lines) >= 4
    assert lines[0].startswith("0/1 conversations, 0 turns")
    assert lines[-1].startswith("1/1 conversations, 1 turns")


def test_a_terminal_has_one_line_that_fits_and_stays(topics, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    conduct = Conduct(progress=True)
    duologue.simulate(simquac.cast(), simquac.scenarios(topics(2)), limits=LIMITS, conduct=conduct)
    first, *others = terminal.getvalue().split("\r\x1b[2K")[1:]
    assert first.startswith("0/2 conversations")
    assert others[-1].startswith("2/2 conversations")
    assert others[-1].endswith("\n")
    assert max(len(line.rstrip("\n")) for line in (first, *others)) < 40


def test_what_is_done_already_is_not_in_the_plan_of_a_run_that_goes_on(topics, capsys):
    for count, output in ((2, "2/2 conversations"), (5, "3/3 conversations"), (5, "")):
        scenarios, conduct = simquac.scenarios(topics(count)), Conduct(progress=True)
        duologue.simulate(simquac.cast(), scenarios, limits=LIMITS, out="run", resume=count > 2, conduct=conduct)
        assert TIME.sub("", capsys.readouterr().err).partition(",")[0] == output


def test_the_callers_own_watch_and_keep_are_called_too(topics, tmp_path):
    watched, conversations = set(), []
    work = runs.arun(
        simquac.cast(),
        simquac.scenarios(topics(2)),
        tmp_path / "run",
        limits=LIMITS,
        watch=lambda state: watched.update({state["origin"].get("id")} - {None}),
        keep=conversations.append,
        conduct=Conduct(progress=True),
    )
    asyncio.run(work)
    assert watched == {conversation.id for conversation in conversations}
    assert len(conversations) == 2


def test_html_has_every_text_escaped_and_no_colour_or_script_of_its_own():
    endpoint = EndpointNow("<img src=x onerror=alert(1)>\x1b[2J", 9, Counter(rate_limited=3), "gone & back")
    figures = RunFigures(2, endpoints=lambda: [endpoint])
    figures.tally.rejected["<script>alert(1)</script>"] = 2
    html = progress.html(figures)
    assert "&lt;img src=x onerror=alert(1)&gt;\\x1b[2J: gone &amp; back" in html
    assert "&lt;script&gt;" in html
    assert set(re.findall(r"<(\w+)", html)) == {"div", "span", "progress"}
    assert not re.search(r"color|background|#[0-9a-f]{3}|on\w+=\"|\x1b", html)


def test_a_cell_and_a_log_tell_the_same(topics):
    endpoint = EndpointNow("api.example.com", 40, Counter(rate_limited=3, timeout=1), "gone")
    figures = RunFigures(20, endpoints=lambda: [endpoint])
    figures.tally.finished, figures.tally.turns, figures.tally.rejected["too_long"] = 7, 30, 2
    words = figures.words()
    parts = [words.conversations, words.turns, *words.rejected[:1], *words.spent, *words.calls[1:], *words.waiting]
    line, html = figures.line(), progress.html(figures)
    assert len(parts) == 6
    assert all(part in line and part in html for part in parts)


def test_where_prices_are_known_the_cost_is_counted_for_whoever_sees_it(cell):
    pytest.importorskip("genai_prices")
    assert Conduct().controlled().spending.priced
    assert not Conduct(progress=False).controlled().spending.priced


@pytest.mark.heavy
async def test_simulate_in_a_running_loop_over_a_faulty_endpoint_finishes_and_shows_the_faults(
    cell, faulty, topics, monkeypatch
):
    endpoint = faulty(faults={"429": 0.3, "null_content": 0.3})
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    conduct = Conduct(progress=True)
    cast = simquac.cast(user="openai:m", assistant="openai:m")
    conversations = duologue.simulate(cast, simquac.scenarios(topics(4)), limits=Limits(max_turns=2), conduct=conduct)
    assert [one.stop for one in conversations] == ["max_turns"] * 4
    assert sum(endpoint.counts()["faults"].values()) > 0
    text = cell.bundles[-1]["text/plain"]
    assert "rate limited" in text
    assert "faults" in text
    assert re.search(r"user [\d,.]+k? tokens", text)
