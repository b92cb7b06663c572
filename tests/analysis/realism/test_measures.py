"""What each measure counts, by hand."""

import re
from pathlib import Path

import pytest

from duologue.analysis.realism import measures
from duologue.analysis.realism.measures import MEASURES, labels_of
from duologue.analysis.realism.measures.diversity import distinct, hdd, mtld
from duologue.analysis.realism.measures.transcripts import task_of, transcripts_of
from duologue.analysis.realism.measures.words import begins_with, says, words_of
from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation


def value(name, *conversations, language="en"):
    measure = next(measure for measure in MEASURES if measure.name == name)
    told = measure.of(transcripts_of(conversations, language))
    return told[0] if len(conversations) == 1 else told


def test_every_measure_says_what_it_is_and_has_a_name_of_its_own():
    names = [measure.name for measure in MEASURES]
    assert len(set(names)) == len(names)
    assert {"message length", "thanks", "turns", "identical openings", "facts told at once"} <= set(names)
    for measure in MEASURES:
        assert measure.unit, measure.name
        assert measure.source, measure.name
        assert measure.direction, measure.name
        assert measure.definition.endswith("."), measure.name


def test_measures_know_nothing_of_the_report_that_is_made_of_them():
    for path in Path(measures.__file__).parent.glob("*.py"):
        assert "from .. import" not in path.read_text(), path.name
        assert not re.search(r"^from \.\.\w", path.read_text(), re.MULTILINE), path.name


def test_shape_counts_the_users_messages_and_their_characters(talk):
    one = talk("abcd", "ignored", "ab")
    assert value("turns", one) == 2
    assert value("message length", one) == 3
    assert value("first-message share", one) == pytest.approx(4 / 6)
    assert value("first-message share", talk("abcd")) is None


def test_mtld_is_the_mean_length_of_a_run_that_keeps_its_type_token_ratio():
    # One word over and over: the ratio falls under 0.72 at the second word, so a factor is two words long.
    assert mtld(["a"] * 60) == 2
    assert mtld(["a"] * 49) is None
    # Sixty different words never fall: no factor is ever full, and the whole text is one run.
    assert mtld([str(n) for n in range(60)]) == 60
    # "a b a" falls to 2/3 at its third word: sixty such words make twenty factors.
    assert mtld(["a", "b", "a"] * 20) == pytest.approx(3.0)


def test_hdd_is_the_expected_ratio_of_a_sample_of_42_words():
    assert hdd(["a"] * 42) == pytest.approx(1 / 42)
    assert hdd([str(n) for n in range(42)]) == pytest.approx(1)
    assert hdd(["a"] * 41) is None
    # 43 words of which one stands alone: it is drawn with the chance 42/43, the other word always.
    assert hdd(["a"] * 42 + ["b"]) == pytest.approx((1 + 42 / 43) / 42)


def test_distinct_counts_the_first_forty_words_alone():
    assert distinct(["a", "b"] * 20, 2) == pytest.approx(2 / 39)
    assert distinct(["a", "b"] * 20 + [str(n) for n in range(99)], 2) == pytest.approx(2 / 39)
    assert distinct(["a"] * 39, 2) is None


def test_openings_are_compared_with_those_of_other_users_of_the_task(talk):
    same = [talk("please help me with this now", user=user) for user in "ab"]
    other = talk("I want a plan", user="c")
    assert value("identical openings", *same, other) == [0.5, 0.5, 0.0]
    # The first two of five words are shared with one of one other: two of five prefixes.
    assert value("identical openings", talk("a b c d e", user="a"), talk("a b x y z", user="b")) == [0.4, 0.4]
    # One's own conversations are no others.
    assert value("identical openings", *(talk("hello there", user="a", id=str(n)) for n in range(2))) == [None, None]
    assert value("identical openings", talk("hello", user="a", task="x"), talk("hello", user="b", task="y")) == [
        None,
        None,
    ]


def test_overlap_does_not_grow_with_the_number_of_conversations(talk):
    few = value("n-gram overlap", *(talk("a b c", user=str(n)) for n in range(3)), talk("x y z", user="x"))
    many = value(
        "n-gram overlap",
        *(talk("a b c", user=str(n)) for n in range(9)),
        *(talk("x y z", user=f"x{n}") for n in range(3)),
    )
    assert few[0] == pytest.approx(2 / 3)
    assert many[0] == pytest.approx(8 / 11)
    assert few[-1] == 0


