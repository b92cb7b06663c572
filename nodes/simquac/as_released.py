"""SimQuAC nodes that follow the published script's rules where they differ from the paper's.

The script can crash or retry without end; these nodes cannot, because both roles have limited attempts.
"""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER
from ...data.rules import QUESTION_WORDS, question_reasons
from ...data.simquac import released
from ..contract import BySettings
from ..limits import Limits
from ..state import Draft, State, Update, Verdict, attempt_number, rejected
from ..validators import judges_flaws
from .roles import INTERESTING, StudentPrompts, TeacherPrompts

SUFFIX = "(tell me maximum number of two segments)"
"""The script's suffix of the question that follows the guide `interesting`. It is stored with the question."""


@dataclass(frozen=True)
class ReleasedStudentPrompts(StudentPrompts):
    """The second attempt gets the same prompt again; only the exact text `NO_ANSWER` leads to a guide."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        attempts = rejected(state)
        if attempts and attempt_number(state) == 2:
            return {"prompt": attempts[-1]["prompt"]}
        return await super().__call__(state, runtime)

    @staticmethod
    def _refused(answer: dict[str, Any]) -> bool:
        return bool(answer["text"] == NO_ANSWER)


@judges_flaws
@dataclass(frozen=True)
class ReleasedQuestionValidator(BySettings):
    """Rejects only line breaks and too many words, and stores the suffix for the teacher with the question."""

    words: int = QUESTION_WORDS

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        prompt = state.get("prompt")
        suffix = f" {SUFFIX}" if prompt is not None and prompt["name"] == INTERESTING else ""
        return {"verdicts": [self._verdict(draft, suffix) for draft in (state.get("drafts") or [])]}

    def _verdict(self, draft: Draft, suffix: str) -> Verdict:
        for reason in question_reasons(draft["text"], words=self.words):
            if reason in ("newline", "too_long"):
                return {"accepted": False, "reason": reason}
        return {"accepted": True, "text": draft["text"] + suffix}


@dataclass(frozen=True)
class ReleasedTeacherPrompts(TeacherPrompts):
    """The first question of a conversation is sent without the reminder."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await super().__call__(state, runtime)
        prompt = update.get("prompt")
        if prompt is not None and state.get("turn", 0) == 0 and not rejected(state):
            return {"prompt": {**prompt, "text": ""}}
        return update


@judges_flaws
@dataclass(frozen=True)
class ReleasedAnswerValidator:
    """The overlap test, which loses leading words; an ungrounded text is stored at the last attempt."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        last = attempt_number(state) >= runtime.context.answer_attempts
        section, background = str(state["scenario"]["section"]), str(state["scenario"].get("background", ""))
        texts = [draft["text"] for draft in state.get("drafts") or []]
        return {"verdicts": [self._verdict(text, section, background, last) for text in texts]}

    @staticmethod
    def _verdict(text: str, section: str, background: str, last: bool) -> Verdict:
        judgement = released.judge(text, section, background)
        if judgement.outcome in ("refused", "accepted"):
            stored = NO_ANSWER if judgement.outcome == "refused" else judgement.text
            return {"accepted": True, "text": stored, "spans": [span.plain() for span in judgement.spans]}
        reason = "in_background" if judgement.in_background else "not_in_section"
        if last:
            return {"accepted": True, "observed": True, "reason": reason, "text": f"{NO_ANSWER} {text}", "spans": []}
        return {"accepted": False, "reason": reason, "repair": text}
