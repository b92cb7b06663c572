"""The RecLLMSim nodes: a user with a profile and a task, an assistant that knows neither.

After RecLLMSim and RecUserSim ("To What Extent Can LLMs Assist in User Simulation for Task-Oriented
Conversations"). The user sees its situation, its profile and how to behave; the assistant the talk alone.
"""

from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ..data.recllmsim import Situation, task_name
from ..data.rules import others_label, user_notes, user_reasons
from ..data.text.languages import HAN, Language
from ..prompts import Library
from .endings import ENDING, GIVING_UP, Ending
from .limits import Limits
from .messages import MARKS, fenced, messages_for
from .selectors import filled, repair
from .state import Draft, Prompt, State, Update, Verdict, said
from .validators import cut_off, unless_empty


@dataclass(frozen=True)
class UserMessages:
    """What the user is sent: its situation, who it is, how to behave, the talk. Never its own rejected drafts."""

    pages: Library
    handshake: bool = False
    """Each page as a message of its own that the user acknowledges: scripted, so it costs no call."""

    def __call__(self, state: State) -> list[BaseMessage]:
        situation = Situation.model_validate(state["scenario"])
        about = [
            self.pages["user/task"].fill(task_context=fenced(situation.task_context, *MARKS)),
            self.pages["user/profile"].fill(profile=fenced(situation.profile_text, *MARKS)),
        ]
        rules, understood = self.pages["user/rules"].fill(), self.pages["user/acknowledgement"].fill()
        material: str | list[tuple[bool, str]] = "\n\n".join([*about, rules])
        if self.handshake:
            material = [turn for page in about for turn in ((False, page), (True, understood))] + [(False, rules)]
        system = self.pages["user/system"].fill()
        return messages_for("user", state, system=system, material=material, own_drafts=False)

    def provenance(self) -> dict[str, Any]:
        return {"handshake": self.handshake}


@dataclass(frozen=True)
class AssistantMessages:
    """What the assistant is sent: the talk alone. Never the profile, never the situation."""

    pages: Library
    proactive: bool = False
    """Whether it is told what to bring up of its own accord; the page is chosen by the task's name alone."""

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["assistant/system"].fill()
        if self.proactive:
            task = task_name(str(state["scenario"].get("task", ""))).removeprefix("new_")
            name = f"assistant/proactive_{task}"
            system += "\n\n" + self.pages[name if name in self.pages else "assistant/proactive_other"].fill()
        return messages_for("assistant", state, system=system, material="", own_drafts=True)

    def provenance(self) -> dict[str, Any]:
        return {"proactive": self.proactive}


@dataclass(frozen=True)
class UserPrompts:
    """The opening, then with each reply the line that says how to end; a repair behind it after a rejected draft."""

    pages: Library
    language: Language = "en"
    may_give_up: bool = False
    words: int | None = None
    """Most words of a message, for the page that asks for a shorter one."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        line = self._line(state)
        if not state.get("attempts"):
            return {"prompt": line}
        again = repair(self.pages, "user", state, {"attempts": runtime.context.question_attempts, "words": self.words})
        if said(state, "assistant"):
            # No earlier line is sent again: without this one, a user that is done would not know the phrase.
            again["text"] = f"{line['text']}\n{again['text']}"
        return {"prompt": again}

    def _line(self, state: State) -> Prompt:
        """What is sent with the assistant's last reply; the opening before there is one."""
        if not said(state, "assistant"):
            return filled(self.pages["user/opening"], {})
        page = "user/ending_or_giving_up" if self.may_give_up else "user/ending"
        values = {"ending": ENDING[self.language], "giving_up": GIVING_UP[self.language]}
        return filled(self.pages[page], values)

    def provenance(self) -> dict[str, Any]:
        return {"language": self.language, "may_give_up": self.may_give_up}


@dataclass(frozen=True)
class UserValidator:
    """Not cut off, no words of another role, no word about the prompt, not empty; more by setting. Sees when the
    user ends."""

    ending: Ending | None = field(default_factory=Ending)
    """Which messages end the conversation; None: none does, as when stored ones are played."""
    no_repeats: bool = False
    """Reject a message that was sent before; otherwise it is counted."""
    no_plans: bool = False
    """Reject a plan on the assistant's behalf; otherwise it is counted."""
    ends_anyway: bool = False
    """A message that ends the talk does so whatever else is in it, as in the published generator."""
    words: int | None = None
    """Most words of a message, split at white space, a Chinese character counted as one; None: no bound."""
    one_question: bool = False
    """Reject a message with several question marks."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        earlier = [message["text"] for message in said(state, "user")]
        replies = [message["text"] for message in state.get("messages", []) if message["role"] == "assistant"]
        verdicts: list[Verdict] = []
        update: Update = {"verdicts": verdicts}
        for draft in state.get("drafts", []):
            verdict = self._verdict(draft, earlier, replies[-1] if replies else None)
            reason = (
                self.ending.reason(draft["text"])
                if self.ending is not None and (verdict["accepted"] or self.ends_anyway)
                else None
            )
            if reason is not None:
                verdict["stored"] = False
                update["stop"] = reason
            verdicts.append(verdict)
            earlier.append(draft["text"])
        if not self.ends_anyway and not all(verdict["accepted"] for verdict in verdicts):
            update.pop("stop", None)  # a goodbye that falls with another draft was not said
        return update

    def _verdict(self, draft: Draft, earlier: list[str], reply: str | None) -> Verdict:
        if not self.ends_anyway and (cut := cut_off(draft)) is not None:  # the published generator looks at words alone
            return cut
        against: list[str] = list(user_reasons(draft["text"]))
        if "label" in draft.get("cleaned", []) and others_label(draft.get("raw", "").partition(draft["text"])[0]):
            against.insert(0, "role_leak")  # without its label it would look like the user's own
        if self.words is not None and _word_count(draft["text"]) > self.words:
            against.append("too_long")
        if self.one_question and sum(draft["text"].count(mark) for mark in "?？") > 1:
            against.append("several_questions")
        counted: list[str] = list(user_notes(draft["text"], earlier, reply))
        for note, strict in (("repeat", self.no_repeats), ("plan", self.no_plans)):
            if strict and note in counted:
                counted.remove(note)
                against.append(note)
        verdict = Verdict(accepted=not against)
        if against:
            verdict["reason"] = against[0]
        if counted:
            verdict["notes"] = counted
        return verdict

    def provenance(self) -> dict[str, Any]:
        ending = None if self.ending is None else {"strict": self.ending.strict, "may_give_up": self.ending.may_give_up}
        return {"ending": ending, "no_repeats": self.no_repeats, "no_plans": self.no_plans} | (
            {name: value for name in ("ends_anyway", "words", "one_question") if (value := getattr(self, name))}
        )


def _word_count(text: str) -> int:
    """Words, split at white space; each Chinese character is one."""
    return len(HAN.sub(" x ", text).split())


async def published_reply_validator(state: State, runtime: Runtime[Limits]) -> Update:
    """A reply of the assistant stands unless it is empty, as in the published generator."""
    return {"verdicts": [unless_empty(draft) for draft in state.get("drafts", [])]}
