"""Judges: chat models that are asked with a prompt template about a conversation or a draft.

`ask_judge` is the one way to ask, for any kind of answer. The validators of `judge` ask for one reason of a list, the
scorers of `judged` for a value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol, TypeVar, runtime_checkable

from langchain_core.language_models import BaseChatModel

from ...data.files.regular_files import content
from ...data.records import Role
from ...errors import DataError, SettingError
from ...prompts import Library, Page, PromptError, shipped
from ...prompts.pages import MOST_BYTES
from ..calls.store import Call
from ..messages.building import as_text, fenced, marks_of
from ..models.offline.model import OfflineChatModel
from ..models.specs import chat_model
from ..state import Draft, State, said, standing
from .requests import Parse, RequestAnswer, ask

T = TypeVar("T")

REQUEST = "judge/request"
"""Name that the page of a request has."""
ATTEMPTS = 3
"""Most calls for an opinion, unless another number is asked for."""

_MARKS = ("conversation", "draft", "user", "assistant", "tool_calls", "tool_call", "ended")
_UNTOLD = ("kind", "success", "digest")
"""Keys that `{{ scenario }}` leaves out: a judge gets the material to judge, not the rule of a program."""


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
) -> RequestAnswer[T]:
    """Ask a model with a template of `request_page` until its reply can be parsed.

    Args:
        model: The chat model to ask.
        page: The template.
        values: The values of its variables (`values_about`).
        parse: Parses a reply.
        form: The lines of the system prompt on the form of the reply.
        call: Identifies the request in the run; the seed of each attempt is derived from it.
        attempts: Maximum number of calls.
        language: Language of the other templates.

    Returns:
        The answer with every attempt and its usage.

    Raises:
        PromptError: The template has a variable without a value.
    """
    pages = Library({**pages_in(language).pages, REQUEST: page})
    return await ask(model, REQUEST, {**values, "form": form}, parse, attempts, pages=pages, call=call)


def first_texts(page: Page, values: Mapping[str, object], form: str, language: str = "en") -> tuple[str, str]:
    """The texts that `ask_judge` sends first: the system page and the request; errors are the same."""
    filling = {**values, "form": form}
    return pages_in(language)["judge/system"].fill_from(filling), page.fill_from(filling)


def given_page(page: Page | Path | str) -> Page:
    """A page of one's own, from a page, its text, or its file.

    A file is a `Path`, or a name that ends in `.md`.

    PromptError if the file cannot be read, the page is empty, or its gaps cannot be read.
    """
    if isinstance(page, Path) or (isinstance(page, str) and page.endswith(".md") and "\n" not in page):
        try:
            page = content(page, MOST_BYTES).decode("utf-8-sig")
        except (DataError, UnicodeDecodeError) as error:
            raise PromptError(f"the template {page} cannot be read ({error})") from None
    own_page = page if isinstance(page, Page) else Page(REQUEST, page)
    if not own_page.source.strip():
        raise PromptError(f"prompt {own_page.name}: is empty: write what is to be judged")
    own_page.try_out()
    return own_page


def request_page(page: Page | Path | str, about: Literal["draft", "conversation"], language: str = "en") -> Page:
    """The template of a request; the judged material follows one without a variable for it.

    Args:
        page: The template, as an object, a file or a text.
        about: The judged material: `draft` or `conversation`.
        language: Language of the shipped words before the material.

    Returns:
        The template, with the material's variable.

    Raises:
        PromptError: It cannot be used (`given_page`).
    """
    own_page = given_page(page)
    if about in own_page.gaps:
        return own_page
    return Page(own_page.name, f"{own_page.source.strip()}\n\n{pages_in(language)[f'judge/about_{about}'].source}")


def values_about(
    state: State,
    page: Page,
    draft: Draft | None = None,
    earlier: Sequence[Draft] = (),
    language: str = "en",
    *,
    also: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The values for the variables of a judge's template.

    They are `conversation`, `scenario`, and each value of the scenario; with a draft also `draft`, `speaker` and
    `tool_calls`. Conversation, draft and tool calls stand between marks of these names. No value can end or imitate a
    mark. Of the tool calls before a draft only those of its own role are shown: the judge's words may reach its writer.

    Args:
        state: The conversation so far.
        page: The template.
        draft: The draft to judge; None: the conversation is judged.
        earlier: Drafts of the same reply before this one.
        language: Language of the words for the role.
        also: Further values by name.

    Returns:
        The values by the names of the variables.
    """
    marks = (*marks_of(state["scenario"]), *(f"{end}{name}" for name in _MARKS for end in ("", "/")), *page.marks)
    values = {str(key): fenced(as_text(value), *marks) for key, value in state["scenario"].items()}
    scenario_lines = (f"{key}: {value}" for key, value in values.items() if key not in _UNTOLD)
    values |= {"scenario": "\n".join(scenario_lines)} | {
        key: fenced(text, *marks) for key, text in (also or {}).items()
    }
    role: Role = state.get("speaking") or "user"
    marked_texts = list(_marked_texts(state, None if draft is None else role))
    marked_texts += [(role, sibling["text"]) for sibling in earlier]
    if draft is None and (stop := state.get("stop")):
        marked_texts.append(("ended", stop))
    lines = (f"<{mark}>{fenced(text, *marks)}</{mark}>" for mark, text in marked_texts)
    values["conversation"] = "\n".join(("<conversation>", *lines, "</conversation>"))
    if draft is not None:
        calls = as_text(draft.get("tool_calls", []))
        values["draft"] = f"<draft>\n{fenced(draft['text'], *marks)}\n</draft>"
        values["tool_calls"] = f"<tool_calls>\n{fenced(calls, *marks)}\n</tool_calls>"
        values["speaker"] = pages_in(language)[f"judge/speaker_{role}"].fill()
    return values


def _marked_texts(state: State, side: Role | None) -> Iterator[tuple[str, str]]:
    """Mark and text of each message, of one side or of both.

    The tool calls of its accepted draft come before it.
    """
    for message in said(state):
        for call in standing(message).get("tool_calls", []) if side in (None, message["role"]) else ():
            details = {key: call[key] for key in ("arguments", "result", "error") if call.get(key) is not None}
            yield "tool_call", f"{call['name']} {as_text(details)}"
        yield message["role"], message["text"]


@lru_cache(maxsize=8)
def pages_in(language: str) -> Library:
    """The shipped pages for judges."""
    return shipped("judge", language)


def judging_model(model: str | BaseChatModel, what: str) -> BaseChatModel:
    """The chat model of an identifier, or the given one; SettingError for the offline model, which cannot judge."""
    judge_model = chat_model(model)
    if isinstance(judge_model, OfflineChatModel):
        raise SettingError(f"{what}: the offline model cannot judge: give openai:NAME, or a chat model")
    return judge_model


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
