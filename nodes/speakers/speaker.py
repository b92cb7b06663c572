"""Speakers that ask a chat model, and what these share with agents."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ...data.records import Role
from ..calls.service import drafted
from ..calls.store import Call
from ..contract import ContractError, describe
from ..limits import Limits
from ..messages import MessageBuilder
from ..models.specs import chat_model, model_provenance
from ..state import State, Update, attempt_number, id_of, repeats


class Speaker:
    """What a model, a function and an agent have in common that play a side: whose part it is, and what they are sent."""

    role: Role
    build: MessageBuilder | None

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side of a cast with this view, where it has none of its own."""
        return self if self.build is not None else cast(Self, replace(cast(Any, self), build=view))

    def sent(self, state: State) -> list[BaseMessage]:
        """The messages that it is sent; ContractError where no cast has given it a view."""
        if self.build is None:
            raise ContractError(f"{self.role}: the speaker stands in no cast, whose view it would be sent: give build=")
        return self.build(state)


@dataclass(frozen=True)
class ChatSpeaker(Speaker):
    """Asks a chat model for one message; `build` makes its messages from the state."""

    role: Role
    model: BaseChatModel
    build: MessageBuilder | None = None
    """None: the view of its side of the cast."""
    path: str | None = None
    """The import path that the model was given by."""
    read_only: ClassVar[bool] = True
    """The model's tool calls are not carried out."""

    def placed(self, view: MessageBuilder) -> Self:
        """The same speaker on a side with this view; an offline model without a part gets that of the view, or the side."""
        if self.build is not None:
            return self
        part = "goal_user" if self.role == "user" else "task_assistant"
        return replace(self, model=chat_model(self.model, side=getattr(view, "offline", part)), build=view)

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        call = speaker_call(self.role, state, runtime.context)
        return {"drafts": [await drafted(self.model, self.sent(state), call, attempt_number(state, self.role))]}

    def provenance(self) -> dict[str, Any]:
        about = {"object": self.path} if self.path else {}
        return {"model": model_provenance(self.model), "view": describe(self.build), **about}


def speaker_call(role: Role, state: State, limits: Limits) -> Call:
    """The call of a speaker's turn; its attempt is `attempt_number(state, role)`."""
    return Call(limits.seed, id_of(state), role, state.get("turn", 0), repeats=repeats(state, role))
