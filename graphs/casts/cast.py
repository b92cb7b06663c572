"""A cast: the node of every place in the graph, and the stop criterion."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, fields, replace
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeGuard, get_args

from langchain_core.runnables import Runnable

from ...data.records import Fault, NodeInfo, Role
from ...data.stop_reasons import NAME, own_reason
from ...data.summaries.executed_graph import SPEAKERS
from ...nodes.asking.judges import pages_of
from ...nodes.contract import AsksSides, ContractError, Node, Stop, check_node, check_stop, describe
from ...nodes.goodbyes import Ending
from ...nodes.limits import Limits
from ...nodes.messages.building import MessageBuilder, Talk, WithMessageBuilder
from ...nodes.messages.selectors import RepairPrompts
from ...nodes.models.specs import without_secrets
from ...nodes.recllmsim.goals import GoalMessages, HelperMessages
from ...nodes.recllmsim.roles import UserPrompts, UserValidator
from ...nodes.scorers.combined import scorers_of
from ...nodes.scorers.post_questions import closing, turn_recorder
from ...nodes.settings.import_path import imported, is_import_path
from ...nodes.speakers.speaker import NO_PAGE, is_reply
from ...nodes.state import PLACES
from ...nodes.stops import until_spent
from ...nodes.validators.composition import not_empty, parts_of
from ...nodes.worlds import World, check_world
from ...prompts import Library, Page, shipped
from .page_checks import check_pages
from .plain_data import LiveError, part_as_json
from .sides import OWN, Speaker, side

OF_SPEC = ("spec", "live_settings", "live_parts")
"""Fields that say what a cast is as plain data; `replace` sets them."""


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


WhenRejected: TypeAlias = Literal["send", "fallback", "stop"]
"""What becomes of the assistant's turn after its last rejected attempt."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cast:
    """Who takes part in a conversation; frozen, `replace` returns another cast with checked nodes.

    Example::

        >>> import duologue
        >>> from duologue import nodes
        >>> asks = nodes.validator(lambda draft, state: None if "?" in draft["text"] else "no_question")
        >>> cast = duologue.graphs.simquac.cast().replace(question_validator=asks)
        >>> cast.name
        'simquac'
    """

    name: str
    """Names the system; part of the conversations' ids."""
    user_simulator: Node = None  # type: ignore[assignment]
    assistant: Any = None
    """A node, or as `user` a model, an agent or a function of messages."""
    user: InitVar[Any] = None
    """In place of a node: a model's spec, a chat model, an agent or a function of messages, which plays a user with the
    goal and the facts of its scenario, as in `graphs.agent_test`."""
    user_prompt_selector: Node = field(default_factory=lambda: RepairPrompts("user", shipped("plain")))
    question_validator: Node = not_empty
    assistant_prompt_selector: Node = field(default_factory=lambda: RepairPrompts("assistant", shipped("plain")))
    answer_validator: Node = not_empty
    turn_recorder: Node = turn_recorder
    closing: Node = closing
    stop: Stop = until_spent
    """Called when a user's turn has been judged and when a turn is complete."""
    world: World | None = None
    """Makes the world of each conversation from its scenario (`nodes.worlds`): what the agents' tools work on."""
    limits: Limits = field(default_factory=lambda: Limits(max_turns=10))
    """What holds when a run names no limits, and its number of turns when it names none."""
    fallback: str | None = None
    """What is stored for an assistant whose attempts are spent; None: see `when_rejected`."""
    when_rejected: WhenRejected | None = None
    """What becomes of the assistant's turn after its last rejected attempt: its last draft is sent all the same, the
    fallback is said, or the conversation stops as `assistant_rejected`. None: the fallback, if there is one; it stops
    where a validator says that the draft must never be sent; else it is sent."""
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
    live_settings: tuple[str, ...] = field(default=(), compare=False)
    """What kept the cast from being plain data when it was made, a line each."""
    live_parts: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The line of each part that a live object has replaced."""

    def __post_init__(self, user: Any) -> None:
        for place, choice in (("user_simulator", user), ("assistant", self.assistant)):
            if choice is not None and (_is_no_node(choice) or (choice is user and isinstance(choice, OWN))):
                self._play(place, choice)
            elif choice is not None:
                object.__setattr__(self, place, choice)
            if getattr(self, place) is None:
                raise ContractError(f"{place}: the cast {self.name!r} has none: give user= and assistant=")
        for place in PLACES:
            check_node(place, getattr(self, place))
        check_pages(getattr(self, place) for place in PLACES)
        check_stop(self.stop)
        if self.world is not None:
            check_world(self.world)
        self._check_reasons()
        if self.when_rejected is not None and self.when_rejected not in get_args(WhenRejected):
            raise ContractError(
                f"when_rejected: expected {', '.join(get_args(WhenRejected))}, or nothing; got {self.when_rejected!r}"
            )
        if self.when_rejected == "fallback" and self.fallback is None:
            raise ContractError(f"when_rejected: the cast {self.name!r} has no fallback: give it one, or send or stop")
        if not isinstance(self.limits, Limits):
            raise ContractError(f"limits: expected Limits(...), got {type(self.limits).__name__}")

    def _play(self, place: str, choice: Any) -> None:
        """Let a model, an agent or a function play a side, with the pages of an agent test."""
        pages, role = self.prompts if self.prompts.pages else shipped("agent_test"), SPEAKERS[place]
        build: MessageBuilder = GoalMessages(pages) if role == "user" else HelperMessages(pages)
        parts: dict[str, Any] = {place: side(role, choice, build, self.offline.get(role)), "prompts": pages}
        if role == "user":
            parts["user_prompt_selector"] = UserPrompts(pages)
            if self.question_validator is not_empty:
                parts["question_validator"] = UserValidator(Ending(any_goodbye=True, stored=True))
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def __repr__(self) -> str:
        sides = (
            f"{role}={NodeInfo.of(place, describe(getattr(self, place))).label}" for place, role in SPEAKERS.items()
        )
        return f"Cast({self.name}: {', '.join(sides)})"

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
    def live(self) -> tuple[str, ...]:
        """What keeps the cast from being plain data, a line each."""
        return (*self.live_settings, *self.live_parts.values())

    @property
    def own_reasons(self) -> dict[str, Fault]:
        """The cast's own stop reasons as nodes answer them, each with its fault."""
        return {own_reason(self.name, name): fault for name, fault in self.stop_reasons.items()}

    def replace(self, **changes: Any) -> Self:
        """A cast with other nodes, limits or stop criterion: `cast.replace(answer_validator=mine)`.

        A speaker may be a model's spec, a chat model, a compiled LangGraph graph or a function from messages to
        a text. A model gets the same messages as the speaker that it replaces. An agent or a function as the assistant
        gets the conversation and nothing else. ContractError names the part, what was expected and what it got.
        """
        names = {part.name for part in fields(self) if part.name not in OF_SPEC}
        plain: dict[str, Any] = {}
        live = {name: line for name, line in self.live_parts.items() if name not in changes}
        for name, part in changes.items():
            if name not in names:
                raise ContractError(f"{name}: a cast has no such part, only {', '.join(sorted(names))}")
            try:
                plain[name] = part_as_json(part)
            except LiveError:
                live[name] = f"{name} is a live object ({type(part).__name__})"
            if name in SPEAKERS and (_is_no_node(part) or isinstance(part, OWN)):
                role = SPEAKERS[name]
                changes[name] = side(role, part, self._build(name), self.offline.get(role))
            elif name in (*PLACES, "stop", "world") and is_import_path(part):
                changes[name] = imported(part, name)
        closing = changes.get("closing", self.closing)
        if isinstance(closing, AsksSides):  # it must ask the new speakers, not the replaced ones
            changes["closing"] = closing.asking(
                {role: changes[name] for name, role in SPEAKERS.items() if name in changes}
            )
        spec = self.spec.replacing(plain) if self.spec is not None else None
        return replace(self, **changes, spec=spec, live_parts=live)

    def travelling(self) -> Spec:
        """The cast as plain data, for another process; ContractError if that is not possible."""
        if self.spec is None:
            raise ContractError(
                f"cast {self.name!r} was put together by hand and cannot be built again in another process: "
                "give a function that makes it by import path (MODULE:FUNCTION), or register it (graphs.casts.register)"
            )
        if self.live:
            raise ContractError(
                f"cast {self.name!r} cannot be built again in another process: {'; '.join(self.live)}: "
                "give these by import path (MODULE:NAME) or as a model identifier"
            )
        return self.spec

    def plain(self) -> dict[str, Any]:
        """The cast for a manifest: its spec without credentials, or under `live` why it has none."""
        if self.spec is not None and not self.live:
            plain = self.spec.model_dump()
            for part in ("settings", "replace"):
                plain[part] = {name: without_secrets(value) for name, value in plain.get(part, {}).items()}
            return plain
        return {"live": list(self.live) or ["put together by hand"]}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process builds the cast anew: clients and compiled templates are not sent.
        return _built, (self.travelling(),)

    def _build(self, place: str) -> MessageBuilder:
        node = getattr(self, place)
        if not isinstance(node, WithMessageBuilder):
            raise ContractError(
                f"{place}: expected a node, since the present one builds no messages that could be sent to a model; "
                "give nodes.ChatSpeaker or nodes.AgentSpeaker(role, ..., build)"
            )
        own: MessageBuilder | None = node.build
        own = own.instead or own if isinstance(own, Talk) else own
        if own is None:
            raise ContractError(f"{place}: {NO_PAGE.format(role=SPEAKERS[place])}")
        return own

    def describe(self) -> dict[str, NodeInfo]:
        """The node of every place, the stop criterion and the world, in the form that the record keeps."""
        places = (*PLACES, "stop", *(["world"] if self.world is not None else []))
        return {place: NodeInfo.of(place, describe(getattr(self, place))) for place in places}

    @property
    def pages(self) -> dict[str, Page]:
        """Every page that is sent, by name: the cast's, its user's own, and those of its judges."""
        parts = (*parts_of(self.question_validator), *parts_of(self.answer_validator), *scorers_of(self.closing))
        shown = getattr(self.user_simulator, "own_pages", {})
        return dict(sorted({**pages_of(parts), **shown, **self.prompts.pages}.items()))

    @property
    def words(self) -> dict[str, str]:
        """The cast's own texts, and its treatment of rejected replies, where it has them."""
        return {name: text for name in ("fallback", "greeting", "when_rejected") if (text := getattr(self, name))}


def _built(spec: Spec) -> Cast:
    return spec.build()


def _is_no_node(part: object) -> TypeGuard[Speaker]:
    """Whether `side` must make a node of it first."""
    return is_reply(part) or (isinstance(part, (str, Runnable)) and not callable(part))
