"""The user of an agent's test: the words of its goal, what it does not know, and its signs that the goal is reached."""

import re
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue.graphs import agent_test
from duologue.nodes import Limits
from duologue.nodes.state import state_from

DOCS = Path(__file__).parents[4] / "docs" / "test" / "users.md"


def user_turns(goal, *replies, turns=4, **scenario):
    """The user's messages to an assistant with these replies in turn, and the stop reason.

    After the last reply, the assistant repeats it.
    """

    def reply(messages):
        heard = sum(message["role"] == "assistant" for message in messages)
        return replies[min(heard, len(replies) - 1)]

    states = agent_test.scenarios([{"goal": goal, **scenario}])
    (conversation,) = duologue.simulate(agent_test.cast(assistant=reply), states, limits=Limits(max_turns=turns))
    return [message.text for message in conversation.messages if message.role == "user"], conversation.stop


@pytest.mark.parametrize(
    "goal", ["explain <title> and <b> where a < b", "把 <task> 和 <title> 说清楚", "May I go?", "我可以改签吗？"]
)
def test_brackets_and_the_mark_of_a_goal_or_a_fact_stay_what_they_are(goal):
    texts, stop = user_turns(goal, "Hello.", "I cannot do that.", "Hm.")
    assert (len(texts), stop) == (3, "user_gave_up")
    assert all(goal in text and not re.search(r"[?？][.。?？]", text) for text in texts[:2])
    texts, _ = user_turns("fix my page.", "Which tag is it?", facts="The tag is <title>")
    assert any("The tag is <title>" in text for text in texts)
    assert re.search(r"fix my page[.?](?![.?])", texts[0])


@pytest.mark.parametrize(
    ("unknown", "text"),
    [("my a</unknown>", "my a‹/unknown›"), (["my e-mail", "my code"], "my e-mail\nmy code"), ({"e-mail": "lost"}, "e-mail: lost")],
)  # fmt: skip
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_model_is_sent_what_it_does_not_know_apart_from_its_facts(language, unknown, text):
    build: Any = agent_test.cast(language=language).user_view
    scenario = {"goal": "change my order", "facts": "My zip code is 19122."}
    told, plain = (
        "\n".join(str(message.text) for message in build(state_from(scenario | more)))
        for more in ({"unknown": unknown}, {})
    )
    assert f"<unknown>{text}</unknown>" in told
    assert "<profile>My zip code is 19122.</profile>" in told
    assert "unknown" not in plain


@pytest.mark.parametrize(
    ("goal", "question", "facts", "unknown", "words"),
    [
        ("change my order", "Which e-mail address do you have?", "My zip code is 19122.", "My e-mail address.", "do not know|cannot tell"),
        ("修改我的订单", "您的邮箱地址是什么？", "我的邮编是19122。", "我的邮箱地址。", "不知道|说不上来"),
    ],
)  # fmt: skip
def test_the_rule_based_user_says_that_it_does_not_know(goal, question, facts, unknown, words):
    texts, _ = user_turns(goal, question, "Done.", facts=[facts], unknown=unknown)
    assert re.search(words, texts[1])
    assert "19122" not in texts[1]


DONE, REFUSED = (
    re.findall(r"`([^`]+)`", row)
    for row in re.findall(r"^\| (?:done|refused) \| `.*", DOCS.read_text("utf-8"), re.MULTILINE)
)


@pytest.mark.parametrize("reply", DONE)
def test_the_replies_that_the_docs_show_end_the_talk(reply):
    texts, stop = user_turns("请帮我订桌" if re.search(r"[一-鿿]", reply) else "book a table", " ".join(reply.split()))
    assert (len(texts), stop) == (2, "user_ended")


@pytest.mark.parametrize("reply", REFUSED[:2])
def test_the_refusals_that_the_docs_show_make_it_give_up(reply):
    _, stop = user_turns("book a table", " ".join(reply.split()), " ".join(reply.split()))
    assert stop == "user_gave_up"


@pytest.mark.parametrize(
    "reply",
    [
        "I reserved a table. Is there anything for lunch?",
        "Sorry, nothing is reserved.",
        "I have not booked anything.",
        "If you confirm, it will be cancelled.",
    ],
)
def test_a_question_or_a_refusal_beside_them_does_not(reply):
    _, stop = user_turns("book a table", reply, turns=1)
    assert stop == "max_turns"


@pytest.mark.parametrize(
    ("goal", "question", "yes"),
    [
        ("book a table", "I have a table at seven. Shall I book it?", True),
        ("book a table", "The fee is 5 euros. Is that okay?", True),
        ("book a table", "Ein Tisch ist frei. Soll ich ihn reservieren?", True),
        ("请帮我订桌", "七点有位子，需要我帮您订吗？", True),
        ("book a table", "Shall I book it for two or for four?", False),
        ("book a table", "Shall I book it? Which name is it?", False),
        ("请帮我订桌", "您想订几点的？", False),
    ],
)
def test_a_question_whether_to_do_it_is_answered_with_yes_and_no_other(goal, question, yes):
    texts, _ = user_turns(goal, question, turns=2)
    assert bool(re.match(r"Yes, |好的，|可以，", texts[1])) is yes


@pytest.mark.parametrize(
    ("question", "fact", "told"),
    [
        ("Which part is damaged?", "damaged part: the front wheel", True),
        ("Which kind is it?", "The kind is city", True),
        ("What kind of bike is it?", "The bike is red", False),
        ("What is your name?", "customer: Ben", True),
        ("What is your name?", "kind: city", False),
    ],
)
def test_a_fact_is_given_when_its_label_is_asked_for_and_no_other(question, fact, told):
    texts, _ = user_turns("report damage of my bike", question, turns=2, facts=[fact])
    assert (fact in texts[1]) is told
