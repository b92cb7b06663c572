"""Whether a user's messages belong together: what each measure counts, and users stitched together from others."""

from collections import Counter

import numpy as np
import pytest

from duologue.analysis.realism.discriminator import cross_validated
from duologue.analysis.realism.measures import MEASURES
from duologue.analysis.realism.measures.answered_questions import answers, asked_of_user
from duologue.analysis.realism.measures.coherence import OF_OWN, OF_REPLY
from duologue.analysis.realism.measures.contradiction import stated_values
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.ranking import ranked
from duologue.analysis.realism.rows import number_rows, two_samples
from duologue.analysis.realism.statistics.samples import measured
from duologue.analysis.realism.statistics.two_samples import Draws
from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation
from tests.analysis.realism.measures import shuffled

DRAWS = Draws(shufflings=1000, halvings=10)
COHERENCE = [measure for measure in MEASURES if measure.family == "coherence"]


def value(name, conversation, language="en"):
    measure = next(measure for measure in COHERENCE if measure.name == name)
    return measure.of(transcripts_of([conversation], language))[0]


@pytest.mark.parametrize(
    ("text", "language", "questions"),
    [
        ("Sure. How many days do you have?", "en", ["How many days do you have?"]),
        ("Is Rome far? It is.", "en", []),
        ("Is there anything else you would like me to help with?", "en", []),
        ('Say "how are you?" to them.', "en", []),
        ("好的。您有什么预算？", "zh", ["您有什么预算？"]),
        ("为什么选这个？因为便宜。", "zh", []),
        ("", "en", []),
    ],
)
def test_a_reply_asks_the_user_by_a_mark_and_a_word_for_the_user(text, language, questions):
    assert asked_of_user(text) == questions


@pytest.mark.parametrize(
    ("text", "question", "language", "answer"),
    [
        ("Five days.", "How many days do you have?", "en", True),
        ("5, I think", "How many days do you have?", "en", True),
        ("Yes, please.", "Would you like a train?", "en", True),
        ("Rome", "Where would you like to go?", "en", True),
        ("Rome. What is there?", "Where would you like to go?", "en", False),
        ("The train is fine", "Would you like a train or a bus?", "en", True),
        ("Tell me about museums and all the rest.", "Would you like a train?", "en", False),
        ("What should I wear?", "Would you like a train?", "en", False),
        ("三千左右", "您的预算是多少？", "zh", True),
        ("不用了", "您需要酒店推荐吗？", "zh", True),
        ("给我列出所有博物馆的开放时间和票价表", "您喜欢辣的吗？", "zh", False),
    ],
)
def test_a_question_is_answered_by_its_words_a_number_or_the_beginning_of_an_answer(text, question, language, answer):
    assert answers(text, [question], language) is answer


def test_the_share_of_questions_that_are_answered_leaves_out_messages_after_no_question(talk):
    one = talk(
        "a trip", "How many days do you have?", "Five.", "Fine.", "so be it", "Do you like trains?", "Which museum?"
    )
    assert value("questions answered", one) == 1 / 2
    assert value("questions answered", talk("a trip", "Fine.", "ok")) is None


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("我的预算是三千元，3个人去", "zh", {"budget": ((3000.0, 3000.0),), "people": ((3.0, 3.0),)}),
        ("500元左右的预算", "zh", {"budget": ((500.0, 500.0),)}),
        ("预算1-2万", "zh", {"budget": ((10000.0, 20000.0),)}),
        ("计划玩5天，第三天休息", "zh", {"days": ((5.0, 5.0),)}),
        ("想做4-5个菜", "zh", {"dishes": ((4.0, 5.0),)}),
        ("十一月去三亚旅行", "zh", {"month": ((11.0, 11.0),), "where to": ("三亚",)}),
        ("送给女朋友的礼物", "zh", {"for whom": ("女朋友",)}),
        ("不要太贵的，我不喜欢吃香菜", "zh", {"likes 香菜": ("no",)}),
        ("每一道菜的流程，前一周", "zh", {}),
        ("We are two people with a budget of $1,500", "en", {"people": ((2.0, 2.0),), "budget": ((1500.0, 1500.0),)}),
        ("a 3-day trip to Rome in October", "en", {"days": ((3.0, 3.0),), "where to": ("rome",), "month": ("october",)}),
        ("a gift for my mom", "en", {"for whom": ("mother",)}),
        ("I don't like museums", "en", {"likes museums": ("no",)}),
        ("nothing of the kind", "en", {}),
    ],
)  # fmt: skip
def test_what_is_told_in_numbers_and_names_is_read_by_rule(text, language, expected):
    assert stated_values(text, language) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("a trip for two people", "Fine.", "we are 5 people"), 1),
        (("a trip for two people", "Fine.", "we are 2 people"), 0),
        (("2 to 3 people", "Fine.", "we are 3 people"), 0),
        (("a trip for two people", "Fine.", "actually we are 5 people"), 0),
        (("a trip for two people", "That is for 5 people.", "yes, 5 people"), 0),
        (("a trip for two people", "Fine.", "is that for 5 people or 6 people"), None),
        (("I like museums", "Fine.", "I don't like museums", "Fine.", "we are 2 people"), 1),
        (("a trip", "Fine.", "we are 2 people"), None),
        (("3 people, 4 days", "Fine.", "3 people, 9 days"), 1 / 2),
    ],
)
def test_another_value_without_a_word_of_a_change_is_a_contradiction(talk, texts, expected):
    assert value("contradictions", talk(*texts)) == expected


