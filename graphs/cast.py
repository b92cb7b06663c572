"""A cast: which node stands where, when it stops, and what is said for an assistant that does not manage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeAlias, cast, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ..data.records import Fault, NodeInfo, Role
from ..data.stop_reasons import NAME, own_reason
from ..nodes.contract import AsksSides, ContractError, Node, Stop, check_node, check_stop, describe
from ..nodes.limits import Limits
from ..nodes.messages import Builds, MessageBuilder
from ..nodes.models.specs import chat_model
from ..nodes.post_questions import closing, turn_recorder
from ..nodes.replay import PREFIX, ReplaySpeaker
from ..nodes.speakers import AgentSpeaker, ChatSpeaker, FunctionSpeaker, Reply, is_reply
from ..nodes.state import PLACES
from ..nodes.stops import until_spent
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
    stop_reasons: Mapping[str, Fault] = field(default_factory=dict)
    """Stop reasons of the cast's own, each with its fault: `{"transferred": "assistant"}`. Nodes and the criterion
    answer them with the cast's name: `airline:transferred`."""
    record_memory: bool = False
    """Whether the record holds what each side keeps for itself."""

    def __post_init__(self) -> None:
        for place in PLACES:
            check_node(place, getattr(self, place))
        check_stop(self.stop)
        self._check_reasons()
        if not isinstance(self.limits, Limits):
            raise ContractError(f"limits: expected Limits(...), got {type(self.limits).__name__}")

    def _check_reasons(self) -> None:
        if self.stop_reasons and not NAME.fullmatch(self.name):
            raise ContractError(
                f"name: a cast with stop reasons of its own is named with a-z, 0-9 and _, such as airline; got {self.name!r}"
            )
        for name, fault in self.stop_reasons.items():
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ContractError(
                    f"stop_reasons: expected names of a-z, 0-9 and _, such as transferred, without the cast's; got {name!r}"
                )
            if fault not in get_args(Fault):
                raise ContractError(
                    f"stop_reasons: expected the fault of {name!r} to be one of {', '.join(get_args(Fault))}; got {fault!r}"
                )

    @property
    def own_reasons(self) -> dict[str, Fault]:
        """The cast's own stop reasons as nodes answer them, each with its fault."""
        return {own_reason(self.name, name): fault for name, fault in self.stop_reasons.items()}

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
                changes[name] = speaker(SPEAKERS[name], given, self._build(name))
        closing = changes.get("closing", self.closing)
        if isinstance(closing, AsksSides):  # it asks those who speak, not those who were replaced
            changes["closing"] = closing.asking(
                {role: changes[name] for name, role in SPEAKERS.items() if name in changes}
            )
        return replace(self, **changes)

    def _build(self, place: str) -> MessageBuilder:
        node = getattr(self, place)
        if not isinstance(node, Builds):
            raise ContractError(
                f"{place}: expected a node, since what stands there now builds no messages that a model could be sent; "
                "give nodes.ChatSpeaker or nodes.AgentSpeaker(role, ..., build)"
            )
        return node.build

    def describe(self) -> dict[str, NodeInfo]:
        """What stands at every place, and the stop criterion, as the record keeps it."""
        places = (*PLACES, "stop")
        return {place: NodeInfo.of(place, describe(getattr(self, place))) for place in places}

    @property
    def words(self) -> dict[str, str]:
        """What the cast itself says: its greeting, and the fallback for an assistant that does not manage."""
        return {name: text for name in ("fallback", "greeting") if (text := getattr(self, name))}


def side(role: Role, given: Speaker, build: MessageBuilder) -> Node:
    """What a cast is given for one side: as `speaker`, or `replay:PATH`, which plays stored conversations."""
    if isinstance(given, str) and given.startswith(PREFIX):
        return ReplaySpeaker.of(given.removeprefix(PREFIX), role)
    return speaker(role, given, build)


def speaker(role: Role, given: Speaker, build: MessageBuilder) -> Node:
    """A model's spec, a chat model, an agent or a function of messages as a speaker that is sent what is built;
    a node as it is."""
    if isinstance(given, (str, BaseChatModel)):
        return ChatSpeaker(role, chat_model(given), build)
    if isinstance(given, Runnable) and not callable(given):
        return AgentSpeaker(role, given, build)
    if is_reply(given):
        return FunctionSpeaker(role, cast(Reply, given), build)
    return cast(Node, given)
