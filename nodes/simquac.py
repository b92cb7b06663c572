"""The SimQuAC nodes: what student and teacher see, how they are prompted, what is accepted.

"Let the LLMs Talk" (WSDM 2024), sections 2.3 to 2.5 and Table 1. The student sees title, background,
header and the talk; the teacher sees the section too, and its own rejected drafts of the current turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ..data.grounding import NO_ANSWER, gives_no_answer, ground
from ..data.identity import call_seed
from ..data.records import Message
from ..data.rules import QUESTION_WORDS, question_reasons
from ..data.simquac.checks import ANSWER_TOKENS
from ..prompts import Library, Page
from .limits import Limits
from .messages import MARKS, fenced, messages_for, unfenced
from .selectors import filled, last_rejected, repair
from .state import Draft, Prompt, State, Update, Verdict, said
from .validators import cut_off

GUIDES = ("user/guide_general", "user/guide_wh", "user/guide_interesting", "user/guide_other")
"""Prompts after a question that was not answered, each as likely as the others (section 2.4)."""

INTERESTING = "user/guide_interesting"


@dataclass(frozen=True)
class StudentMessages:
    """What the student is sent: never the section, never its own rejected questions."""

    pages: Library
    words: int = QUESTION_WORDS

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["user/system"].fill_from({"words": self.words})
        material = self.pages["user/material"].fill_from(_material(state, "title", "background", "header"))
        return messages_for("user", state, system=system, material=material, own_drafts=False)

    def provenance(self) -> dict[str, Any]:
        return {"words": self.words}


@dataclass(frozen=True)
class TeacherMessages:
    """What the teacher is sent: the section too, and its own rejected answers of the current turn."""

    pages: Library
    tokens: int = ANSWER_TOKENS

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["assistant/system"].fill_from({"tokens": self.tokens, "no_answer": NO_ANSWER})
        material = self.pages["assistant/material"].fill_from(
            _material(state, "title", "background", "header", "section")
        )
        return messages_for("assistant", state, system=system, material=material, own_drafts=True)

    def provenance(self) -> dict[str, Any]:
        return {"tokens": self.tokens}


def _material(state: State, *fields: str) -> dict[str, str]:
    scenario = state["scenario"]
    # A section about HTML keeps its tags, so that it can be copied: only its own end is not its to write.
    return {
        field: fenced(str(scenario.get(field, "")), *(("/section",) if field == "section" else MARKS))
        for field in fields
    }


@dataclass(frozen=True)
class StudentPrompts:
    """Start, next question, one of four guides after a refusal, a repair after a rejected draft."""

    pages: Library
    words: int = QUESTION_WORDS
    interesting_once: bool = True
    """Whether what is interesting is asked at most once a conversation, as in the published code."""
    guides: tuple[str, ...] = GUIDES

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        limits = runtime.context
        if state.get("attempts"):
            values = {"words": self.words, "attempts": limits.question_attempts}
            return {"prompt": repair(self.pages, "user", state, values)}
        return {"prompt": filled(self.pages[self._page(state, limits)], {"words": self.words})}

    def _page(self, state: State, limits: Limits) -> str:
        answers = said(state, "assistant")
        if not answers:
            return "user/start"
        if not self._refused(answers[-1]):
            return "user/next"
        used = {(a.get("prompt") or {}).get("name") for m in said(state, "user") for a in m.get("attempts", [])}
        open_guides = [
            guide for guide in self.guides if not (self.interesting_once and guide == INTERESTING and guide in used)
        ]
        if not open_guides:
            return "user/next"
        draw = call_seed(limits.seed, state.get("id", ""), "user_prompt_selector", state.get("turn", 0), 1)
        return open_guides[draw % len(open_guides)]

    @staticmethod
    def _refused(answer: dict[str, Any]) -> bool:
        return gives_no_answer(Message.model_validate(answer))

    def provenance(self) -> dict[str, Any]:
        return {"words": self.words, "interesting_once": self.interesting_once, "guides": list(self.guides)}


@dataclass(frozen=True)
class OnePrompt:
    """The same page whatever happened: what is left of a selector that does not select."""

    page: Page
    values: Mapping[str, object]

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        return {"prompt": filled(self.page, self.values)}

    def provenance(self) -> dict[str, Any]:
        return {"page": self.page.name}


def next_question(pages: Library) -> OnePrompt:
    """A student's selector that always asks for the next question: for measuring what the real one is worth."""
    return OnePrompt(pages["user/next"], {})


@dataclass(frozen=True)
class TeacherPrompts:
    """The reminder with each question, a repair of its own for each reason of rejection."""

    pages: Library

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        values = {"no_answer": NO_ANSWER, "attempts": runtime.context.answer_attempts}
        if state.get("attempts"):
            return {"prompt": _repair(self.pages, state, values)}
        return {"prompt": filled(self.pages["assistant/reminder"], values)}


def _repair(pages: Library, state: State, values: Mapping[str, object]) -> Prompt:
    """The repair of an answer; the parts that were not found are shown to the teacher."""
    prompt = repair(pages, "assistant", state, values)
    verdict = last_rejected(state)
    if verdict.get("reason") == "partly":
        prompt["quote"] = str(verdict.get("repair") or "")  # its own words: as data, outside our note
    return prompt


@dataclass(frozen=True)
class QuestionValidator:
    """Not cut off, not empty, no enumeration, no line break, not too long (section 2.4); more by setting."""

    words: int = QUESTION_WORDS
    one_question: bool = False
    """Reject a draft with several question marks; otherwise it is counted."""
    no_repeats: bool = False
    """Reject a question that was asked before; otherwise it is counted."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        earlier = [message["text"] for message in said(state, "user")]
        verdicts = []
        for draft in state.get("drafts", []):
            verdicts.append(self._verdict(draft, earlier))
            earlier.append(draft["text"])
        return {"verdicts": verdicts}

    def _verdict(self, draft: Draft, earlier: list[str]) -> Verdict:
        if (cut := cut_off(draft)) is not None:
            return cut
        found = question_reasons(draft["text"], words=self.words, earlier=earlier)
        counted = {"several_questions"} - ({"several_questions"} if self.one_question else set())
        counted |= set() if self.no_repeats else {"asked_again"}
        against = [reason for reason in found if reason not in counted]
        notes: list[str] = [reason for reason in found if reason in counted]
        verdict = Verdict(accepted=not against)
        if against:
            verdict["reason"] = against[0]
        if notes:
            verdict["notes"] = notes
        return verdict

    def provenance(self) -> dict[str, Any]:
        return {"words": self.words, "one_question": self.one_question, "no_repeats": self.no_repeats}


@dataclass(frozen=True)
class AnswerValidator:
    """Grounded in the section, or a refusal (section 2.5). What is stored is the section's own slice."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        scenario = state["scenario"]
        section, background = str(scenario["section"]), str(scenario.get("background", ""))
        drafts = state.get("drafts", [])
        return {"verdicts": [cut_off(d) or self._verdict(d["text"], section, background) for d in drafts]}

    @staticmethod
    def _verdict(text: str, section: str, background: str) -> Verdict:
        found = ground(text, section, background)
        if not found.valid and unfenced(text) != text:
            found = ground(unfenced(text), section, background)
        if found.reason is not None:
            return {"accepted": False, "reason": found.reason, "repair": "\n".join(found.failed)}
        if found.refused:
            return {"accepted": True, "text": NO_ANSWER, "spans": []}
        return {
            "accepted": True,
            "text": "\n".join(span.text for span in found.spans),
            "spans": [span.plain() for span in found.spans],
        }
