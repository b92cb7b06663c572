"""The SimQuAC nodes: messages, prompts and validators of student and teacher, and the validator of other readers.

"Let the LLMs Talk" (WSDM 2024), sections 2.3 to 2.5 and Table 1. The student gets title, background, header and the
conversation. The teacher also gets the section and its own rejected drafts of the current turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, gives_no_answer, ground, is_refusal
from ...data.identity import call_seed
from ...data.records import Message
from ...data.rules.guards import QUESTION_WORDS, question_reasons
from ...data.simquac import released
from ...data.simquac.domain import ANSWER_TOKENS
from ...prompts import Library
from ..limits import Limits
from ..messages import MARKS, PageMessages, fenced, filled, repair, unfenced
from ..state import Draft, State, Update, Verdict, attempt_number, history, id_of, rejected
from ..validators import PerDraft, by_reasons, cut_off, judges_flaws, unless_empty, wordless

GUIDES = ("user/guide_general", "user/guide_wh", "user/guide_interesting", "user/guide_other")
"""Prompts after an unanswered question, with equal probability (section 2.4)."""

INTERESTING = "user/guide_interesting"

ANSWER_CHARACTERS = 100_000
"""Most characters of an answer. Looking for one in a section takes some 6 microseconds a character, and others wait."""


@dataclass(frozen=True)
class StudentMessages(PageMessages):
    """Messages for the student, without the section and its own rejected questions."""

    offline: ClassVar[str] = "student"
    """The part that the offline model plays by these messages."""
    words: int = QUESTION_WORDS

    def told(self, scenario: Mapping[str, Any]) -> Mapping[str, object]:
        return _material(scenario) | {"words": self.words}


@dataclass(frozen=True)
class TeacherMessages(PageMessages):
    """Messages for the teacher, with the section and its own rejected answers of the current turn."""

    offline: ClassVar[str] = "teacher"
    """The part that the offline model plays by these messages."""

    def told(self, scenario: Mapping[str, Any]) -> Mapping[str, object]:
        # A section about HTML keeps its tags, so that it can be copied; only the mark of its own end is replaced.
        section = fenced(str(scenario.get("section", "")), "/section")
        return _material(scenario) | {"section": section, "tokens": ANSWER_TOKENS, "no_answer": NO_ANSWER}


def _material(scenario: Mapping[str, Any]) -> dict[str, object]:
    return {name: fenced(str(scenario.get(name, "")), *MARKS) for name in ("title", "background", "header")}


@dataclass(frozen=True)
class StudentPrompts:
    """Selects start, next question, one of four guides after a refusal, or a repair after a rejected draft."""

    pages: Library
    words: int = QUESTION_WORDS
    interesting_once: bool = True
    """Whether the guide `interesting` is used at most once in a conversation, as in the published code."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        limits = runtime.context
        if rejected(state):
            values = {"words": self.words, "attempts": limits.question_attempts}
            return {"prompt": repair(self.pages, "user", state, values)}
        return {"prompt": filled(self.pages[self._page(state, limits)], {"words": self.words})}

    def _page(self, state: State, limits: Limits) -> str:
        answers = history(state, "assistant")
        if not answers:
            return "user/start"
        if not self._refused(answers[-1]):
            return "user/next"
        tried = [attempt for message in history(state, "user") for attempt in message.get("attempts", [])]
        used = {(attempt.get("prompt") or {}).get("name") for attempt in tried} if self.interesting_once else set()
        guides = [guide for guide in GUIDES if guide != INTERESTING or guide not in used]
        draw = call_seed(limits.seed, id_of(state), "user_prompt_selector", state.get("turn", 0), 1)
        return guides[draw % len(guides)]

    @staticmethod
    def _refused(answer: dict[str, Any]) -> bool:
        return gives_no_answer(Message.model_validate(answer))


@dataclass(frozen=True)
class TeacherPrompts:
    """Selects the reminder with each question, or the repair for the reason of rejection."""

    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        values = {"no_answer": NO_ANSWER, "attempts": runtime.context.answer_attempts}
        if rejected(state):
            return {"prompt": repair(self.pages, "assistant", state, values, quoted=("partly",))}
        return {"prompt": filled(self.pages["assistant/reminder"], values)}


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


# The nodes of the published script, where its rules differ from the paper's. The script can crash or retry without end;
# these nodes cannot, because both roles have limited attempts.

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
