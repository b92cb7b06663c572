"""Asking a chat model how satisfied a user is with replies, with a journal of its answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...data import domains
from ...data.identity import digest
from ...data.records import Conversation
from ...errors import DataError
from ...nodes.judges import judging_model, pages_in
from ...nodes.models.specs import model_provenance
from ...nodes.scorers.judged import JudgedScore, judged
from ...nodes.state import State, said, state_from
from ...prompts import Page
from .questions import Asking, ModelAnswer

SATISFACTION = "judge/reply_satisfaction"
"""The shipped page."""
POINTS = ("1", "2", "3", "4", "5")
_HIDDEN = ("kind", "success")
"""Keys of a scenario that no judge is shown."""


class SatisfactionReply(ModelAnswer):
    """A judge's reply about one assistant reply."""

    called: ClassVar[str] = "an opinion of a judge"

    points: int | None = None
    """1 to 5; None without a readable reply."""
    reason: str = ""


@dataclass(frozen=True)
class JudgedReply:
    """A reply to judge: the conversation up to it is shown, and nothing that comes after."""

    conversation: Conversation
    turn: int
    """Which of the assistant's messages, from 1."""

    def state(self) -> State:
        """The conversation up to the reply, without labels.

        DataError if there is no such reply.
        """
        messages: list[Any] = []
        left = self.turn
        for message in self.conversation.messages:
            if not message.stored:
                continue
            messages.append({"role": message.role, "text": message.text})
            left -= message.role == "assistant"
            if not left:
                scenario = {key: value for key, value in self.conversation.scenario.items() if key not in _HIDDEN}
                return {**state_from(scenario, messages, self.conversation.id), "turn": self.turn}
        raise DataError(f"conversation {self.conversation.id} has no reply {self.turn}")

    @property
    def language(self) -> str:
        """The language of the prompt templates."""
        return domains.of(self.conversation).language(self.conversation) or "en"


def judging(
    model: Any, replies: Iterable[JudgedReply], page: str | Path | Page | None = None
) -> Asking[JudgedReply, SatisfactionReply]:
    """The requests to a model for a rating of each reply.

    A rating is 1 to 5 points, or the error of a missing one.

    `model`: a spec or a LangChain chat model, as for `nodes.judged`. It is shown the scenario and the conversation up
    to the reply. `page`: one's own in place of the shipped `judge/reply_satisfaction`, as for `nodes.judged`.

    SettingError for the offline model, which cannot judge; ModelError for a model that cannot be made. The answers
    raise PromptError for a page with a gap that the scenario does not fill.
    """
    replies = list(replies)
    chat_model = judging_model(model, "judged")
    judges = {language: _judge(chat_model, page, language) for language in {reply.language for reply in replies}}

    async def opinion(name: str, reply: JudgedReply) -> SatisfactionReply:
        answer = await judges[reply.language].answer(reply.state())
        score = judges[reply.language].score(answer)
        points = int(score.value) if isinstance(score.value, str) and score.value in POINTS else None
        return SatisfactionReply(
            id=name,
            points=points,
            reason=score.reason,
            usage=dict(score.usage or {}),
            error=score.error,
            unreadable=answer.unreadable,
        )

    named = [(_name(judges[reply.language], reply), reply) for reply in replies]
    return Asking(
        chat_model, SatisfactionReply, named, opinion, lambda reply: judges[reply.language].texts(reply.state())
    )


def _judge(model: Any, page: str | Path | Page | None, language: str) -> JudgedScore:
    return judged(
        model, page=pages_in(language)[SATISFACTION] if page is None else page, labels=POINTS, language=language
    )


def _name(judge: JudgedScore, reply: JudgedReply) -> str:
    state = reply.state()
    shown = (state["scenario"], said(state))
    return digest("satisfaction", model_provenance(judge.model), judge.page.digest, judge.language, shown)[:32]
