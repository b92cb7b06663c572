"""The RecLLMSim nodes: a user with a profile and a task, and an assistant that gets neither.

After RecLLMSim and RecUserSim ("To What Extent Can LLMs Assist in User Simulation for Task-Oriented
Conversations"). The user gets its task context, its profile and rules of behaviour; the assistant gets only the
conversation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ..data.behaviours import behaviours_in
from ..data.recllmsim import Situation, task_name
from ..data.rules.guards import is_repeat, others_label, user_reasons
from ..data.text.languages import Language
from ..data.text.values import brief_of, names_goal
from ..prompts import Library
from .goodbyes import ENDING, GIVING_UP, Ending
from .limits import Limits
from .messages import MARKS, PageMessages, as_text, fenced, messages_for, with_pages
from .models.faults import REFUSAL
from .prompt_selectors import filled, repair
from .state import Draft, Prompt, State, Update, Verdict, history, rejected
from .validators import by_reasons, cut_off, judges_flaws, unless_empty, wordless


@dataclass(frozen=True)
class UserMessages:
    """Messages for the user: task context, profile, rules, and the conversation, without its rejected drafts."""

    pages: Library
    handshake: bool = False
    """Send each page as a separate message with a scripted acknowledgement of the user, which needs no call."""
    offline: ClassVar[str] = "task_user"
    """The part that the offline model plays by these messages."""

    def __call__(self, state: State) -> list[BaseMessage]:
        situation = Situation.model_validate(state["scenario"])
        task = self.pages["user/task"].fill(task_context=fenced(situation.task_context, *MARKS))
        profile = self.pages["user/profile"].fill(profile=fenced(situation.profile_text, *MARKS))
        rules, understood = self.pages["user/rules"].fill(), (True, self.pages["user/acknowledgement"].fill())
        material: str | list[tuple[bool, str]] = "\n\n".join([task, profile, rules])
        if self.handshake:
            material = [(False, task), understood, (False, profile), understood, (False, rules)]
        system = self.pages["user/system"].fill()
        return messages_for("user", state, system=system, material=material, own_drafts=False, pages=self.pages)


@dataclass(frozen=True)
class AssistantMessages:
    """Messages for the assistant: the conversation, but never the profile or the task context."""

    pages: Library
    proactive: bool = False
    """Whether a prompt template lists topics to raise on its own initiative. Only the task's name selects it."""

    def __call__(self, state: State) -> list[BaseMessage]:
        system = self.pages["assistant/system"].fill()
        if self.proactive:
            task = task_name(str(state["scenario"].get("task", ""))).removeprefix("new_")
            name = f"assistant/proactive_{task}"
            system += "\n\n" + self.pages[name if name in self.pages else "assistant/proactive_other"].fill()
        return messages_for("assistant", state, system=system, material="", own_drafts=True)


@dataclass(frozen=True)
class UserPrompts:
    """Selects the opening, then with each reply the closing phrases, and a repair after a rejected draft."""

    pages: Library
    language: Language = "en"
    may_give_up: bool = False

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        line = self._line(state)
        if not rejected(state, "user"):
            return {"prompt": line}
        repair_line = repair(self.pages, "user", state, {"attempts": runtime.context.question_attempts})
        if history(state, "assistant"):
            # Earlier prompts are not sent again, and without this one the user would not know the closing phrase.
            repair_line["text"] = f"{line['text']}\n{repair_line['text']}"
        return {"prompt": repair_line}

    def _line(self, state: State) -> Prompt:
        if not history(state, "assistant"):
            return filled(self.pages["user/opening"], {})
        page = "user/ending_or_giving_up" if self.may_give_up else "user/ending"
        values = {"ending": ENDING[self.language], "giving_up": GIVING_UP[self.language]}
        return filled(self.pages[page], values)


