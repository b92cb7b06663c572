"""The messages as the rules for users' faults read them: what the agent asked, did and gave before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...records import Message, Role
from ...text.content_words import ASKS, content, sentences
from ...text.text_values import ValueSet, values
from ..assistant_faults import asks_for_the_same, promised, requested, requests
from ..refusals import outcome_of, outcomes
from .brief import Brief

_READS = re.compile(
    r"^(?:get|find|search|look|list|read|check|query|fetch|show|view|verify|see|retrieve|calculate|price|quote|estimate|查|看|搜)"
    r"|(?:^|_)(?:price|prices|quote|info|details|status|lookup|search|availability)$",
    re.IGNORECASE,
)
"""Names of tools that only read."""
_WAITS = re.compile(
    r"\b(?:(?:one|just a|a) (?:moment|sec(?:ond)?|minute)(?=\W*$|[.,!;]| please| while)|hold on|please wait|bear with me|let me (?:check|look|see|pull|find|verify|have)"
    r"|(?:i['’]m|i am|i['’]ll|i will) (?:now |just )?(?:check|look|on it|see|verify|search)\w*|give me a (?:moment|second))\b"
    r"|稍等|请等|等一下|正在|我(?:来|去|先)?查(?:一下|询)?|我看(?:一下|看)",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\b(?:thanks?|thank you|hello|hi|hey|welcome|sure|of course|certainly|right|alright|great|good (?:morning|day|evening|afternoon)|happy to|glad to|pleased to"
    r"|(?:can|will|would like to|love to|be able to) help|noted|understood|got it|no problem|sorry to hear|question follows|i see\b)"
    r"|谢谢|感谢|您好|你好|好的|当然|可以的?(?=\s*(?:[，。！,.!]|$))|明白|记下|收到|很高兴|欢迎|没问题|乐意|了解|抱歉听到|还有一个问题",
    re.IGNORECASE,
)
_NOT_KNOWN = re.compile(
    r"\b(?:don['’]t|do not|can['’]t|cannot|can not|couldn['’]t|not|no) (?:\w+ ){0,2}(?:know|remember|recall|sure|tell|have (?:that|it|one|this|any)|find|idea|clue|at hand)\b|\bno idea\b"
    r"|\bi (?:don['’]t|do not) have\b|\bnot (?:know|sure|at hand)\b|不知道|不清楚|不记得|记不|说不上来|没有(?:这个|那个)?$|手边没有|不确定|没带",
    re.IGNORECASE,
)


LONG = 500
"""Characters of an assistant's text that gives something for sure."""


READ = 4_000
"""Most characters of a message that are looked at."""


class Turn(NamedTuple):
    """A message, and the tools that were called for it without an error."""

    role: Role
    text: str
    tools: tuple[str, ...] = ()


def turns_of(messages: Iterable[Message]) -> tuple[Turn, ...]:
    """The messages as turns; of the longest only the begin."""
    return tuple(
        Turn(message.role, message.text[:READ], tuple(call.name for call in message.tool_calls if call.error is None))
        for message in messages
    )


def says_unknown(text: str) -> bool:
    """Whether a user says that it does not know or have what it was asked for."""
    return _NOT_KNOWN.search(text) is not None


