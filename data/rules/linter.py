"""Rules of `check` for conversations of a user and an assistant, by what structure shows.

`DIALOGUE_RULES` are for domains to include; `CHAT_RULES` are those of a log without a domain.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from ..formats.messages import asides
from ..records import Conversation, Record, Role
from ..text.languages import HAN, says_something
from .guards import (
    SHARED,
    is_repeat,
    label_at_start,
    leaked_prompt,
    leaked_role,
    offered_help,
    repeated_instruction,
    template_mark,
)
from .outcomes import is_courtesy, refused

FindingLevel: TypeAlias = Literal["error", "warning", "notice"]
"""`error`: the data is wrong, or should not be in the data set. `warning`: worth a look. `notice`: may well be meant."""

Reasons: TypeAlias = Iterator[tuple[int, str]]
"""For each finding of a rule: the number of the message and the reason."""


class Finding(Record):
    """A finding of a rule in a message."""

    rule: str
    level: FindingLevel
    conversation: str
    """Id of the conversation."""
    path: str = ""
    """Path of the conversation's file in the folder that was read; empty if the source is one file."""
    message: int
    """Number of the message in the conversation, from 0."""
    role: str
    reason: str
    """What is wrong and where in the message, in one line."""


@dataclass(frozen=True)
class Rule:
    """A rule of the linter: its level, a description in one line, and its function."""

    level: FindingLevel
    description: str
    find: Callable[[Conversation], Reasons]
    """Gives the number of the message and the reason of each finding."""


SHARED_BY_ASSISTANT = 160
"""Least characters of an instruction that an assistant's message repeats: it may hold phrases that it is meant to say."""
LOOP = 4
"""Messages of thanks and goodbyes in a row, of both sides, that are a loop."""
REPEATED_WORDS = 4
"""Least words of a user's message that counts as repeated in a log: `go on` may be said again."""

_ERROR = re.compile(
    r"\W{0,3}(?:(?:http|status|error)\W{0,2}){1,3}(?:code)?\s?[:：]\s?[45]\d\d\b"  # Error code: 429 - {...}
    r"|\W{0,3}(?:error\s?[:：]?\s?)?(?:[45]\d\d:?\s)?(?:internal server error|bad gateway|service unavailable|gateway time-?out"
    r"|too many requests|request timed? ?out|connection (?:error|refused|reset)|rate limit (?:exceeded|reached))\b"
    r"|(?:api|server|network)\s?error\b|upstream connect error\b|[A-Za-z_][\w.]*(?:Error|Exception)(?:: |\()"
    r"|\{\s*[\"']error[\"']\s*:|\s*Traceback \(most recent call last\):|\W*(?:API|服务器?|网络|请求)\s?(?:错误|异常|超时)",
    re.IGNORECASE,
)
_LONGEST_ERROR = 400
_ASKED_ABOUT = re.compile(r"\berrors?\b|\bexceptions?\b|trace ?back|\bcode\b|\bhttp\b|报错|错误|异常", re.IGNORECASE)
"""What a user asks who may be answered with the text of an error."""
_OWN_LABEL = re.compile(r"\s*[*_#>]{0,4}(?:assistant|chatbot|ai|bot|助手|客服|助理)[*_]{0,3}[^\S\n]?[:：]", re.I)
_NEXT_USER = re.compile(r"\n\s*[*_#>]{0,4}(?:user|human|用户)[*_]{0,3}\s?[:：]", re.IGNORECASE)
_LENGTH = ("length", "max_tokens", "max_output_tokens", "max_token", "model_length")


def quoted(text: str) -> str:
    """The text in quotes, on one line, cut at 60 characters."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= 60 else text[:57] + "..."}"'


def texts_of(conversation: Conversation, role: Role) -> list[tuple[int, str]]:
    """Number and text of each message of a side, without those of a third one."""
    messages = enumerate(conversation.messages)
    return [(number, one.text) for number, one in messages if one.role == role and one.name is None]


def _instructions(conversation: Conversation) -> list[str]:
    """The system messages of a log; examples among them are no instructions."""
    told = [aside for aside in asides(conversation) if not str(aside.get("name", "")).startswith("example_")]
    return [text for aside in told if isinstance(text := aside.get("system"), str) and text.strip()]


def _empty(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        if not message.text.strip() and not message.tool_calls and not message.parts:
            yield number, "has no text"


def _user_empty(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "user"):
        if not says_something(text) and not conversation.messages[number].parts:
            yield number, f"the message {quoted(text)} has no letter or digit"


def _users(found_in: Callable[[str], str | None], says: str = "") -> Callable[[Conversation], Reasons]:
    """The rule of a guard for the user's messages, with what it says before the words that are found."""

    def find(conversation: Conversation) -> Reasons:
        for number, text in texts_of(conversation, "user"):
            if words := found_in(text):
                yield number, says + (f"{quoted(words)} in {quoted(text[max(0, text.find(words) - 20) :])}")

    return find


def _user_repeat(conversation: Conversation) -> Reasons:
    earlier: list[str] = []
    for number, text in texts_of(conversation, "user"):
        if is_repeat(text, earlier):
            yield number, f"said before: {quoted(text)}"
        earlier.append(text)


