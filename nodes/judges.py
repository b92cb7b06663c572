"""Judges: chat models that are asked with a page about a conversation or a draft.

`ask_judge` is the one way to ask, for any kind of answer. Its users here are the validators of `judge`, whose answer is
one reason of a list, and the scorers of `judged`, whose answer is a value.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol, TypeVar, runtime_checkable

from langchain_core.language_models import BaseChatModel

from ..data.formats.regular_files import content
from ..data.records import Role
from ..errors import DataError, SettingError
from ..prompts import Library, Page, PromptError, shipped
from ..prompts.pages import MOST_BYTES
from .calls.kept import Call
from .messages import fenced, marks_of
from .models.offline.model import OfflineChatModel
from .models.specs import chat_model
from .requests import Answer, Parse, ask
from .state import Draft, State, standing

T = TypeVar("T")

REQUEST = "judge/request"
"""Name that the page of a request has."""
ATTEMPTS = 3
"""Most calls for an opinion, unless another number is asked for."""

_MARKS = ("conversation", "draft", "user", "assistant", "tool_calls", "tool_call", "ended")
_UNTOLD = ("kind", "success", "digest")
"""Keys that `{{ scenario }}` leaves out: a judge is told what it is to judge, not how a program would decide."""


async def ask_judge(
    model: BaseChatModel,
    page: Page,
    values: Mapping[str, object],
    parse: Parse[T],
    form: str,
    *,
    call: Call,
    attempts: int = ATTEMPTS,
    language: str = "en",
) -> Answer[T]:
    """Ask a model with a page of `request_page` until its reply can be parsed, with at most this number of attempts.

    `values`: what fills the page's gaps (`values_about`). `form`: the lines of the system page that say how to reply.
    The answer has every attempt with its usage. PromptError if the page has a gap without a value.
    """
    pages = Library({**pages_in(language).pages, REQUEST: page})
    return await ask(model, REQUEST, {**values, "form": form}, parse, attempts, pages=pages, call=call)


def first_texts(page: Page, values: Mapping[str, object], form: str, language: str = "en") -> tuple[str, str]:
    """What `ask_judge` sends first: the system page and the request. Errors as there."""
    given = {**values, "form": form}
    return pages_in(language)["judge/system"].fill_from(given), page.fill_from(given)


def given_page(page: Page | Path | str) -> Page:
    """The page of one's own as it was given: a page, its text, or its file (a `Path`, or a name that ends in `.md`).

    PromptError if the file cannot be read, the page is empty, or its gaps cannot be read.
    """
    if isinstance(page, Path) or (isinstance(page, str) and page.endswith(".md") and "\n" not in page):
        try:
            page = content(page, MOST_BYTES).decode("utf-8-sig")
        except (DataError, UnicodeDecodeError) as error:
            raise PromptError(f"the page {page} cannot be read ({error})") from None
    given = page if isinstance(page, Page) else Page(REQUEST, page)
    if not given.source.strip():
        raise PromptError(f"prompt {given.name}: is empty: say what is to be judged")
    given.try_out()
    return given


def request_page(page: Page | Path | str, about: Literal["draft", "conversation"], language: str = "en") -> Page:
    """The page of a request: the given one; where it has no gap for what is judged, that is shown after it.

    PromptError if it cannot be used (`given_page`).
    """
    given = given_page(page)
    if about in given.gaps:
        return given
    return Page(given.name, f"{given.source.strip()}\n\n{pages_in(language)[f'judge/about_{about}'].source}")


def values_about(
    state: State,
    page: Page,
    draft: Draft | None = None,
    earlier: Sequence[Draft] = (),
    language: str = "en",
    *,
    also: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The values for a page's gaps: `conversation`, `scenario`, each value of the scenario, with a draft also `draft`,
    `speaker` and `tool_calls`, and what `also` gives.

    Conversation, draft and tool calls stand between marks of these names. No value can end or imitate a mark. Of the
    tool calls before a draft only those of its own side are shown: the judge's words may be told to its writer.
    `earlier`: drafts of the same reply before this one.
    """
    marks = (*marks_of(state["scenario"]), *(f"{end}{name}" for name in _MARKS for end in ("", "/")), *page.marks)
    values = {str(key): fenced(_as_text(value), *marks) for key, value in state["scenario"].items()}
    told = (f"{key}: {value}" for key, value in values.items() if key not in _UNTOLD)
    values |= {"scenario": "\n".join(told)} | {key: fenced(text, *marks) for key, text in (also or {}).items()}
    role: Role = state.get("speaking") or "user"
    said = list(_said(state, None if draft is None else role))
    said += [(role, each["text"]) for each in earlier]
    if draft is None and (stop := state.get("stop")):
        said.append(("ended", stop))
    lines = (f"<{mark}>{fenced(text, *marks)}</{mark}>" for mark, text in said)
    values["conversation"] = "\n".join(("<conversation>", *lines, "</conversation>"))
    if draft is not None:
        calls = _as_text(draft.get("tool_calls", []))
        values["draft"] = f"<draft>\n{fenced(draft['text'], *marks)}\n</draft>"
        values["tool_calls"] = f"<tool_calls>\n{fenced(calls, *marks)}\n</tool_calls>"
        values["speaker"] = pages_in(language)[f"judge/speaker_{role}"].fill()
    return values


def _said(state: State, side: Role | None) -> Iterator[tuple[str, str]]:
    """Mark and text of each message, and before it of the tool calls of its accepted draft, of one side or of both."""
    for message in state.get("messages", []):
        for call in standing(message).get("tool_calls", []) if side in (None, message["role"]) else ():
            told = {key: call[key] for key in ("arguments", "result", "error") if call.get(key) is not None}
            yield "tool_call", f"{call['name']} {_as_text(told)}"
        yield message["role"], message["text"]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=8)
def pages_in(language: str) -> Library:
    """The shipped pages for judges."""
    return shipped("judge", language)


def judging_model(model: str | BaseChatModel, what: str) -> BaseChatModel:
    """The chat model of a spec, or the given one; SettingError for the offline model, which can only speak."""
    made = chat_model(model)
    if isinstance(made, OfflineChatModel):
        raise SettingError(f"{what}: the offline model can only speak, not judge: give openai:NAME, or a chat model")
    return made


@runtime_checkable
class AsksJudge(Protocol):
    """A validator or a scorer that asks a judge."""

    @property
    def page(self) -> Page:
        """The page as it was given."""
        ...

    @property
    def language(self) -> str: ...


def pages_of(parts: Iterable[object]) -> dict[str, Page]:
    """The pages that judges are asked with, by name: the shipped ones, and `judge/DIGEST` for their own."""
    pages: dict[str, Page] = {}
    for part in parts:
        if isinstance(part, AsksJudge) and isinstance(part.page, Page):
            ours = pages_in(part.language).pages
            own = {} if part.page in ours.values() else {f"judge/{part.page.digest}": part.page}
            pages |= {**ours, **own}
    return pages
