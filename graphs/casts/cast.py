"""A cast: who takes part in a conversation and by which rules, as it was given; its nodes are made where a graph needs them.

Before the first call it is checked: that its pages are filled, and that scenarios can be played and scored.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import InitVar, dataclass, field, fields
from dataclasses import replace as changed
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args
from typing import cast as typed

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ...data import domains
from ...data.behaviours import behaviours_in
from ...data.executed_graph import SPEAKER_OF, SPEAKERS
from ...data.records import NAME_PATTERN, Fault, NodeInfo, Role
from ...data.scenarios import tools_in_success
from ...data.text.languages import written_language
from ...errors import DuologueError, SettingError
from ...nodes.calls.service import run_is_over
from ...nodes.contract import (
    ContractError,
    Node,
    check_function,
    check_node,
    check_reason,
    closing,
    describe,
    is_reply,
    parts_of,
    turn_recorder,
)
from ...nodes.goodbyes import Ending
from ...nodes.judges import Judge
from ...nodes.limits import SIGNATURE, AnyOf, Limits, Stop, max_turns
from ...nodes.messages import MessageBuilder, PageMessages
from ...nodes.models.offline.model import OfflineChatModel
from ...nodes.models.specs import chat_model, is_import_path, names_model, replayed_path, use_of, without_secrets
from ...nodes.people import FewShotUser, PeopleSpeaker, speaker_of
from ...nodes.prompt_selectors import RepairPrompts
from ...nodes.recllmsim import GoalMessages, UserPrompts, UserValidator
from ...nodes.requests import PostQuestions
from ...nodes.scorers import SUCCESS, FinalState, Scoring, ToolCalled
from ...nodes.settings.import_path import REMOTE, channels_named, import_path_of, imported, remote_agent, speaking
from ...nodes.speakers.agents import AgentSpeaker, SpeakerReply, channels_of
from ...nodes.speakers.replay import ReplaySpeaker
from ...nodes.speakers.speaker import ChatSpeaker
from ...nodes.speakers.tools import tools_of
from ...nodes.state import PLACES, Planned, State, merged, state_from
from ...nodes.success import KEY, unscorable
from ...nodes.validators import not_empty
from ...nodes.worlds import World, check_world
from ...prompts import Library, Page, PromptError, shipped

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
    stop: Stop = max_turns
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
        for criterion in self.stop.criteria if isinstance(self.stop, AnyOf) else (self.stop,):
            check_function("stop", criterion, SIGNATURE)
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

    def why_stops(self, state: State, limits: Limits, role: Role | None = None) -> str | None:
        """Why a conversation stops, if it does: the cast's criterion, or a limit; `role`: whose turn was judged.

        The limit of turns holds with any criterion: one that never stops must not cost ten thousand calls. So do the
        run's budgets.
        """
        shown = merged(state, {"speaking": role})
        own = check_reason(self.stop, self.stop(shown, limits), self.own_reasons)
        return own or max_turns(shown, limits) or ("budget" if run_is_over() else None)

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
        judging = (self.question_validator, self.answer_validator, self.closing, self.nodes["user_simulator"])
        own = [getattr(part, "own_pages", {}) for node in judging for part in parts_of(node)]
        return dict(sorted({key: page for pages in (*own, self.prompts.pages) for key, page in pages.items()}.items()))

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
    return choice if use_of(choice) is None else speaker_of(choice, role)


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
    path, _, query = choice.partition("?")
    if query and is_import_path(path) and not names_model(path):
        return AgentSpeaker(role, speaking(path, role), path=choice, **channels_named(query, choice))
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


# Checks before the first call


OF_REPAIRS = frozenset({"repair", "attempt", "attempts"})
"""What `RepairPrompts` fills a page with."""
OF_DRAFTS = frozenset({"conversation", "scenario", "form", "draft", "speaker", "tool_calls"})
"""What the page of a draft's judge is filled with, besides the values of the scenario."""
OF_SCORES = frozenset({"conversation", "scenario", "form", "criterion", "answers"})
"""What the page of a conversation's judge is filled with, likewise."""
NO_STATE = (
    "compares a state that nothing gives: give the cast a world (world=, --world MODULE:NAME), or the agent "
    "a channel besides messages"
)


def check_pages(nodes: Iterable[object]) -> None:
    """PromptError if a page that no scenario fills has a variable that its node never fills, or cannot be filled."""
    for node in nodes:
        for page, filled in _filled_by(node):
            _check_gaps(page, filled)
            page.check()


def _filled_by(node: object) -> Iterator[tuple[Page, Set[str]]]:
    """The pages of a node that do not depend on the scenario, each with what the node fills."""
    if isinstance(node, RepairPrompts):
        pages = node.pages.pages.values()
        yield from ((page, OF_REPAIRS) for page in pages if page.name.startswith(f"{node.role}/repair_"))
    if isinstance(node, PostQuestions):
        yield from ((node.pages[name], frozenset()) for role in node.speakers for name in node.questions(role))
    view = getattr(node, "build", None)
    if isinstance(view, PageMessages) and (page := _page(view, "system")) is not None:
        yield page, view.told({}).keys()


