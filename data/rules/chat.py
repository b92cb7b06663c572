"""Rules for logs of any domain: conversations between a user and an assistant, simulated or not."""

import re
from collections.abc import Mapping

from ..records import Conversation
from ..text.languages import ENGLISH
from .assistant_words import is_long_answer, offered, unfilled
from .courtesy import loops
from .dialogue import DIALOGUE_RULES, same_side_again, texts_of, user_repeat
from .endings import seems_cut_off
from .findings import Reasons, Rule, quoted
from .mentions import is_technical
from .prompts_shown import (
    SHARED,
    SHARED_BY_ASSISTANT,
    asks_in_passing,
    instructions,
    repeated_instruction,
    stopped_by_length,
    template_mark,
)
from .refusals import refused
from .scripts import ASKED_FOR_DIALOGUE, BOTH, OTHER_SIDE, next_user_message, transcript
from .user_turns import is_repeat, leaked_prompt, leaked_role

REPEATED_WORDS = (3, 6)
"""Least words of a question, and of any other message, that count as repeated: `that is true` and `go on` may be said again. A
Chinese character is a word."""

REQUEST_WORDS = 25
"""Most words of a request that may be made anew of something new: `can you make a table of it`."""
GO_ON_WORDS = 12
"""Most words of a request to change what was said last: it is another one each time."""

LATEST = 4
"""Latest requests among which one for a dialogue is looked for: later ones may ask to go on with it."""

_GO_ON = re.compile(
    r"\b(?:continue|go on|more(?! about)|another|next|again|rest|remaining|previous|above|last|one at a time|still there)\b"
    r"|\A(?!\W*(?:what|who|where|when|why|which|are|do|does|did|will|i|we|my|if)\b).*\b(?:this|that|it|these|those|(?:the|your) (?:answer|response|reply|code))"
    r"(?=\s*(?:\Z|[.!,?]|(?:for|in|into|to|as|very|by|with|please|based|after|one|a (?:little|bit))\b))"
    r"|下一|再来|这个|更多|上面",
    re.I | re.S,
)
_ASKS = re.compile(
    r"[?？]|\A\W*(?:what|who|where|when|why|how|which|can|could|do|does|is|are|will|would)\b|吗|什么|怎么|哪|多少|几",
    re.I,
)
_OF_THE_LAST = re.compile(
    r"\b(?:this|these|those|above|now|else|(?:is|was|does|did|about|for|in|of|to) that|(?:did|have|were) you)\b|这|那|上述|以上",
    re.I,
)
"""A question with one of these may be about what was said in between."""
_REQUESTS = re.compile(r"\W*(?:(?:please|now|and|so),? )*(?:can|could|will|would) (?:you|we)\b", re.I)
_CONTINUES = re.compile(
    r"\W*(?:(?:please|now|ok(?:ay)?|can you|could you|kindly|just|yes|great),? ){0,3}(?:continue|cont|go on|keep (?:going|writing)|carry on|proceed|finish|resume"
    r"|complete (?:the|your)|expand (?:the|your)|继续|接着)(?![^\W_])",
    re.I,
)
"""The begin of a request to go on, however long."""
_OWN_LABEL = re.compile(r"\s*[*_#>]{0,4}(?:assistant|chatbot|ai|bot|助手|客服|助理)[*_]{0,3}[^\S\n]?[:：]", re.I)
_PLAYED = re.compile(r"\b(?:pretend|role-?play\w*|play the (?:role|part))\b|扮演|假装", re.I)
"""What a user asks for who plays a part."""
_OF_REACTIONS = frozenset(
    """again are aren come correct d did didn doesn does don happened happen happens i is isn kidding know ll m make makes may me
    mean meant might must okay ok oh out re really right s said say saying see sense serious should sorry sure t talking tell think true ve was
    wait well why work works wrong yes you""".split()
)
"""Further words of questions about what was said last."""
_REACTION_ZH = re.compile(
    r"(?:那么?|这么?|这样|它|他|她|你们?|我们?|是|不|没|有|会|能|可以|可能|应该|真|的|了|吗|么|嘛|呢|啊|呀|吧|就|也|还|都|又|再|为什么|为何|怎么|怎样|如何"
    r"|什么|意思|说|讲|看|想|觉得|认为|知道|确定|肯定|一定|正确|对|行|好|样|办|回事|所以|但是?|可是|然后|因为|[\W_])+"
)
"""A Chinese question without a word of a subject."""
_LETTERS = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+")


def empty(conversation: Conversation) -> Reasons:
    for number, message in enumerate(conversation.messages):
        if not message.text.strip() and not message.tool_calls and not message.parts:
            yield number, "has no text"


def repeated(conversation: Conversation) -> Reasons:
    yield from _repeated(conversation, requests=False)


def request_repeated(conversation: Conversation) -> Reasons:
    yield from _repeated(conversation, requests=True)


