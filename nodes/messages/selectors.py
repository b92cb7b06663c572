"""Common functions of prompt selectors: filled prompt templates, and repairs for reasons of rejection."""

from collections.abc import Mapping
from dataclasses import dataclass

from langgraph.runtime import Runtime

from ...data.records import Role
from ...prompts import Library, Page
from ..limits import Limits
from ..state import Prompt, State, Update, Verdict, attempt_number, prompt
from .building import fenced


def filled(page: Page, values: Mapping[str, object]) -> Prompt:
    """The prompt template as a prompt, its variables filled from the values.

    Values without a variable are ignored.
    """
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


def repair(pages: Library, role: Role, state: State, values: Mapping[str, object]) -> Prompt:
    """The prompt for the last rejected draft; the attempt's number makes each one different."""
    verdict = last_rejected(state)
    refusal = Refusal(str(verdict.get("reason") or ""), str(verdict.get("repair") or ""))
    return repair_prompt(pages, role, refusal, {**values, "attempt": attempt_number(state)})


@dataclass(frozen=True)
class RepairPrompts:
    """Selects no prompt, except a repair after a rejected draft."""

    role: Role
    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not state.get("attempts"):
            return {"prompt": None}
        limits = runtime.context
        attempts = limits.question_attempts if self.role == "user" else limits.answer_attempts
        return {"prompt": repair(self.pages, self.role, state, {"attempts": attempts})}


def last_rejected(state: State) -> Verdict:
    """The first rejecting verdict of the last call."""
    rejecting = (verdict for verdict in state.get("verdicts", []) if not verdict["accepted"])
    return next(rejecting, Verdict(accepted=False))
