"""What each measure counts, by hand."""

import re
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

import pytest

from duologue.analysis.realism import measures
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.diversity import distinct, hdd, mtld
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.data import Conversation, Message
from duologue.data.checks import check
from duologue.data.identity import digest
from duologue.data.recllmsim import Situation
from duologue.data.text.lexicons import begins_with, questions_in, says
from duologue.data.text.words import words_of
from tests.analysis.realism.measures.measured import value


def test_every_measure_says_what_it_is_and_has_a_name_of_its_own():
    names = [measure.name for measure in MEASURES]
    assert len(set(names)) == len(names)
    assert {"message length", "thanks", "turns", "identical openings", "facts told at once"} <= set(names)
    for measure in MEASURES:
        assert measure.unit, measure.name
        assert measure.source, measure.name
        assert measure.direction, measure.name
        assert measure.definition.endswith("."), measure.name


def test_every_measure_answers_whether_it_could_be_the_keyboard():
    for measure in MEASURES:
        assert re.match(r"(?:No|Hardly|Partly|Yes)[,:] ", measure.keyboard), measure.name
        assert measure.keyboard.endswith("."), measure.name
        assert len(measure.keyboard) > 40, measure.name


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


def crowd(talk, users, per_user=1):
    """Users of whom every second says the same, each in some conversations."""
    texts = ("a b c d", "u v w x")
    return [
        talk(f"{texts[number % 2]} {text}", user=f"u{number}", id=f"{number}-{text}", task="t")
        for number in range(users)
        for text in range(per_user)
    ]


@pytest.mark.parametrize("name", ["identical openings", "n-gram overlap"])
def test_among_others_a_number_of_them_is_drawn_and_one_conversation_of_each(talk, name):
    measure = next(measure for measure in MEASURES if measure.name == name)
    side = transcripts_of(crowd(talk, 9, per_user=3), "en")
    own = "a b c d 0".split()
    for others in (1, 2, 5):
        for one in measure.values(side, {"t": others}):
            # With one other user a share is 0 or what two conversations share, and no mean of more of them.
            parts = len(own) if name == "identical openings" else len(own) - 2
            assert one * parts * others == pytest.approx(round(one * parts * others))
    with_one = measure.values(side, {"t": 1})
    assert len(set(with_one)) > 1  # each conversation has its own draw
    assert measure.values(side) == measure.of(side)


def test_with_as_many_as_there_are_each_other_user_counts_once(talk):
    measure = next(measure for measure in MEASURES if measure.name == "n-gram overlap")
    side = transcripts_of([talk("a b c", user="a"), talk("a b c", user="b"), talk("x y z", user="c")], "en")
    for others in ({"": 2}, {"": 99}, {}):
        assert measure.values(side, others) == [0.5, 0.5, 0.0]
    # By conversations the talkative user counts nine times, by users once.
    more = transcripts_of(
        [talk("a b c", user="a"), *(talk("a b c", user="b", id=str(n)) for n in range(9)), talk("x y", user="c")], "en"
    )
    assert measure.values(more)[0] == pytest.approx(0.9)
    assert measure.values(more, {"": 2})[0] == 0.5
    assert measure.values(more, {"": 0}) == [None] * 11
    assert measure.values(side[:1], {"": 3}) == [None]


def test_what_is_drawn_depends_on_no_order_and_on_nobody_else_of_the_side(talk):
    measure = next(measure for measure in MEASURES if measure.name == "n-gram overlap")
    side = transcripts_of(crowd(talk, 20, per_user=2), "en")
    by_id = dict(zip([one.conversation.id for one in side], measure.values(side, {"t": 4}), strict=True))
    turned = side[::-1]
    again = dict(zip([one.conversation.id for one in turned], measure.values(turned, {"t": 4}), strict=True))
    assert by_id == again
    elsewhere = [replace(one, task="else") for one in side[:10]]
    assert measure.values([*elsewhere, *side], {"t": 4, "else": 2})[10:] == list(by_id.values())


def test_few_and_many_others_have_the_same_distribution_where_as_many_are_drawn(talk):
    measure = next(measure for measure in MEASURES if measure.name == "n-gram overlap")

    def of_sides(sides, users, others=None):
        values = []
        for side in range(sides):
            same = [int(digest(side, user)[:8], 16) % 2 for user in range(users)]
            talks = [talk("u v w" if same[user] else "a b c", user=f"{side}-{user}") for user in range(users)]
            values += measure.values(transcripts_of(talks, "en"), others)
        return values

    few, many = of_sides(60, 10, {"": 5}), of_sides(6, 100, {"": 5})
    assert mean(few) == pytest.approx(mean(many), abs=0.06)
    assert stdev(few) == pytest.approx(stdev(many), rel=0.15)  # binomial of 5, over 5
    assert stdev(many) == pytest.approx(0.5 / 5**0.5, rel=0.15)
    # Compared with all, the same users in small sides spread more than in large ones.
    assert stdev(of_sides(6, 100)) < 0.5 * stdev(of_sides(60, 10))


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
    assert value("several questions", talk(text), language=language) == (number > 1)


def test_a_question_mark_that_is_left_out_changes_little(open_sides):
    for side in open_sides:
        marked = [text for one in transcripts_of(side, "zh") for text in one.texts if re.search("[?？]", text)]
        without = [re.sub("[?？]", "。", text) for text in marked]
        assert sum(questions_in(text, "zh") > 0 for text in without) > 0.95 * len(marked)


def test_texts_made_to_be_slow_are_searched_for_questions_soon():
    for piece in ("有", "是还", "看到什么", "what ", "can ", "hi, ", "无论", "呢", "要 "):
        for language in ("en", "zh"):
            questions_in(piece * 10_000, language)


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
    assert value("role slips", conversation, language=None) == slips
    assert any(finding.level == "error" for finding in check(conversation)) == slips


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
    conversation = person("I want a trip.", "Do you have hobbies?", "I like painting and Rome.", "ok", "fine")
    assert value("profile facts told", conversation) == pytest.approx(1 / 3)
    assert value("facts volunteered", conversation) == 0
    # Of "plan", "trip" and "rome", two are said; the first message has one of the three facts that are told.
    assert value("task facts told", conversation) == pytest.approx(2 / 3)
    assert value("facts told at once", conversation) == pytest.approx(1 / 3)
    free = person("I like painting.", "ok", "good")
    assert value("facts volunteered", free) == 1
    assert value("profile facts told", talk_without_profile()) is None


def talk_without_profile():
    return Conversation(id="x", scenario={"kind": "messages"}, messages=(Message(role="user", text="painting"),))