def test_self_repetition_is_what_an_earlier_message_has(talk):
    assert value("self-repetition", talk("a b c", "", "b c d")) == pytest.approx(1 / 2)
    assert value("self-repetition", talk("a b c")) is None


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("thanks", "Thank you so much", "en"), ("thanks", "多谢了", "zh"), ("please", "Could you tell me", "en"),
        ("please", "请推荐", "zh"), ("apology", "sorry about that", "en"), ("apology", "不好意思", "zh"),
        ("hedges", "maybe later", "en"), ("hedges", "我觉得可以", "zh"), ("exclamation", "好的！", "zh"),
        ("praise", "That's great", "en"), ("praise", "太好了", "zh"), ("greeting", "Hello there", "en"),
        ("greeting", "你好，", "zh"), ("closing phrase", "goodbye", "en"), ("closing phrase", "再见", "zh"),
        ("thanks at the end", "thanks", "en"), ("questions", "why？", "en"), ("several questions", "why? how?", "en"),
        ("digits", "in 2 days", "en"), ("emoji", "ok 😊", "en"), ("emoji", "ok :)", "en"), ("line breaks", "a\nb", "en"),
        ("no final mark", "a plan", "en"), ("small first letter", "a plan", "en"), ("role slips", "[System]: ok", "en"),
    ],
)  # fmt: skip
def test_courtesies_and_marks_are_found_where_they_are_and_not_where_they_are_not(name, text, language, talk):
    plain = "A plan for us." if language == "en" else "我想要一个方案。"
    assert value(name, talk(text), language=language) == 1
    assert value(name, talk(plain), language=language) == 0


def test_a_gift_of_thanks_is_not_thanks_and_a_leave_no_request():
    assert not says("表达我的感谢之情", "thanks", "zh")
    assert not says("我想请假去旅行", "please", "zh")
    assert not says("this is not a mechanism", "greeting", "en")
    assert begins_with("  hi, you", "greeting", "en")
    assert not begins_with("history", "greeting", "en")


def test_words_are_letters_in_english_and_cut_by_meaning_in_chinese():
    assert words_of("I don't, really! 3 cats", "en") == ["i", "don't", "really", "3", "cats"]
    assert words_of("我喜欢自然风光。", "zh") == ["我", "喜欢", "自然风光"]


def person(*texts, preference="1. Gender: Male\n5. Daily Interests and Hobbies: Playing chess, painting"):
    scenario = Situation(task="travel planning", task_context="Plan a trip to Rome.", preference=preference).scenario()
    roles = ("user", "assistant")
    messages = tuple(Message(role=roles[n % 2], text=text) for n, text in enumerate(texts))
    return Conversation(id="p", scenario=scenario, messages=messages)


def test_disclosure_tells_which_facts_when_and_whether_asked():
    asked = person("I want a trip.", "Do you have hobbies?", "I like painting and Rome.", "ok", "fine")
    assert value("profile facts told", asked) == pytest.approx(1 / 3)
    assert value("facts volunteered", asked) == 0
    # Of "plan", "trip" and "rome", two are said; the first message has one of the three facts that are told.
    assert value("task facts told", asked) == pytest.approx(2 / 3)
    assert value("facts told at once", asked) == pytest.approx(1 / 3)
    free = person("I like painting.", "ok", "good")
    assert value("facts volunteered", free) == 1
    assert value("profile facts told", talk_without_profile()) is None


def talk_without_profile():
    return Conversation(id="x", scenario={"kind": "messages"}, messages=(Message(role="user", text="painting"),))


def test_labels_are_those_of_both_sides_and_the_same_in_both_languages(talk):
    one = transcripts_of(
        [
            talk("a", labels={"intent": "Planning", "score": 3, "mine": "x"}),
            talk("b", labels={"intent": "Recommendation", "score": 5}),
        ],
        "en",
    )
    two = transcripts_of([talk("a", labels={"intent": ["规划", "推荐"], "score": "4"})], "en")
    intent, score = labels_of(one, two)
    assert (intent.name, intent.values, intent.numeric) == ("intent", ("planning", "recommendation"), False)
    assert intent.refused == score.refused == ""
    assert intent.shares(two[0]) == {"planning": 0.5, "recommendation": 0.5}
    assert (score.name, score.numeric, score.mean(one[0])) == ("score", True, 3)


