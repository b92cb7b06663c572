"""What each measure counts, by hand."""

import pytest

from duologue.analysis.realism import MEASURES, Measure, compare
from duologue.analysis.realism.coherence import OF_OWN, OF_REPLY
from duologue.analysis.realism.matching import matched
from duologue.analysis.realism.measures import mtld
from duologue.analysis.realism.transcripts import transcripts_of
from duologue.data import Conversation, Message
from duologue.data.checks import check
from duologue.data.recllmsim import Situation
from duologue.data.text.lexicons import questions_in
from duologue.errors import SettingError


def value(name, conversation, language="en"):
    measure = next(measure for measure in MEASURES if measure.name == name)
    return measure.value(transcripts_of([conversation], language)[0])


def test_every_measure_says_what_it_is_and_has_a_name_of_its_own():
    assert len({measure.name for measure in MEASURES}) == len(MEASURES) <= 30
    assert all(measure.unit and measure.definition.endswith(".") for measure in MEASURES)


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("turns", ("abcd", "ignored", "ab"), 2),
        ("message length", ("abcd", "ignored", "ab"), 3),
        ("first-message share", ("abcd", "ignored", "ab"), 4 / 6),
        ("first-message share", ("abcd",), None),
        ("self-repetition", ("a b c", "", "b c d"), 1 / 2),
        ("self-repetition", ("a b c",), None),
        ("own words again", ("museums parks", "", "museums trains"), 1 / 4),
        ("own words again", ("museums",), None),
        ("reply taken up", ("hello", "museums parks", "ok", "trains buses", "which buses"), 1),
        ("reply taken up", ("hello", "buses trains", "ok", "museums parks", "which buses"), -1),
        ("reply taken up", ("hello", "museums", "museums"), None),
        ("new words", ("museums", "parks", "parks trains museums boats"), 1 / 2),
        ("new words", ("museums",), None),
    ],
)
def test_what_is_counted_in_messages(talk, name, texts, expected):
    found = value(name, talk(*texts))
    assert found == (None if expected is None else pytest.approx(expected))


def test_a_long_reply_has_no_more_of_a_messages_words_by_its_length(talk):
    filler, own = "filler " * OF_REPLY["en"], "other " * OF_OWN["en"]
    assert value("new words", talk("hello", "museums " + filler, "museums")) == 0
    assert value("new words", talk("hello", filler + "museums", "museums")) == 1
    assert value("new words", talk("museums", "ok", own, "ok", "museums")) == pytest.approx(1)


def test_mtld_is_the_mean_length_of_a_run_that_keeps_its_type_token_ratio():
    # One word over and over: the ratio falls under 0.72 at the second word, so a factor is two words long.
    assert mtld(["a"] * 60) == 2
    assert mtld(["a"] * 49) is None
    # Sixty different words never fall: no factor is ever full, and the whole text is one run.
    assert mtld([str(n) for n in range(60)]) == 60
    # "a b a" falls to 2/3 at its third word: sixty such words make twenty factors.
    assert mtld(["a", "b", "a"] * 20) == pytest.approx(3.0)


def test_overlap_is_with_five_other_users_however_many_there_are(talk):
    overlap = next(measure for measure in MEASURES if measure.name == "n-gram overlap")

    def values(users):
        side = [talk("a b c" if n % 2 else "x y z", user=f"u{n}", id=f"{n}-{m}") for n in range(users) for m in (0, 1)]
        return [overlap.value(one) for one in matched(side, side, {}, "en", "all").sides["Simulated"]]

    assert values(5) == [None] * 10  # nobody has five others
    assert sum(values(6)) / 12 == pytest.approx(2 / 5)
    assert sum(values(60)) / 120 == pytest.approx(29 / 59, abs=0.1)


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("thanks", "Thank you so much", "en"), ("thanks", "多谢了", "zh"), ("please", "Could you tell me", "en"),
        ("please", "请推荐", "zh"), ("hedges", "maybe later", "en"), ("hedges", "我觉得可以", "zh"),
        ("exclamation", "好的！", "zh"), ("praise", "That's great", "en"), ("praise", "太好了", "zh"),
        ("greeting", "Hello there", "en"), ("greeting", "你好，", "zh"), ("closing phrase", "goodbye", "en"),
        ("closing phrase", "再见", "zh"), ("questions", "why？", "en"), ("digits", "in 2 days", "en"),
        ("emoji", "ok 😊", "en"), ("emoji", "ok :)", "en"), ("line breaks", "a\nb", "en"), ("no final mark", "a plan", "en"),
        ("small first letter", "a plan", "en"), ("role slips", "[System]: ok", "en"),
    ],
)  # fmt: skip
def test_courtesies_and_marks_are_found_where_they_are_and_not_where_they_are_not(name, text, language, talk):
    plain = "A plan for us." if language == "en" else "我想要一个方案。"
    assert value(name, talk(text), language) == 1
    assert value(name, talk(plain), language) == 0


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("zh", "有什么推荐吗", 1), ("zh", "这些食材怎么处理", 1), ("zh", "华山危险吗？？", 1), ("zh", "一个月够么，如果够", 1),
        ("zh", "可以安排一个进度嘛", 1), ("zh", "家居设备呢，我想准备一套", 1), ("zh", "应该自驾出行还是坐高铁方便", 1),
        ("zh", "有没有香辣的菜谱", 1), ("zh", "？", 1), ("zh", "豆腐？", 1), ("zh", "要多久，去哪里买", 2),
        ("zh", "需要几个菜，可不可以清淡", 1), ("zh", "能否推荐酒店，以满足我的偏好？", 1), ("zh", "米醋是白醋吗？生抽呢？", 2),
        ("zh", "没什么别的了", 0), ("zh", "什么都可以", 0), ("zh", "如何都行", 0), ("zh", "推荐几个地点", 0), ("zh", "我会看看哪个合适", 0),
        ("zh", "谢谢你关于如何安排的建议", 0), ("zh", "天丝是一个不错的选择呢", 0), ("zh", "不错不错", 0), ("zh", "属于能做但是不是很会", 0),
        ("zh", "那么多菜", 0), ("zh", "每道菜还是热的", 0),
        ("en", "what should i pack", 1), ("en", "Hi, can you help me", 1), ("en", "It is nice. how much does it cost", 1),
        ("en", "If it rains, what can we do", 1), ("en", "is there a train and do i need a seat", 1), ("en", "any tips", 1),
        ("en", "I was wondering if it is far", 1), ("en", "Spicy?", 1), ("en", "what's the price. where do I buy it", 2),
        ("en", "why??", 1), ("en", "What a great plan", 0), ("en", "What I need is a hotel", 0), ("en", "How wonderful", 0),
        ("en", "When I arrive, I call", 0), ("en", "I like the second, which is cheap", 0), ("en", "Do the same for Rome", 0),
        ("en", "Should you have ideas, write", 0), ("en", "I know what to do", 0),
    ],
)  # fmt: skip
def test_a_question_is_known_by_its_words_without_a_mark_and_not_by_words_alone(talk, language, text, number):
    assert questions_in(text, language) == number
    assert value("questions", talk(text), language=language) == (number > 0)


