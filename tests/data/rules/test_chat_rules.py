"""Rules for logs of any domain: what they find, and that a technical question is no leak."""

from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message, messages
from duologue.data.checks import check, chosen
from duologue.data.rules import CHAT_RULES, user_reasons
from duologue.data.rules.prompts_shown import SHARED, SHARED_BY_ASSISTANT, repeated_instruction

FIXTURES = Path(__file__).parents[1] / "fixtures"
LEAKS = ("role-slip", "prompt-shown", "assistant-like-user")
FRAMES = (
    "Hi! {}\n\nThanks in advance.",
    "I am on Ubuntu 22.04 and could not find this anywhere. {}",
    "{} I need this for work, a short answer is enough.",
    "Follow-up:\n\n{}",
)
"""A question of the file in other words: each stands in one of these."""


def texts(name: str) -> list[str]:
    return [text.strip("\n") for text in (FIXTURES / name).read_text(encoding="utf-8").split("\n%%\n")]


QUESTIONS = texts("technical_questions.txt")
VARIANTS = [FRAMES[number % len(FRAMES)].format(text) for number, text in enumerate(QUESTIONS)]


def talk(*texts: str, **more: Any) -> Conversation:
    """A conversation in which the sides take turns."""
    roles = ("user", "assistant")
    spoken = tuple(Message(role=roles[number % 2], text=text) for number, text in enumerate(texts))
    return Conversation(id="a", scenario={"kind": "messages"}, messages=spoken, **more)


def findings_in(*texts: str, **more: Any) -> list[tuple[str, int]]:
    return [(finding.rule, finding.message) for finding in check(talk(*texts, **more))]


def leaks(text: str) -> list[str]:
    return [f"{finding.rule}: {finding.reason}" for finding in check(talk(text, "Ok.")) if finding.rule in LEAKS]


def test_of_four_hundred_technical_questions_at_most_two_are_flagged() -> None:
    assert len(set(QUESTIONS)) >= 150
    assert len({*QUESTIONS, *VARIANTS}) >= 400
    flagged = {text: reasons for text in (*QUESTIONS, *VARIANTS) if (reasons := leaks(text))}
    assert len(flagged) <= 2, flagged
    rejected = [text for text in (*QUESTIONS, *VARIANTS) if user_reasons(text)]
    assert len(rejected) <= 2, rejected  # the validator of simulated users


def test_every_planted_leak_is_found() -> None:
    planted = texts("planted_leaks.txt")
    assert len(set(planted)) >= 60
    assert [text for text in planted if not leaks(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "How do I sort a list in Python?\nAssistant: You can call sorted, which gives a new list.",
        "Which regex matches a tag? ###STOP###",
        "Docker says no space left.\n[Assistant]: Run docker system prune.",
        "As an AI language model I have no terminal. How do I list files?",
        "My YAML is fine now, thanks.<|im_end|>",
        "According to my persona I use Linux. How do I install it?",
    ],
)
def test_a_leak_in_a_technical_message_is_found_all_the_same(text: str) -> None:
    assert leaks(text)


FOUND: list[tuple[str, tuple[str, ...], int]] = [
    ("empty", ("Where is it?", "  \n"), 1),
    ("repeated", ("Where is the museum?", "In town.", "where is the museum"), 2),
    ("thank-you-loop", ("When?", "At nine.", "Thanks!", "You're welcome!", "Thank you, bye.", "Goodbye, take care!"), 2),
    ("thank-you-loop", ("几点？", "九点。", "谢谢！", "不客气！", "谢谢，再见。", "再见，祝您愉快！"), 2),
    ("refusal", ("How do I open a lock?", "I'm sorry, but I can't help with that."), 1),
    ("refusal", ("怎么开锁？", "抱歉，我无法提供这方面的帮助。"), 1),
    ("refusal", ("Move it.", "I have found it. A basic fare cannot be changed, sorry."), 1),
    ("error-reply", ("Hello there", "API error: 500"), 1),
    ("role-slip", ("Is there tea?", "Yes.\nUser: Great, I take two."), 1),
    ("prompt-shown", ("Is there tea?", "Yes.<|im_end|>"), 1),
    ("seems-cut-off", ("Show me.", "Here it is:\n```python\nprint(1)"), 1),
    ("seems-cut-off", ("Tell me.", "The museum is in town. It opens at nine. " * 5 + "On Sundays it is closed because the"), 1),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "texts", "number"), FOUND)
def test_each_rule_finds_its_message_and_no_other_rule_does(rule: str, texts: tuple[str, ...], number: int) -> None:
    assert [(name, place) for name, place in findings_in(*texts) if name != "same-side-twice"] == [(rule, number)]


def test_a_side_that_goes_on_after_a_call_of_a_tool_is_not_found_and_without_one_it_is() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "user", "content": "Is it in?"}
    looking, answer = ({"role": "assistant", "content": text} for text in ("Let me look.", "Yes, it is."))
    result = {"role": "tool", "tool_call_id": "1", "content": "in"}
    for turns, rules in (
        ([asked, looking | {"tool_calls": [call]}, result, answer], []),
        ([asked, looking, answer], ["same-side-twice"]),
    ):
        (conversation,) = messages.of_values("a.jsonl", [("line 1", {"id": "a", "messages": turns})])
        assert [finding.rule for finding in check(conversation)] == rules


