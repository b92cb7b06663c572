"""Requests with repair: a page is sent, and a reply that cannot be parsed is sent back.

Every attempt is kept. The respondent may be a chat model (`ask`) or anything else that writes drafts (`asked_of`).
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from ..data.records import Attempt, Usage
from ..errors import SettingError, first_invalid
from ..prompts import Library
from .calls.service import drafted
from .calls.store import Call
from .contract import OF_THE_CALL
from .messages import Refusal, filled, note, repair_prompt
from .models.faults import CUT_OFF, flaw_in
from .settings.redaction import error_line
from .state import Draft, Prompt

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Parse: TypeAlias = Callable[[str], T | Refusal]
"""A pure function from a cleaned reply to its value, or to the refusal that says what is wrong."""
Respondent: TypeAlias = Callable[[Prompt, Sequence[Attempt]], Awaitable[Draft]]
"""Reads the prompt and the rejected attempts before it, and writes a draft."""

BROKE_OFF = "Your reply broke off before its end, because it was too long. Write a shorter one."
"""The explanation of `cut_off`, for libraries without a page for it."""

_FENCE = re.compile(r"\s*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


@dataclass(frozen=True)
class RequestAnswer(Generic[T]):
    """The result of a request: the value of the accepted reply, or why there is none."""

    value: T | None
    attempts: tuple[Attempt, ...] = ()
    """Every reply with its verdict, the accepted one last."""
    error: str | None = None
    """Why the respondent failed, in one line without secrets; None if it did not."""
    refusal: Refusal | None = None
    """Why the last reply could not be used; None if it could, or there was none."""

    @property
    def failure(self) -> str:
        """Why there is no value, in one line: the error, or the reason and first sentence of the last refusal."""
        if self.error is not None or self.refusal is None:
            return self.error or ""
        wrong = " ".join(self.refusal.repair.split()).partition(". ")[0].rstrip(".")
        return ": ".join(part for part in (self.refusal.reason, wrong) if part)

    @property
    def usage(self) -> Usage:
        """The total usage of all attempts."""
        return sum((attempt.usage for attempt in self.attempts if attempt.usage is not None), Usage.none())


async def ask(
    model: BaseChatModel,
    page: str,
    values: Mapping[str, object],
    parse: Parse[T],
    attempts: int = 3,
    *,
    pages: Library,
    call: Call,
) -> RequestAnswer[T]:
    """Ask a chat model with a prompt template until its reply can be parsed; the answer has every attempt.

    `page` names the template in `pages`, such as `judge/request`. Its folder may have `judge/system`, and templates for
    rejected replies: `judge/repair_<reason>` or `judge/repair_other`. `values`: those of the variables of all these;
    PromptError for a template that lacks one. `attempts`: most calls. `call` identifies the request in the run; the
    seed of each attempt is derived from it.
    """
    side = page.rpartition("/")[0]
    system = pages[f"{side}/system"].fill_from(values) if f"{side}/system" in pages else ""

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        return await drafted(model, exchange(system, prompt, tried), call, len(tried) + 1)

    def repair(refusal: Refusal, attempt: int) -> Prompt:
        return repair_prompt(pages, side, refusal, {**values, "attempt": attempt, "attempts": attempts})

    return await asked_of(reply, filled(pages[page], values), parse, repair, attempts)


async def asked_of(
    reply: Respondent,
    prompt: Prompt,
    parse: Parse[T],
    repair: Callable[[Refusal, int], Prompt],
    attempts: int,
) -> RequestAnswer[T]:
    """Ask a respondent until its draft can be parsed, with at most this number of attempts.

    A draft that its endpoint cut off by length is refused (`cut_off`) and not parsed: half an answer may be readable.
    `repair` gives the next prompt from a refusal and the number of the next attempt, from 2.
    """
    if attempts < 1:
        raise SettingError(f"attempts must be at least 1, not {attempts}")
    tried: list[Attempt] = []
    while True:
        try:
            draft = await reply(prompt, tried)
            attempt = attempt_of(draft, len(tried) + 1, prompt)
        except Exception as error:  # the attempts so far are kept
            return RequestAnswer(None, tuple(tried), error_line(error))
        value = parse(attempt.text) if flaw_in(draft) != CUT_OFF else Refusal(CUT_OFF, BROKE_OFF)
        if not isinstance(value, Refusal):
            return RequestAnswer(value, (*tried, attempt))
        tried.append(attempt.model_copy(update={"verdict": "rejected", "reason": value.reason}))
        if len(tried) >= attempts:
            return RequestAnswer(None, tuple(tried), refusal=value)
        prompt = repair(value, len(tried) + 1)


def exchange(system: str, prompt: Prompt, tried: Sequence[Attempt]) -> list[BaseMessage]:
    """The system page, then prompts and rejected drafts in turn; all prompts after the first are notes."""
    sent: list[BaseMessage] = [SystemMessage(system)] if system else []
    lines = [{"text": ""} if attempt.prompt is None else attempt.prompt.model_dump() for attempt in tried]
    for number, line in enumerate([*lines, prompt]):
        sent.append(HumanMessage(note(line) if number else line["text"]))
        if number < len(tried):
            sent.append(AIMessage(tried[number].text or "..."))  # some endpoints refuse an empty message
    return sent


def attempt_of(draft: Draft, number: int, prompt: Prompt | None) -> Attempt:
    """An accepted draft as a record, with everything that describes its call."""
    call = {key: value for key in OF_THE_CALL if (value := draft.get(key)) is not None}
    return Attempt.model_validate(
        {"number": number, "text": draft["text"], "verdict": "accepted", "prompt": prompt, **call}
    )


def parse_json(shape: type[M]) -> Parse[M]:
    """A strict parser of JSON replies for a pydantic model; a code fence around the whole reply is removed.

    Reasons of refusal: `not_json`, `wrong_shape`. Nothing is guessed: incomplete JSON is refused, and `"3"` is
    not a number.
    """

    def parse(text: str) -> M | Refusal:
        try:
            return shape.model_validate_json(unfenced_reply(text), strict=True)
        except ValidationError as error:
            first = first_invalid(error)
            line = " ".join(first.message.split()).rstrip(".")[:300]
            if first.type == "json_invalid":
                return Refusal("not_json", f"{line}. Answer with one JSON object and nothing else.")
            where = " ".join(first.path.split())[:100] or "the whole"
            return Refusal("wrong_shape", f"{where}: {line}.")

    return parse


def unfenced_reply(text: str) -> str:
    """The reply without a code fence around the whole of it."""
    fence = _FENCE.fullmatch(text)
    return fence[1] if fence else text
