"""What a role is sent: its messages, with the prompts of the selectors in them.

The messages are a pure function of history, drafts of the turn, and material. Texts of the other role and of files go only into messages, never into a system prompt or a template's source. Our own
instructions stand between <note> and </note>; no other text of a request can contain these marks.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ..data.behaviours import behaviours_in, injected_word
from ..data.identity import digest
from ..data.records import Role
from ..data.text.languages import language_of
from ..prompts import Library, Page, shipped
from .attachments import with_stand_ins
from .state import Prompt, State, merged, rejected, said

MessageBuilder: TypeAlias = Callable[[State], list[BaseMessage]]
"""Builds the messages of a request to a speaker, from the state."""


_MATERIAL = ("title", "background", "header", "section", "task", "profile")
MARKS = tuple(f"{end}{name}" for name in _MATERIAL for end in ("", "/"))
"""The marks around material on the shipped pages, opening and closing; a page of one's own has further ones."""

_NOTE = re.compile(r"<(\s*/?\s*note\b[^<>]*)>", re.IGNORECASE)
_FENCED = re.compile(rf"‹(\s*/?\s*(?:note|{'|'.join(_MATERIAL)})\b[^‹›<>]*)›", re.IGNORECASE)


def fenced(text: str, *marks: str) -> str:
    """The text as data: in marks that would end or imitate ours, the brackets are replaced.

    `marks`: the marks to replace, such as `/section` or `title`. Those of notes are always replaced.
    """
    if "<" not in text:
        return text
    text = _NOTE.sub("‹\\1›", text)
    for mark in marks:
        spaced = mark.replace("/", r"/\s*")  # a model reads `</ task >` as it reads `</task>`
        text = re.sub(rf"<(\s*{spaced}\b[^<>]*)>", "‹\\1›", text, flags=re.IGNORECASE)
    return text


def unfenced(text: str) -> str:
    """The text with its own brackets again, so that a copy of a fenced text equals the text itself."""
    return _FENCED.sub("<\\1>", text)


def note(prompt: Prompt | Mapping[str, str]) -> str:
    """A selector's prompt in the form of a request: between note marks, with its quote."""
    line = f"<note>{prompt['text']}</note>" if prompt["text"] else ""
    quote = prompt.get("quote")
    return f"{line}\n<quote>{fenced(quote, '/quote')}</quote>" if quote else line


@dataclass(frozen=True)
class PageMessages:
    """Messages for a role from two prompt templates of its cast: `<role>/system`, and `<role>/material`.

    The variables of the material are filled with the scenario's values of the same names; values other than texts are
    written as JSON. A role without these templates gets only the conversation.
    """

    role: Role
    pages: Library

    def told(self, scenario: Mapping[str, Any]) -> Mapping[str, object]:
        """The values of the templates' variables that are not the scenario's as they stand; each is fenced."""
        return {}

    def material(self, scenario: Mapping[str, Any]) -> str:
        """The text of `<role>/material`."""
        if (page := self.pages.pages.get(f"{self.role}/material")) is None:
            return ""
        given = self.told(scenario)
        own = {gap: fenced(as_text(scenario.get(gap, "")), *page.marks) for gap in page.gaps if gap not in given}
        return page.fill_from({**own, **given})

    def __call__(self, state: State) -> list[BaseMessage]:
        page, scenario = self.pages.pages.get(f"{self.role}/system"), state["scenario"]
        system = "" if page is None else page.fill_from(self.told(scenario))
        drafts, material = self.role == "assistant", self.material(scenario)
        return messages_for(self.role, state, system=system, material=material, own_drafts=drafts, pages=self.pages)