@dataclass(frozen=True)
class UserReading:
    """A conversation, with what its user was given."""

    brief: Brief
    turns: Sequence[Turn]
    stop: str | None = None
    """Why it ended; None if that is not known or it goes on."""
    first: int = 0
    """Number of the first message whose faults are wanted: those before it were looked at."""
    _before: dict[int, ValueSet] = field(default_factory=dict, repr=False)

    def own(self) -> Iterable[tuple[int, str]]:
        """Number and text of the user's messages, from `first` on; without the one that the scenario wrote."""
        opening = next((number for number, turn in enumerate(self.turns) if turn.role == "user"), None)
        for number, turn in enumerate(self.turns):
            if turn.role == "user" and number >= self.first and not (self.brief.scripted and number == opening):
                yield number, turn.text

    def earlier(self, number: int) -> list[str]:
        """The user's messages before one."""
        return [turn.text for turn in self.turns[:number] if turn.role == "user"]

    def replies(self, number: int) -> list[str]:
        """The assistant's messages before one, in order."""
        return [turn.text for turn in self.turns[:number] if turn.role == "assistant"]

    def question(self, number: int) -> str:
        """What the assistant asked since the user's last message, before one; empty if it asked nothing."""
        questions: list[str] = []
        for turn in reversed(self.turns[:number]):
            if turn.role == "user":
                break
            questions = [*_requests_in(turn.text), *questions]
        return " ".join(questions)

    def heard(self, number: int) -> ValueSet:
        """The values in the assistant's messages before one."""
        if number not in self._before:
            self._before[number] = ValueSet(self.replies(number))
        return self._before[number]

    def asked_again(self, number: int) -> bool:
        """Whether the assistant's last message asks what it had asked before, or gives the user no way on."""
        last = next((text for text in reversed(self.replies(number))), None)
        if last is None or not last.strip():
            return True
        topic = requested(last)
        earlier = [text for text in self.replies(number)[:-1] if text.strip()]
        return (
            any(asks_for_the_same(topic, requested(text)) or last.strip() == text.strip() for text in earlier)
            or _AGAIN.search(last) is not None
        )

    def acted(self, number: int) -> bool:
        """Whether a tool that changes something was called before a message."""
        return any(not _READS.search(tool) for turn in self.turns[:number] for tool in turn.tools)

    def reported(self, number: int) -> bool:
        """Whether the assistant reported or promised an action before a message."""
        return any(
            any(one.outcome == "done" for one in outcomes(text)) or promised(text) for text in self.replies(number)
        )

    def gave(self, number: int) -> bool:
        """Whether the assistant gave, refused or reported anything before a message, beside questions."""
        return self.acted(number) or self.reported(number) or any(map(gives, self.replies(number)))

    @cached_property
    def last(self) -> int:
        """Number of the last message."""
        return len(self.turns) - 1


_AGAIN = re.compile(
    r"\b(?:again|once more|repeat|did(?: not|n['’]t) (?:understand|get|catch)|(?:don['’]t|do not|cannot|can['’]t) (?:understand|find|see)|not (?:found|valid|recogni[sz]ed)|no (?:booking|record|match))\b"
    r"|再(?:说|发|提供|输入)?一[次遍]|重复|没(?:有)?(?:听|看)?(?:懂|清|明白)|找不到|查不到|未找到|不正确|无效",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"\b(?:how about|what about|would you (?:like|consider)|do you want me|(?<![\w] )(?:shall|should) i|i (?:suggest|recommend|propose)|you could)\b|建议|推荐|要不要|可以做|[需]?要我",
    re.IGNORECASE,
)
_ASKED_WHAT = re.compile(
    r"\b(?:what|which|how|when|where|who)\b[^.?!]{0,40}\b(?:would you (?:like|consider)|do you want me|shall i|should i)",
    re.IGNORECASE,
)
_TO_DO = re.compile(r"\b(?:please|kindly)\b|请(?!稍)|麻烦", re.IGNORECASE)


def _requests_in(text: str) -> list[str]:
    """The sentences of an assistant's text that want an answer."""
    return [
        part
        for part in sentences(text)
        if ASKS.search(part) or ((requests(part) or _TO_DO.search(part)) and not _WAITS.search(part))
    ]


def waits(text: str) -> bool:
    """Whether an assistant's text says that it is still at it."""
    return _WAITS.search(text) is not None


def gives(text: str) -> bool:
    """Whether an assistant's text gives something: more than questions, courtesy and a request to wait."""
    if len(text) > LONG or outcome_of(text) is not None or _PROPOSES.search(_ASKED_WHAT.sub(" ", text)):
        return True
    questions = set(_requests_in(text))
    return any(
        any(value.key != (1,) for value in values(part))
        or (bool(content(part)) and not _WAITS.search(part) and not _SMALL_TALK.search(part))
        for part in sentences(text)
        if part not in questions
    )
