"""Coverage at an equal number of questions: cases counted by hand, and the open data counted from its JSON."""

import json
import math
import random
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue import data
from duologue.analysis.over_users.comparison import compare_pairs
from duologue.analysis.simquac import coverage, simquac_statistics
from duologue.analysis.simquac.figures import simquac_figures
from duologue.analysis.simquac.samples import coverage_by_question
from duologue.data import Conversation, Message, Span
from duologue.data.people import paired
from duologue.data.simquac import Topic

NONE = "I cannot find the answer."
LENGTH = 20


def section_of(number):
    """A section of 20 characters, another for each number."""
    return f"{number:02d}" * 10


def talk(*answers, about=0, section=None, title="Light", header="Keepers"):
    """A question for each answer: an answer is the number of characters that it adds, 0 a refusal, None no answer."""
    text = section_of(about) if section is None else section
    messages, place = [], 0
    for answer in answers:
        messages.append(Message(role="user", text="And then?"))
        if answer is not None:
            words = text[place : place + answer]
            spans = (Span(text=words, start=place),) if answer else ()
            messages.append(Message(role="assistant", text=words or NONE, spans=spans))
            place += answer
    scenario = Topic(title=title, header=header, section=text or "x").scenario() | {"section": text}
    return Conversation(id=f"{about}", scenario=scenario, messages=tuple(messages))


def equal(a, b):
    (comparison,) = simquac_statistics({"people": a, "simulated": b}).equal_questions
    return comparison


def sets(shares):
    """Two questions a person, four a simulated student: characters after the second and the fourth, in twentieths."""
    people = [talk(1, 1, about=number) for number in range(len(shares))]
    simulated = [talk(first, 0, more, 0, about=number) for number, (first, more) in enumerate(shares)]
    return people, simulated


def test_a_student_who_asks_twice_as_much_of_the_same_section_covers_no_more_in_the_first_k():
    people = [talk(2, number % 3, about=number) for number in range(12)]
    simulated = [talk(2, number % 3, 4, 4 + number % 2, about=number) for number in range(12)]
    comparison = equal(people, simulated)
    assert (comparison.pairs, comparison.questions_a, comparison.questions_b, comparison.k) == (12, 2, 4, 2)
    assert comparison.all_questions.mean_a == pytest.approx((2 + 1) / LENGTH)
    assert comparison.all_questions.mean_b == pytest.approx((2 + 1 + 8.5) / LENGTH)
    assert comparison.first_k.mean_a == comparison.first_k.mean_b == pytest.approx(3 / LENGTH)
    assert comparison.first_k.difference == comparison.gap_left == 0
    assert comparison.first_k.p is None
    assert comparison.first_k.reason == "every pair has the same difference, so there is no test and no interval"
    assert comparison.all_questions.p < 1e-6


def test_k_is_each_pairs_smaller_number_of_questions_whichever_side_asks_fewer():
    comparison = equal([talk(5, about=1), talk(1, 2, 3, about=2)], [talk(1, 1, 1, about=1), talk(4, 0, about=2)])
    # First pair: k 1, 5 against 1. Second: k 2, 3 against 4.
    assert (comparison.k, comparison.questions_a, comparison.questions_b) == (1.5, 2, 2.5)
    assert comparison.first_k.mean_a == pytest.approx((5 + 3) / 2 / LENGTH)
    assert comparison.first_k.mean_b == pytest.approx((1 + 4) / 2 / LENGTH)
    assert comparison.all_questions.mean_a == pytest.approx((5 + 6) / 2 / LENGTH)
    assert comparison.all_questions.mean_b == pytest.approx((3 + 4) / 2 / LENGTH)


def test_a_refused_question_and_one_without_an_answer_are_spent():
    comparison = equal([talk(3, 3)], [talk(0, 6, 6)])
    assert comparison.first_k.mean_b == pytest.approx(6 / LENGTH)
    comparison = equal([talk(3, 3, 3)], [talk(6, None)])
    assert (comparison.k, comparison.first_k.mean_a) == (2, pytest.approx(6 / LENGTH))


@pytest.mark.heavy
def test_the_gap_left_is_the_share_of_the_difference_that_equal_numbers_leave():
    # People cover 2 always. Simulated: 3 to 5 after two questions, 9 to 11 after four: 2 of the gap of 8 are left.
    comparison = equal(*sets([(3 + number % 3, 6) for number in range(12)]))
    assert comparison.all_questions.difference == pytest.approx(-8 / LENGTH)
    assert comparison.first_k.difference == pytest.approx(-2 / LENGTH)
    assert comparison.gap_left == pytest.approx(2 / 8)
    assert not comparison.notes


