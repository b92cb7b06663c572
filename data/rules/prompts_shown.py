"""Words of an instruction that a message repeats, and why a model stopped writing, as the log has them."""

import re
from collections.abc import Iterator

from ..attempts import as_object
from ..formats.dialogues import asides
from ..records import Conversation, Message
from ..text.languages import HAN
from .mentions import is_spoken_about
from .quotations import BLANK, own_words, without_pasted

SHARED = 80
"""Least length in characters of a stretch of the instruction that a user's message repeats; Chinese counts threefold."""

SHARED_BY_ASSISTANT = 160
"""The same for the assistant, whose instruction may hold phrases that it is meant to say."""

_MARK = re.compile(
    r"<\|(?:im_start|im_end|im_sep|eot_id|start_header_id|end_header_id|endoftext|eos|system|user|assistant)\|>|\[/?INST\]|<</?SYS>>"
)
_WHOLE = re.compile(r"(?:[.!?。！？:：;)\]}\"”'’`*|>]|\n)\s*\Z")
"""The end of what a reply says before a mark that ends it."""
_TELLS = re.compile(
    r"\b(?:you (?:are|must|should|will|never|always|may|can)|never|always|do not|don['’]t|must|answer (?:in|with|only|as)|reply|respond)\b"
    r"|你(?:是|要|必须|应该)|不要|不得|必须|请勿|务必",
    re.I,
)
"""Words of an instruction."""
_THINGS = (
    r"(?:context|documents?|sources?|passages?|knowledge(?:[ _]base)?|(?:search[ _])?results?|articles?|excerpts?|faqs?|examples?"
    r"|(?:参考|背景)?资料|上下文|文档|知识库|检索结果)"
)
"""What an instruction hands over for the answer."""
_TAGGED = re.compile(rf"<({_THINGS})\b[^<>\n]{{0,80}}>.*?(?:</\1>|\Z)", re.I | re.S)
_HANDED_OVER = re.compile(
    rf"^[^\S\n]*(?:#{{1,4}}[^\S\n]|\*\*)?(?:[a-z]+ ){{0,3}}{_THINGS}(?:[^\S\n]*\*\*)?(?:[:：]|[^\S\n]*$)"
    rf"|\b(?:following|below)\b[^.:\n]{{0,40}}\b{_THINGS}\b[^\n]*(?:\n[^\S\n]*\S[^\n]*)*\n[^\S\n]*\n",
    re.I | re.M,
)
"""A heading of such material, or a paragraph that says that it follows."""
_HEADING = re.compile(r"^#{1,4}[^\S\n]", re.M)
_LENGTH = ("length", "max_tokens", "max_output_tokens", "max_token", "model_length")


def instructions(conversation: Conversation) -> list[str]:
    """The instructions in the system messages of the log.

    Examples, and material for the answer such as retrieved documents, are no part of it.
    """
    texts = [
        _without_material(text)
        for aside in asides(conversation)
        if isinstance(text := aside.get("system"), str)
        and not any(str(as_object(turn).get("name", "")).startswith("example_") for turn in aside.values())
    ]
    return [text for number, text in enumerate(texts) if text.strip() and (number == 0 or _TELLS.search(text))]


def _without_material(text: str) -> str:
    text = _TAGGED.sub("\n", text)
    if begin := _HANDED_OVER.search(text):
        end = _HEADING.search(text, begin.end())
        return text[: begin.end()] + (text[end.start() :] if end else "")
    return text


def asks_in_passing(words: str, text: str) -> bool:
    """Whether the words of an instruction tell the reader how to answer a question that is most of the text."""
    return 2 * len(words) < len(text) and _TELLS.search(words) is not None


def repeated_instruction(text: str, system_messages: list[str], least: int) -> str | None:
    """A stretch of an instruction that the text repeats, if it is long enough; None if it is not."""
    one_line = " ".join(text.split())
    for instruction in system_messages:
        instruction_words = " ".join(instruction.split())
        enough = max(SHARED, min(least, len(instruction_words) * 9 // 10))  # of a short instruction nearly all
        if stretch := _shared(one_line.casefold(), instruction_words.casefold(), enough):
            start, length = stretch
            return one_line[start : start + length]
        # Half of a short one, if it tells somebody what to do: what it quotes is often meant to be said.
        own = own_words(instruction_words).casefold()
        half = max(SHARED, len(own.replace(BLANK, "")) // 2)
        if half < enough and (stretch := _shared(one_line.casefold(), own, half)):
            start, length = stretch
            if _TELLS.search(words := one_line[start : start + length]):
                return words
    return None


def _shared(a: str, b: str, least: int) -> tuple[int, int] | None:
    """Place in `a` and length of a stretch that both have, if it weighs enough."""
    piece = least // 6 if HAN.search(b) else least // 2  # a stretch of this weight holds such a piece whole
    at = 0
    while at + piece <= len(b):
        place = a.find(b[at : at + piece])
        if place < 0:
            at += piece // 2
            continue
        first, last = 0, piece
        while min(place, at) > first and a[place - first - 1] == b[at - first - 1]:
            first += 1
        while place + last < len(a) and at + last < len(b) and a[place + last] == b[at + last]:
            last += 1
        stretch = a[place - first : place + last]
        if len(stretch) + 2 * len(HAN.findall(stretch)) >= least:
            return place - first, len(stretch)
        at += last
    return None


def template_mark(text: str, *, technical: bool) -> str | None:
    """A mark of a chat template outside code; None without one.

    In a conversation about technical things only one that ends or begins the reply, behind a whole sentence.
    """
    pasted = without_pasted(text).strip()
    match = _MARK.search(pasted)
    if match is None or not technical:
        return match.group() if match else None
    marks = list(_MARK.finditer(pasted))
    if len(marks) > 2 or is_spoken_about(pasted, *marks[-1].span()):
        return None
    ends = marks[-1].end() == len(pasted) and _WHOLE.search(pasted[: marks[-1].start()]) is not None
    return match.group() if ends or marks[0].start() == 0 else None


def told_reasons(message: Message) -> Iterator[str]:
    """Why the model stopped writing, as the record or the log has it."""
    for attempt in message.attempts[-1:]:
        if attempt.finish_reason:
            yield attempt.finish_reason
    for patch in message.extra.values():
        reason = as_object(as_object(patch).get("values")).get("finish_reason")
        if isinstance(reason, str):
            yield reason


def stopped_by_length(message: Message) -> str | None:
    """The recorded reason why a message was cut off at a limit; None without one."""
    return next((reason for reason in told_reasons(message) if reason.lower() in _LENGTH), None)