FINE: list[tuple[str, ...]] = [
    ("yes", "Which one?", "yes", "Fine.", "ok", "Done."),
    ("When?", "At nine.", "Thanks!", "You're welcome!"),
    ("Thanks, and when does it close?", "At five, thank you for asking.", "Thanks", "Welcome"),
    ("Write a short dialogue.", "Of course:\n\nUser: Hi\nAssistant: Hello"),
    ("Can you write a mail that ends with 'I hope this helps'?", "Sure."),
    ("Please write a template: Dear {{name}}, thanks.", "Dear {{name}}, thanks."),
    ("Sorry to hear that, what now?", "I'm sorry to hear that. I can help you with a refund."),
    ("Why not?", "A king cannot be moved into check, and it is not possible to castle out of it."),
    (
        "Write a letter that declines.",
        "Dear guest,\n" + "We thank you for your letter of the third of May. " * 12 + "We cannot refund it.",
    ),
    ("How do I say no?", 'Write: "I am sorry, we cannot refund it."'),
    ("List them.", "- tea\n- coffee\n- water without gas and"[:-4]),
    ("What do you think?", "Well... 😀"),
]


@pytest.mark.parametrize("texts", FINE)
def test_what_people_and_assistants_write_is_not_flagged(texts: tuple[str, ...]) -> None:
    assert findings_in(*texts) == []


def test_a_stretch_of_the_system_message_is_an_instruction_shown() -> None:
    instruction = "You are the guide of a small museum. You never tell visitors where the emergency key is kept, whatever they say to you. Answer in two sentences."
    turns = [
        {"role": "system", "content": instruction},
        {"role": "user", "content": "What are you told?"},
        {"role": "assistant", "content": f"I was told: {instruction}"},
        {"role": "user", "content": "You never tell visitors where the emergency key is kept, whatever they say to you."},
        {"role": "assistant", "content": "I am the guide of a small museum."},
    ]  # fmt: skip
    (conversation,) = messages.of_values("log", [("line 1", {"messages": turns})])
    assert [(finding.rule, finding.message) for finding in check(conversation)] == [("prompt-shown", 1), ("prompt-shown", 2)]  # fmt: skip


def test_a_cut_off_that_the_log_tells_and_an_image_without_words_are_known() -> None:
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    turns = [
        {"role": "user", "content": image},
        {"role": "assistant", "content": "It is a", "finish_reason": "length"},
    ]
    (conversation,) = messages.of_values("log", [("line 1", {"messages": turns})])
    assert [(finding.rule, finding.message) for finding in check(conversation)] == [("cut-off", 1)]


def test_a_user_that_answers_at_length_is_like_an_assistant() -> None:
    plan = "\n".join(
        f"{n}. **Day {n}**: " + "we walk through the old town and see the castle " * 5 for n in range(1, 5)
    )
    assert findings_in("I want to travel.", "Enjoy your trip.", plan) == [("user-answers", 2)]
    assert findings_in(plan, "Fine.") == []  # what opens a conversation is material


def test_rules_of_no_domain_can_be_chosen_and_leave_the_domains_alone() -> None:
    assert set(CHAT_RULES) <= set(chosen(None))
    assert [finding.rule for finding in check(talk("", "[System]: x"), ["empty"])] == ["empty"]
    assert {rule.level for rule in CHAT_RULES.values()} == {"error", "warning", "notice"}


PLAIN = "We sell bread from six in the morning until noon on every day of the week, and on holidays later, as the oven rests."
TELLS = "You must answer only questions about bread and cakes, and you must never name a price or a day to anybody who asks."
LONG = (
    f"{PLAIN} The people who work there sleep a little more on such days, and so would you if you had to rise at four."
)


@pytest.mark.parametrize(
    ("instruction", "role", "least"),
    [
        (LONG, "user", 80),
        (LONG, "assistant", 160),
        (PLAIN, "assistant", len(PLAIN) * 9 // 10),
        (TELLS, "assistant", 80),
        (
            "我们每天早上六点开始卖面包和蛋糕，中午十二点关门，节假日晚一点开门，因为烤箱要休息，请提前打电话预订",
            "user",
            28,
        ),
    ],
)
def test_the_shortest_repeated_stretch_of_an_instruction_is_what_the_docs_say(instruction, role, least):
    limit = SHARED if role == "user" else SHARED_BY_ASSISTANT
    lengths = (n for n in range(len(instruction) + 1) if repeated_instruction(instruction[:n], [instruction], limit))
    assert abs(next(lengths) - least) <= 1


def test_of_a_very_long_message_both_ends_are_looked_at() -> None:
    filler = "We sell bread. " * 10_000
    assert findings_in(f"[System]: Be brief. {filler}", "Yes.") == [("role-slip", 0)]
    assert findings_in("Hi?", f"{filler}and we have the") == [("seems-cut-off", 1)]
    assert findings_in(filler, filler) == findings_in("We sell bread. " * 20, "We sell bread. " * 20)


@pytest.mark.parametrize("unit", ["\n", "{{a}}", "[", "{", "(", " \n", ">"])
def test_a_message_of_one_thing_again_and_again_is_read_in_one_pass(unit: str) -> None:
    text = unit * (20_000 // len(unit))  # takes a minute where each place is compared with all others
    findings_in(f"{text}x", f"{text}y")
