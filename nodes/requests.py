"""Requests with repair: a page is sent, and a reply that cannot be parsed is sent back.

Every attempt is kept. The respondent may be a chat model (`ask`) or anything else that writes drafts (`asked_of`), such as
the speakers, which `PostQuestions` asks after the conversation.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, ValidationError

from ..data.identity import digest
from ..data.records import Attempt, Role, Usage
from ..errors import SettingError, first_invalid
from ..prompts import Library
from .calls.service import drafted
from .calls.store import Call
from .contract import OF_THE_CALL, Node
from .limits import Limits
from .messages import note
from .models.faults import CUT_OFF, flaw_in
from .prompt_selectors import Refusal, filled, repair_prompt
from .settings.redaction import error_line
from .state import Draft, Prompt, State, Update, id_of, merged, without_rejected

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


# Questions to the speakers, as RecLLMSim's post-conversation questions: each follows the complete conversation and not the
# other questions. Its tokens count for the conversation's closing, not as a message's


LABEL = "post_questions"
"""The conversation's label: by role a list of `{query, response}`, as the published generator writes it."""
_ORDER = ("human", "specific", "objectives", "profile", "plan", "solved", "open", "fit")
"""The order of the published questions, of the assistant and of the user; further ones follow by name."""
_ATTEMPTS = 2
"""Maximum calls for a question."""


@dataclass(frozen=True)
class PostQuestions:
    """Asks each role the questions of the prompt templates `<role>/post_<name>`.

    After an answer that is empty or cut off, the question is asked once more; then its response is null, with an `error`.
    """

    pages: Library
    speakers: Mapping[Role, Node]
    """The speakers to ask, without a role that replays stored messages."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not state.get("messages"):
            return {}
        exchanges: dict[str, list[dict[str, Any]]] = {}
        usages = list[Usage]()
        for role, speaker in sorted(self.speakers.items()):
            for name in self.questions(role):
                prompt = filled(self.pages[name], {})
                reply = _speaker(role, speaker, name, state, runtime)
                answer = await asked_of(reply, prompt, _not_empty, lambda *_, again=prompt: again, _ATTEMPTS)
                exchange: dict[str, Any] = {"query": prompt["text"], "response": answer.value}
                if answer.value is None:
                    exchange["error"] = answer.error or answer.attempts[-1].reason
                exchanges.setdefault(role, []).append(exchange)
                usages += [tried.usage for tried in answer.attempts if tried.usage is not None]
        update: Update = {"labels": {LABEL: exchanges}}
        if usages:
            update["usage"] = sum(usages, Usage.none()).model_dump()
        return update

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same questions to other speakers."""
        return replace(self, speakers={**self.speakers, **speakers})

    def questions(self, role: Role) -> Sequence[str]:
        """Names of the prompt templates with a role's questions, in the published order."""
        begins = f"{role}/post_"
        words = sorted(name.removeprefix(begins) for name in self.pages.pages if name.startswith(begins))
        published = [word for word in _ORDER if word in words]
        return [f"{begins}{word}" for word in dict.fromkeys((*published, *words))]

    def provenance(self) -> dict[str, Any]:
        return {"asks": {role: list(self.questions(role)) for role in self.speakers}}


def _not_empty(text: str) -> str | Refusal:
    return text if text.strip() else Refusal("empty")


def _speaker(role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]) -> Respondent:
    """A speaker as a `Respondent`: it is called as for its next message, with a seed of its own."""
    origin = {**state.get("origin", {}), "id": digest(id_of(state), name)[:16]}
    changes: dict[str, Any] = {"drafts": [], "verdicts": [], "stop": None, "origin": origin}
    ended = merged(state, {**changes, "speaking": None})  # its prompt is not a part of a turn

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        asked = without_rejected(ended, [attempt.plain() for attempt in tried], role)
        asked = merged(asked, {"prompt": prompt})  # what the speaker remembers of it is dropped
        drafts = (await speaker(asked, runtime)).get("drafts", [])
        joined: Draft = {"text": "\n".join(draft["text"] for draft in drafts)}
        for draft in drafts:
            if "usage" in draft:
                joined.setdefault("usage", draft["usage"])
            if flaw_in(draft) == CUT_OFF:
                joined["finish_reason"] = draft.get("finish_reason", "length")
        return joined

    return reply
