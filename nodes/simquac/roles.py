"""The SimQuAC nodes of student and teacher: their messages, and the selectors of their prompts.

"Let the LLMs Talk" (WSDM 2024), sections 2.3 to 2.5 and Table 1. The student gets title, background, header and the
conversation. The teacher also gets the section and its own rejected drafts of the current turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from langgraph.runtime import Runtime

from ...data.grounding import NO_ANSWER, gives_no_answer
from ...data.identity import call_seed
from ...data.records import Message
from ...data.simquac.domain import ANSWER_TOKENS, QUESTION_WORDS
from ...prompts import Library
from ..limits import Limits
from ..messages import MARKS, PageMessages, fenced
from ..prompt_selectors import filled, repair
from ..state import State, Update, attempt_number, history, id_of, rejected

GUIDES = ("user/guide_general", "user/guide_wh", "user/guide_interesting", "user/guide_other")
"""Prompts after an unanswered question, with equal probability (section 2.4)."""

INTERESTING = "user/guide_interesting"


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


# The nodes of the published script, where its rules differ from the paper's. The script can crash or retry without end;
# these nodes cannot, because both roles have limited attempts.


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


@dataclass(frozen=True)
class ReleasedTeacherPrompts(TeacherPrompts):
    """The first question of a conversation is sent without the reminder."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        update = await super().__call__(state, runtime)
        prompt = update.get("prompt")
        if prompt is not None and state.get("turn", 0) == 0 and not rejected(state):
            return {"prompt": {**prompt, "text": ""}}
        return update
