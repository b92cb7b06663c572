"""A cast: which node stands where, when it stops, and what is said for an assistant that does not manage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ..data.records import Role
from ..nodes.asking import PostQuestions
from ..nodes.contract import ContractError, Node, Stop, check_node, check_stop, describe
from ..nodes.limits import Limits
from ..nodes.models import chat_model
from ..nodes.recording import closing, turn_recorder
from ..nodes.replay import PREFIX, ReplaySpeaker
from ..nodes.speaking import AgentSpeaker, ChatSpeaker, FunctionSpeaker, Reply, is_reply
from ..nodes.state import PLACES
from ..nodes.stops import until_spent
from ..nodes.views import View
from ..prompts import Library

Speaker: TypeAlias = str | BaseChatModel | Runnable[Any, Any] | Node | Reply
"""A model's spec, a chat model, an agent that speaks `messages`, a function of messages, or a node."""

SPEAKERS: dict[str, Role] = {"user_simulator": "user", "assistant": "assistant"}
"""Places whose node may also be given as a model or as somebody's own compiled graph."""


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Frozen: `replace` gives another one, whose nodes are checked when it is made."""

    name: str
    """Names the system; part of the conversations' ids."""
    user_prompt_selector: Node
    user_simulator: Node
    question_validator: Node
    assistant_prompt_selector: Node
    assistant: Node
    answer_validator: Node
    turn_recorder: Node = turn_recorder
    closing: Node = closing
    stop: Stop = until_spent
    """Asked when a user's turn has been judged and when an exchange is complete."""
    limits: Limits = field(default_factory=lambda: Limits(max_turns=10))
    """What holds when a run names no limits, and its number of turns when it names none."""
    fallback: str | None = None
    """What is stored for an assistant whose attempts are spent; None: its last draft stands."""
    greeting: str | None = None
    """What the assistant says before the user's first word: in the record, not in the published history."""
    prompts: Library = field(default_factory=lambda: Library({}))
    """The prompt pages that the nodes use."""
    offline: Mapping[Role, str] = field(default_factory=dict)
    """Whose part the offline model plays for each role, where it stands in a speaker's place."""

    def __post_init__(self) -> None:
        for place in PLACES:
            check_node(place, getattr(self, place))
        check_stop(self.stop)
        if not isinstance(self.limits, Limits):
            raise ContractError(f"limits: expected Limits(...), got {type(self.limits).__name__}")

    def replace(self, **changes: Any) -> Self:
        """A cast with other nodes, limits or stop criterion: `cast.replace(answer_validator=mine)`.

        In a speaker's place a model's spec, a chat model, a compiled LangGraph graph or a function from
        messages to a text may be given; it is sent what the speaker was sent before. ContractError says which node, what was expected, what came.
        """
        known = {one.name for one in fields(self)}
        for name, given in changes.items():
            if name not in known:
                raise ContractError(f"{name}: a cast has no such part, only {', '.join(sorted(known))}")
            if name in SPEAKERS and (is_reply(given) or (isinstance(given, (str, Runnable)) and not callable(given))):
                role = SPEAKERS[name]
                changes[name] = speaker(role, given, self._view(name), self.offline.get(role))
        closing = changes.get("closing", self.closing)
        if isinstance(closing, PostQuestions):  # it asks those who speak, not those who were replaced
            changes["closing"] = closing.to({role: changes[name] for name, role in SPEAKERS.items() if name in changes})
        return replace(self, **changes)

    def _view(self, place: str) -> View:
        view = getattr(getattr(self, place), "view", None)
        if view is None:
            raise ContractError(
                f"{place}: expected a node, since what stands there now has no view that a model could be sent; "
                "give nodes.ChatSpeaker or nodes.AgentSpeaker(role, ..., view)"
            )
        return cast(View, view)

    def describe(self) -> dict[str, Any]:
        """Every place with its node's name and settings, as the record keeps it."""
        nodes = {place: describe(getattr(self, place)) for place in PLACES}
        words = {name: said for name in ("fallback", "greeting") if (said := getattr(self, name))}
        return nodes | {"stop": describe(self.stop)} | words


def side(role: Role, given: Speaker, view: View, offline: str | None = None) -> Node:
    """What a cast is given for one side: as `speaker`, or `replay:PATH`, which plays stored conversations."""
    if isinstance(given, str) and given.startswith(PREFIX):
        return ReplaySpeaker.of(given.removeprefix(PREFIX), role)
    return speaker(role, given, view, offline)


def speaker(role: Role, given: Speaker, view: View, offline: str | None = None) -> Node:
    """A model's spec, a chat model, an agent or a function of messages as a speaker that is sent the view; a
    node as it is. `offline`: whose part the offline model plays here."""
    if isinstance(given, (str, BaseChatModel)):
        return ChatSpeaker(role, chat_model(given, side=offline), view)
    if isinstance(given, Runnable) and not callable(given):
        return AgentSpeaker(role, given, view)
    if is_reply(given):
        return FunctionSpeaker(role, cast(Reply, given), view)
    return cast(Node, given)
