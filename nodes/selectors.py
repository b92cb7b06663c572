"""Prompt selectors' common part: pages as prompts, and the repair page for a reason of rejection."""

from collections.abc import Mapping

from ..data.records import Role
from ..prompts import Library, Page
from .messages import fenced
from .state import Prompt, State, Verdict, attempt_number


def filled(page: Page, values: Mapping[str, object]) -> Prompt:
    """The page as a prompt, its gaps filled from a larger choice of values."""
    return {"name": page.name, "digest": page.digest, "text": page.fill_from(values)}


def repair(pages: Library, role: Role, state: State, values: Mapping[str, object]) -> Prompt:
    """The prompt for the reason of the last rejected draft; its number makes each differ from the last.

    The page of a side's reason is `<role>/repair_<reason>`; a reason without one has `<role>/repair_other`.
    """
    verdict = last_rejected(state)
    reason = str(verdict.get("reason") or "")
    told = str(verdict.get("repair") or reason.replace("_", " ") + ".")
    name = f"{role}/repair_{reason}"
    page = pages[name if name in pages else f"{role}/repair_other"]
    return filled(page, {**values, "attempt": attempt_number(state), "repair": fenced(told)})


def last_rejected(state: State) -> Verdict:
    """The first verdict of the last call that objects to its draft."""
    return next((v for v in state.get("verdicts", []) if not v["accepted"]), Verdict(accepted=False))
