"""A cast: who takes part in a conversation and by which rules, as it was given; its nodes are made where a graph needs them."""

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from dataclasses import replace as changed
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args
from typing import cast as typed

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ...data.executed_graph import SPEAKER_OF, SPEAKERS
from ...data.records import NAME_PATTERN, Fault, NodeInfo, Role
from ...errors import DuologueError, SettingError
from ...nodes.contract import ContractError, Node, Stop, check_function, check_node, closing, describe, turn_recorder
from ...nodes.goodbyes import Ending
from ...nodes.judges import pages_of
from ...nodes.limits import Limits
from ...nodes.messages import MessageBuilder, PageMessages, RepairPrompts
from ...nodes.models.offline.model import OfflineChatModel
from ...nodes.models.specs import chat_model, names_model, without_secrets
from ...nodes.people import FewShotUser, PeopleSpeaker, speaker_of
from ...nodes.recllmsim import GoalMessages, UserPrompts, UserValidator
from ...nodes.scorers.judged import PostQuestions
from ...nodes.scorers.scores import scorers_of
from ...nodes.settings.import_path import import_path_of, imported, is_import_path
from ...nodes.speakers.agents import AgentSpeaker, SpeakerReply
from ...nodes.speakers.replay import ReplaySpeaker, replayed_path
from ...nodes.speakers.speaker import REMOTE, ChatSpeaker, is_reply, remote_agent, speaking
from ...nodes.state import PLACES
from ...nodes.stops import SIGNATURE, until_spent
from ...nodes.validators import not_empty, parts_of
from ...nodes.worlds import World, check_world
from ...prompts import Library, Page, shipped
from .checks import check_pages

Speaker: TypeAlias = str | BaseChatModel | Runnable[Any, Any] | Node | SpeakerReply
"""A chat model or its spec, an agent that speaks `messages`, a function of messages, or a node. A text may also be
`replay:PATH` (stored conversations again), `people:PATH` (turns drawn from them), a model with `?like=PATH` (that writes
after them), `agent:URL` (a graph on a LangGraph server) or `MODULE:NAME`."""
WhenRejected: TypeAlias = Literal["send", "fallback", "stop"]


class CastSpec(BaseModel):
    """A cast as plain data: a manifest holds it, and `casts.built` builds the cast from it in another process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cast: str
    """Its registered name, or the import path of a function that returns it."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """The settings that differ from their defaults."""
    replace: dict[str, JsonValue] = Field(default_factory=dict)
    """Replaced parts by name: a node or the stop criterion by import path, a speaker also by a model's spec."""
    live: dict[str, str] = Field(default_factory=dict, exclude=True)
    """What keeps the cast in this process: a line for each setting or part that is a live object."""

    def replacing(self, parts: Mapping[str, Any]) -> "CastSpec":
        """The spec of the same cast with these parts replaced too; functions by their import paths."""
        plain, live = ({k: v for k, v in kept.items() if k not in parts} for kept in (self.replace, self.live))
        for name, part in parts.items():
            try:
                plain[name] = import_path_of(part) or as_json(part)
            except ValueError as error:
                live[name] = f"{name} {error}"
        return self.model_copy(update={"replace": plain, "live": live})


def as_json(value: Any) -> JsonValue:
    """Texts, numbers, paths, limits, and lists and objects of these as JSON values; ValueError for a live object."""
    if value is None or type(value) in (str, int, float, bool):
        return typed(JsonValue, value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Limits):
        return value.plain()
    if type(value) in (list, tuple):
        return [as_json(item) for item in value]
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: as_json(item) for key, item in value.items()}
    raise ValueError(f"is a live object ({type(value).__name__})")