def _page(view: object, kind: str) -> Page | None:
    return view.pages.pages.get(f"{view.role}/{kind}") if isinstance(view, PageMessages) else None


def _check_gaps(page: Page, filled: Set[str], there: str = "there are") -> None:
    if lacking := page.gaps - filled:
        gaps = ", ".join(f"{{{{ {gap} }}}}" for gap in sorted(lacking))
        available = ", ".join(sorted(filled)) or "none"
        raise PromptError(
            f"prompt {page.name}: has the template variable {gaps} that nothing fills ({there}: {available}): rename it, "
            "or write its text into the template"
        )


def check_filled(cast: Cast, scenarios: Sequence[Mapping[str, Any]]) -> None:
    """PromptError if a page of the cast has a variable that no scenario fills, or a judge's that one does not fill."""
    if not scenarios:
        return
    some, every = set[str]().union(*scenarios), set(scenarios[0]).intersection(*scenarios)
    for place in SPEAKERS:
        view: Any = getattr(cast.nodes[place], "build", None)
        if (page := _page(view, "material")) is not None:
            _check_gaps(page, some | view.told({}).keys(), "the scenarios have")
            view(state_from(scenarios[0]))  # says what cannot be filled
    of_drafts = (*parts_of(cast.question_validator), *parts_of(cast.answer_validator))
    judges: list[tuple[object, Set[str]]] = [(one, OF_DRAFTS) for one in of_drafts]
    for judge, values in (*judges, *((one, OF_SCORES) for one in parts_of(cast.closing))):
        if isinstance(judge, Judge) and isinstance(judge.page, Page):
            lacking = judge.page.gaps - values - every
            number = next((number for number, one in enumerate(scenarios) if not lacking <= one.keys()), 0)
            _check_gaps(judge.page, values | every, f"with scenario {number} there are")


def check_behaviours(cast: Cast, states: Sequence[Planned]) -> None:
    """SettingError if a user that says people's own words is to behave in some way: no prompt reaches it."""
    user = cast.nodes["user_simulator"]
    if isinstance(user, PeopleSpeaker) and any(behaviours_in(one["scenario"], one.get("extra")) for one in states):
        raise SettingError(
            "user: turns of people show no behaviours: leave them out, or have a model write the user (?like=)"
        )


def check_scenarios(cast: Cast, states: Iterable[Planned]) -> None:
    """SettingError for a `success`, of the cast or of a scenario, that cannot be scored, and for a goal that the
    rule-based user cannot say."""
    assistant = cast.nodes["assistant"]
    keeps = (
        not assistant.is_function and channels_of(assistant.agent) != ["messages"]
        if isinstance(assistant, AgentSpeaker)
        else not isinstance(assistant, ChatSpeaker)
    )  # a node of somebody else's may
    has_state = cast.world is not None or keeps
    by_rules = getattr(getattr(cast.nodes["user_simulator"], "model", None), "side", None) == "goal_user"
    own = cast.closing.scorers.get(SUCCESS) if isinstance(cast.closing, Scoring) else None
    tools = [name for name, _ in tools_of(assistant.agent)] if isinstance(assistant, AgentSpeaker) else []
    where = f"closing: the scorer {SUCCESS!r}"
    for scorer in parts_of(own):
        if isinstance(scorer, FinalState) and not has_state:
            raise SettingError(f"{where}: final_state {NO_STATE}")
        if isinstance(scorer, ToolCalled):
            _check_tool(scorer.name, tools, where)
    for state in states:
        scenario = state["scenario"]
        title = domains.of(scenario).title(scenario)
        where = f"scenario {title!r}" if title else "a scenario without a title"
        if by_rules and _is_foreign(str(scenario.get("goal") or "")):
            raise SettingError(
                f"{where}: the rule-based user speaks English and Chinese, and this goal is in another language: "
                "give a model as the user (--user openai:NAME)"
            )
        for path, name in tools_in_success(scenario.get(KEY)) if tools else ():
            _check_tool(name, tools, f"{where}: {path}")
        for path, name in unscorable(scenario[KEY]) if KEY in scenario else ():
            if name == "judged":
                raise SettingError(f"{where}: {path}: names no model to judge: give it 'model'")
            if not has_state:
                raise SettingError(f"{where}: {path}: {NO_STATE}")


def _is_foreign(goal: str) -> bool:
    """Whether a goal is in a language other than English and Chinese; names such as Rio de Janeiro say nothing of that."""
    return written_language(goal) == "other" and written_language(_NAMES.sub("", goal)) == "other"


_NAMES = re.compile(r"[A-Z]\S*(?:\s+(?:\w{1,3}\s+)*[A-Z]\S*)+")


def _check_tool(name: str, tools: Collection[str], where: str) -> None:
    """SettingError for a misspelt tool; any other name is taken, since a node may call tools that it does not show."""
    if name not in tools and (like := get_close_matches(name, tools, 1, cutoff=0.85)):
        raise SettingError(f"{where}: the agent has no tool {name!r}: did you mean {like[0]!r}?")