def as_text(value: object) -> str:
    """A value of a scenario as text: JSON, unless it is a text already."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Talk:
    """Only the conversation, for an agent that has its own instructions; rejected drafts are not sent.

    A repair line after one, or a question after the conversation, is a last message between note marks.
    """

    role: Role
    system: str = ""
    """A system prompt before the conversation."""

    def __call__(self, state: State) -> list[BaseMessage]:
        talk, line = merged(state, {"prompt": None}), state.get("prompt")
        sent = messages_for(self.role, talk, system=self.system, material="", own_drafts=False)
        return [*sent, HumanMessage(note(line))] if line and sends_prompt(self, state) else sent

    def provenance(self) -> dict[str, Any]:
        return {"system": digest(self.system)[:16]} if self.system else {}


def sends_prompt(build: MessageBuilder | None, state: State) -> bool:
    """Whether a builder sends the selector's prompt; the assistant's `Talk` sends only a repair or a later question."""
    if not isinstance(build, Talk) or build.role == "user":
        return True
    return bool(rejected(state, build.role)) or state.get("speaking") != build.role


def plain_messages(role: Role, system: str = "") -> MessageBuilder:
    """A builder of the conversation with the selector's prompts and the assistant's rejected drafts of this turn."""

    def plain(state: State) -> list[BaseMessage]:
        return messages_for(role, state, system=system, material="", own_drafts=role == "assistant")

    return plain


def messages_for(
    role: Role,
    state: State,
    *,
    system: str,
    material: str | Sequence[tuple[bool, str]],
    own_drafts: bool,
    pages: Library | None = None,
) -> list[BaseMessage]:
    """System prompt, material, all messages, the rejected drafts of this turn and the selector's prompt, for a model.

    Messages that are not stored are sent too. Each role is the model's assistant, and the other role its user. Roles
    alternate: consecutive texts of the same role are joined by an empty line. Words stand in the place of images and
    other parts.

    Args:
        role: The role that the model plays.
        state: The conversation so far.
        system: The system prompt; empty for none.
        material: One text, or a scripted conversation of pairs: whether the text is the role's own, and the text.
        own_drafts: Whether to send the rejected drafts of this turn.
        pages: Templates of the cast; those about behaviours replace the shipped ones.
    """
    if role == "user" and (behaviour := _behaviour(state, system, pages)):
        system = f"{system}\n\n{behaviour}"
    turns: list[tuple[bool, str]] = [(False, material)] if isinstance(material, str) else list(material)
    for message in said(state):
        is_own = message["role"] == role and "name" not in message
        words = with_stand_ins(message)
        turns.append((is_own, words if is_own else fenced(words, *MARKS)))
    if own_drafts:
        for texts, prompt in _drafts(state, role):
            turns.append((False, note(prompt)))
            turns.append((True, "\n\n".join(filter(None, texts))))
    prompt_now = state.get("prompt")
    if prompt_now is not None:
        turns.append((False, note(prompt_now)))
    return [*([SystemMessage(system)] if system else []), *_alternating(turns)]


def _drafts(state: State, role: Role) -> list[tuple[list[str], Mapping[str, str]]]:
    calls: dict[int, tuple[list[str], Mapping[str, str]]] = {}
    for attempt in rejected(state, role):
        texts, _ = calls.setdefault(attempt.get("number", 1), ([], attempt.get("prompt") or {"text": ""}))
        texts.append(attempt["text"])
    return list(calls.values())


def _alternating(turns: Sequence[tuple[bool, str]]) -> Iterator[BaseMessage]:
    """The turns as messages, those of a role in a row as one; some endpoints refuse an empty message."""
    for is_own, run in groupby([turn for turn in turns if turn[1]], key=lambda turn: turn[0]):
        yield (AIMessage if is_own else HumanMessage)(content="\n\n".join(text for _, text in run))


BEHAVIOURS = "behaviours"
"""Name of the shipped templates that no cast's manifest lists, unless a folder of one's own has one."""


def with_pages(own: Library | None, system: str) -> dict[str, Page]:
    """The templates that only some scenarios need, in the language of the system prompt; those of `own` replace them."""
    return {**shipped(BEHAVIOURS, language_of(system) or "en").pages, **({} if own is None else own.pages)}


def _behaviour(state: State, system: str, own: Library | None = None) -> str:
    names = behaviours_in(state["scenario"], state.get("extra"))
    if not names:
        return ""
    pages = with_pages(own, system)
    values: Mapping[str, Any] = {"word": injected_word(state["scenario"])}
    lines = "\n".join(f"- {name}: {pages[f'user/behaviour_{name}'].fill_from(values)}" for name in names)
    return pages["user/behaviours"].fill(lines=lines)
