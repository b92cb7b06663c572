"""Questions to the speakers after a conversation, as RecLLMSim's post-conversation questions.

Each question follows the complete conversation and not the other questions. Its tokens count for the conversation's
closing, not as a message's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from langgraph.runtime import Runtime

from ...data.identity import digest
from ...data.records import Attempt, Role
from ...prompts import Library
from ..contract import Node
from ..limits import Limits
from ..messages import Refusal, filled
from ..requests import Respondent, asked_of
from ..state import Draft, Prompt, State, Update, id_of, merged, without_rejected
from ..validators import cut_off
from .scores import total

LABEL = "post_questions"
"""The conversation's label: by role a list of `{query, response}`, as the published generator writes it."""
_ORDER = ("human", "specific", "objectives", "profile", "plan", "solved", "open", "fit")
"""The order of the published questions, of the assistant and of the user; further ones follow by name."""
_ATTEMPTS = 2
"""Maximum calls for a question."""


@dataclass(frozen=True)
class PostQuestions:
    """Asks each role the questions of the prompt templates `<role>/post_<name>`.

    After an answer that is empty or cut off, the question is asked once more; then its response is null, with an `error`.
    """

    pages: Library
    speakers: Mapping[Role, Node]
    """The speakers to ask, without a role that replays stored messages."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        if not state.get("messages"):
            return {}
        exchanges: dict[str, list[dict[str, Any]]] = {}
        usages = []
        for role, speaker in sorted(self.speakers.items()):
            for name in self.questions(role):
                prompt = filled(self.pages[name], {})
                reply = _speaker(role, speaker, name, state, runtime)
                answer = await asked_of(reply, prompt, _not_empty, lambda *_, again=prompt: again, _ATTEMPTS)
                exchange: dict[str, Any] = {"query": prompt["text"], "response": answer.value}
                if answer.value is None:
                    exchange["error"] = answer.error or answer.attempts[-1].reason
                exchanges.setdefault(role, []).append(exchange)
                usages += [tried.usage.model_dump() for tried in answer.attempts if tried.usage is not None]
        update: Update = {"labels": {LABEL: exchanges}}
        if usage := total(usages):
            update["usage"] = usage
        return update

    def asking(self, speakers: Mapping[Role, Node]) -> Self:
        """The same questions to other speakers."""
        return replace(self, speakers={**self.speakers, **speakers})

    def questions(self, role: Role) -> Sequence[str]:
        """Names of the prompt templates with a role's questions, in the published order."""
        begins = f"{role}/post_"
        words = sorted(name.removeprefix(begins) for name in self.pages.pages if name.startswith(begins))
        published = [word for word in _ORDER if word in words]
        return [f"{begins}{word}" for word in dict.fromkeys((*published, *words))]

    def provenance(self) -> dict[str, Any]:
        return {"asks": {role: list(self.questions(role)) for role in self.speakers}}


def _not_empty(text: str) -> str | Refusal:
    return text if text.strip() else Refusal("empty")


def _speaker(role: Role, speaker: Node, name: str, state: State, runtime: Runtime[Limits]) -> Respondent:
    """A speaker as a `Respondent`: it is called as for its next message, with a seed of its own."""
    origin = {**state.get("origin", {}), "id": digest(id_of(state), name)[:16]}
    changes: dict[str, Any] = {"drafts": [], "verdicts": [], "stop": None, "origin": origin}
    ended = merged(state, {**changes, "speaking": None})  # its prompt is not a part of a turn

    async def reply(prompt: Prompt, tried: Sequence[Attempt]) -> Draft:
        asked = without_rejected(ended, [attempt.plain() for attempt in tried], role)
        asked = merged(asked, {"prompt": prompt})  # what the speaker remembers of it is dropped
        drafts = (await speaker(asked, runtime)).get("drafts", [])
        joined: Draft = {"text": "\n".join(draft["text"] for draft in drafts)}
        for draft in drafts:
            if "usage" in draft:
                joined.setdefault("usage", draft["usage"])
            if cut_off(draft) is not None:
                joined["finish_reason"] = draft.get("finish_reason", "length")
        return joined

    return reply