def _repeated(conversation: Conversation, *, requests: bool) -> Reasons:
    """Repeats of short requests, or of all else; not of reactions, nor of requests to go on."""
    for number, reason in user_repeat(conversation):
        text = conversation.messages[number].text
        words, asks = len(_WORD.findall(text)), _ASKS.search(text) is not None
        short = words <= REQUEST_WORDS and (
            not asks
            or _REQUESTS.match(text) is not None
            or _is_reaction(text)
            or (_OF_THE_LAST.search(text) is not None and not _at_once(conversation, number))
        )
        goes_on = _CONTINUES.match(text) or (words <= GO_ON_WORDS and _GO_ON.search(text))
        if words >= REPEATED_WORDS[not asks] and not goes_on and short == requests:
            yield number, reason


def _at_once(conversation: Conversation, number: int) -> bool:
    """Whether a user's message is the same as the user's message before it."""
    earlier = [message.text for message in conversation.messages[:number] if message.role == "user"]
    return is_repeat(conversation.messages[number].text, earlier[-1:])


def _is_reaction(question: str) -> bool:
    """Whether a question has no word of a subject, such as `what do you mean?`."""
    words = _LETTERS.findall(question.casefold())
    return all(word in ENGLISH or word in _OF_REACTIONS for word in words) or bool(_REACTION_ZH.fullmatch(question))


def role_slip(conversation: Conversation) -> Reasons:
    requests: list[str] = []
    for number, message in enumerate(conversation.messages):
        text = message.text
        if message.role == "user":
            requests = [*requests[1 - LATEST :], text]
            if words := leaked_role(text):
                yield number, f"the user writes as another side: {quoted(words)}"
        elif (own := _OWN_LABEL.match(text)) and not _shows_talk("\n".join(requests[-2:]), text[own.end() :]):
            yield number, f"the assistant begins with its own label: {quoted(own.group())}"
        elif match := next_user_message(text, "\n".join(requests[-2:])) or transcript(text, "\n".join(requests)):
            yield number, f"the assistant writes as the user: {quoted(match.group())}"


def _shows_talk(request: str, rest: str) -> bool:
    """Whether the label that a reply begins with belongs to a dialogue that was asked for."""
    return bool(ASKED_FOR_DIALOGUE.search(request) or BOTH.search(request) or OTHER_SIDE.search(rest))


def prompt_shown(conversation: Conversation) -> Reasons:
    system_messages, technical, earlier = instructions(conversation), False, ""
    for number, message in enumerate(conversation.messages):
        text = message.text
        if message.role == "user":
            technical = technical or is_technical(text)
            words = leaked_prompt(text) or unfilled(text, earlier)
            if words and not _quotes(text, words, earlier):
                yield number, f"{quoted(words)} in {quoted(text[max(0, text.find(words) - 20) :])}"
                earlier += f"\n{text}"
                continue
        elif mark := template_mark(text, technical=technical):
            yield number, f"shows the mark {mark}"
            continue
        earlier += f"\n{text}"
        least = SHARED if message.role == "user" else SHARED_BY_ASSISTANT
        if (words := repeated_instruction(text, system_messages, least)) and not (
            message.role == "user" and asks_in_passing(words, text)
        ):
            yield number, f"repeats the instruction: {quoted(words)}"


def _quotes(text: str, words: str, earlier: str) -> bool:
    """Whether the words with their surroundings stand in an earlier message, and the text has others too."""
    at = text.find(words)
    around = text[max(0, at - 20) : at + len(words) + 20].strip()
    return len(around) >= len(words) + 20 and around in earlier and text.strip() not in earlier


def assistant_like(conversation: Conversation) -> Reasons:
    last = ""
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant":
            last = message.text
        elif _PLAYED.search(message.text):  # from here on the sides play parts
            return
        elif words := offered(message.text, last):
            yield number, f"offers help: {quoted(words)}"


def user_answers(conversation: Conversation) -> Reasons:
    last: str | None = None
    for number, message in enumerate(conversation.messages):
        if message.role == "assistant":
            last = message.text
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
    "assistant-like-user": Rule("warning", "a user that offers help or announces an answer", assistant_like),
    "repeated": Rule("warning", "a user's question, or long message, that repeats an earlier one", repeated),
    "thank-you-loop": Rule("warning", "thanks and goodbyes that go on, four messages or more", thanks_loop),
    "cut-off": Rule("warning", "a message that was cut off at a limit of length, by its log", cut_off),
    "error-reply": DIALOGUE_RULES["error-reply"],
    "refusal": Rule("notice", "a reply that declines to help", refusal),
    "request-repeated": Rule(
        "notice", "a user's short request or statement that repeats an earlier one", request_repeated
    ),
    "user-answers": Rule("notice", "a user's long, structured text without a request", user_answers),
    "seems-cut-off": Rule("notice", "a reply that ends inside a sentence or a code block", ends_too_soon),
    "same-side-twice": Rule("notice", "two messages of one side in a row", same_side_again),
}
"""Each rule by its id, the worst first."""
