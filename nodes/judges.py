"""Judges: chat models that are asked with a page about a conversation or a draft, and validators made of them.

`ask_judge` is for any kind of answer; `judge` makes a validator whose answer is one reason of a list.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

from jinja2 import TemplateSyntaxError
from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict

from ..data.records import Role
from ..data.stop_reasons import NAME
from ..errors import SettingError
from ..prompts import Library, Page, PromptError, shipped
from .contract import Node
from .limits import Limits
from .messages import fenced, marks_of
from .models.offline.model import OfflineChatModel
from .models.specs import chat_model, model_provenance
from .requests import Answer, Call, Parse, ask, parse_json
from .selectors import Refusal
from .state import Draft, State, Update, Verdict, attempt_number
from .validators import parts_of

T = TypeVar("T")

NOT_JUDGED = "not_judged"
"""Note of a draft that stands because its judge gave no readable reply."""

REQUEST = "judge/request"
"""Name that the page of a request has."""

_MARKS = ("conversation", "draft", "user", "assistant", "tool_calls")
_PUBLIC = frozenset({"conversation", "draft", "speaker", "tool_calls"})
"""Gaps whose values the writer of the draft knows."""
_NOTHING = ("none", "null", "")


async def ask_judge(
    model: BaseChatModel,
    page: Page,
    values: Mapping[str, object],
    parse: Parse[T],
    form: str,
    *,
    call: Call,
    attempts: int = 3,
    language: str = "en",
) -> Answer[T]:
    """Ask a model with a page of `request_page` until its reply can be parsed, with at most this number of attempts.

    `values`: what fills the page's gaps (`values_about`). `form`: the lines of the system page that say how to reply.
    The answer has every attempt with its usage. PromptError if the page has a gap without a value.
    """
    pages = Library({**_pages(language).pages, REQUEST: page})
    return await ask(model, REQUEST, {**values, "form": form}, parse, attempts, pages=pages, call=call)


def request_page(page: Page | str, about: Literal["draft", "conversation"], language: str = "en") -> Page:
    """The page of a request: the given one; where it has no gap for what is judged, that is shown after it.

    PromptError if its gaps cannot be read.
    """
    source = page if isinstance(page, str) else page.source
    name = REQUEST if isinstance(page, str) else page.name
    if not source.strip():
        raise PromptError(f"prompt {name}: is empty: say what is to be judged")
    try:
        shows = about in Page(name, source).gaps
    except TemplateSyntaxError as error:
        raise PromptError(
            f"prompt {name}: line {error.lineno}: {error.message}: write gaps as {{{{ name }}}}"
        ) from None
    return Page(name, source if shows else f"{source.strip()}\n\n{_pages(language)[f'judge/about_{about}'].source}")


def values_about(
    state: State, page: Page, draft: Draft | None = None, earlier: Sequence[Draft] = (), language: str = "en"
) -> dict[str, str]:
    """The values for a page's gaps: `conversation`, the values of the scenario, and with a draft also `draft`,
    `speaker` and `tool_calls`.

    Conversation, draft and tool calls stand between marks of these names. No value can end or imitate a mark.
    `earlier`: drafts of the same reply before this one.
    """
    marks = (*marks_of(state["scenario"]), *(f"{end}{name}" for name in _MARKS for end in ("", "/")), *page.marks)
    values = {str(key): fenced(_as_text(value), *marks) for key, value in state["scenario"].items()}
    role: Role = state.get("speaking") or "user"
    said = [(message["role"], message["text"]) for message in state.get("messages", [])]
    said += [(role, each["text"]) for each in earlier]
    lines = (f"<{speaker}>{fenced(text, *marks)}</{speaker}>" for speaker, text in said)
    values["conversation"] = "\n".join(("<conversation>", *lines, "</conversation>"))
    if draft is not None:
        calls = _as_text(draft.get("tool_calls", []))
        values["draft"] = f"<draft>\n{fenced(draft['text'], *marks)}\n</draft>"
        values["tool_calls"] = f"<tool_calls>\n{fenced(calls, *marks)}\n</tool_calls>"
        values["speaker"] = _pages(language)[f"judge/speaker_{role}"].fill()
    return values


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=8)
def _pages(language: str) -> Library:
    return shipped("judge", language)


class Opinion(BaseModel):
    """A judge's reply about a draft."""

    model_config = ConfigDict(extra="forbid")

    reason: str | None
    """Why it is to be rejected; None if nothing is wrong with it."""
    explanation: str = ""


def one_of(reasons: Iterable[str]) -> Parse[Opinion]:
    """A parser of opinions whose reason is none or one of these; any other reason is refused as `unknown_reason`."""
    names = tuple(reasons)
    read = parse_json(Opinion)

    def parse(text: str) -> Opinion | Refusal:
        opinion = read(text)
        if isinstance(opinion, Refusal):
            return opinion
        if opinion.reason is None or opinion.reason.strip().lower() in _NOTHING:
            return opinion.model_copy(update={"reason": None})
        if opinion.reason not in names:
            return Refusal("unknown_reason", f"use null, or one of {', '.join(names)}.")
        return opinion

    return parse