def _assistant_first(conversation: Conversation) -> Reasons:
    if conversation.messages and conversation.messages[0].role == "assistant":
        yield 0, f"opens: {quoted(conversation.messages[0].text)}"


def _same_side_again(conversation: Conversation) -> Reasons:
    of_sides = [(number, message) for number, message in enumerate(conversation.messages) if message.name is None]
    for (_, before), (number, message) in pairwise(of_sides):
        if message.role == before.role and not before.tool_calls:  # after a call and its result the side goes on
            yield number, f"follows another message of the {message.role}: {quoted(message.text)}"


def _user_last(conversation: Conversation) -> Reasons:
    # A goodbye that is not stored has no reply by rule.
    stored = [(number, message) for number, message in enumerate(conversation.messages) if message.stored]
    if stored and stored[-1][1].role == "user":
        yield stored[-1][0], f"has no reply: {quoted(stored[-1][1].text)}"


def _error_reply(conversation: Conversation) -> Reasons:
    question = ""
    for number, message in enumerate(conversation.messages):
        if message.role == "user":
            question = message.text
        elif len(message.text) <= _LONGEST_ERROR and _ERROR.match(message.text) and not _ASKED_ABOUT.search(question):
            yield number, f"reads like an error: {quoted(message.text)}"


def _role_slip(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "user"):
        if words := label_at_start(text):
            yield number, f"the user writes as another side: {quoted(words)}"
    for number, text in texts_of(conversation, "assistant"):
        if label := _OWN_LABEL.match(text):
            yield number, f"the assistant begins with its own label: {quoted(label.group())}"
        elif label := _NEXT_USER.search(text):
            yield number, f"the assistant writes as the user: {quoted(label.group())}"


def _prompt_shown(conversation: Conversation) -> Reasons:
    told = _instructions(conversation)
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant" and (mark := template_mark(message.text)):
            yield number, f"shows the mark {mark}"
        least = SHARED if message.role == "user" else SHARED_BY_ASSISTANT
        if words := repeated_instruction(message.text, told, least):
            yield number, f"repeats the instruction: {quoted(words)}"


def _system_twice(conversation: Conversation) -> Reasons:
    told = _instructions(conversation)
    if conversation.messages and len(set(told)) < len(told):
        yield 0, f"the log has the same system message twice: {quoted(told[0])}"


def _repeated(conversation: Conversation) -> Reasons:
    for number, reason in _user_repeat(conversation):
        if len(HAN.sub(" x ", conversation.messages[number].text).split()) >= REPEATED_WORDS:
            yield number, reason


def _thanks_loop(conversation: Conversation) -> Reasons:
    numbered = enumerate(conversation.messages)
    for polite, run in groupby(numbered, key=lambda one: is_courtesy(one[1].text)):
        loop = list(run)
        if polite and len(loop) >= LOOP and len({message.role for _, message in loop}) == 2:
            yield loop[0][0], f"{len(loop)} messages of thanks and goodbyes from here on"


def _cut_off(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        told: list[object] = [attempt.finish_reason for attempt in message.attempts[-1:]]
        told.append(message.extra.get("finish_reason"))
        if reason := next((one for one in told if str(one).lower() in _LENGTH), None):
            yield number, f"by its log it stopped by {reason!r}: {quoted(message.text[-60:])}"


def _refusal(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "assistant"):
        if words := refused(text):
            yield number, quoted(words)


DIALOGUE_RULES: Mapping[str, Rule] = {
    "user-empty": Rule("error", "a user's message without a letter or digit", _user_empty),
    "user-role-leak": Rule("error", "a user that writes for another side", _users(leaked_role)),
    "user-prompt-leak": Rule("error", "a user that shows instructions, reasoning or a model", _users(leaked_prompt)),
    "user-repeat": Rule("warning", "a user's message that repeats an earlier one", _user_repeat),
    "assistant-first": Rule("warning", "an assistant that opens", _assistant_first),
    "same-side-again": Rule("warning", "two messages of one side in a row", _same_side_again),
    "user-last": Rule("warning", "a user's message without a reply at the end", _user_last),
    "error-reply": Rule("warning", "an error of the endpoint in place of a reply", _error_reply),
}
"""Each rule by its id, the user's before the assistant's."""

CHAT_RULES: Mapping[str, Rule] = {
    "empty": Rule("error", "a message without text, images or calls of tools", _empty),
    "role-slip": Rule("error", "a side that writes as the other", _role_slip),
    "prompt-shown": Rule("error", "instructions, marks of a template, or a model that shows itself", _prompt_shown),
    "assistant-like-user": Rule("warning", "a user that offers help", _users(offered_help, "offers help: ")),
    "repeated": Rule("warning", "a user's message of four words or more that repeats an earlier one", _repeated),
    "thank-you-loop": Rule("warning", "thanks and goodbyes that go on, four messages or more", _thanks_loop),
    "cut-off": Rule("warning", "a message that was cut off at a limit of length, by its log", _cut_off),
    "error-reply": DIALOGUE_RULES["error-reply"],
    "system-twice": Rule("notice", "the same system message twice", _system_twice),
    "refusal": Rule("notice", "a reply that declines to help", _refusal),
    "same-side-twice": Rule("notice", "two messages of one side in a row", _same_side_again),
}
"""Each rule by its id, the worst first."""
