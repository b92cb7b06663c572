"""Whether a reply holds a phrase that declines, reports something as done, or consents."""

import json
from collections import Counter
from pathlib import Path

import pytest

from duologue.data.rules.outcomes import consent, outcome_of, refused, statements
from duologue.data.text.lexicons import lexicons

DOCS = (Path(__file__).parents[3] / "docs/reference/error_rates.md").read_text("utf-8")
ROWS = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("which", ["seen", "unseen", "tuned", "held out"])
@pytest.mark.parametrize("outcome", ["refused", "done"])
def test_the_error_rates_are_those_of_the_docs(which, outcome):
    rows = [row for row in ROWS if row["set"] == which]
    counts = Counter((row["outcome"] == outcome, outcome_of(row["text"]) == outcome) for row in rows)
    missed, false = counts[True, False], counts[False, True]
    line = f"| {outcome}, {which} | {missed} of {missed + counts[True, True]} | {false} of {false + counts[False, False]} |"
    assert line in DOCS


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("No, this cannot be changed.", "refused"),
        ("Unfortunately, that slot is taken.", "refused"),
        ("抱歉，这张票不能改。", "refused"),
        ("I have booked 12A for you.", "done"),
        ("已为您取消。", "done"),
        ("Nothing is booked yet.", None),
        ("If you confirm, it will be cancelled.", None),
        ("Is it booked?", None),
        ("You need no appointment: come before noon.", None),
        ("", None),
    ],
)
def test_what_is_denied_or_asked_is_neither(reply, outcome):
    assert outcome_of(reply) == outcome
    assert (refused(reply) is not None) == (outcome == "refused")


def test_a_list_has_at_most_fifteen_phrases_a_language():
    assert all(len(lexicon[one]) <= 15 for lexicon in lexicons().values() for one in ("refused", "done", "yes", "no"))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes, please cancel it.", "yes"),
        ("No problem.", "yes"),
        ("Sure, I don't mind.", "yes"),
        ("Of course!", "yes"),
        ("That's right, go on.", "yes"),
        ("Sounds good, thanks.", "yes"),
        ("Yes, could you also send me the receipt?", "yes"),
        ("没问题，办吧。", "yes"),
        ("好的，可以。", "yes"),
        ("Please don't do that.", "no"),
        ("No, leave it as it is.", "no"),
        ("Not yet.", "no"),
        ("先不要。", "no"),
        ("还是算了吧。", "no"),
        ("不可以", "no"),
        ("I am not sure.", None),
        ("Yes, if it is free.", None),
        ("What does it cost?", None),
        ("Yes. No.", None),
        ("Is that okay?", None),
        ("", None),
    ],
)
def test_a_reply_to_a_question_for_approval_is_yes_no_or_unclear(reply, answer):
    assert consent(reply) == answer


@pytest.mark.parametrize(
    "text",
    [
        "It's QX4821.",
        "No allergies",
        "To 7 June please, and I'd like a window seat.",
        "Could you make it 7 June?",
        "see http://a.example/c?x=1 for it",
        "订单号是 TR9310。",
        "能不能换成靠窗的？",
        "没有过敏",
    ],
)
def test_a_message_with_content_is_a_statement_in_its_own_words(text):
    assert statements([text]) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes, that's right.",
        "Great, thank you! Goodbye.",
        "Never mind, bye.",
        "What else do you need?",
        "谢谢，再见。",
        "有什么推荐吗？",
    ],
)
def test_thanks_goodbyes_a_mere_yes_and_questions_are_none(text):
    assert statements([text]) == []


def test_of_a_message_the_sentences_with_content_stay_and_equal_messages_count_once():
    texts = ["Great. My name is Ann Lee. What are your hours?", "My name is Ann Lee.", "好的。我姓李。几点开门？"]
    assert statements(texts) == ["My name is Ann Lee.", "我姓李。"]
