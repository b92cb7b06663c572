"""Rules for logs of any domain: conversations between a user and an assistant, simulated or not."""

import re
from collections.abc import Mapping

from ..records import Conversation
from .assistant_words import is_long_answer, offered, unfilled
from .courtesy import loops
from .dialogue import DIALOGUE_RULES, same_side_again, texts_of, user_repeat
from .endings import seems_cut_off
from .findings import Reasons, Rule, quoted
from .mentions import is_technical
from .prompts_shown import (
    SHARED,
    SHARED_BY_ASSISTANT,
    instructions,
    repeated_instruction,
    stopped_by_length,
    template_mark,
)
from .quotations import own_words
from .refusals import refused
from .user_turns import leaked_prompt, leaked_role

REPEATED_WORDS = 3
"""Least words of a message that counts as repeated: `yes` and `go on` may be said again. A Chinese character is a word."""

_OTHER_SIDE = re.compile(
    r"^[^\S\n]*[*_#]{0,4}(?:user|human|customer|用户|人类|顾客)[*_]{0,3}[^\S\n]?[:：][^\S\n]*\S", re.I | re.M
)
_BOTH = re.compile(
    r"^[^\S\n]*[*_#>-]{0,4}\s?(?:assistant|agent|bot|ai|system|助手|客服)[*_]{0,3}[^\S\n]?[:：]", re.I | re.M
)
_OWN_LABEL = re.compile(r"\s*[*_#>]{0,4}(?:assistant|chatbot|ai|bot|助手|客服|助理)[*_]{0,3}[^\S\n]?[:：]", re.I)
_ASKED_FOR_DIALOGUE = re.compile(
    r"\b(?:dialogues?|dialogs?|conversations?|scripts?|transcripts?|chats?|role-?play|examples?|prompts?|interviews?|templates?|stor(?:y|ies)|persona|scenarios?"
    r"|user stor(?:y|ies)|use cases?|test cases?)\b|对话|剧本|示例|例子|脚本|提示词",
    re.I,
)
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")


def empty(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        if not message.text.strip() and not message.tool_calls and not message.parts:
            yield number, "has no text"


def repeated(conversation: Conversation) -> Reasons:
    for number, reason in user_repeat(conversation):
        if len(_WORD.findall(conversation.messages[number].text)) >= REPEATED_WORDS:
            yield number, reason


def role_slip(conversation: Conversation) -> Reasons:
    user_words = ""
    for number, message in enumerate(conversation.messages):
        if message.role == "user":
            user_words += f"\n{message.text}"
            if words := leaked_role(message.text):
                yield number, f"the user writes as another side: {quoted(words)}"
        elif (own := _OWN_LABEL.match(message.text)) and not _shows_talk(user_words, message.text[own.end() :]):
            yield number, f"the assistant begins with its own label: {quoted(own.group())}"
        elif (match := _OTHER_SIDE.search(own_words(message.text))) and match.start() > 0:
            requested = _ASKED_FOR_DIALOGUE.search(user_words) or is_technical(user_words)
            if not requested and not _BOTH.search(message.text[: match.start()]):
                yield number, f"the assistant writes as the user: {quoted(match.group())}"


def _shows_talk(user_words: str, rest: str) -> bool:
    """Whether the label that a reply begins with belongs to a dialogue that was asked for."""
    return bool(_ASKED_FOR_DIALOGUE.search(user_words) or _BOTH.search(user_words) or _OTHER_SIDE.search(rest))


def prompt_shown(conversation: Conversation) -> Reasons:
    system_messages, technical = instructions(conversation), False
    for number, message in enumerate(conversation.messages):
        text = message.text
        if message.role == "user":
            technical = technical or is_technical(text)
            if words := leaked_prompt(text) or unfilled(text):
                yield number, f"{quoted(words)} in {quoted(text[max(0, text.find(words) - 20) :])}"
                continue
        elif not technical and (mark := template_mark(text)):
            yield number, f"shows the mark {mark}"
            continue
        least = SHARED if message.role == "user" else SHARED_BY_ASSISTANT
        if words := repeated_instruction(text, system_messages, least):
            yield number, f"repeats the instruction: {quoted(words)}"


def assistant_like(conversation: Conversation) -> Reasons:
    last: str | None = None
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant":
            last = message.text
        elif words := offered(message.text):
            yield number, f"offers help: {quoted(words)}"
        elif is_long_answer(message.text, last):
            yield number, f"answers at length: {quoted(message.text)}"


def thanks_loop(conversation: Conversation) -> Reasons:
    for first, length in loops(conversation.messages):
        yield first, f"{length} messages of thanks and goodbyes from here on"


def refusal(conversation: Conversation) -> Reasons:
    for number, text in texts_of(conversation, "assistant"):
        if words := refused(text):
            yield number, quoted(words)


def cut_off(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        if reason := stopped_by_length(message):
            yield number, f"by its log it stopped by {reason!r}: {quoted(message.text[-60:])}"


def ends_too_soon(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant" and not stopped_by_length(message) and (why := seems_cut_off(message.text)):
            yield number, " ".join(why.split())


CHAT_RULES: Mapping[str, Rule] = {
    "empty": Rule("error", "a message without text, images or calls of tools", empty),
    "role-slip": Rule("error", "a side that writes as the other", role_slip),
    "prompt-shown": Rule("error", "instructions, marks of a template, or a model that shows itself", prompt_shown),
    "assistant-like-user": Rule("warning", "a user that offers help or gives the answer", assistant_like),
    "repeated": Rule("warning", "a user's message of three words or more that repeats an earlier one", repeated),
    "thank-you-loop": Rule("warning", "thanks and goodbyes that go on, four messages or more", thanks_loop),
    "cut-off": Rule("warning", "a message that was cut off at a limit of length, by its log", cut_off),
    "error-reply": DIALOGUE_RULES["error-reply"],
    "refusal": Rule("notice", "a reply that declines to help", refusal),
    "seems-cut-off": Rule("notice", "a reply that ends inside a sentence or a code block", ends_too_soon),
    "same-side-twice": Rule("notice", "two messages of one side in a row", same_side_again),
}
"""Each rule by its id, the worst first."""
