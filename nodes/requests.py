"""Asking until the answer can be used: a page is sent, the reply read, and what was wrong with it sent back.

Every attempt is kept. What is asked may be a chat model (`ask`) or anything else that writes drafts (`asked_of`).
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from ..data import records
from ..data.identity import call_seed
from ..data.records import Attempt, Usage
from ..errors import SettingError
from ..prompts import Library
from .environment import error_line
from .messages import note
from .selectors import Refusal, filled, repair_prompt
from .speakers import drafted
from .state import Draft, Prompt

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

Parse: TypeAlias = Callable[[str], T | Refusal]
"""Reads a reply as it was cleaned: the value, or why it is none. A pure function."""

Reply: TypeAlias = Callable[[Prompt, Sequence[Attempt]], Awaitable[Draft]]
"""Who is asked: reads the prompt and the rejected attempts before it, and writes a draft."""

NO_PROMPT: Prompt = {"name": "", "digest": "", "text": ""}
"""Where a selector had nothing to say."""

_FENCE = re.compile(r"\s*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What came of asking."""

    value: T | None
    """What the accepted reply says; None if none was accepted."""
    attempts: tuple[Attempt, ...] = ()
    """Every reply with its verdict, the accepted one last."""
    error: str | None = None
    """Why whoever was asked gave no reply: one line without secrets."""

    @property
    def usage(self) -> Usage:
        """What all attempts cost together."""
        return sum((attempt.usage for attempt in self.attempts if attempt.usage is not None), Usage.none())


@dataclass(frozen=True)
class Call:
    """What identifies a row of attempts: each has a seed of its own, drawn from it."""

    seed: int
    """Seed of the run."""
    about: str
    """Id of the conversation that it is about, or another name."""
    role: str
    """Who is asked."""
    turn: int = 0
    vote: int = 0
    """Tells apart several rows at the same place."""

    def seed_of(self, attempt: int) -> int:
        """The seed of an attempt, counted from 1; 0 is for what is drawn before it."""
        return call_seed(self.seed, self.about, self.role, self.turn, attempt, self.vote)


async def ask(
    model: BaseChatModel,
    page: str,
    values: Mapping[str, object],
    parse: Parse[T],
    attempts: int = 3,
    *,
    pages: Library,
    call: Call,
) -> Answer[T]:
    """Ask a chat model with a page until its reply can be read, at most so many times.

    `page` is a name in `pages`, such as `judge/request`; beside it are `judge/system`, if there is one, and the pages
    of reasons, `judge/repair_<reason>` or `judge/repair_other`. Each takes what it has gaps for from `values`.
    PromptError for a page that cannot be filled; a model that fails is told in the answer.
    """
    side = page.rpartition("/")[0]
    system = pages[f"{side}/system"].fill_from(values) if f"{side}/system" in pages else ""

    def repair(refusal: Refusal, attempt: int) -> Prompt:
        return repair_prompt(pages, side, refusal, {**values, "attempt": attempt, "attempts": attempts})

    return await asked_of(by_model(model, system, call), filled(pages[page], values), parse, repair, attempts)


async def asked_of(
    reply: Reply,
    prompt: Prompt,
    parse: Parse[T],
    repair: Callable[[Refusal, int], Prompt] | None = None,
    attempts: int = 1,
) -> Answer[T]:
    """Ask whoever writes drafts until one can be read, at most so many times.

    `repair`: the prompt for what was refused and the number of the attempt that is due, from 2.
    """
    if attempts < 1 or (attempts > 1 and repair is None):
        raise SettingError(f"attempts must be at least 1, and 1 where nothing repairs, not {attempts}")
    tried: list[Attempt] = []
    while True:
        try:
            attempt = attempt_of(await reply(prompt, tried), len(tried) + 1, prompt)
        except Exception as error:  # whatever the asked one does, what was tried is kept
            return Answer(None, tuple(tried), error_line(error))
        value = parse(attempt.text)
        if not isinstance(value, Refusal):
            return Answer(value, (*tried, attempt))
        tried.append(attempt.model_copy(update={"verdict": "rejected", "reason": value.reason}))
        if len(tried) >= attempts or repair is None:
            return Answer(None, tuple(tried))
        prompt = repair(value, len(tried) + 1)


def by_model(model: BaseChatModel, system: str, call: Call) -> Reply:
    """A chat model as who is asked: it sees the whole exchange, and each attempt has a seed of its own."""

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        return await drafted(model, exchange(system, prompt, tried), call.seed_of(len(tried) + 1))

    return reply


def exchange(system: str, prompt: Prompt, tried: Sequence[Attempt]) -> list[BaseMessage]:
    """The system page, then prompts and rejected drafts in turn: the first as it is, the others as notes."""
    sent: list[BaseMessage] = [SystemMessage(system)] if system else []
    lines = [NO_PROMPT if attempt.prompt is None else attempt.prompt.model_dump() for attempt in tried]
    for number, line in enumerate([*lines, prompt]):
        sent.append(HumanMessage(note(line) if number else line["text"]))
        if number < len(tried):
            sent.append(AIMessage(tried[number].text or "..."))  # some endpoints refuse an empty message
    return sent


def attempt_of(draft: Draft, number: int, prompt: Prompt | None) -> Attempt:
    """A draft that stands, for the record."""
    return Attempt(
        number=number,
        text=draft["text"],
        raw=draft.get("raw"),
        cleaned=tuple(draft.get("cleaned", ())),
        verdict="accepted",
        prompt=None if prompt is None else records.Prompt(**prompt),
        usage=None if "usage" not in draft else Usage(**draft["usage"]),
    )


def parse_json(shape: type[M]) -> Parse[M]:
    """A parser of replies that are JSON of a pydantic model, read strictly; a fence around the whole is taken off.

    Reasons: `not_json`, `wrong_shape`. Nothing is guessed: JSON that was cut off is none, `"3"` is no number.
    """

    def parse(text: str) -> M | Refusal:
        fenced = _FENCE.fullmatch(text)
        try:
            return shape.model_validate_json(fenced[1] if fenced else text, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            if first["type"] == "json_invalid":
                return Refusal("not_json", f"{_line(first)}. Answer with one JSON object and nothing else.")
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            return Refusal("wrong_shape", f"{where}: {_line(first)}.")

    return parse


def _line(error: Mapping[str, Any]) -> str:
    return " ".join(str(error["msg"]).split()).rstrip(".")[:300]