@pytest.mark.heavy
def test_no_gap_left_is_told_where_the_gap_itself_is_not_clear_of_0():
    comparison = equal(*sets([(1, 0), (3, 0)] * 6))
    assert comparison.all_questions.low < 0 < comparison.all_questions.high
    assert comparison.gap_left is None
    assert any("gap left: none, since" in note for note in comparison.notes)


def test_the_interval_and_the_paired_t_are_counted_by_hand():
    # Differences 1, 2, ..., 10: mean 5.5, variance 110 / 12 = 9.1667; t of 9 degrees at 0.975 is 2.262157.
    comparison = compare_pairs(
        [float(number) for number in range(2, 21, 2)], [float(number) for number in range(1, 11)]
    )
    error = math.sqrt(110 / 12 / 10)
    assert comparison.statistic == pytest.approx(5.5 / error)
    assert (comparison.low, comparison.high) == pytest.approx(
        (5.5 - 2.262157 * error, 5.5 + 2.262157 * error), abs=1e-5
    )
    # All ranks are positive: the smaller sum is 0, and one of 2**10 signs on either side is as extreme.
    assert (comparison.wilcoxon_statistic, comparison.wilcoxon_p) == (0, pytest.approx(2 / 2**10))
    # Differences -1, -2, 3, ..., 10: ranks 1 and 2 are negative. Sums up to 3 are {}, 1, 2, 3 and 1 + 2: five.
    comparison = compare_pairs([0.0, 0.0, *map(float, range(4, 12))], [1.0, 2.0, *[1.0] * 8])
    assert (comparison.wilcoxon_statistic, comparison.wilcoxon_p) == (3, pytest.approx(2 * 5 / 2**10))


@pytest.mark.parametrize(
    ("differences", "t", "wilcoxon", "interval", "reason"),
    [
        ([], False, False, False, "too few pairs: a test needs 6, the interval 10"),
        ([1.0, 2.0, 3.0, 4.0, 5.0], False, False, False, "too few pairs: a test needs 6, the interval 10"),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], True, True, False, "too few pairs for an interval, which needs 10"),
        ([1.0, 2.0] * 5, True, True, True, None),
        ([0.5] * 10, False, False, False, "every pair has the same difference, so there is no test and no interval"),
        ([0.0] * 6 + [1.0] * 4, False, False, False, "fewer than 6 pairs differ, too few for a test and an interval"),
    ],
)
def test_what_too_few_pairs_cannot_tell_is_no_number_and_has_a_reason(differences, t, wilcoxon, interval, reason):
    comparison = compare_pairs(differences, [0.0] * len(differences))
    assert (comparison.p is not None, comparison.wilcoxon_p is not None, comparison.low is not None) == (
        t,
        wilcoxon,
        interval,
    )
    assert (comparison.statistic is None, comparison.wilcoxon_statistic is None, comparison.high is None) == (
        not t,
        not wilcoxon,
        not interval,
    )
    assert comparison.reason == reason


@pytest.mark.heavy
@pytest.mark.untraced
@pytest.mark.parametrize("pairs", [10, 30, 77])
def test_the_interval_holds_the_mean_of_the_open_pairs_in_93_to_97_of_100_draws_from_them(
    open_data, monkeypatch, pairs
):
    # The interval alone is looked at, and the exact p of ten pairs with ties takes a hundred times as long.
    monkeypatch.setattr("scipy.stats.wilcoxon", lambda differences: SimpleNamespace(statistic=0.0, pvalue=1.0))
    names = ("quac_subset.json", "sim_quac.json")
    both = paired(*(list(data.load(open_data / "simquac" / name)) for name in names)).pairs
    curves = [(coverage_by_question(one), coverage_by_question(other)) for one, other in both]
    shares = [(one[(k := min(len(one), len(other))) - 1], other[k - 1]) for one, other in curves]
    mean = sum(one - other for one, other in shares) / len(shares)
    draw, covering = random.Random(pairs), 0
    for _ in range(1000):
        comparison = compare_pairs(*zip(*draw.choices(shares, k=pairs), strict=True))
        covering += comparison.low <= mean <= comparison.high
    assert 930 <= covering <= 970