@dataclass(frozen=True)
class ModelJudge:
    """A validator that asks a chat model about each draft, until one of the reply is rejected."""

    model: BaseChatModel
    page: Page
    """The page as it was given."""
    reasons: Mapping[str, str]
    """Each reason with what it means, or an empty text."""
    attempts: int = 3
    """Most calls about one draft."""
    language: str = "en"

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        verdicts: list[Verdict] = []
        drafts = state.get("drafts", [])
        for number, draft in enumerate(drafts):
            settled = any(not verdict["accepted"] or verdict.get("failed") for verdict in verdicts)
            verdicts.append(
                {"accepted": True} if settled else await self._judged(draft, drafts[:number], state, runtime.context)
            )
        return {"verdicts": verdicts}

    async def _judged(self, draft: Draft, earlier: Sequence[Draft], state: State, limits: Limits) -> Verdict:
        page = request_page(self.page, "draft", self.language)
        role = f"{state.get('speaking')} judge {page.digest} {attempt_number(state)} {len(earlier)}"
        answer = await ask_judge(
            self.model,
            page,
            values_about(state, page, draft, earlier, self.language),
            one_of(self.reasons),
            self._form(),
            call=Call(limits.seed, state.get("id", ""), role, state.get("turn", 0)),
            attempts=self.attempts,
            language=self.language,
        )
        verdict: Verdict = {"accepted": True}
        if answer.usage.calls:
            verdict["judging"] = answer.usage.model_dump()
        if answer.error is not None:
            return {**verdict, "failed": answer.error}
        if answer.value is None:
            return {**verdict, "notes": [NOT_JUDGED]}
        if answer.value.explanation.strip():
            verdict["explanation"] = answer.value.explanation.strip()
        if answer.value.reason is None:
            return verdict
        return {
            **verdict,
            "accepted": False,
            "reason": answer.value.reason,
            "repair": self._repair(answer.value),
        }

    def _form(self) -> str:
        lines = (f"- {name}: {meaning}" if meaning else f"- {name}" for name, meaning in self.reasons.items())
        return _pages(self.language)["judge/verdict"].fill(reasons="\n".join(lines))

    def _repair(self, opinion: Opinion) -> str | None:
        """What the writer of the draft is told: what the reason means, else the judge's words.

        A judge that was shown more than the writer knows could give it away: then only the reason is told.
        """
        told = opinion.explanation.strip() if self.page.gaps <= _PUBLIC else ""
        return self.reasons[str(opinion.reason)] or told or None

    def provenance(self) -> dict[str, Any]:
        return {
            "model": model_provenance(self.model),
            "page": self.page.digest,
            "reasons": dict(self.reasons),
            "attempts": self.attempts,
            "language": self.language,
        }


def pages_of(node: object) -> dict[str, Page]:
    """The pages that the judges in a node are asked with, by name: the shipped ones, and `judge/DIGEST` for their own."""
    pages: dict[str, Page] = {}
    for part in parts_of(node):
        if isinstance(part, ModelJudge):
            pages |= {**_pages(part.language).pages, f"judge/{part.page.digest}": part.page}
    return pages


def judge(
    model: str | BaseChatModel,
    page: Page | str,
    reasons: Iterable[str] | Mapping[str, str],
    *,
    attempts: int = 3,
    language: str = "en",
) -> Node:
    """A validator that asks a model: `judge("openai:NAME", "Reject what is rude.", ["rude"])`.

    `page`: what to judge, with gaps `{{ draft }}`, `{{ conversation }}`, `{{ speaker }}`, `{{ tool_calls }}` and the
    scenario's values; without `{{ draft }}`, conversation and draft are shown after it. `reasons`: names, or each name
    with what it means, which the judge and the writer of the draft are told. `attempts`: most calls until the reply
    can be read; then the draft stands with the note `not_judged`. A model that fails ends the conversation as
    `model_failed`. SettingError, PromptError or ModelError says what cannot be used.
    """
    if isinstance(reasons, str) or not (meanings := _meanings(reasons)):
        raise SettingError("judge: give the reasons for which it may reject, a list of names: ['rude', 'off_topic']")
    for name, meaning in meanings.items():
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in _NOTHING:
            raise SettingError(f"judge: a reason is a name of a-z, 0-9 and _, such as off_topic, not {name!r}")
        if not isinstance(meaning, str):
            raise SettingError(f"judge: expected a text for what {name} means, got {type(meaning).__name__}")
    if attempts < 1:
        raise SettingError(f"judge: attempts must be at least 1, not {attempts}")
    made = chat_model(model)
    if isinstance(made, OfflineChatModel):
        raise SettingError("judge: the offline model can only speak, not judge: give openai:NAME, or a chat model")
    request_page(page, "draft", language)
    given = Page(REQUEST, page) if isinstance(page, str) else page
    return ModelJudge(made, given, meanings, attempts, language)


def _meanings(reasons: Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(reasons) if isinstance(reasons, Mapping) else dict.fromkeys(reasons, "")
