"""The messages of a request to a role: a pure function of history, drafts of the turn, and material.

Texts of the other role and of files go only into messages, never into a system prompt or a template's source. Our own
instructions stand between <note> and </note>; no other text of a request can contain these marks.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...data import domains
from ...data.behaviours import behaviours_in, injected_word
from ...data.identity import digest
from ...data.records import Role
from ...data.text.languages import language_of
from ...prompts import Library, Page, shipped
from ..state import Prompt, State, merged, rejected, said
from .attachments import sendable, worded

MessageBuilder: TypeAlias = Callable[[State], list[BaseMessage]]
"""Builds the messages of a request to a speaker, from the state."""


_MATERIAL = tuple(name for domain in domains.SHIPPED for name in domain.marks)
MARKS = tuple(f"{end}{name}" for name in _MATERIAL for end in ("", "/"))
"""The marks around material of the shipped domains, opening and closing."""

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


def marks_of(scenario: Mapping[str, Any]) -> tuple[str, ...]:
    """The marks of the shipped domains and of the scenario's domain.

    Other registered domains do not count: the messages to a model must not depend on what else is installed.
    """
    own = (name for name in domains.of(scenario).marks if name not in _MATERIAL)
    return (*MARKS, *(f"{end}{name}" for name in own for end in ("", "/")))


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

    def __call__(self, state: State) -> list[BaseMessage]:
        system, material = f"{self.role}/system", f"{self.role}/material"
        text = ""
        if material in self.pages:
            page = self.pages[material]
            values = {gap: as_text(state["scenario"].get(gap, "")) for gap in page.gaps}
            text = page.fill(**{gap: fenced(value, *page.marks) for gap, value in values.items()})
        messages = messages_for(
            self.role,
            state,
            system=self.pages[system].fill() if system in self.pages else "",
            material=text,
            own_drafts=self.role == "assistant",
            pages=self.pages,
        )
        return messages if system in self.pages or str(messages[0].text) else messages[1:]

    def provenance(self) -> dict[str, Any]:
        return {"role": self.role}


def as_text(value: object) -> str:
    """A value of a scenario as text: JSON, unless it is a text already."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Talk:
    """Only the conversation, for an agent that has its own instructions.

    A repair line after a rejected draft, or a question after the conversation, is added as a last message between note
    marks. Rejected drafts are not sent.
    """

    role: Role
    system: str = ""
    """A system prompt before the conversation."""

    def __call__(self, state: State) -> list[BaseMessage]:
        talk = merged(state, {"prompt": None})
        sent = messages_for(self.role, talk, system=self.system, material="", own_drafts=False)
        line = state.get("prompt")
        notes = [HumanMessage(note(line))] if line and sends_prompt(self, state) else []
        return [*(sent if self.system else sent[1:]), *notes]

    def provenance(self) -> dict[str, Any]:
        return {"system": digest(self.system)[:16]} if self.system else {}


def sends_prompt(build: MessageBuilder | None, state: State) -> bool:
    """Whether a builder sends the selector's prompt; the assistant's `Talk` sends only a repair or a later question."""
    if not isinstance(build, Talk) or build.role == "user":
        return True
    return bool(rejected(state, build.role)) or state.get("speaking") != build.role


