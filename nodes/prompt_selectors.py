"""Prompt selectors: what a speaker is told before its draft, from a page, from a function, or after a rejected draft."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.runtime import Runtime

from ..data.records import Role
from ..prompts import Library, Page
from .contract import Node, check_function
from .limits import Limits
from .messages import fenced
from .state import Prompt, State, Update, Verdict, attempt_number, prompt, rejected


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