@dataclass(frozen=True, kw_only=True, repr=False)
class Cast:
    """Who takes part in a conversation; frozen, `replace` returns another cast.

    Example::

        >>> from duologue import graphs
        >>> graphs.Cast(name="hotel", user="offline", assistant=lambda messages: "It is booked.").replace(fallback="No.").name
        'hotel'
    """

    name: str
    """Names the system; part of the conversations' ids."""
    user_simulator: Any = None
    """A `Speaker`: what plays the user."""
    assistant: Any = None
    """A `Speaker`: an agent or a function is sent the conversation and nothing else, a model what `assistant_view` makes."""
    user: InitVar[Any] = None
    """`user_simulator` under its short name."""
    user_view: MessageBuilder | None = None
    """What a model, an agent or a function that plays the user is sent. None: goal and facts of its scenario, with the
    pages, prompts and goodbyes of `graphs.agent_test`."""
    assistant_view: MessageBuilder | None = None
    """What a model that plays the assistant is sent. None: an assistant's page and the conversation."""
    user_prompt_selector: Node = None  # type: ignore[assignment]  # set below
    question_validator: Node = None  # type: ignore[assignment]  # set below
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
    """What becomes of the assistant's turn after its last rejected attempt. None: the fallback is said, if there is one;
    the conversation stops as `assistant_rejected` where a validator forbids the draft; else it is sent all the same."""
    user_tokens: int | None = 256
    """Most tokens of a reply of an `openai:` or `local:` model as the user, unless its `max_tokens` says otherwise; None:
    no bound is sent."""
    assistant_tokens: int | None = 1_024
    """The same of the assistant."""
    vary_retries: bool = True
    """Whether a model that says the same rejected words a second time is asked again with a higher temperature, and after
    a third time no more (`repeated`)."""
    greeting: str | None = None
    """What the assistant says before the user's first word: in the record, not in the published history."""
    prompts: Library = field(default_factory=lambda: Library({}))
    """The prompt pages that the nodes use."""
    stop_reasons: Mapping[str, Fault] = field(default_factory=dict)
    """Stop reasons of the cast's own, each with its fault: `{"transferred": "assistant"}`. Nodes and the criterion
    answer them with the cast's name: `hotel:transferred`."""
    approve: str | Callable[..., Any] | None = None
    """What answers an agent that stops for an approval, as `AgentSpeaker.approve`."""
    context: Any = None
    """What the assistant's graph is called with as its context, as `AgentSpeaker.context`."""
    record_memory: bool = False
    """Whether the record holds what each side keeps for itself."""
    spec: CastSpec | None = field(default=None, compare=False)
    """The cast as plain data; None for one that was put together by hand."""

    def __post_init__(self, user: Any) -> None:
        defaults: dict[str, Any] = {} if user is None else {"user_simulator": user}
        sides = {role: defaults.get(place, getattr(self, place)) for place, role in SPEAKERS.items()}
        if lacking := [SPEAKER_OF[role] for role, side in sides.items() if side is None]:
            raise ContractError(f"{lacking[0]}: the cast {self.name!r} has none: give user= and assistant=")
        by_pages = {role: _waits_for_view(side) and self.view(role) is None for role, side in sides.items()}
        pages = self.prompts
        if any(by_pages.values()) and not pages.pages:
            pages = defaults["prompts"] = shipped("agent_test")
        if self.user_prompt_selector is None:
            plain = RepairPrompts("user", shipped("plain"))
            defaults["user_prompt_selector"] = UserPrompts(pages) if by_pages["user"] else plain
        if self.question_validator is None:
            leaving = UserValidator(Ending(any_goodbye=True, stored=True))
            defaults["question_validator"] = leaving if by_pages["user"] else not_empty
        for name in {*PLACES, "stop", "world", "context"} - SPEAKERS.keys() - defaults.keys():
            if is_import_path(part := getattr(self, name)):
                defaults[name] = imported(part, name)
        for name, part in defaults.items():
            object.__setattr__(self, name, part)
        self._check()

    def _check(self) -> None:
        for place in PLACES:
            if place not in SPEAKERS:
                check_node(place, getattr(self, place))
        check_function("stop", self.stop, SIGNATURE)
        if self.world is not None:
            check_world(self.world)
        for name in ("user_tokens", "assistant_tokens"):
            if (most := getattr(self, name)) is not None and (type(most) is not int or most < 1):
                raise ContractError(f"{name}: expected a number of tokens from 1, or None for no bound; got {most!r}")
        if self.when_rejected not in (None, *(ways := get_args(WhenRejected))):
            raise ContractError(f"when_rejected: expected {', '.join(ways)}, or nothing; got {self.when_rejected!r}")
        if self.when_rejected == "fallback" and self.fallback is None:
            raise ContractError(f"when_rejected: the cast {self.name!r} has no fallback: give it one, or send or stop")
        if not isinstance(self.limits, Limits):
            raise ContractError(f"limits: expected Limits(...), got {type(self.limits).__name__}")
        named = (self.name, *self.stop_reasons) if self.stop_reasons else ()
        if wrong := [one for one in named if not isinstance(one, str) or not NAME_PATTERN.fullmatch(one)]:
            raise ContractError(
                f"stop_reasons: the cast and its reasons are named with a-z, 0-9 and _, such as hotel; got {wrong[0]!r}"
            )
        if wrong := [name for name, fault in self.stop_reasons.items() if fault not in (faults := get_args(Fault))]:
            raise ContractError(f"stop_reasons: expected the fault of {wrong[0]!r} to be one of {', '.join(faults)}")

    def view(self, role: Role) -> MessageBuilder | None:
        """The view of a side, as it was given."""
        return self.user_view if role == "user" else self.assistant_view

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """The node of every place, as a graph calls it: a choice has become a speaker with the view of its side.

        Made once, when a graph or a plan first needs them. ModelError, SettingError, PromptError or ContractError names
        the part that cannot be made, and what to give instead.
        """
        made: dict[str, Any] = {place: getattr(self, place) for place in PLACES}
        pages = self.prompts if self.prompts.pages else shipped("agent_test")
        views: Mapping[Role, MessageBuilder] = {
            "user": GoalMessages("user", pages), "assistant": PageMessages("assistant", pages)
        }  # fmt: skip
        for role, place in SPEAKER_OF.items():
            node = speaker(role, made[place])
            given = {name: value for name in ("approve", "context") if (value := getattr(self, name)) is not None}
            if role == "assistant" and given:
                if not isinstance(node, AgentSpeaker) or node.is_function:
                    raise SettingError(
                        f"{next(iter(given))}: the assistant is not a LangGraph agent, which could use it"
                    )
                node = changed(node, **given)
            placed = getattr(node, "placed", None)
            made[place] = node if placed is None else placed(self.view(role) or views[role])
            check_node(place, made[place])
        if isinstance(self.closing, PostQuestions):
            made["closing"] = self.closing.asking({role: made[SPEAKER_OF[role]] for role in self.closing.speakers})
        for role, place in SPEAKER_OF.items():  # last: what is asked after the end is not bounded
            model = asked_by(made[place])
            if (in_cast := getattr(model, "in_cast", None)) is not None:
                tokens = self.user_tokens if role == "user" else self.assistant_tokens
                made[place] = changed(made[place], model=in_cast(tokens, varies=self.vary_retries))
        check_pages(made.values())
        return made

    def __repr__(self) -> str:
        try:
            sides = [f"{role}={NodeInfo.of(one, describe(self.nodes[one])).label}" for one, role in SPEAKERS.items()]
        except DuologueError as error:  # such as in a notebook's cell, where a key is missing
            sides = [str(error)]
        return f"Cast({self.name}: {', '.join(sides)})"

    @property
    def live(self) -> tuple[str, ...]:
        """What keeps the cast from being plain data."""
        return ("put together by hand",) if self.spec is None else tuple(self.spec.live.values())

    @property
    def own_reasons(self) -> dict[str, Fault]:
        """The cast's own stop reasons as nodes answer them, each with its fault."""
        return {f"{self.name}:{name}": fault for name, fault in self.stop_reasons.items()}

    def replace(self, **changes: Any) -> Self:
        """A cast with other nodes, limits or stop criterion: `cast.replace(answer_validator=mine)`.

        A model gets the same messages as the speaker that it replaces, an agent or a function as the assistant the
        conversation and nothing else. ContractError names the part, what was expected and what it got.
        """
        if "user" in changes:
            changes["user_simulator"] = changes.pop("user")
        names = {part.name for part in fields(self)} - {"spec"}
        if wrong := sorted(changes.keys() - names):
            raise ContractError(f"{wrong[0]}: a cast has no such part, only {', '.join(sorted(names))}")
        if isinstance(limits := changes.get("limits"), dict):  # of a spec
            changes["limits"] = Limits(**limits)
        spec = None if self.spec is None else self.spec.replacing(changes)
        return changed(self, user=None, spec=spec, **changes)

    def travelling(self) -> CastSpec:
        """The cast as plain data, for another process; ContractError if that is not possible."""
        if self.spec is None or self.live:
            raise ContractError(
                f"cast {self.name!r} cannot be built again in another process: {'; '.join(self.live)}: give these by "
                "import path (MODULE:NAME) or as a model identifier, and the cast as a function of a module"
            )
        return self.spec

    def plain(self) -> dict[str, Any]:
        """The cast for a manifest: its spec without credentials, or under `live` why it has none."""
        if self.spec is None or self.live:
            return {"live": list(self.live)}
        plain = self.spec.model_dump()
        for part in ("settings", "replace"):
            plain[part] = {name: without_secrets(value) for name, value in plain[part].items()}
        return plain

    def describe(self) -> dict[str, NodeInfo]:
        """The node of every place, the stop criterion and the world, in the form that the record keeps."""
        parts: dict[str, object] = {**self.nodes, "stop": self.stop}
        if self.world is not None:
            parts["world"] = self.world
        return {place: NodeInfo.of(place, describe(part)) for place, part in parts.items()}

    @property
    def pages(self) -> dict[str, Page]:
        """Every page that is sent, by name: the cast's, its user's own, and those of its judges."""
        parts = (*parts_of(self.question_validator), *parts_of(self.answer_validator), *scorers_of(self.closing))
        shown = getattr(self.nodes["user_simulator"], "own_pages", {})
        return dict(sorted({**pages_of(parts), **shown, **self.prompts.pages}.items()))

    @property
    def words(self) -> dict[str, str]:
        """The cast's own texts, and its treatment of rejected replies, where it has them."""
        return {name: text for name in ("fallback", "greeting", "when_rejected") if (text := getattr(self, name))}


