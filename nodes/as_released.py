"""SimQuAC nodes that follow the published script's rules where they differ from the paper's.

What crashes there, or asks for ever, does not here: attempts are bounded on both sides.
"""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ..data.grounding import NO_ANSWER
from ..data.rules import QUESTION_WORDS, question_reasons
from ..data.simquac import released
from .limits import Limits
from .simquac import INTERESTING, StudentPrompts, TeacherPrompts
from .state import Draft, State, Update, Verdict, attempt_number

SUFFIX = "(tell me maximum number of two segments)"
"""What the script adds to the question after the guide that asks what is interesting: it is stored with it."""


@dataclass(frozen=True)
class ReleasedStudentPrompts(StudentPrompts):
    """The first re-prompt is the prompt that failed; only the bare declared words lead to a guide."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        attempts = state.get("attempts", [])
        if attempts and attempt_number(state) == 2:
            return {"prompt": attempts[-1]["prompt"]}
        return await super().__call__(state, runtime)

    @staticmethod
    def _refused(answer: dict[str, Any]) -> bool:
        return bool(answer["text"] == NO_ANSWER)


@dataclass(frozen=True)
class ReleasedQuestionValidator:
    """A line break and too many words are rejected, and nothing else; a hint for the teacher is stored."""

    words: int = QUESTION_WORDS

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        prompt = state.get("prompt")
        suffix = f" {SUFFIX}" if prompt is not None and prompt["name"] == INTERESTING else ""
        return {"verdicts": [self._verdict(draft, suffix) for draft in state.get("drafts", [])]}

    def _verdict(self, draft: Draft, suffix: str) -> Verdict:
        reasons = [
            reason for reason in question_reasons(draft["text"], words=self.words) if reason in ("newline", "too_long")
        ]
        if reasons:
            return {"accepted": False, "reason": reasons[0]}
        return {"accepted": True, "text": draft["text"] + suffix}

    def provenance(self) -> dict[str, Any]:
        return {"words": self.words}


@dataclass(frozen=True)
class ReleasedTeacherPrompts(TeacherPrompts):
    """The reminder is missing on the first question of a conversation."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await super().__call__(state, runtime)
        prompt = update.get("prompt")
        if prompt is not None and state.get("turn", 0) == 0 and not state.get("attempts"):
            return {"prompt": {**prompt, "text": ""}}
        return update


@dataclass(frozen=True)
class ReleasedAnswerValidator:
    """The overlap test that loses leading words; the ungrounded text is stored when patience is spent."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        last = attempt_number(state) >= runtime.context.answer_attempts
        section, background = str(state["scenario"]["section"]), str(state["scenario"].get("background", ""))
        return {"verdicts": [self._verdict(d["text"], section, background, last) for d in state.get("drafts", [])]}

    @staticmethod
    def _verdict(text: str, section: str, background: str, last: bool) -> Verdict:
        judged = released.judge(text, section, background)
        if judged.outcome == "refused":
            return {"accepted": True, "text": NO_ANSWER, "spans": []}
        if judged.outcome == "accepted":
            return {"accepted": True, "text": judged.text, "spans": [span.plain() for span in judged.spans]}
        reason = "in_background" if judged.in_background else "not_in_section"
        if last:
            return {"accepted": True, "observed": True, "reason": reason, "text": f"{NO_ANSWER} {text}", "spans": []}
        return {"accepted": False, "reason": reason, "repair": text}
