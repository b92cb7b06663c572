"""Asking a chat model how satisfied a user is with each of some replies, with a journal of what it said."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..data import domains
from ..data.identity import digest
from ..data.records import Conversation
from ..errors import DataError
from ..nodes.judged_scores import Judged, judged
from ..nodes.judges import judging_model, pages_in
from ..nodes.models.specs import model_provenance
from ..nodes.state import State
from ..prompts import Page
from .asking import Answer, Asking
from .conduct import Conduct
from .engine import Concurrency
from .event_loop import blocking

SATISFACTION = "judge/reply_satisfaction"
"""The shipped page."""
POINTS = ("1", "2", "3", "4", "5")
_HIDDEN = ("kind", "success")
"""Keys of a scenario that no judge is shown."""


class Opinion(Answer):
    """What a judge says of one reply."""

    called: ClassVar[str] = "opinion of a judge"

    points: int | None = None
    """1 to 5; None if it said nothing that could be read."""
    reason: str = ""


@dataclass(frozen=True)
class Reply:
    """A reply to judge: the conversation up to it is shown, and nothing that comes after."""

    conversation: Conversation
    turn: int
    """Which of the assistant's messages, from 1."""

    def state(self) -> State:
        """The conversation up to the reply, without labels. DataError if there is no such reply."""
        messages: list[Any] = []
        left = self.turn
        for message in self.conversation.messages:
            if not message.stored:
                continue
            messages.append({"role": message.role, "text": message.text})
            left -= message.role == "assistant"
            if not left:
                scenario = {key: value for key, value in self.conversation.scenario.items() if key not in _HIDDEN}
                return {"id": self.conversation.id, "scenario": scenario, "messages": messages, "turn": self.turn}
        raise DataError(f"conversation {self.conversation.id} has no reply {self.turn}")

    @property
    def language(self) -> str:
        """Of the pages."""
        return domains.of(self.conversation).language(self.conversation) or "en"


def judging(model: Any, replies: Iterable[Reply], page: str | Path | Page | None = None) -> Asking[Reply, Opinion]:
    """What a model is asked of each reply. Parameters and errors as for `judge_replies`."""
    replies = list(replies)
    asked = judging_model(model, "judged")
    judges = {language: _judge(asked, page, language) for language in {reply.language for reply in replies}}

    async def opinion(name: str, reply: Reply) -> Opinion:
        score = await judges[reply.language](reply.state())
        points = int(score.value) if isinstance(score.value, str) and score.value in POINTS else None
        return Opinion(id=name, points=points, reason=score.reason, usage=dict(score.usage or {}), error=score.error)

    named = [(_name(judges[reply.language], reply), reply) for reply in replies]
    return Asking(asked, Opinion, named, opinion, lambda reply: judges[reply.language].texts(reply.state()))


def judge_replies(
    model: Any,
    replies: Iterable[Reply],
    *,
    page: str | Path | Page | None = None,
    kept: str | Path | None = None,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    watch: Callable[[Opinion], None] | None = None,
) -> list[Opinion]:
    """What a model says of each reply, in their order: 1 to 5 points, or why none.

    `model`: a spec or a LangChain chat model, as for `nodes.judged`. It is shown the scenario and the conversation up to
    the reply. `page`: one's own in place of the shipped `judge/reply_satisfaction`, as for `nodes.judged`. `kept`: a file of
    JSON lines; what it has is not asked again, failures are (`Asking.answers`, which has `concurrency`, `conduct` and
    `watch` too). SettingError for the offline model, which cannot judge; ModelError for a model that cannot be made; PromptError
    for a page with a gap that the scenario does not fill.
    """
    asking = judging(model, replies, page)
    return blocking(asking.answers(kept=kept, concurrency=concurrency, conduct=conduct, watch=watch))


def _judge(model: Any, page: str | Path | Page | None, language: str) -> Judged:
    return judged(
        model, page=pages_in(language)[SATISFACTION] if page is None else page, labels=POINTS, language=language
    )


def _name(judge: Judged, reply: Reply) -> str:
    state = reply.state()
    shown = (state["scenario"], state.get("messages"))
    return digest("satisfaction", model_provenance(judge.model), judge.page.digest, judge.language, shown)[:32]
