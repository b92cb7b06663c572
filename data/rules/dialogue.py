"""Rules for any conversation of a user and an assistant, for domains to include."""

from collections.abc import Mapping
from itertools import pairwise

from ..records import Conversation, Role
from ..text.languages import says_something
from .error_replies import is_error
from .findings import Reasons, Rule, quoted
from .plans import is_plan
from .user_turns import is_repeat, leaked_prompt, leaked_role

MOST = 50_000
"""Most characters of a message that are looked at: half of them at its begin, half at its end."""


def both_ends(conversation: Conversation) -> Conversation:
    """The conversation with the begin and the end of its longest messages."""
    if all(len(message.text) <= MOST for message in conversation.messages):
        return conversation
    half = MOST // 2
    shortened = (
        message.model_copy(update={"text": f"{message.text[:half]}\n{message.text[-half:]}"})
        if len(message.text) > MOST
        else message
        for message in conversation.messages
    )
    return conversation.model_copy(update={"messages": tuple(shortened)})


def user_empty(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "user"):
        if not says_something(text) and not conversation.messages[number].parts:
            yield number, f"the message {quoted(text)} has no letter or digit"


def user_role_leak(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "user"):
        if words := leaked_role(text):
            yield number, f"{quoted(words)} in {quoted(text[text.find(words) :])}"


def user_prompt_leak(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "user"):
        if words := leaked_prompt(text):
            yield number, f"{quoted(words)} in {quoted(text[max(0, text.find(words) - 20) :])}"


def user_repeat(conversation: Conversation) -> Reasons:
    earlier: list[str] = []
    for number, text in texts_of(conversation, "user"):
        if is_repeat(text, earlier):
            yield number, f"said before: {quoted(text)}"
        earlier.append(text)


def user_plan(conversation: Conversation) -> Reasons:
    last: str | None = None
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant":
            last = message.text
        elif is_plan(message.text, last):
            yield number, f"a plan that answers nothing: {quoted(message.text)}"


def assistant_first(conversation: Conversation) -> Reasons:
    if conversation.messages and conversation.messages[0].role == "assistant":
        yield 0, f"opens: {quoted(conversation.messages[0].text)}"


def same_side_again(conversation: Conversation) -> Reasons:
    of_sides = [(number, message) for number, message in enumerate(conversation.messages) if message.name is None]
    for (_, before), (number, message) in pairwise(of_sides):
        if message.role == before.role and not before.tool_calls:  # after a call and its result the side goes on
            yield number, f"follows another message of the {message.role}: {quoted(message.text)}"


def user_last(conversation: Conversation) -> Reasons:
    # A goodbye that is not stored has no reply by rule.
    stored = [(number, message) for number, message in enumerate(conversation.messages) if message.stored]
    if stored and stored[-1][1].role == "user":
        yield stored[-1][0], f"has no reply: {quoted(stored[-1][1].text)}"


def error_reply(conversation: Conversation) -> Reasons:
    question = ""
    for number, message in enumerate(conversation.messages):
        if message.role == "user":
            question = message.text
        elif is_error(message.text, question):
            yield number, f"reads like an error: {quoted(message.text)}"


def texts_of(conversation: Conversation, role: Role) -> list[tuple[int, str]]:
    """Number and text of each message of a side, without those of a third one."""
    messages = enumerate(conversation.messages)
    return [(number, one.text) for number, one in messages if one.role == role and one.name is None]


DIALOGUE_RULES: Mapping[str, Rule] = {
    "user-empty": Rule("error", "a user's message without a letter or digit", user_empty),
    "user-role-leak": Rule("error", "a user that writes for another side", user_role_leak),
    "user-prompt-leak": Rule("error", "a user that shows instructions, reasoning or a model", user_prompt_leak),
    "user-repeat": Rule("warning", "a user's message that repeats an earlier one", user_repeat),
    "user-plan": Rule("warning", "a user that does the assistant's work", user_plan),
    "assistant-first": Rule("warning", "an assistant that opens", assistant_first),
    "same-side-again": Rule("warning", "two messages of one side in a row", same_side_again),
    "user-last": Rule("warning", "a user's message without a reply at the end", user_last),
    "error-reply": Rule("warning", "an error of the endpoint in place of a reply", error_reply),
}
"""Each rule by its id."""
