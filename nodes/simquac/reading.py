"""Reading comprehension: the nodes around a chat model that answers a question about a section.

A reader may answer in any words, unlike a teacher, whose answers are copies of the section (`nodes.simquac.roles`).
"""

from dataclasses import dataclass

from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, is_refusal
from ..limits import Limits
from ..messages.attachments import why_empty
from ..messages.building import unfenced
from ..state import Draft, State, Update, Verdict
from ..validators import cut_off


@dataclass(frozen=True)
class NoPrompt:
    """Selects no prompt for the user, as the scenario contains the question."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"prompt": None}


@dataclass(frozen=True)
class ReadingValidator:
    """Accepts every complete answer that is not empty; a refusal becomes the no-answer string."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"verdicts": [cut_off(draft) or self._verdict(draft) for draft in (state.get("drafts") or [])]}

    @staticmethod
    def _verdict(draft: Draft) -> Verdict:
        if (why := why_empty(draft)) is not None:
            return {"accepted": False, "reason": why}
        text = unfenced(draft["text"])
        return {"accepted": True, "text": NO_ANSWER if is_refusal(text) else text, "spans": []}
