"""Questions to the speakers after a conversation, and the default nodes `turn_recorder` and `closing`.

After RecLLMSim's post-conversation questions. Each question follows the complete conversation and not the other
questions, and its tokens are counted separately.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

from langgraph.runtime import Runtime

from ..data.identity import digest
from ..data.records import Attempt, Role
from ..prompts import Library
from .contract import Node
from .limits import Limits
from .requests import Reply, asked_of
from .selectors import filled
from .state import Draft, Prompt, State, Update, merged, seen_by

LABEL = "post_questions"
"""The conversation's label with the questions, answers and usage."""


@dataclass(frozen=True)
class PostQuestions:
    """Asks each side the pages `<role>/post_<name>`. A failed question records its error; the others are asked."""

    pages: Library
    speakers: Mapping[Role, Node]
    """The speakers to ask. A side that replays stored messages is left out."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if state.get("failure") or not state.get("messages"):
            return {}
        answers = []
        for role, speaker in self.speakers.items():
            for name in self.questions(role):
                answers.append(await self._ask(role, speaker, name, state, runtime))
        return {"labels": {LABEL: answers}}

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same questions to other speakers."""
        return replace(self, speakers={**self.speakers, **speakers})

    def questions(self, role: Role) -> Sequence[str]:
        """Names of the question pages of a side."""
        return [name for name in sorted(self.pages.pages) if name.startswith(f"{role}/post_")]

    async def _ask(
        self, role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]
    ) -> dict[str, Any]:
        prompt = filled(self.pages[name], {})
        answer = await asked_of(_speaker(role, speaker, name, state, runtime), prompt, parse=str)
        entry: dict[str, Any] = {"to": role, **prompt}
        if answer.error is not None:
            return entry | {"error": answer.error}
        entry["answer"] = answer.value
        return entry | ({"usage": answer.attempts[0].usage.model_dump()} if answer.attempts[0].usage else {})

    def provenance(self) -> dict[str, Any]:
        return {"asks": {role: list(self.questions(role)) for role in self.speakers}}


def _speaker(role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]) -> Reply:
    """A speaker as a `Reply`: it is called as for its next message, with a seed of its own."""
    asked = {"drafts": [], "verdicts": [], "stop": None, "id": digest(state.get("id", ""), name)[:16]}
    ended = merged(seen_by(role, state), asked)
    memories = ended.pop("memories", {})
    ended["memory"] = deepcopy(memories.get(role, {}))  # only its own; what it remembers of the question is dropped

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        attempts = [attempt.plain() for attempt in tried]
        update = await speaker(merged(ended, {"prompt": prompt, "attempts": attempts}), runtime)
        drafts = update.get("drafts", [])
        usage = [draft["usage"] for draft in drafts if "usage" in draft]
        text = "\n".join(draft["text"] for draft in drafts)
        return {"text": text, "usage": usage[0]} if usage else {"text": text}

    return reply


async def turn_recorder(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing: the graph counts the turn. A replacement may label the conversation so far."""
    return {}


async def closing(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing. A replacement may ask questions about the complete conversation."""
    return {}