def test_pairs_about_one_section_are_one_group_of_which_the_tests_count_the_mean():
    # Groups of 1 to 3 pairs: the variance is that of a ratio of sums, and Wilcoxon ranks the means.
    groups = [*range(10), *range(10), *range(5)]
    differences = [float(group + place % 3) for place, group in enumerate(groups)]
    comparison = compare_pairs(differences, [0.0] * 25, groups)
    of_group = [[value for value, own in zip(differences, groups, strict=True) if own == group] for group in range(10)]
    mean = sum(differences) / 25
    squares = sum((sum(own) - mean * len(own)) ** 2 for own in of_group)
    assert (comparison.n, comparison.difference) == (25, pytest.approx(mean))
    assert comparison.statistic == pytest.approx(mean / math.sqrt(10 / 9 * squares / 25**2))
    assert comparison.wilcoxon_p == pytest.approx(2 / 2**9 if 0 in map(sum, of_group) else 2 / 2**10)
    apart = compare_pairs(differences, [0.0] * 25)
    assert comparison.high - comparison.low > 1.3 * (apart.high - apart.low)
    few = compare_pairs(differences, [0.0] * 25, [group % 3 for group in groups])
    assert few.reason == "too few groups: a test needs 6, the interval 10"


def test_repeats_of_a_section_are_noted_beside_the_tests():
    people = [talk(number, 2, about=number % 6) for number in range(12)]
    simulated = [talk(1, 2, about=number % 6) for number in range(12)]
    comparison = equal(people, simulated)
    assert (comparison.pairs, comparison.first_k.p is None, comparison.first_k.low) == (12, False, None)
    assert (
        "12 pairs about 6 sections: the tests and the interval are over sections (groups of pairs)." in comparison.notes
    )
    note = "people: 12 conversations about 6 sections, which the comparisons by t-test take as independent: their p is too small."  # fmt: skip
    assert note in comparison.notes


def test_sides_of_different_length_are_no_pairs():
    with pytest.raises(ValueError, match="shorter"):
        compare_pairs([1.0, 2.0], [1.0])


def test_one_pair_has_a_difference_and_no_test():
    statistics = simquac_statistics({"people": [talk(2)], "simulated": [talk(3, 3)]})
    (comparison,) = statistics.equal_questions
    assert comparison.all_questions.difference == pytest.approx(-4 / LENGTH)
    assert comparison.first_k.difference == pytest.approx(-1 / LENGTH)
    assert comparison.first_k.p is comparison.first_k.low is comparison.gap_left is None
    means, tests = statistics.tables()[-2:]
    assert [row[:4] for row in means.rows] == [("all", 1, 1.0, 2.0), ("first k", 1, 1.0, 1.0)]
    assert "first k: too few pairs: a test needs 6, the interval 10." in tests.notes
    json.dumps(statistics.to_json(), allow_nan=False)


def test_a_source_without_sections_has_no_pair_and_says_so():
    people = [talk(0, section="")] * 2
    statistics = simquac_statistics({"people": people, "simulated": [talk(3, about=1), talk(3, about=2)]})
    (comparison,) = statistics.equal_questions
    assert (comparison.pairs, comparison.k, comparison.first_k.mean_a, comparison.by_question) == (0, None, None, ())
    assert "there is no pair to compare." in comparison.notes
    for table in statistics.tables():
        assert not re.search(r"\bnan\b", table.to_csv())


def test_pairs_without_a_section_and_pairs_in_which_nothing_is_asked_are_left_out_and_counted():
    people = [talk(0, section=""), talk(about=1), talk(2, about=2)]
    simulated = [talk(0, section=""), talk(3, about=1), talk(4, about=2)]
    comparison = equal(people, simulated)
    assert (comparison.pairs, comparison.all_questions.mean_a) == (1, pytest.approx(2 / LENGTH))
    assert comparison.notes[:2] == (
        "1 pair left out: no section on at least one side.",
        "1 pair left out: nothing is asked on at least one side.",
    )


def test_a_second_conversation_about_a_section_has_no_partner_and_is_counted():
    comparison = equal([talk(2, about=1)], [talk(3, about=1), talk(9, about=1), talk(4, about=2)])
    assert (comparison.pairs, comparison.all_questions.mean_b) == (1, pytest.approx(3 / LENGTH))
    assert any(note.startswith("2 conversations of simulated left out") for note in comparison.notes)
    twice = equal([talk(2, about=1), talk(2, about=1)], [talk(3, about=1), talk(9, about=1)])
    assert twice.pairs == 2
    assert any(note.startswith("2 pairs about 1 section: the tests") for note in twice.notes)


def test_a_topic_whose_sections_differ_is_left_out_and_told_apart_from_other_topics():
    people = [talk(2, about=1, header="Keepers"), talk(2, about=2)]
    simulated = [talk(3, about=3, header="Keepers"), talk(3, about=2), talk(3, about=4, header="Ships")]
    comparison = equal(people, simulated)
    assert comparison.pairs == 1
    assert any("1 conversation of people" in note and "(1 with the same title" in note for note in comparison.notes)
    assert any("2 conversations of simulated" in note and "(1 with the same title" in note for note in comparison.notes)