SLIPS = (
    "Fine, that is all. ###STOP###",
    "Bye. [END]",
    "Thank you.\nTERMINATE",
    "Thank you. <|endoftext|>",
    "Any hotels, based on my profile?",
    "[System]: ok",
    "根据我的人设，我喜欢喝茶。",
)
NO_SLIPS = (
    "It is in my LinkedIn profile",
    "The instructions say that it blinks",
    "It says “as an AI language model” there",
    "Why `[System]: x` in the log?",
    "> As an AI language model, I cannot.\nWhy does it say that?",
    "Press [Enter]",
    "Dear [Your name]",
)


@pytest.mark.parametrize(("text", "slips"), [*((text, True) for text in SLIPS), *((text, False) for text in NO_SLIPS)])
def test_the_linter_and_the_measure_agree_on_what_a_slip_is(text, slips):
    conversation = person(text, "Fine.")
    assert value("role slips", conversation, None) == slips
    assert any(finding.level == "error" for finding in check(conversation)) == slips


def person(*texts, preference="1. Gender: Male\n5. Daily Interests and Hobbies: Playing chess, painting"):
    scenario = Situation(task="travel planning", task_context="Plan a trip to Rome.", preference=preference).scenario()
    roles = ("user", "assistant")
    messages = tuple(Message(role=roles[n % 2], text=text) for n, text in enumerate(texts))
    return Conversation(id="p", scenario=scenario, messages=messages)


def test_the_first_message_is_on_the_task_by_its_own_words():
    for first, expected in (("A trip to Rome with cheese", 2 / 3), ("A trip to Rome", 1), ("What?", None)):
        assert value("first message on the task", person(first)) == expected


def test_disclosure_tells_which_facts_when_and_whether_asked():
    conversation = person("I want a trip.", "Do you have hobbies?", "I like painting and Rome.", "ok", "fine")
    assert value("profile facts told", conversation) == pytest.approx(1 / 3)
    assert value("facts volunteered", conversation) == 0
    # Of "plan", "trip" and "rome", two are said; the first message has one of the three facts that are told.
    assert value("task facts told", conversation) == pytest.approx(2 / 3)
    assert value("facts told at once", conversation) == pytest.approx(1 / 3)
    assert value("facts volunteered", person("I like painting.", "ok", "good")) == 1


def own(**changes):
    plain = {"name": "mine", "definition": "Mine.", "unit": "share", "of_text": lambda user, number: 1.0}
    return Measure(**plain | changes)


def test_a_measure_of_ones_own_has_a_row_with_its_examples(two_sides):
    mine = own(name="polite", of_text=lambda user, number: "Thank" in user.texts[number])
    report = compare(*two_sides, measures=[mine], examples=2)
    row = next(row for row in report.rows if row.name == "polite")
    assert (row.simulated, row.people, row.effect.value, row.differs) == (pytest.approx(0.5), 0, 1, True)
    assert len(row.examples_simulated) == len(row.examples_people) == 2
    partly = own(of_text=None, of_conversation=lambda user: float("nan") if user.user == "u1" else None)
    assert "mine: no task has values of both sides" in compare(*two_sides, measures=[partly]).left_out


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda user: [][0], "IndexError: list index out of range"),
        (lambda user: "many", "gave str, not a number: give a number, or None where it has no value$"),
        (lambda user: float("inf"), "gave an infinite value"),
        (lambda: 1, "takes 0 positional arguments but 1 was given"),
    ],
)
def test_a_function_that_fails_is_one_line_with_the_measure_and_the_conversation(function, words, two_sides):
    with pytest.raises(SettingError, match=f"^the measure 'mine' failed in conversation .*{words}") as caught:
        compare(*two_sides, measures=[own(of_text=None, of_conversation=function)])
    assert "\n" not in str(caught.value)


def test_a_measure_needs_a_function_and_a_name_of_its_own(two_sides):
    with pytest.raises(SettingError, match="'mine' has no function"):
        own(of_text=None)
    with pytest.raises(SettingError, match="two measures have one name"):
        compare(*two_sides, measures=[own(name="thanks")])
