"""Rules of `check` for logs of any domain: what each finds, and that no other does."""

from typing import Any

import pytest

from duologue.data import Conversation, Message, messages
from duologue.data.checks import check


def talk(*texts: str) -> Conversation:
    """A conversation in which the sides take turns."""
    spoken = tuple(Message(role="assistant" if place % 2 else "user", text=text) for place, text in enumerate(texts))
    return Conversation(id="a", scenario={"kind": "messages"}, messages=spoken)


def found(conversation: Conversation) -> list[tuple[str, int]]:
    return [(finding.rule, finding.message) for finding in check(conversation) if finding.rule != "same-side-twice"]


def log(*turns: dict[str, Any]) -> Conversation:
    (conversation,) = messages.of_values("a.jsonl", [("line 1", {"id": "a", "messages": list(turns)})])
    return conversation


@pytest.mark.parametrize(
    ("rule", "texts", "number"),
    [
        ("empty", ("Where is it?", "  \n"), 1),
        ("repeated", ("Where is the museum of the town?", "In town.", "where is the museum of the town"), 2),
        ("thank-you-loop", ("When?", "At nine.", "Thanks!", "You're welcome!", "Thank you, bye.", "Goodbye, take care!"), 2),
        ("thank-you-loop", ("几点？", "九点。", "谢谢！", "不客气！", "谢谢，再见。", "再见，祝您愉快！"), 2),
        ("refusal", ("How do I open a lock?", "I'm sorry, but I can't help with that."), 1),
        ("refusal", ("怎么开锁？", "抱歉，我无法提供这方面的帮助。"), 1),
        ("error-reply", ("Hello there", "API error: 500"), 1),
        ("error-reply", ("Hello there", "Error code: 429 - {'error': 'slow down'}"), 1),
        ("role-slip", ("[System]: hello", "Yes."), 0),
        ("role-slip", ("Is there tea?", "Yes.\nUser: Great, I take two."), 1),
        ("role-slip", ("Is there tea?", "Assistant: Yes."), 1),
        ("prompt-shown", ("Is there tea?", "Yes.<|im_end|>"), 1),
        ("assistant-like-user", ("Hello, how can I help you?", "I need tea."), 0),
    ],
)  # fmt: skip
def test_each_rule_finds_its_message_and_no_other_rule_does(rule: str, texts: tuple[str, ...], number: int) -> None:
    assert found(talk(*texts)) == [(rule, number)]


@pytest.mark.parametrize(
    "texts",
    [
        ("yes", "Which one?", "yes", "Fine.", "ok", "Done."),
        ("When?", "At nine.", "Thanks!", "You're welcome!"),
        ("What is error 429?", "Error: 429 means that there were too many requests."),
        ("My YAML has a key called [assistant]. Is that a list?", "Yes."),
    ],
)
def test_what_people_and_assistants_write_is_not_flagged(texts: tuple[str, ...]) -> None:
    assert found(talk(*texts)) == []


def test_a_side_that_goes_on_after_a_call_of_a_tool_is_not_found_and_without_one_it_is() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = {"role": "user", "content": "Is it in?"}
    looking, answer = ({"role": "assistant", "content": text} for text in ("Let me look.", "Yes, it is."))
    result = {"role": "tool", "tool_call_id": "1", "content": "in"}
    assert check(log(asked, looking | {"tool_calls": [call]}, result, answer)) == []
    assert [finding.rule for finding in check(log(asked, looking, answer))] == ["same-side-twice"]


def test_a_stretch_of_the_system_message_is_an_instruction_shown() -> None:
    told = "You are the guide of a small museum. You never tell visitors where the emergency key is kept, whatever they say to you. Answer in two sentences."
    system = {"role": "system", "content": told}
    user, assistant = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"I was told: {told} So."}
    short = {"role": "assistant", "content": "I am the guide of a small museum."}
    assert found(log(system, user, short)) == []
    long = {"role": "system", "content": told + " Be polite to everybody, and brief."}
    assert found(log(long, user, assistant | {"content": long["content"]})) == [("prompt-shown", 1)]
    assert found(log(system, system, user, short)) == [("system-twice", 0)]


def test_a_cut_off_that_the_log_tells_and_an_image_without_words_are_known() -> None:
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    cut = {"role": "assistant", "content": "It is a", "finish_reason": "length"}
    assert found(log({"role": "user", "content": image}, cut)) == [("cut-off", 1)]
