"""The published tables' quantities, each on a case counted by hand, and the open data."""

import json
import math
import re

import pytest

from duologue import data
from duologue.analysis.simquac import simquac_statistics
from duologue.data import Conversation, Message, Span
from duologue.data.simquac import Topic
from tests.analysis.printed import measures, rows

stats = pytest.importorskip("scipy.stats")

SECTION = "Three keepers lived there. The last  one left in 1968. Ships pass."
NONE = "I cannot find the answer."


def talk(*pairs, section=SECTION, **topic):
    """Questions with the spans that answer them; none is a refusal, a text an answer that is not a span."""
    about = Topic(title="Light", header="Keepers", section=section or "x", **topic)
    messages = []
    for question, answer in pairs:
        messages.append(Message(role="user", text=question))
        if isinstance(answer, str):
            messages.append(Message(role="assistant", text=answer))
        elif answer is not None:
            spans = tuple(Span(text=text, start=section.index(text)) for text in answer)
            messages.append(Message(role="assistant", text="\n".join(answer) or NONE, spans=spans))
    scenario = about.scenario() | {"section": section}
    return Conversation(id="a", scenario=scenario, messages=tuple(messages))


def of(*conversations):
    return measures(simquac_statistics({"x": conversations}).by_name["sources"])["x"]


def test_words_are_split_on_single_spaces_and_summed_over_the_spans_of_answered_questions():
    # "last  one" has two spaces, so three words, one of them empty; "Ships pass" has two; the refusal counts nowhere.
    statistics = of(talk(("Who?", ["last  one", "Ships pass"]), ("Why?", []), ("And?", ["1968"])))
    assert (statistics.questions, statistics.answered, statistics.refused) == (3, 2, 1)
    assert statistics.words_per_answer == (3 + 2 + 1) / 2
    assert statistics.spans_per_answer == (2 + 1) / 2


def test_coverage_is_of_the_union_of_spans_with_mean_and_population_deviation():
    one = talk(("Who?", ["Three keepers", "keepers lived"]))  # "Three keepers lived": 19 characters
    other = talk(("Who?", []))
    statistics = of(one, other)
    share = 19 / len(SECTION)
    assert statistics.coverage_n == 2
    assert statistics.coverage_mean == pytest.approx(share / 2)
    assert statistics.coverage_sd == pytest.approx(share / 2)  # both lie half the share from the mean


def test_flow_is_kendalls_tau_b_of_turn_and_first_span_without_unanswerable_turns():
    # Starts by turn: 0, (refused), 31 + ..., 6: of three pairs two rise and one falls: (2 - 1) / 3.
    conversation = talk(("a?", ["Three"]), ("b?", []), ("c?", ["Ships", "Three"]), ("d?", ["keepers"]))
    assert of(conversation).flow_mean == pytest.approx(1 / 3)
    # A tie: starts 0, 0, 6. Two pairs rise, one is tied: 2 / sqrt(3 * 2).
    tied = talk(("a?", ["Three"]), ("b?", ["Three"]), ("c?", ["keepers"]))
    assert of(tied).flow_mean == pytest.approx(2 / math.sqrt(6))


def test_conversations_with_fewer_than_two_answers_or_all_ties_have_no_flow():
    statistics = of(
        talk(("a?", ["Three"]), ("b?", [])),
        talk(("a?", ["Three"]), ("b?", ["Three keepers"])),
        talk(("a?", ["Three"]), ("b?", ["Ships"])),
    )
    assert (statistics.flow_n, statistics.flow_few, statistics.flow_tied) == (1, 1, 1)
    assert (statistics.flow_mean, statistics.flow_sd) == (1.0, 0.0)


def test_the_test_is_students_on_one_value_a_conversation():
    long, short = talk(("a?", ["Three"]), ("b?", ["Ships"])), talk(("a?", ["Three"]), ("b?", []))
    statistics = simquac_statistics({"a": [long, short, short], "b": [long] * 3 + [short]})
    one = next(test for test in rows(statistics.by_name["tests"]) if test.measure == "answered")
    of_a, of_b = [1.0, 0.5, 0.5], [1.0, 1.0, 1.0, 0.5]
    expected = stats.ttest_ind(of_a, of_b)
    assert (one.n_a, one.n_b, one.statistic, one.p) == (3, 4, pytest.approx(expected.statistic), pytest.approx(expected.pvalue))  # fmt: skip


