"""What one side is sent: a pure function of what was said, the drafts of this turn and its own knowledge.

The words of the other side and of files go into messages only, never into a system prompt or a template's
source. Lines of ours stand between <note> and </note>; nothing else that is sent can hold those marks.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ..data import domains
from ..data.records import Role
from ..prompts import Library
from .state import Prompt, State

MessageBuilder: TypeAlias = Callable[[State], list[BaseMessage]]
"""What a speaker is sent in a state."""


@runtime_checkable
class Builds(Protocol):
    """A speaker that can be asked what it is sent: whoever takes its place is sent the same."""

    @property
    def build(self) -> MessageBuilder: ...


_MATERIAL = tuple(name for domain in domains.SHIPPED for name in domain.marks)
MARKS = tuple(f"{end}{name}" for name in _MATERIAL for end in ("", "/"))
"""The marks that material of the shipped domains stands between."""

_NOTE = re.compile(r"<(\s*/?\s*note\b[^<>]*)>", re.IGNORECASE)
_FENCED = re.compile(rf"‹(\s*/?\s*(?:note|{'|'.join(_MATERIAL)})\b[^‹›<>]*)›", re.IGNORECASE)


def fenced(text: str, *marks: str) -> str:
    """The text as data: marks that would end or imitate ours are shown with other brackets.

    `marks`: those that it must not hold, such as `/section` or `title`; a note's never may stand in it.
    """
    text = _NOTE.sub("‹\\1›", text)
    for mark in marks:
        spaced = mark.replace("/", r"/\s*")  # a model reads `</ task >` as it reads `</task>`
        text = re.sub(rf"<(\s*{spaced}\b[^<>]*)>", "‹\\1›", text, flags=re.IGNORECASE)
    return text


def marks_of(scenario: Mapping[str, Any]) -> tuple[str, ...]:
    """The marks that material may stand between: of the shipped domains and of the scenario's own.

    Not of all that are registered: what a model is sent does not depend on what else is installed.
    """
    own = (name for name in domains.of(scenario).marks if name not in _MATERIAL)
    return (*MARKS, *(f"{end}{name}" for name in own for end in ("", "/")))


def unfenced(text: str) -> str:
    """The text with its own brackets again: a faithful copy of fenced text is a copy of the text."""
    return _FENCED.sub("<\\1>", text)


def note(prompt: Prompt | Mapping[str, str]) -> str:
    """A line of ours: what a selector's prompt looks like when it is sent."""
    line = f"<note>{prompt['text']}</note>" if prompt["text"] else ""
    quote = prompt.get("quote")
    return f"{line}\n<quote>{fenced(quote, '/quote')}</quote>" if quote else line


@dataclass(frozen=True)
class PageMessages:
    """What a side is sent by two pages of its cast: `<role>/system`, and `<role>/material` with the scenario.

    The material's gaps are filled with the scenario's values of the same names (a text as it is, anything else as
    JSON); a side without such a page is sent the talk alone.
    """

    role: Role
    pages: Library

    def __call__(self, state: State) -> list[BaseMessage]:
        system, material = f"{self.role}/system", f"{self.role}/material"
        text = ""
        if material in self.pages:
            page = self.pages[material]
            values = {gap: _as_text(state["scenario"].get(gap, "")) for gap in page.gaps}
            text = page.fill(**{gap: fenced(value, *page.marks) for gap, value in values.items()})
        messages = messages_for(
            self.role,
            state,
            system=self.pages[system].fill() if system in self.pages else "",
            material=text,
            own_drafts=self.role == "assistant",
        )
        return messages if system in self.pages else messages[1:]

    def provenance(self) -> dict[str, Any]:
        return {"role": self.role}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain_messages(role: Role, system: str = "") -> MessageBuilder:
    """A builder of the messages alone, for an agent that knows for itself what it is about."""

    def plain(state: State) -> list[BaseMessage]:
        messages = messages_for(role, state, system=system, material="", own_drafts=role == "assistant")
        return messages if system else messages[1:]

    return plain


def messages_for(
    role: Role, state: State, *, system: str, material: str | Sequence[tuple[bool, str]], own_drafts: bool
) -> list[BaseMessage]:
    """System page, material, what was said, the drafts of this turn (if the side sees its own), the prompt.

    `material`: one text, or a scripted talk about it: whether the side itself says it, and the words.
    What was said and is not part of the published history was heard all the same.
    Each side sees itself as the assistant of the model and the other side as its user. Roles alternate:
    what follows from the same side is joined by an empty line.
    """
    marks = marks_of(state.get("scenario", {}))
    turns: list[tuple[bool, str]] = [(False, material)] if isinstance(material, str) else list(material)
    for message in state.get("messages", []):
        mine = message["role"] == role
        turns.append((mine, message["text"] if mine else fenced(message["text"], *marks)))
    if own_drafts:
        for texts, prompt in _drafts(state):
            turns.append((False, note(prompt)))
            turns.append((True, "\n\n".join(filter(None, texts))))
    prompt_now = state.get("prompt")
    if prompt_now is not None:
        turns.append((False, note(prompt_now)))
    return [SystemMessage(system), *_alternating(turns)]


def _drafts(state: State) -> list[tuple[list[str], Mapping[str, str]]]:
    """Texts and prompt of each rejected call of this turn, in order."""
    calls: dict[int, tuple[list[str], Mapping[str, str]]] = {}
    for attempt in state.get("attempts", []):
        texts, _ = calls.setdefault(attempt.get("number", 1), ([], attempt.get("prompt") or {"text": ""}))
        texts.append(attempt["text"])
    return list(calls.values())


def _alternating(turns: Sequence[tuple[bool, str]]) -> list[BaseMessage]:
    joined: list[tuple[bool, list[str]]] = []
    for mine, text in turns:
        if not text:
            continue  # some endpoints refuse an empty message
        if joined and joined[-1][0] == mine:
            joined[-1][1].append(text)
        else:
            joined.append((mine, [text]))
    return [(AIMessage if mine else HumanMessage)("\n\n".join(texts)) for mine, texts in joined]