MOST_WITHOUT_GOAL = 3
"""Messages of a user after which a conversation ends in which it has not named its goal."""
_DECLINES = re.compile(
    r"^\W*(?:(?:i['’]?m|i am) sorry,? (?:but )?|sorry,? (?:but )?|unfortunately,? )?i (?:can['’]?t|cannot|can not|am unable to|am not able to|won['’]t) "
    r"(?:assist|help|comply|continue|fulfil?l|participate|engage|role-?play)\b|\bas an ai\b[^.]{0,40}\b(?:can['’]?t|cannot|do not|don['’]t|have no|unable)\b|^\W*(?:抱歉|对不起|很抱歉)?[，,]?我(?:无法|不能)(?:协助|帮助您|继续|提供|满足)|作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class UserValidator:
    """Rejects messages that are cut off, empty, only tool calls, imitate another role or reveal the prompt.

    A repeated message is counted. It also detects when the user ends the conversation.
    """

    ending: Ending | None = field(default_factory=Ending)
    """Which messages end the conversation; None if none does, as in a replay."""
    ends_anyway: bool = False
    """Let a goodbye end the conversation even if the message would be rejected, as in the published generator."""
    instructions: tuple[str, ...] = field(default=(), repr=False)
    """The pages that the user is sent: a message that repeats a stretch of them is rejected."""

    @property
    def judges_flaws(self) -> bool:
        """Whether it gets flawed drafts too: the published generator looks at no finish reason."""
        return self.ends_anyway

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        earlier = [message["text"] for message in history(state, "user")]
        verdicts: list[Verdict] = []
        update: Update = {"verdicts": verdicts}
        for draft in state.get("drafts") or []:
            verdict = self._verdict(draft, earlier)
            ending = self.ending if verdict["accepted"] or self.ends_anyway else None
            if ending is not None and (reason := ending.reason(draft["text"])) is not None:
                if not ending.stored:
                    verdict["stored"] = False
                update["stop"] = reason
            verdicts.append(verdict)
            earlier.append(draft["text"])
        if self._has_no_goal(state, earlier):
            update["stop"] = "user_gave_up"
        if not self.ends_anyway and not all(verdict["accepted"] for verdict in verdicts):
            update.pop("stop", None)  # if another draft is rejected, the goodbye is rejected with it
        return update

    def _has_no_goal(self, state: State, messages: Sequence[str]) -> bool:
        """Whether the user of an agent's test has not named its goal in so many messages that it never will."""
        listens = self.ending is not None and self.ending.any_goodbye
        is_plain = (
            listens and len(messages) >= MOST_WITHOUT_GOAL and not behaviours_in(state["scenario"], state.get("extra"))
        )
        return (
            is_plain
            and "script" not in state["scenario"]
            and names_goal(brief_of(state["scenario"]), messages) is False
        )

    def _verdict(self, draft: Draft, earlier: list[str]) -> Verdict:
        text, cut = draft["text"], None if self.ends_anyway else cut_off(draft)  # the published generator looks at none
        if cut is not None:
            return cut
        if not self.ends_anyway and _DECLINES.search(text):  # a model that does not play the user
            return by_reasons([REFUSAL], [])
        reasons: list[str] = list(user_reasons(text, self.instructions))
        if (silent := wordless(draft)) is not None:
            reasons = [] if silent["accepted"] else [str(silent.get("reason"))]
        if "label" in draft.get("cleaned", []) and others_label(draft.get("raw", "").partition(text)[0]):
            reasons.insert(0, "role_leak")  # cleaning removed the other role's label
        return by_reasons(reasons, ["repeat"] if is_repeat(text, earlier) else [])


def told_to_user(pages: Library) -> tuple[str, ...]:
    """The texts of the user's pages, which it must not repeat."""
    return tuple(page.source for name, page in pages.pages.items() if name.startswith("user/"))


@judges_flaws
async def published_reply_validator(state: State, runtime: Runtime[Limits]) -> Update:
    """Accepts every reply of the assistant that is not empty, as in the published generator."""
    return {"verdicts": [unless_empty(draft) for draft in (state.get("drafts") or [])]}


# The user of a plain agent test, with a goal and facts that the assistant does not get


@dataclass(frozen=True)
class GoalMessages(PageMessages):
    """Messages for the user: its goal, its facts, rules of behaviour, and the conversation."""

    def told(self, scenario: Mapping[str, Any]) -> Mapping[str, object]:
        return {"goal": fenced(goal_of(scenario), *MARKS), "facts": fenced(facts_of(scenario), *MARKS)}

    def material(self, scenario: Mapping[str, Any]) -> str:
        text = super().material(scenario)
        if unknown := "\n".join(filter(None, _lines(scenario.get("unknown") or ""))):  # what the user does not know
            page = with_pages(self.pages, self.pages["user/system"].source)["user/unknown"]
            text += "\n\n" + page.fill(unknown=fenced(unknown, *MARKS, "unknown", "/unknown"))
        return text


def goal_of(scenario: Mapping[str, Any]) -> str:
    """The user's goal: the scenario's goal, else its first message."""
    return str(scenario.get("goal") or scenario.get("first_message") or "")


def facts_of(scenario: Mapping[str, Any]) -> str:
    """The user's facts and persona, a line for each fact."""
    return "\n".join(filter(None, (*_lines(scenario.get("facts", "")), str(scenario.get("persona", "")))))


def _lines(facts: Any) -> list[str]:
    if isinstance(facts, dict):
        return [f"{name}: {as_text(value)}" for name, value in facts.items()]
    return [as_text(fact) for fact in (facts if isinstance(facts, list) else [facts])]