def plain_messages(role: Role, system: str = "") -> MessageBuilder:
    """A builder of the conversation with the selector's prompts and the assistant's rejected drafts of this turn.

    An agent without a builder has `Talk`, which has neither.
    """

    def plain(state: State) -> list[BaseMessage]:
        messages = messages_for(role, state, system=system, material="", own_drafts=role == "assistant")
        return messages if system else messages[1:]

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
    """System prompt, material, all messages, the rejected drafts of this turn and the selector's prompt, as messages
    for a model.

    Messages that are not stored are sent too. Each role is the model's assistant, and the other role its user. Roles
    alternate: consecutive texts of the same role are joined by an empty line. Images and other parts of the other role
    are content blocks after their message's text; words stand in the place of the role's own.

    Args:
        role: The role that the model plays.
        state: The conversation so far.
        system: The system prompt.
        material: One text, or a scripted conversation of pairs: whether the text is the role's own, and the text.
        own_drafts: Whether to send the rejected drafts of this turn.
        pages: Templates of the cast; those about behaviours replace the shipped ones.

    Returns:
        The messages, the system prompt first.
    """
    if role == "user" and (behaviour := behaviour_text(state, system, pages)):
        system = f"{system}\n\n{behaviour}"
    marks = marks_of(state.get("scenario", {}))
    turns: list[_Turn] = [(False, material)] if isinstance(material, str) else list(material)
    for message in said(state):
        is_own = message["role"] == role and "name" not in message
        if not message.get("parts"):
            turns.append((is_own, message["text"] if is_own else fenced(message["text"], *marks)))
        elif is_own:
            turns.append((is_own, worded(message)))  # endpoints refuse an image in a reply of the model
        else:
            blocks, stand_ins = sendable(message)
            turns.append((is_own, fenced("\n".join(filter(None, [message["text"], *stand_ins])), *marks)))
            turns += [(is_own, block) for block in blocks]
    if own_drafts:
        for texts, prompt in _drafts(state, role):
            turns.append((False, note(prompt)))
            turns.append((True, "\n\n".join(filter(None, texts))))
    prompt_now = state.get("prompt")
    if prompt_now is not None:
        turns.append((False, note(prompt_now)))
    return [SystemMessage(system), *_alternating(turns)]


def _drafts(state: State, role: Role) -> list[tuple[list[str], Mapping[str, str]]]:
    """Texts and prompt of each rejected call of this turn, in order."""
    calls: dict[int, tuple[list[str], Mapping[str, str]]] = {}
    for attempt in rejected(state, role):
        texts, _ = calls.setdefault(attempt.get("number", 1), ([], attempt.get("prompt") or {"text": ""}))
        texts.append(attempt["text"])
    return list(calls.values())


_Turn: TypeAlias = tuple[bool, str | dict[str, Any]]
"""Whether the role itself speaks, and a text or a content block."""


def _alternating(turns: Sequence[_Turn]) -> list[BaseMessage]:
    joined: list[tuple[bool, list[str | dict[str, Any]]]] = []
    for is_own, piece in turns:
        if not piece:
            continue  # some endpoints refuse an empty message
        if joined and joined[-1][0] == is_own:
            joined[-1][1].append(piece)
        else:
            joined.append((is_own, [piece]))
    return [(AIMessage if is_own else HumanMessage)(content=_content(pieces)) for is_own, pieces in joined]


def _content(pieces: Sequence[str | dict[str, Any]]) -> Any:
    """One text, or a list of blocks in which adjacent texts are joined."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return "\n\n".join(texts)
    blocks: list[dict[str, Any]] = []
    for is_text, run in groupby(pieces, key=lambda piece: isinstance(piece, str)):
        if is_text:
            blocks.append({"type": "text", "text": "\n\n".join(map(str, run))})
        else:
            blocks += [block for block in run if isinstance(block, dict)]
    return blocks


BEHAVIOURS = "behaviours"
"""Name of the shipped templates that no cast's manifest lists, unless a folder of one's own has one."""


def behaviours_of(state: State) -> tuple[str, ...]:
    """The behaviours of the conversation's user."""
    return behaviours_in(state["scenario"], state.get("extra"))


def with_pages(own: Library | None, system: str) -> dict[str, Page]:
    """The templates that only some scenarios need, in the language of the system prompt; those of `own` replace them."""
    return {**shipped(BEHAVIOURS, language_of(system) or "en").pages, **({} if own is None else own.pages)}


def behaviour_text(state: State, system: str, own: Library | None = None) -> str:
    """How the user behaves, as a part of its system prompt; empty for a plain user.

    A page of `own` named `user/behaviour_NAME` counts before the shipped one.
    """
    names = behaviours_of(state)
    if not names:
        return ""
    pages = with_pages(own, system)
    values: Mapping[str, Any] = {"word": injected_word(state["scenario"])}
    lines = "\n".join(f"- {name}: {pages[f'user/behaviour_{name}'].fill_from(values)}" for name in names)
    return pages["user/behaviours"].fill(lines=lines)
