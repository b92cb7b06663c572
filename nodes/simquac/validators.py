"""The SimQuAC validators of questions and answers, and the one of other readers.

"Let the LLMs Talk" (WSDM 2024), sections 2.4 and 2.5 and Table 1.
"""

from dataclasses import dataclass

from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, ground, is_refusal
from ...data.simquac import released
from ...data.simquac.domain import QUESTION_WORDS, question_reasons
from ..limits import Limits
from ..messages import unfenced
from ..state import Draft, State, Update, Verdict, attempt_number, history
from ..validators import PerDraft, by_reasons, cut_off, judges_flaws, unless_empty, wordless
from .roles import INTERESTING

ANSWER_CHARACTERS = 100_000
"""Most characters of an answer. Looking for one in a section takes some 6 microseconds a character, and others wait."""


@dataclass(frozen=True)
class QuestionValidator:
    """Rejects questions that are cut off, empty, enumerations, too long or have a line break (section 2.4).

    It also rejects one that only calls tools; an image without words breaks no rule. Several questions in one, and a
    question that was asked before, are counted.
    """

    words: int = QUESTION_WORDS

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        earlier = [message["text"] for message in history(state, "user")]
        verdicts = []
        for draft in state.get("drafts") or []:
            verdicts.append(self._verdict(draft, earlier))
            earlier.append(draft["text"])
        return {"verdicts": verdicts}

    def _verdict(self, draft: Draft, earlier: list[str]) -> Verdict:
        if (verdict := cut_off(draft) or wordless(draft)) is not None:
            return verdict
        reasons = question_reasons(draft["text"], words=self.words, earlier=earlier)
        counted = [reason for reason in reasons if reason in ("several_questions", "asked_again")]
        return by_reasons([reason for reason in reasons if reason not in counted], counted)


@dataclass(frozen=True)
class AnswerValidator(PerDraft):
    """Accepts answers that are grounded in the section, and refusals (section 2.5); stores the section's slices.

    One of more than `ANSWER_CHARACTERS` is rejected (`too_long`) before anything looks for it in the section.
    """

    def verdict(self, draft: Draft, state: State, limits: Limits) -> Verdict:
        text, (section, background) = draft["text"], _read(state)
        if (verdict := cut_off(draft) or wordless(draft)) is not None:  # an image is not a piece of the section
            return Verdict(accepted=False, reason="not_in_section") if verdict["accepted"] else verdict
        if len(text) > ANSWER_CHARACTERS:
            repair = f"it is longer than {ANSWER_CHARACTERS:,} characters."
            return {"accepted": False, "reason": "too_long", "repair": repair}
        grounding = ground(text, section, background)
        if not grounding.valid and unfenced(text) != text:
            grounding = ground(unfenced(text), section, background)
        if grounding.reason is not None:
            return {"accepted": False, "reason": grounding.reason, "repair": "\n".join(grounding.failed)}
        text = NO_ANSWER if grounding.refused else "\n".join(span.text for span in grounding.spans)
        return {"accepted": True, "text": text, "spans": [span.plain() for span in grounding.spans]}


def _read(state: State) -> tuple[str, str]:
    """Section and background."""
    return str(state["scenario"]["section"]), str(state["scenario"].get("background", ""))


# Those of the published script, where its rules differ from the paper's.

SUFFIX = "(tell me maximum number of two segments)"
"""The script's suffix of the question that follows the guide `interesting`. It is stored with the question."""


@judges_flaws
@dataclass(frozen=True)
class ReleasedQuestionValidator(PerDraft):
    """Rejects only line breaks and too many words, and stores the suffix for the teacher with the question."""

    words: int = QUESTION_WORDS

    def verdict(self, draft: Draft, state: State, limits: Limits) -> Verdict:
        for reason in question_reasons(draft["text"], words=self.words):
            if reason in ("newline", "too_long"):
                return {"accepted": False, "reason": reason}
        prompt = state.get("prompt")
        suffix = f" {SUFFIX}" if prompt is not None and prompt["name"] == INTERESTING else ""
        return {"accepted": True, "text": draft["text"] + suffix}


@judges_flaws
@dataclass(frozen=True)
class ReleasedAnswerValidator(PerDraft):
    """The overlap test, which loses leading words; an ungrounded text is stored at the last attempt."""

    def verdict(self, draft: Draft, state: State, limits: Limits) -> Verdict:
        text = draft["text"]
        judgement = released.judge(text, *_read(state))
        if judgement.outcome in ("refused", "accepted"):
            stored = NO_ANSWER if judgement.outcome == "refused" else judgement.text
            return {"accepted": True, "text": stored, "spans": [span.plain() for span in judgement.spans]}
        reason = "in_background" if judgement.in_background else "not_in_section"
        if attempt_number(state) >= limits.answer_attempts:
            return {"accepted": True, "observed": True, "reason": reason, "text": f"{NO_ANSWER} {text}", "spans": []}
        return {"accepted": False, "reason": reason, "repair": text}


@dataclass(frozen=True)
class ReadingValidator(PerDraft):
    """Accepts every complete answer in any words that is not empty; a refusal becomes the no-answer string."""

    def verdict(self, draft: Draft, state: State, limits: Limits) -> Verdict:
        verdict, text = cut_off(draft) or unless_empty(draft), unfenced(draft["text"])
        stored = Verdict(accepted=True, text=NO_ANSWER if is_refusal(text) else text, spans=[])
        return stored if verdict["accepted"] else verdict