def one_label(talk, sim, human):
    """The label of two sides of which each conversation has one of these values."""
    sides = [transcripts_of([talk("a", labels={"mark": value}) for value in values], "en") for values in (sim, human)]
    labels = labels_of(*sides)
    return labels[0] if labels else None


@pytest.mark.parametrize(
    ("sim", "human", "reason"),
    [
        (["a", "b", "b"], ["b", "a"], ""),
        (["a", "search"], ["a", "b"], "the sides have different values: 'search' on the simulated side alone, 'b' on people's side alone"),
        (["a", "x", "y"], ["a"], "the sides have different values: 'x' and 'y' on the simulated side alone"),
        (["a"], [*"abcdefgh"], "the sides have different values: 'b', 'c', 'd', 'e', 'f' and 2 more on people's side alone"),
        (["a", "b" * 50], ["a"], f"the sides have different values: '{'b' * 39}…' on the simulated side alone"),
        (["yes"], ["no", "yes"], ""),
        (["是"], [False], ""),
        (["yes", "no"], ["yes", "no", "无法判断"], "the sides have different values: 'cannot tell' on people's side alone"),
        ([1, 2, 3], [4, 5], ""),
        ([3.5, -1, 2.0], ["4.25", "1e3"], ""),
        ([*range(30)], [*range(30)], ""),
        ([1, 2], ["good", "bad"], "the values are numbers on the simulated side and words on people's side"),
        (["good"], [4], "the values are words on the simulated side and numbers on people's side"),
        ([1], [True], "the values are numbers on the simulated side and words on people's side"),
        (["a"], ["a", "a"], "the label has one value only: 'a'"),
        ([4], [4.0], "the label has one value only: '4'"),
        ([f"text {n}" for n in range(11)], [f"word {n}" for n in range(10)], "the label has 21 different values, more than 20: it is a text, no category"),
        (["²", "3"], ["3"], "the sides have different values: '²' on the simulated side alone"),
    ],
)  # fmt: skip
def test_labels_whose_values_cannot_be_compared_are_refused_with_the_reason(talk, sim, human, reason):
    assert one_label(talk, sim, human).refused == reason


@pytest.mark.parametrize("nothing", [None, "", " ", "None", "null", "N/A", "not judged", "NaN", float("nan"), {}, []])
def test_what_says_that_nobody_has_judged_is_no_value_of_a_label(talk, nothing):
    assert one_label(talk, ["a", "b", nothing], ["b", "a"]).values == ("a", "b")
    assert one_label(talk, [nothing], ["b", "a"]) is None


def test_a_decimal_label_has_a_mean(talk):
    [label] = labels_of(*(transcripts_of([talk("a", labels={"mark": [3.5, value]})], "en") for value in (4, 2.5)))
    assert label.mean(transcripts_of([talk("a", labels={"mark": [3.5, 4]})], "en")[0]) == 3.75


def test_votes_count_by_their_result(talk):
    given = talk("a").model_copy(
        update={"labels": {"strategy": {"final": {"order": "Depth"}, "1": {"order": "Breadth"}}}}
    )
    other = talk("a").model_copy(update={"labels": {"strategy": {"final": {"order": "Breadth"}}}})
    [label] = labels_of(transcripts_of([given], "en"), transcripts_of([other], "en"))
    assert "'depth' on the simulated side alone" in label.refused
    assert (label.name, label.shares(transcripts_of([given], "en")[0])) == ("strategy order", {"depth": 1.0})


def test_tasks_have_one_name_in_readable_words_and_both_travels_are_one(talk):
    names = ("旅行规划", "new_travel planning", "new_travel", "礼物准备", "Brew  tea")
    given = [task_of(talk("a", task=name)) for name in names]
    assert given == ["travel planning"] * 3 + ["preparing gifts", "brew tea"]