def test_coverage_after_each_question_is_of_the_pairs_in_which_both_ask_that_many():
    comparison = equal([talk(2, about=1), talk(2, 2, about=2)], [talk(4, 4, about=1), talk(6, 4, 4, about=2)])
    assert [(after.question, after.pairs) for after in comparison.by_question] == [(1, 2), (2, 1)]
    assert [after.coverage_a for after in comparison.by_question] == pytest.approx([2 / LENGTH, 4 / LENGTH])
    assert [after.coverage_b for after in comparison.by_question] == pytest.approx([5 / LENGTH, 10 / LENGTH])


def test_the_figure_by_question_is_drawn_for_several_sources_with_a_line_for_each_side():
    pytest.importorskip("matplotlib")
    sources = {name: [talk(2, 3, about=1)] for name in ("a", "b", "c")}
    two = simquac_figures(simquac_statistics({name: sources[name] for name in "ab"}))["coverage_by_question"]
    assert [line.get_label() for line in two.axes[0].lines] == ["a", "b"]
    assert list(two.axes[0].lines[0].get_ydata()) == pytest.approx([2 / LENGTH, 5 / LENGTH])
    three = simquac_figures(simquac_statistics(sources))["coverage_by_question"]
    assert [line.get_label() for line in three.axes[0].lines][:2] == ["a (with b)", "b (with a)"]
    assert "coverage_by_question" not in simquac_figures(simquac_statistics({"a": sources["a"]}))


def test_the_figure_by_question_ends_where_fewer_than_half_of_the_pairs_are_left():
    pytest.importorskip("matplotlib")
    people = [talk(1, 1, 1, about=1), talk(1, 1, about=2), talk(1, about=3), talk(1, about=4)]
    simulated = [talk(1, 1, 1, about=number) for number in range(1, 5)]
    figure = simquac_figures(simquac_statistics({"a": people, "b": simulated}))["coverage_by_question"]
    assert [list(line.get_xdata()) for line in figure.axes[0].lines] == [[1, 2], [1, 2]]  # 4, 2 and 1 pairs are left


@given(st.lists(st.one_of(st.none(), st.integers(0, 7)), min_size=1, max_size=6))
def test_coverage_after_the_last_question_is_the_coverage_of_the_conversation(answers):
    conversation = talk(*answers)
    shares = coverage_by_question(conversation)
    assert shares[-1] == coverage(conversation)
    assert list(shares) == sorted(shares)


def test_a_file_beside_itself_differs_in_nothing():
    pytest.importorskip("scipy")
    conversations = [talk(2, 3, about=number) for number in range(12)]
    comparison = equal(conversations, [one.model_copy() for one in conversations])
    assert (comparison.pairs, comparison.all_questions.difference, comparison.first_k.difference) == (12, 0, 0)
    assert comparison.all_questions.p is comparison.gap_left is None


@pytest.mark.heavy
def test_the_open_data_counted_from_its_raw_json_agrees(open_data):
    names = ("quac_subset.json", "sim_quac.json")
    (comparison,) = simquac_statistics(
        {name: data.load(open_data / "simquac" / name) for name in names}
    ).equal_questions
    by_context = [{}, {}]
    for side, name in zip(by_context, names, strict=True):
        for paragraph in json.loads((open_data / "simquac" / name).read_text())["data"][0]["paragraphs"]:
            context = " ".join(paragraph["context"].split())  # eleven sections differ in white space alone
            assert context not in side
            side[context] = paragraph
    assert set(by_context[0]) == set(by_context[1])
    first = [[], []]
    for context in by_context[0]:
        k = min(len(side[context]["qas"]) for side in by_context)
        for side, shares in zip(by_context, first, strict=True):
            places = {
                place
                for qa in side[context]["qas"][:k]
                if not qa["is_impossible"]
                for answer in qa["answers"]
                for place in range(answer["answer_start"], answer["answer_start"] + len(answer["text"]))
            }
            shares.append(len(places) / (len(side[context]["context"]) - len(" CANNOTANSWER")))
    assert comparison.pairs == len(first[0]) == 77
    assert comparison.first_k.mean_a == pytest.approx(sum(first[0]) / 77)
    assert comparison.first_k.mean_b == pytest.approx(sum(first[1]) / 77)
    differences = [a - b for a, b in zip(*first, strict=True)]
    mean = sum(differences) / 77
    deviation = math.sqrt(sum((one - mean) ** 2 for one in differences) / 76)
    assert comparison.first_k.statistic == pytest.approx(mean / (deviation / math.sqrt(77)))