def test_texts_made_to_be_slow_are_read_soon():
    for piece in ("1", "预算", "一", "budget ", "不喜欢吃", "1,", "2-", "去三", "trip to ", "you?", "i like "):
        for language in ("en", "zh"):
            stated_values(piece * 1_000, language)
            answers(piece * 1_000, asked_of_user(piece * 1_000), language)


def on_task(first, context):
    scenario = Situation(task="travel planning", task_context=context, preference="1. Gender: Male").scenario()
    return Conversation(id="c", scenario=scenario, messages=(Message(role="user", text=first),))


def test_the_first_message_is_on_the_task_by_its_own_words():
    assert value("first message on the task", on_task("A trip to Rome with cheese", "Plan a trip to Rome.")) == 2 / 3
    assert value("first message on the task", on_task("A trip to Rome", "Plan a trip to Rome, by train, in May.")) == 1
    assert value("first message on the task", on_task("What?", "Plan a trip.")) is None


def test_a_reply_is_taken_up_where_an_earlier_one_would_share_less(talk):
    near = talk("hello", "museums parks", "ok", "trains buses", "which buses", id="near")
    far = talk("hello", "buses trains", "ok", "museums parks", "which buses", id="far")
    assert value("reply taken up", near) == 1
    assert value("reply taken up", far) == -1
    assert value("reply taken up", talk("hello", "museums", "museums")) is None


def test_of_two_replies_only_as_much_is_searched_as_the_shorter_has(talk):
    """The word stands in both, in the longer one beyond the length of the shorter."""
    long = "so and on " * 9 + "buses"
    assert value("reply taken up", talk("hello", "a few buses", "ok", long, "which buses")) == -1
    assert value("reply taken up", talk("hello", long, "ok", "a few buses", "which buses")) == 1
    assert value("reply taken up", talk("hello", "buses " + long, "ok", "a few buses", "which buses")) == 0


def test_words_of_the_task_bring_nothing_new():
    roles = ("user", "assistant")

    def one(context):
        texts = ("hello", "museums", "parks trains buses museums")
        scenario = Situation(task="travel planning", task_context=context, preference="1. Gender: Male").scenario()
        messages = tuple(Message(role=roles[n % 2], text=text) for n, text in enumerate(texts))
        return Conversation(id="c", scenario=scenario, messages=messages)

    assert value("new words", one("Plan a day.")) == 3 / 4
    assert value("new words", one("Plan a day with trains.")) == 2 / 3


