"""A domain that the package does not know, through the commands, a run and what a model is sent."""

import json

import pytest

from duologue import data, runs
from duologue.analysis.realism.transcripts import transcripts_of
from duologue.data import Conversation, Message
from duologue.data.rules import USER_FAULT_RULES
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.messages import MARKS, marks_of, messages_for
from duologue.nodes.replies import draft
from duologue.nodes.state import Planned, state_from
from duologue.views import conversation_page, run_page
from duologue.views.pairs import pair_html

LOG = """== AB1: move to Monday
C: I sit at the window.
D: We cannot change fare B.
== CD2: cancel <it>
C: Cancel it.
D: I promise.
"""


@pytest.fixture
def log(airline, tmp_path):
    (tmp_path / "counter.txt").write_text(LOG)
    return tmp_path / "counter.txt"


def test_check_reads_its_rules(duologue, log):
    code, out, _ = duologue("check", log, "--json")
    report = json.loads(out)
    assert (code, report["rules"]["promise"]) == (1, {"level": "error", "findings": 1})
    others = {**report["rules"]}
    del others["promise"]  # the log's scenario has a goal, so the rules for its user apply too
    assert others == {name: {"level": "warning", "findings": 0} for name in USER_FAULT_RULES}


def test_check_says_which_domains_have_rules(duologue, airline, tmp_path):
    data.record_lines.write([Conversation(id="a", scenario={"kind": "x"})], tmp_path / "r.jsonl")
    assert (
        "there are rules for conversations of the kinds simquac, recllmsim, airline"
        in duologue("check", "r.jsonl", "--rule", "promise")[2]
    )


def test_convert_writes_its_data_set_and_says_what_is_left_out(duologue, log, tmp_path):
    code, out, _ = duologue("convert", log, tmp_path / "again.txt", "--to", "airline", "--json")
    assert (code, json.loads(out)["left_out"], json.loads(out)["kind"]) == (0, ["private facts"], "counter-log")
    assert (tmp_path / "again.txt").read_text() == LOG


def test_a_format_that_nobody_writes_is_one_line_with_those_there_are(duologue, log):
    code, _, err = duologue("convert", log, "x", "--to", "hotel")
    assert (code, err.count("\n")) == (2, 1)
    assert "'hotel' is not a format to write: give simquac, recllmsim, airline" in err


def test_pages_show_its_material_and_mark_its_facts(log):
    first, second = data.load(log).conversations
    page = conversation_page(first)
    assert '<h1 dir="auto">Booking AB1</h1>' in page
    assert page.index("What is wanted") < page.index("move to Monday") < page.index("Fare B, no refund.")
    assert '<mark title="seat">window</mark>' in page
    assert page.count('class="assistant refused"') == 1
    assert "cancel &lt;it&gt;" in conversation_page(second)


def test_a_span_is_marked_in_its_source_text(log):
    talk = data.load(log).conversations[0]
    span = data.Span(text="no refund", start=8)
    spoken = talk.model_copy(update={"messages": (Message(role="assistant", text="no refund", spans=(span,)),)})
    assert ">no refund</a>" in conversation_page(spoken)
    assert data.outline(spoken).coverage == 9 / 18
    assert "<summary>Ticket: <span" in pair_html(spoken, spoken, ("a", "b"), "p")


def test_the_page_of_a_run_lists_its_titles(log):
    page = run_page(data.load(log), "Counter")
    assert "Booking AB1" in page


def test_its_users_and_facts_are_those_that_are_compared(log):
    first, _ = transcripts_of(data.load(log), "en")
    assert first.user == "AB1"
    assert [fact.words for fact in first.facts] == [{"window"}]
    assert first.facts_told == {0: 0}


def test_a_run_writes_its_data_set_and_its_attribution(airline, tmp_path):
    async def speak(state, runtime):
        return {"drafts": [draft("Hello")]}

    cast = simquac.cast().replace(
        user_simulator=speak, assistant=speak, answer_validator=simquac.cast().question_validator
    )
    scenario: Planned = {"scenario": {"kind": "airline", "booking": "AB1", "goal": "move"}}
    runs.simulate(cast, [scenario], out=tmp_path / "run", limits=Limits(max_turns=1))
    written = runs.write_dataset(tmp_path / "run").path
    assert written == tmp_path / "run" / "dataset" / "counter.log"
    assert written.read_text() == "== AB1: move\nC: Hello\nD: Hello\n"
    card = (tmp_path / "run" / "dataset" / "README.md").read_text()
    assert "- `counter.log`: what was said at the counter" in card
    assert "The bookings are made up." in card
    assert "QuAC" not in card
    assert "private facts" in card


def test_no_text_of_the_other_side_holds_its_marks_and_nobody_elses_prompts_change(airline):
    def sent(scenario):
        state = state_from(scenario, [{"role": "user", "text": "<booking>x</booking> <section>"}])
        return messages_for("assistant", state, system="s", material="", own_drafts=False)[1].content

    assert sent({"kind": "airline"}) == "‹booking›x‹/booking› ‹section›"
    assert sent({"kind": "simquac"}) == sent({"kind": "x"}) == "<booking>x</booking> ‹section›"
    assert marks_of({"kind": "simquac"}) == MARKS
    assert (
        tuple(f"{end}{name}" for name in "title background header section task profile".split() for end in ("", "/"))
        == MARKS
    )
