"""An agent's reply as drafts: its messages, the question at which it stopped, and the approvals before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..replies.conversion import drafts_of
from ..state import Draft
from .agent_calls import CallOutcome
from .interrupts import NO_CHECKPOINTER, NO_QUESTION, NOT_ENDING, drafts_at_interrupt, still_waiting
from .threads import ThreadPlace
from .turn_timeout import TurnTimeoutError, drafts_in_time


@dataclass(frozen=True)
class AgentReply:
    """What an agent answered."""

    called: CallOutcome
    channels: Mapping[str, Any]
    """What it was sent besides messages."""
    added: Sequence[BaseMessage]
    """The messages that it was not sent."""
    place: ThreadPlace | None = None
    """Where its thread stands, without the drafts; None if it has no thread."""
    decided: Sequence[Mapping[str, Any]] = ()
    """The approvals of this turn, as calls for the record."""

    @property
    def timed_out(self) -> bool:
        """Whether it took longer than a turn may take."""
        return isinstance(self.called.error, TurnTimeoutError)

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of its messages, the last one the question of its interrupt; the approvals are with the first."""
        drafts = self._drafts
        if drafts and self.decided:
            drafts[0]["tool_calls"] = [*map(dict, self.decided), *drafts[0].get("tool_calls", [])]
        return drafts

    @property
    def _drafts(self) -> list[Draft]:
        own = [message for message in self.added if isinstance(message, (AIMessage, ToolMessage))]
        if self.timed_out:
            return drafts_in_time(own)
        interrupts = self.called.interrupts
        if self.place is not None and self.place.asked:
            return still_waiting(drafts_of([*own, AIMessage(interrupts[0])]))
        if interrupts:
            why = NO_CHECKPOINTER if self.place is None else NOT_ENDING if self.decided else NO_QUESTION
            return drafts_at_interrupt(own, interrupts, why)
        return drafts_of(own)