def test_new_words_are_looked_for_in_a_stretch_of_fixed_length(talk):
    filled = "so and on " * (OF_REPLY["en"] // 10 + 1)
    assert value("new words", talk("hello", f"museums {filled}", "cheap museums")) == 1 / 2
    assert value("new words", talk("hello", f"{filled} museums", "museums")) == 1
    assert value("new words", talk("museums", "fine", "museums")) == 0
    own = "so and on " * (OF_OWN["en"] // 10 + 1)
    assert value("new words", talk(f"museums {own}", "fine", "museums")) == 1
    assert value("new words", talk("museums")) is None
    assert value("new words", talk("museums", "", "parks")) is None


def test_words_said_again_are_counted_by_pair_so_that_length_gives_nothing(talk):
    assert value("own words again", talk("museums parks", "", "museums")) == 1 / 2
    assert value("own words again", talk("museums parks trains buses", "", "museums")) == 1 / 4
    assert value("own words again", talk("museums", "", "museums", "", "parks")) == 1 / 3
    assert value("own words again", talk("museums")) is None


def test_chinese_words_are_found_however_the_reply_is_cut(talk):
    one = talk("旅行", "博物馆公园", "好的", "火车汽车站", "汽车")
    assert value("reply taken up", one, "zh") == 1


def test_no_value_depends_on_the_other_conversations_of_its_side(talk):
    conversations = shuffled.written(6)
    for measure in COHERENCE:
        together = measure.of(transcripts_of(conversations, "en"))
        alone = [measure.of(transcripts_of([one], "en"))[0] for one in conversations]
        assert together == alone, measure.name


def first_and_significant(sides):
    sim, human = sides
    rows = ranked(number_rows(two_samples(sim, human, MEASURES, DRAWS), sim, human, MEASURES))
    return rows[0], [row.name for row in rows if row.family == "coherence" and (row.p_adjusted or 1) <= 0.05]


def halves(conversations, change):
    """Measured: the first half of the users, changed; and the second."""
    half = len(conversations) // 2
    return tuple(
        measured(transcripts_of(side, "en"), MEASURES)
        for side in (change(conversations[:half]), conversations[half:])
    )  # fmt: skip


def test_users_stitched_together_come_out_first_in_small_conversations():
    people = shuffled.written(60)
    first, seen = first_and_significant(halves(people, shuffled.between))
    assert first.family == "coherence", first.name
    assert len(seen) >= 2
    _, seen = first_and_significant(halves(people, shuffled.within))
    assert seen
    assert not first_and_significant(halves(people, lambda side: side))[1]


@pytest.mark.heavy
def test_users_stitched_together_from_other_people_come_out_first(people, plain, halved):
    planted = measured(transcripts_of(shuffled.between(people), "zh"), MEASURES)
    first, seen = first_and_significant(halved(plain, 0, planted=planted))
    assert first.family == "coherence", first.name
    assert len(seen) >= 2


@pytest.mark.heavy
def test_messages_of_a_person_in_another_order_are_seen(people, plain, halved):
    planted = measured(transcripts_of(shuffled.within(people), "zh"), MEASURES)
    assert first_and_significant(halved(plain, 0, planted=planted))[1]


@pytest.mark.heavy
@pytest.mark.parametrize("change", [shuffled.between, shuffled.within], ids=["between conversations", "within them"])
def test_shuffled_messages_are_found_in_eight_halves_of_the_people(change, people, plain, halved):
    counts: Counter[str] = Counter()
    for split in range(8):
        planted = measured(transcripts_of(change(people, split), "zh"), MEASURES)
        first, seen = first_and_significant(halved(plain, split, planted=planted))
        counts.update((f"first: {first.name} ({first.family})", *seen))
        assert seen
        assert first.family == "coherence" or change is shuffled.within
    print(counts)


@pytest.mark.heavy
def test_a_model_tells_stitched_users_by_their_coherence(people, plain, halved):
    alone = [column for column, measure in enumerate(MEASURES) if not measure.pairwise]
    others = [column for column in alone if MEASURES[column].family != "coherence"]
    told_apart = []
    for split in range(4):
        planted = measured(transcripts_of(shuffled.between(people, split), "zh"), MEASURES)
        sim, human = halved(plain, split, planted=planted)
        told_apart.append([cross_validated(sim, human, columns, Draws(), 2).auc.value for columns in (alone, others)])
    whole, without = np.mean(told_apart, axis=0)
    print(f"AUC {whole:.2f}, without coherence {without:.2f}")
    assert whole > without + 0.05


def test_shuffling_changes_nothing_but_whose_message_stands_where(people):
    stitched, turned = shuffled.between(people), shuffled.within(people)
    for shuffled_people in (stitched, turned):
        assert Counter(m.text for one in shuffled_people for m in one.messages) == Counter(
            m.text for one in people for m in one.messages
        )
        assert [[m.role for m in one.messages] for one in shuffled_people] == [
            [m.role for m in one.messages] for one in people
        ]
    own = {one.id: {message.text for message in one.messages if message.role == "user"} for one in people}
    own_message = [
        message.text in own[one.id] for one in stitched for message in one.messages if message.role == "user"
    ]
    assert sum(own_message) < 0.03 * len(own_message)
