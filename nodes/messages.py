"""What a role is sent: its messages, and the prompts of the selectors in them.

The messages are a pure function of history, drafts of the turn, and material. Texts of the other role and of files go only into messages, never into a system prompt or a template's source. Our own
instructions stand between <note> and </note>; no other text of a request can contain these marks.
"""

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, convert_to_messages
from langgraph.runtime import Runtime

from ..data.behaviours import behaviours_in, injected_word
from ..data.identity import digest
from ..data.records import Role
from ..data.text.languages import language_of
from ..prompts import Library, Page, shipped
from .attachments import with_stand_ins
from .contract import Node, check_function
from .limits import Limits
from .state import Prompt, State, Update, Verdict, attempt_number, merged, prompt, rejected, said

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


# Prompts


def filled(page: Page, values: Mapping[str, object]) -> Prompt:
    """The prompt template as a prompt, its variables filled from the values, of which others are ignored."""
    return {"name": page.name, "digest": page.digest, "text": page.fill_from(values)}


@dataclass(frozen=True)
class Refusal:
    """The reason why a reply cannot be used."""

    reason: str
    """One of a closed set; the name of its repair template ends with it."""
    repair: str = ""
    """An explanation for the writer of the reply."""
    quote: str = ""
    """Words that it refers to; they follow the prompt as data."""


def repair_prompt(pages: Library, side: str, refusal: Refusal, values: Mapping[str, object]) -> Prompt:
    """The prompt for a refusal: the template `<side>/repair_<reason>`, else `<side>/repair_other`.

    If the library has neither, the refusal's explanation is the prompt.
    """
    words = fenced(refusal.repair or refusal.reason.replace("_", " ") + ".")
    names = (f"{side}/repair_{refusal.reason}", f"{side}/repair_other")
    name = next((name for name in names if name in pages), None)
    repair_line = prompt(names[1], words) if name is None else filled(pages[name], {**values, "repair": words})
    return {**repair_line, "quote": refusal.quote} if refusal.quote else repair_line


def repair(
    pages: Library, role: Role, state: State, values: Mapping[str, object], quoted: Collection[str] = ()
) -> Prompt:
    """The prompt for the first rejected draft of the last call; the attempt's number makes each one different.

    `quoted`: reasons whose explanation is in the writer's own words, and therefore data: it follows outside our note too.
    """
    rejecting = (verdict for verdict in state.get("verdicts", []) if not verdict["accepted"])
    verdict = next(rejecting, Verdict(accepted=False))
    reason, words = str(verdict.get("reason") or ""), str(verdict.get("repair") or "")
    refusal = Refusal(reason, words, quote=words if reason in quoted else "")
    return repair_prompt(pages, role, refusal, {**values, "attempt": attempt_number(state, role)})


@dataclass(frozen=True)
class RepairPrompts:
    """Selects no prompt, except a repair after a rejected draft."""

    role: Role
    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not rejected(state, self.role):
            return {"prompt": None}
        limits = runtime.context
        attempts = limits.question_attempts if self.role == "user" else limits.answer_attempts
        return {"prompt": repair(self.pages, self.role, state, {"attempts": attempts})}


@dataclass(frozen=True)
class ChosenPrompts:
    """Prompts that a function chooses."""

    choose: Callable[[State], Any]
    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        chosen = self.choose(state)
        chosen = await chosen if inspect.isawaitable(chosen) else chosen
        if isinstance(chosen, BaseMessage):
            chosen = str(chosen.text)
        if isinstance(chosen, (list, tuple)):
            chosen = "\n\n".join(str(one.text) for one in convert_to_messages(chosen))
        if isinstance(chosen, str):
            chosen = filled(self.pages[chosen], {}) if chosen in self.pages else prompt("own", chosen)
        return {"prompt": chosen}


def selector(choose: Callable[[State], Any], pages: Library | None = None) -> Node:
    """A prompt selector from a function of the state, async or not, that chooses what the speaker is told for its draft.

    It answers the name of a page in `pages`, a text, a message or messages, a whole `Prompt`, or None for no prompt.
    """
    check_function("selector", choose, "(state) -> None | page | text | Prompt", arguments=1, may_be_async=True)
    return ChosenPrompts(choose, pages or Library({}))
