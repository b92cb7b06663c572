"""Prompt selectors' common part: pages as prompts, and the repair page for a reason of rejection."""

from collections.abc import Mapping
from dataclasses import dataclass

from langgraph.runtime import Runtime

from ..data.records import Role
from ..prompts import Library, Page
from .limits import Limits
from .messages import fenced
from .state import Prompt, State, Update, Verdict, attempt_number, prompt


def filled(page: Page, values: Mapping[str, object]) -> Prompt:
    """The page as a prompt, its gaps filled from a larger choice of values."""
    return {"name": page.name, "digest": page.digest, "text": page.fill_from(values)}


@dataclass(frozen=True)
class Refusal:
    """Why a reply cannot be used."""

    reason: str
    """From a closed set; the name of the page that repairs it ends with it."""
    repair: str = ""
    """What was wrong, in words for whoever wrote it."""
    quote: str = ""
    """Words that it is about, sent behind the page as data."""


def repair_prompt(pages: Library, side: str, refusal: Refusal, values: Mapping[str, object]) -> Prompt:
    """The prompt for what was refused: the page `<side>/repair_<reason>`, or else `<side>/repair_other`.

    Where the library has neither, the refusal's words are the prompt.
    """
    words = fenced(refusal.repair or refusal.reason.replace("_", " ") + ".")
    names = (f"{side}/repair_{refusal.reason}", f"{side}/repair_other")
    name = next((name for name in names if name in pages), None)
    made = prompt(names[1], words) if name is None else filled(pages[name], {**values, "repair": words})
    return {**made, "quote": refusal.quote} if refusal.quote else made


def repair(pages: Library, role: Role, state: State, values: Mapping[str, object]) -> Prompt:
    """The prompt for the reason of the last rejected draft; its number makes each differ from the last."""
    verdict = last_rejected(state)
    refusal = Refusal(str(verdict.get("reason") or ""), str(verdict.get("repair") or ""))
    return repair_prompt(pages, role, refusal, {**values, "attempt": attempt_number(state)})


@dataclass(frozen=True)
class RepairPrompts:
    """A prompt selector that has nothing to say, but for a repair after a rejected draft."""

    role: Role
    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not state.get("attempts"):
            return {"prompt": None}
        limits = runtime.context
        attempts = limits.question_attempts if self.role == "user" else limits.answer_attempts
        return {"prompt": repair(self.pages, self.role, state, {"attempts": attempts})}


def last_rejected(state: State) -> Verdict:
    """The first verdict of the last call that objects to its draft."""
    return next((v for v in state.get("verdicts", []) if not v["accepted"]), Verdict(accepted=False))