def test_coverage_is_compared_at_an_equal_number_of_questions_of_conversations_about_one_section():
    def of_section(number, *answered):
        section = f"{number}{SECTION}"
        return talk(*(("?", [text]) for text in answered), section=section)

    people = [of_section(number, "Three") for number in range(8)]
    simulated = [of_section(number, "Three", "Ships pass.") for number in range(8)]
    whole, first = rows(simquac_statistics({"people": people, "simulated": simulated}).by_name["equal_questions"])
    assert (first.questions, first.pairs, first.b_less_a) == ("first k", 8, 0.0)
    assert whole.b_less_a == pytest.approx(len("Ships pass.") / (len(SECTION) + 1))


OTHER = Conversation(id="m", scenario={"kind": "messages"}, messages=(Message(role="user", text="Hi?"),))
BAD = {
    "no conversation": ([], "no question is answered"),
    "nothing said": ([talk(), talk()], "no question is answered"),
    "no answer at all": ([talk(("Who?", None))] * 2, "no question is answered"),
    "no spans": ([talk(("Who?", "He did."))] * 2, "2 answers are neither spans of the section nor refusals"),
    "another kind": ([OTHER], "1 conversations are about no section"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_numbers_is_stated_in_the_table(case):
    conversations, stated = BAD[case]
    statistics = simquac_statistics({"bad": conversations, "good": [talk(("a?", ["Three"]), ("b?", ["Ships"]))] * 3})
    assert any(note.startswith("bad: ") and stated in note for note in statistics.tables()[0].notes)
    json.dumps(statistics.to_json(), allow_nan=False)
    for table in statistics.tables():
        assert not re.search(r"\bnan\b", table.to_csv())


def test_a_goodbye_that_is_not_stored_is_no_question():
    conversation = talk(("Who?", ["Three"]))
    bye = Message(role="user", text="Thanks, bye.", stored=False)
    assert of(conversation.model_copy(update={"messages": (*conversation.messages, bye)})).questions == 1


@pytest.fixture(scope="module")
def open_statistics(open_data):
    files = ("quac_subset.json", "sim_quac.json")
    return simquac_statistics({name: data.load(open_data / "simquac" / name) for name in files})


def test_the_open_data_gives_the_numbers_of_the_documentation(open_statistics):
    people, simulated = measures(open_statistics.by_name["sources"]).values()
    assert (people.conversations, people.questions, people.answered) == (77, 552, 446)
    assert (simulated.conversations, simulated.questions, simulated.answered) == (77, 924, 565)
    assert (people.words_per_answer, people.spans_per_answer) == (pytest.approx(15.2422, abs=1e-4), 1.0)
    assert (people.words_per_question, simulated.words_per_question) == pytest.approx((6.571, 13.319), abs=1e-3)
    assert simulated.words_per_answer == pytest.approx(27.3451, abs=1e-4)
    assert simulated.spans_per_answer == pytest.approx(1.3823, abs=1e-4)
    assert (people.coverage_mean, people.coverage_sd) == pytest.approx((0.2417, 0.1482), abs=1e-4)
    assert (simulated.coverage_mean, simulated.coverage_sd) == pytest.approx((0.3973, 0.1788), abs=1e-4)
    assert (people.flow_n, simulated.flow_n) == (73, 76)
    assert (people.flow_mean, simulated.flow_mean) == pytest.approx((0.5612, 0.3728), abs=1e-4)
    by_measure = {one.measure: one for one in rows(open_statistics.by_name["tests"])}
    assert by_measure["coverage"].statistic == pytest.approx(-5.8406, abs=1e-4)
    assert by_measure["flow"].p == pytest.approx(0.00978, abs=1e-5)
