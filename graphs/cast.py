"""A cast: which node stands where, when it stops, and what is said for an assistant that does not manage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, Self, TypeAlias, TypeGuard, cast, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from ..data.records import Fault, NodeInfo, Role
from ..data.stop_reasons import NAME, own_reason
from ..nodes.contract import AsksSides, ContractError, Node, Stop, check_node, check_stop, describe
from ..nodes.import_path import import_path_of, imported, is_import_path
from ..nodes.limits import Limits
from ..nodes.messages import Builds, MessageBuilder
from ..nodes.models.specs import PROVIDERS, chat_model, recordable
from ..nodes.post_questions import closing, turn_recorder
from ..nodes.remote import REMOTE, remote_agent
from ..nodes.replay import ReplaySpeaker, replayed_path
from ..nodes.selectors import RepairPrompts
from ..nodes.speakers import AgentSpeaker, ChatSpeaker, FunctionSpeaker, Reply, is_reply
from ..nodes.state import PLACES
from ..nodes.stops import until_spent
from ..nodes.validators import not_empty
from ..prompts import Library, shipped

Speaker: TypeAlias = str | BaseChatModel | Runnable[Any, Any] | Node | Reply
"""A model's spec, a chat model, an agent that speaks `messages`, a function of messages, or a node."""

SPEAKERS: dict[str, Role] = {"user_simulator": "user", "assistant": "assistant"}
"""Places whose node may also be given as a model or as somebody's own compiled graph."""


class Spec(Protocol):
    """A cast as plain data (`casts.CastSpec`): what a manifest holds and another process builds it from."""

    def build(self) -> "Cast":
        """The cast, made anew."""
        ...

    def model_dump(self) -> dict[str, Any]:
        """Plain JSON values."""
        ...

    def replacing(self, changes: Mapping[str, Any]) -> "Spec":
        """The spec of the same cast with these parts replaced too."""
        ...


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Frozen: `replace` gives another one, whose nodes are checked when it is made."""

    name: str
    """Names the system; part of the conversations' ids."""
    user_simulator: Node
    assistant: Node
    user_prompt_selector: Node = field(default_factory=lambda: RepairPrompts("user", shipped("plain")))
    question_validator: Node = not_empty
    assistant_prompt_selector: Node = field(default_factory=lambda: RepairPrompts("assistant", shipped("plain")))
    answer_validator: Node = not_empty
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
    answer them with the cast's name: `hotel:transferred`."""
    record_memory: bool = False
    """Whether the record holds what each side keeps for itself."""
    offline: Mapping[Role, str] = field(default_factory=dict)
    """Whose part the offline model plays for each role, where it stands in a speaker's place."""
    spec: Spec | None = field(default=None, compare=False)
    """The cast as plain data; None for one that was put together by hand."""
    live: tuple[str, ...] = field(default=(), compare=False)
    """What keeps the cast from being plain data, a line for each live object in it."""

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
                f"name: a cast with stop reasons of its own is named with a-z, 0-9 and _, such as hotel; got {self.name!r}"
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
        known = {part.name for part in fields(self) if part.name not in ("spec", "live")}
        plain: dict[str, Any] = {}
        live: list[str] = []
        for name, given in changes.items():
            if name not in known:
                raise ContractError(f"{name}: a cast has no such part, only {', '.join(sorted(known))}")
            if (told := _plain(name, given)) is not None:
                plain[name] = told
            elif given is not None:
                live.append(f"{name} is a live object ({type(given).__name__})")
            if name in SPEAKERS and _is_asked(given):
                role = SPEAKERS[name]
                changes[name] = side(role, given, self._build(name), self.offline.get(role))
            elif name in (*PLACES, "stop") and is_import_path(given):
                changes[name] = imported(given, name)
        closing = changes.get("closing", self.closing)
        if isinstance(closing, AsksSides):  # it asks those who speak, not those who were replaced
            changes["closing"] = closing.asking(
                {role: changes[name] for name, role in SPEAKERS.items() if name in changes}
            )
        spec = self.spec.replacing(plain) if self.spec is not None else None
        return replace(self, **changes, spec=spec, live=(*self.live, *live))

    def travelling(self) -> Spec:
        """The cast as plain data; ContractError says what keeps it in this process."""
        if self.spec is None:
            raise ContractError(
                f"cast {self.name!r} was put together by hand and cannot be built again in another process: "
                "give a function that makes it by import path (MODULE:FUNCTION), or register it (graphs.casts.register)"
            )
        if self.live:
            raise ContractError(
                f"cast {self.name!r} cannot be built again in another process: {'; '.join(self.live)}: "
                "give these by import path (MODULE:NAME) or as a model's spec"
            )
        return self.spec

    def plain(self) -> dict[str, Any]:
        """The cast for a manifest: its spec without credentials, or under `live` what keeps it from having one."""
        if self.spec is not None and not self.live:
            plain = self.spec.model_dump()
            for part in ("settings", "replace"):
                values = plain.get(part, {}).items()
                plain[part] = {name: recordable(value) if isinstance(value, str) else value for name, value in values}
            return plain
        return {"live": list(self.live) or ["put together by hand"]}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process builds the cast anew: clients and compiled templates are no part of what is sent.
        return _built, (self.travelling(),)

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


def _built(spec: Spec) -> Cast:
    return spec.build()


def _plain(name: str, given: object) -> Any:
    """What a spec holds for a part of a cast: JSON, or an import path; None for a live object."""
    if isinstance(given, Limits):
        return given.plain()
    if isinstance(given, (str, bool, int, float, dict)):
        return given
    return import_path_of(given)


def _is_asked(given: object) -> TypeGuard[Speaker]:
    """Whether it is what `speaker` makes a node of, and not a node already."""
    return is_reply(given) or (isinstance(given, (str, Runnable)) and not callable(given))


def side(role: Role, given: Speaker, build: MessageBuilder, offline: str | None = None) -> Node:
    """What a cast is given for one side: as `speaker`, or one of the specs that are no model's.

    `replay:PATH` plays stored conversations, `agent:URL` is a graph on a LangGraph server,
    `MODULE:NAME` an object of one's own: a node, an agent, a chat model or a function of messages. `offline`: as there.
    """
    if isinstance(given, str):
        if (path := replayed_path(given)) is not None:
            return ReplaySpeaker.of(path, role)
        if given.startswith(REMOTE):
            return AgentSpeaker(role, remote_agent(given), build)
        if is_import_path(given) and given.partition(":")[0] not in PROVIDERS:
            forms = "openai:NAME, offline, replay:PATH, agent:URL"
            return speaker(role, imported(given, f"{role}: no model ({forms}), nor an object of yours"), build, offline)
    return speaker(role, given, build, offline)


def speaker(role: Role, given: Speaker, build: MessageBuilder, offline: str | None = None) -> Node:
    """A model's spec, a chat model, an agent or a function of messages as a speaker that is sent what is
    built; a node as it is. `offline`: whose part the offline model plays here."""
    if isinstance(given, (str, BaseChatModel)):
        return ChatSpeaker(role, chat_model(given, side=offline), build)
    if isinstance(given, Runnable) and not callable(given):
        return AgentSpeaker(role, given, build)
    if is_reply(given):
        return FunctionSpeaker(role, cast(Reply, given), build)
    return cast(Node, given)