Cast.user = property(lambda cast: cast.user_simulator)  # type: ignore[attr-defined]  # not the argument's default


def asked_by(speaker: object) -> BaseChatModel | None:
    """The model that a speaker of ours asks for each message; None of rules, agents, functions and nodes."""
    model = speaker.model if isinstance(speaker, (ChatSpeaker, FewShotUser)) else None
    return None if isinstance(model, OfflineChatModel) else model


def stored_words(role: Role, choice: Any) -> Any:
    """A text that names stored conversations as the speaker that says or shows their words; else what is given.

    A cast looks them up when it is made: its limits and criteria may depend on them, and they take long to read.
    DataError or SettingError where there are none.
    """
    if not isinstance(choice, str):
        return choice
    if (path := replayed_path(choice)) is not None:
        return ReplaySpeaker.of(path, role)
    return speaker_of(choice, role) or choice


def speaker(role: Role, choice: Any) -> Any:
    """What a text names, a chat model, an agent or a function of messages as a node without a view; a node as it is.

    As the assistant an agent or a function needs no view: it is sent the conversation. A user has to know its part.
    DataError, ModelError or SettingError where there is no such thing.
    """
    if isinstance(choice, str):
        return _named(role, choice)
    if isinstance(choice, BaseChatModel):
        return ChatSpeaker(role, choice)
    is_agent = (isinstance(choice, Runnable) and not callable(choice)) or is_reply(choice)
    return AgentSpeaker(role, choice) if is_agent else choice


def _named(role: Role, choice: str) -> Any:
    stored = stored_words(role, choice)
    if stored is not choice:
        return stored
    if choice.startswith(REMOTE):
        return AgentSpeaker(role, remote_agent(choice), path=choice)
    if not is_import_path(choice) or names_model(choice):
        return ChatSpeaker(role, chat_model(choice))
    own = speaking(choice, role)
    node = speaker(role, own)
    by_path = node is not own or isinstance(node, AgentSpeaker)
    return changed(node, path=choice) if by_path else node


def _waits_for_view(choice: Any) -> bool:
    """Whether a choice is no node yet, or a speaker that is sent what the view of its side makes."""
    if hasattr(choice, "placed"):
        return getattr(choice, "build", None) is None
    return is_reply(choice) or (isinstance(choice, (str, Runnable)) and not callable(choice))


STORED = (ReplaySpeaker, PeopleSpeaker)
"""Speakers that repeat stored words, also where a model fits them: they end by themselves, and nothing is asked of them."""
