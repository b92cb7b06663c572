"""The nodes that end a turn and a conversation; questions about it, put to those who took part.

After RecLLMSim's post-conversation questions. Each is asked of the talk as it ended, none sees the answer
to another, and what they cost is counted apart from the conversation.
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
from .state import Draft, Prompt, State, Update, merged

LABEL = "post_questions"
"""The conversation's label that holds questions, answers and what they cost."""


@dataclass(frozen=True)
class PostQuestions:
    """Asks each side the pages `<role>/post_<name>`; a question that fails says why, the others are asked."""

    pages: Library
    speakers: Mapping[Role, Node]
    """Who is asked. A side that plays stored messages has nothing to say afterwards and is left out."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if state.get("failure") or not state.get("messages"):
            return {}
        asked = []
        for role, speaker in self.speakers.items():
            for name in self.questions(role):
                asked.append(await self._ask(role, speaker, name, state, runtime))
        return {"labels": {LABEL: asked}}

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same questions to others."""
        return replace(self, speakers={**self.speakers, **speakers})

    def questions(self, role: Role) -> Sequence[str]:
        """Names of the pages that are put to a side."""
        return [name for name in sorted(self.pages.pages) if name.startswith(f"{role}/post_")]

    async def _ask(
        self, role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]
    ) -> dict[str, Any]:
        prompt = filled(self.pages[name], {})
        answer = await asked_of(_speaker(role, speaker, name, state, runtime), prompt, parse=str)
        asked: dict[str, Any] = {"to": role, **prompt}
        if answer.error is not None:
            return asked | {"error": answer.error}
        asked["answer"] = answer.value
        return asked | ({"usage": answer.attempts[0].usage.model_dump()} if answer.attempts[0].usage else {})

    def provenance(self) -> dict[str, Any]:
        return {"asks": {role: list(self.questions(role)) for role in self.speakers}}


def _speaker(role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]) -> Reply:
    """A speaker as who is asked: as for its next message, with a seed of its own."""
    ended = merged(state, {"drafts": [], "verdicts": [], "stop": None, "id": digest(state.get("id", ""), name)[:16]})
    memories = ended.pop("memories", {})
    ended["memory"] = deepcopy(memories.get(role, {}))  # its own alone; what it keeps of the question is dropped

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        attempts = [attempt.plain() for attempt in tried]
        update = await speaker(merged(ended, {"prompt": prompt, "attempts": attempts}), runtime)
        drafts = update.get("drafts", [])
        usage = [draft["usage"] for draft in drafts if "usage" in draft]
        text = "\n".join(draft["text"] for draft in drafts)
        return {"text": text, "usage": usage[0]} if usage else {"text": text}

    return reply


async def turn_recorder(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing: the graph counts the turn. A place for labels of the conversation so far."""
    return {}


async def closing(state: State, runtime: Runtime[Limits]) -> Update:
    """Adds nothing. A place for questions about the conversation as it ended."""
    return {}
