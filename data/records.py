"""Frozen records of conversations, the same for simulated, published and human ones.

In this order: JSON values, labels, drafts, stop reasons, provenance, messages and conversations.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias, TypeGuard

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, PlainSerializer

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks. In SimQuAC the student is the user, the teacher the assistant."""

Json: TypeAlias = dict[str, JsonValue]


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a JSON value is an object: keys with values."""
    return isinstance(value, Mapping)


def as_object(value: object) -> Mapping[str, Any]:
    """The JSON value if it is an object; else one without keys."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """The JSON value if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def inside(value: Any) -> Iterator[Any]:
    """A JSON value, and every value inside its objects and lists, from the outside in."""
    yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from inside(inner)


class Record(BaseModel):
    """A frozen record that rejects unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def plain(self) -> dict[str, Any]:
        """Plain JSON values; fields that have their default value are left out."""
        return self.model_dump(mode="python", exclude_defaults=True)


HUMAN = "_human"
"""What the name of a label by people has that the model's has not: `style_human`."""
SCORES = "scores"
"""Name of the label that scorers give: by name a score with its value and reason, or its error."""


class Label(Record):
    """What is said of a conversation or of a message, in the one form that all sources are read into."""

    value: JsonValue = None
    """A word, a number, yes or no, a list of these, or an object with a value for each part. None where votes tie."""
    votes: tuple[JsonValue, ...] = ()
    """The votes in order, None for one without a usable value; empty where only the value is known."""
    by: tuple[str, ...] = ()
    """Who gave it, or each vote: `people`, `scorer`, a model, a function. Empty where the source does not tell."""


def labels_from(plain: Mapping[str, Any]) -> dict[str, Label]:
    """Labels by name from plain JSON: each has the fields of a `Label`, or is a value alone. ValueError for no object."""
    if not is_object(plain):
        raise ValueError("labels are an object with a label by name")
    return {name: _as_label(str(name), one) for name, one in plain.items()}


def value_of(labels: Mapping[str, Label], name: str) -> Any:
    """The value of a label; None without one."""
    return labels[name].value if name in labels else None


def bare(labels: Mapping[str, Label]) -> Json:
    """Plain JSON that `labels_from` reads: a value alone where there is no more to say."""
    every = _in_full(labels)
    return {name: one.value if _as_label(name, one.value) == one else every[name] for name, one in labels.items()}


def _in_full(labels: Mapping[str, Label]) -> dict[str, Any]:
    return {name: {"value": one.value, "votes": [*one.votes], "by": [*one.by]} for name, one in labels.items()}


def _as_label(name: str, plain: Any) -> Label:
    if isinstance(plain, Label) or (isinstance(plain, dict) and plain.keys() == {"value", "votes", "by"}):
        return Label.model_validate(plain)
    return Label(value=plain, by=("people",) if HUMAN in name else ("scorer",) if name == SCORES else ())


Labels: TypeAlias = Annotated[
    dict[str, Label],
    BeforeValidator(labels_from),
    PlainSerializer(_in_full),
]
"""Labels by name; always written with all their fields, so that all records have the same keys."""


class Span(Record):
    """A piece of the section that an answer is made of."""

    text: str
    """The slice of the section. In published data its upper and lower case sometimes differs from the section's."""
    start: int
    """Offset of the first character in the section, in Python characters."""

    @property
    def end(self) -> int:
        """Offset behind the last character."""
        return self.start + len(self.text)


class Usage(Record):
    """Tokens of one or more calls, as the endpoint counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that the endpoint had in its cache; a part of `input_tokens`."""
    reasoning_tokens: int = 0
    """Output tokens that were reasoning; a part of `output_tokens`."""
    calls: int = 1
    """Number of calls, including calls whose endpoint reported no tokens."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})

    @property
    def tokens(self) -> int:
        """Input and output; cached and reasoning tokens are parts of these."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def none(cls) -> "Usage":
        """The usage of no calls."""
        return cls(calls=0)


class PromptRecord(Record):
    """The instruction that a prompt selector chose for a speaker: it is sent, but never stored as a message."""

    name: str
    """Name of the prompt page, such as `user/guide_other`."""
    digest: str = ""
    """Digest of the page's source."""
    text: str = ""
    """The page as it was sent, with its gaps filled."""
    quote: str = ""
    """Words that the instruction refers to; they are sent after it as data."""


PartType: TypeAlias = Literal["image", "audio", "video", "file", "other"]
"""What a part of a message is. `other`: content of a kind that is not known here."""


class Part(Record):
    """A note of content of a message that is not text: an image, a recording, a file. The content itself is not kept."""

    type: PartType
    name: str | None = None
    """Name of the file, or under which a provider holds it; for content of another kind the name of the kind."""
    mime_type: str | None = None
    url: str | None = None
    """An address, or a path relative to the file that it was read from."""
    text: str | None = None
    """The words in it: a recording's transcript, a file's text."""
    size: int | None = None
    """Bytes of the content, where the source held it."""


INTERRUPT = "interrupt"
"""Name of the call that records an approval: the tool that was approved stands beside it."""
WAITING = "it waits for the answer to the agent's question"
"""Error of a call whose tool, or what comes before it, has asked the user."""


class ToolCall(Record):
    """A tool that a speaker called, and its result."""

    name: str
    arguments: Json = Field(default_factory=dict)
    result: JsonValue = None
    """What the tool returned. Text that is a JSON object or list is stored as its value."""
    error: str | None = None
    """Why there is no result: the tool's error, a malformed call, or that no result came. None if there is a result."""
    parts: tuple[Part, ...] = ()
    """What the tool returned besides text and JSON, such as images."""

    @property
    def waits(self) -> bool:
        """Whether it waits for the user's answer; it stands again, with its result, in the reply to that."""
        return self.error == WAITING

    @property
    def failed(self) -> str:
        """Why the tool failed, also where what it returned is an error in words; empty if it did not."""
        if self.error is not None:
            return self.error or "an error"
        if isinstance(self.result, str):
            return self.result if re.match(r"\s*(?:error|failed)\b", self.result, re.IGNORECASE) else ""
        returned = as_object(self.result)
        found = next((str(one) for key in ("error", "errors", "exception") if (one := returned.get(key))), "")
        return found or ("an error" if returned.get("status") == "error" else "")


class Step(Record):
    """A step of an agent's turn: a node of its graph, or a message of an agent without one."""

    node: str = ""
    """Name of the node, or of who wrote the message."""
    path: tuple[str, ...] = ()
    """The sub-agents in which it is, the outermost first."""
    text: str = ""
    """What it said, where that is not the draft's text."""
    calls: tuple[int, ...] = ()
    """The tool calls that it asked for, by their numbers among the draft's."""
    results: tuple[int, ...] = ()
    """The tool calls whose results it gave."""
    model: str | None = None
    usage: Usage | None = None
    """Tokens of its model; the draft's usage is the sum of all steps."""
    seconds: float | None = None
    error: str | None = None
    """Why it failed."""


VerdictWord: TypeAlias = Literal["accepted", "rejected", "observed", "unjudged"]
"""`observed`: a draft that was sent although the validator rejected it. `unjudged`: no validator judged it."""
WORDLESS = frozenset({"empty", "only_tool_calls"})
"""Why a reply without words is not sent."""


class Attempt(Record):
    """One draft of a message; rejected drafts are stored together with the accepted one."""

    number: int = 1
    """Number of the call within the turn, from 1. If one call sent several messages, their drafts share it."""
    text: str
    """The cleaned text, which the validator read."""
    raw: str | None = None
    """The model's text before cleaning; None if cleaning changed nothing."""
    cleaned: tuple[str, ...] = ()
    """What cleaning removed: `reasoning`, `label`, `quotes`."""
    verdict: VerdictWord
    reason: str | None = None
    """Why it was, or would have been, rejected."""
    notes: tuple[str, ...] = ()
    """Observations of the validator that are counted but do not reject the draft."""
    judging: Usage | None = None
    """Tokens of the calls of models that judged it; None if no model did."""
    explanation: str | None = None
    """The explanation that these models gave."""
    measured: Json = Field(default_factory=dict)
    """What the validator measured of it, by name."""
    prompt: PromptRecord | None = None
    usage: Usage | None = None
    """Tokens of the call. If one call sent several messages, only the first has it."""
    seconds: float | None = None
    """Time of the call; likewise."""
    finish_reason: str | None = None
    """Why the model stopped writing, as the endpoint reports it: `stop`, `length`, ..."""
    flaw: str | None = None
    """What is wrong with the reply as it came, such as `refusal` or `cut_off`; None if nothing."""
    retried: dict[str, int] = Field(default_factory=dict)
    """How often the call was made again before this reply came, by the endpoint's fault, such as `rate_limited`."""
    shared: bool = False
    """Whether another version of the conversation, which was sent the same, got this reply and paid for it."""
    model: str | None = None
    """Name of the model that answered; it may be more exact than the name that was requested."""
    reasoning: str | None = None
    """The endpoint's reasoning text. It is kept, but is not part of the message and is never sent on."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that were called for this draft, in order."""
    steps: tuple[Step, ...] = ()
    """The steps of an agent's turn in order; none where a single one said it all."""
    parts: tuple[Part, ...] = ()
    """Images, recordings and files of a draft that was not sent. Those of a message are only in the message."""
    kept: Json = Field(default_factory=dict)
    """The channels of an agent's state after the call that are plain JSON."""

    @property
    def spent(self) -> Usage:
        """The usage of its call and of judging it."""
        return (self.usage or Usage.none()) + (self.judging or Usage.none())

    @property
    def rule_based(self) -> bool:
        """Whether the rule-based speaker `offline` wrote it, whose tokens cost nothing."""
        return self.model == "offline"

    @property
    def as_it_came(self) -> str:
        """The text before cleaning."""
        return self.text if self.raw is None else self.raw

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"Attempt({self.number}, {self.verdict}{why}: {begin(self.text)!r})"


def begin(text: str, most: int = 60) -> str:
    """The begin of a text on one line, for a `repr`: a notebook shows it unasked."""
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


Fault: TypeAlias = Literal["none", "user", "assistant", "infrastructure"]

_TABLE: Mapping[str, tuple[Fault, str]] = {
    "max_turns": ("none", "the maximum number of turns was reached"),
    "user_ended": ("none", "the user ended it"),
    "user_gave_up": ("none", "the user gave up"),
    "user_rejected": ("user", "no message of the user was accepted"),
    "assistant_rejected": ("assistant", "no reply of the assistant was accepted"),
    "user_timeout": ("user", "a turn of the user's agent took too long"),
    "agent_interrupted": ("assistant", "the agent stopped for a person"),
    "agent_timeout": ("assistant", "a turn of the agent took too long"),
    "agent_limit": ("assistant", "a limit of the agent's own ended its turn"),
    "model_failed": ("infrastructure", "a model or a node failed"),
    "budget": ("none", "a bound of tokens, cost or time was reached"),
    "cancelled": ("none", "it was cancelled"),
}

FAULTS: Mapping[str, Fault] = {reason: fault for reason, (fault, _) in _TABLE.items()}
"""Whose fault each stop reason is. A conversation without a fault can be studied as it is."""

UNTOLD = "why it ended is not recorded"

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
"""Pattern of the name of a cast and of its own stop reasons."""

_OF_ITSELF = frozenset(FAULTS) - {"model_failed", "budget", "cancelled"}


def is_own(reason: str) -> bool:
    """Whether the reason has the form of a cast's own: `cast:reason`."""
    cast, colon, name = reason.partition(":")
    return bool(colon and NAME_PATTERN.fullmatch(cast) and NAME_PATTERN.fullmatch(name))


def stop_in_words(reason: str | None) -> str:
    """Why a conversation ended, in plain words.

    >>> stop_in_words("hotel:transferred")
    'it ended as transferred (hotel)'
    """
    if reason is None or reason == "not told":
        return UNTOLD
    if reason in FAULTS:
        return _TABLE[reason][1]
    cast, _, name = reason.rpartition(":")
    return f"it ended as {name.replace('_', ' ')} ({cast})" if cast else reason.replace("_", " ")


def ended_by_itself(reason: str | None, fault: Fault | None) -> bool:
    """Whether the stop had no outside cause; a cast's own reason has none unless its fault is `infrastructure`."""
    return reason in _OF_ITSELF if reason is None or reason in FAULTS else fault != "infrastructure"


def _checked(reason: str) -> str:
    if reason not in FAULTS and not is_own(reason):
        raise ValueError(f"should be {', '.join(FAULTS)}, or a cast's own reason such as hotel:transferred")
    return reason


StopReason: TypeAlias = Annotated[str, AfterValidator(_checked)]
"""Why a conversation ended: one of `FAULTS`, or a reason that a cast declares, written `cast:reason`."""


SIDES: Mapping[str, Role] = {
    "user_prompt_selector": "user",
    "user_simulator": "user",
    "question_validator": "user",
    "assistant_prompt_selector": "assistant",
    "assistant": "assistant",
    "answer_validator": "assistant",
}
"""The side that a node of the graph works for. Nodes that are not listed belong to neither side."""

TURN_TIMEOUT = 600.0
"""Seconds that a turn of an agent may take by default."""

SHOWN = "like"
"""Settings of a speaker whose model is shown turns of people."""


class NodeInfo(Record):
    """The object that plays a node of the graph."""

    role: Role | None = None
    """The side that the node works for; None for neither."""
    name: str
    """Name of its class or function."""
    label: str
    """What to print: the model with its arguments, the replayed file, the agent, the function, or the name."""
    settings: Json = Field(default_factory=dict)
    after: str = ""
    """Of a further node the one of the graph after which it stands."""

    @classmethod
    def of(cls, node: str, flat: Mapping[str, Any]) -> "NodeInfo":
        """The description of a node of the graph, from its name and settings in one object."""
        settings = dict(flat)
        name = str(settings.pop("name", ""))
        return cls(role=SIDES.get(node), name=name, label=_label(name, settings), settings=settings)

    def flat(self) -> dict[str, Any]:
        """Name and settings in one object, as in a run's manifest."""
        return {"name": self.name, **self.settings}

    @property
    def replays(self) -> str | None:
        """The file whose messages it replays; None if it does not replay."""
        return str(self.settings["replays"]) if "replays" in self.settings else None

    @property
    def people(self) -> str | None:
        """The source from whose conversations it draws its messages; None for any other."""
        return str(self.settings["turns_of"]) if "turns_of" in self.settings else None

    @property
    def shown(self) -> Mapping[str, Any] | None:
        """The settings of the people's turns that its model is shown; None without any."""
        return turns if isinstance(turns := self.settings.get(SHOWN), Mapping) else None

    @property
    def stored(self) -> bool:
        """Whether its messages were written before, so that it calls nothing: it replays, or draws from a source."""
        return self.replays is not None or self.people is not None


def _label(name: str, settings: Mapping[str, Any]) -> str:
    shown, model = settings.get(SHOWN), settings.get("model")
    if is_object(model):
        arguments = as_object(model.get("arguments"))
        query = {key: str(value) for key, value in arguments.items()} if model.get("spec") else {}
        query |= {SHOWN: shown["turns_of"]} if is_object(shown) else {}
        called = str(model.get("spec") or arguments.get("model") or model.get("class") or name)
        return _with_query(called, query)
    if "replays" in settings:
        return f"replay:{settings['replays']}"
    if "turns_of" in settings:
        return _with_query(f"people:{settings['turns_of']}", as_object(settings.get("options")))
    if is_object(otherwise := settings.get("otherwise")):
        return f"written drafts, then {_label(str(otherwise.get('name', '')), otherwise)}"
    if is_object(function := settings.get("function")):
        return str(function.get("name") or name)
    if "agent" in settings:
        return str(settings.get("object") or settings["agent"])  # every compiled graph is called LangGraph by default
    return name


def _with_query(name: str, options: Mapping[str, Any]) -> str:
    query = "&".join(f"{key}={'true' if value is True else value}" for key, value in options.items())
    return f"{name}?{query}" if query else name


class Fork(Record):
    """The conversation that another one takes up, and at which message."""

    id: str
    """Id of the conversation that is taken up."""
    at: int
    """Number of the last message that was kept, from 0, as pages print it; -1 if none was."""
    source: str = ""
    """Name of the file or folder that holds it; empty if it was given as an object."""
    answers_only: bool = False
    """Whether it is a replay that left its record there: the assistant was asked at each message before."""
    notes: tuple[str, ...] = ()
    """What the record lacks of the state at that message, a line each."""


class Provenance(Record):
    """Everything needed to simulate a conversation again."""

    cast: str
    nodes: dict[str, NodeInfo] = Field(default_factory=dict)
    """The nodes of the graph by name, and the stop criterion under `stop`."""
    words: dict[str, str] = Field(default_factory=dict)
    """Fixed texts of the cast: its `greeting`, and the `fallback` after the assistant's last attempt failed."""
    stop_reasons: dict[str, Fault] = Field(default_factory=dict)
    """The cast's own stop reasons, `cast:reason`, each with its fault."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Digest of every page of the prompt library, by name."""
    limits: Json = Field(default_factory=dict)
    """The limits of the run, the seed among them."""
    data: str = ""
    """Digest of the scenario."""
    begun: str = ""
    """Digest of the messages that the conversation began with; empty if there were none."""
    forks: Fork | None = None
    """What it forks and where."""
    version: str = ""
    """Version of the package that simulated it."""


class Failure(Record):
    """The error that stopped a conversation."""

    node: str
    """The node in which it was raised, such as `assistant`."""
    error: str
    """The error's class and message, without secrets."""
    fault: Fault | None = None
    """The side whose own code crashed or answered nothing at all; `infrastructure` if an endpoint is away that it called.
    None for a model's endpoint and another node."""
    frames: tuple[str, ...] = ()
    """The last places in one's own code that it passed, the innermost last, such as `shop/tools.py:12 in book`."""
    silent: bool = False
    """Whether the side answered nothing at all its attempts."""


class Broken(Record):
    """A condition of a success that a conversation broke, as its scorer found it."""

    kind: str
    """What was found, such as `not_called` or `state`; `analysis.faults` has the words of each."""
    tool: str = ""
    side: str = ""
    """Who wrote, or did not write, a text."""
    path: str = ""
    """Where a state or an argument differs."""
    expected: str = ""
    """The expected value as JSON, perhaps shortened, or its kind in words."""
    got: str = ""


class Timing(Record):
    """The clock times of a whole conversation; besides attempts and agents' steps nothing else depends on the clock."""

    started: str | None = None
    """When the conversation began, in UTC."""
    seconds: float | None = None
    """Duration of the conversation in seconds."""


SCHEMA: Literal[3] = 3
"""Version of the record's JSON form; another one is an error."""


class Message(Record):
    """A message of one side."""

    role: Role
    text: str
    spans: tuple[Span, ...] = ()
    """The pieces of the section that the text consists of, in order. Empty for a refusal or ungrounded text."""
    attempts: tuple[Attempt, ...] = ()
    """Every draft, the accepted one last. Empty for published messages."""
    name: str | None = None
    """Of a third one, such as a moderator, its name; its role is `user`, as it is neither side's own message."""
    stored: bool = True
    """False for a message that is recorded but is not part of the published history, such as a user's goodbye."""
    parts: tuple[Part, ...] = ()
    """Images, recordings, files and other content beside the text."""
    labels: Labels = Field(default_factory=dict)
    """Annotations of the message."""
    extra: Json = Field(default_factory=dict)
    """Further content of the source: unknown keys, and values that our writer would write differently."""

    @property
    def prompt(self) -> PromptRecord | None:
        """The prompt of the accepted draft; None if no draft was accepted."""
        return None if self._standing is None else self._standing.prompt

    @property
    def usage(self) -> Usage:
        """The total usage of all drafts, judging them included."""
        return sum((attempt.spent for attempt in self.attempts), Usage.none())

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the accepted draft; rejected drafts have their own."""
        return () if self._standing is None else self._standing.tool_calls

    @property
    def kept(self) -> Json:
        """The kept channels of the accepted draft's agent; empty without any."""
        return {} if self._standing is None else self._standing.kept

    @property
    def _standing(self) -> Attempt | None:
        """The accepted or observed draft; None if there is none, or if the text is the cast's fallback."""
        last = self.attempts[-1] if self.attempts else None
        return None if last is None or last.verdict == "rejected" else last

    @property
    def rejected(self) -> tuple[Attempt, ...]:
        """The rejected drafts."""
        return tuple(attempt for attempt in self.attempts if attempt.verdict == "rejected")

    @property
    def fallback(self) -> bool:
        """Whether all drafts were rejected and the text is the cast's fallback."""
        return bool(self.attempts) and all(attempt.verdict == "rejected" for attempt in self.attempts)

    @property
    def sent_although_rejected(self) -> bool:
        """Whether the validator rejected the draft that was sent: after the last attempt, or because it only observes."""
        return self._standing is not None and self._standing.verdict == "observed"

    def __repr__(self) -> str:
        drafts = f", {len(self.attempts)} drafts" if len(self.attempts) > 1 else ""
        return f"Message({self.role}: {begin(self.text)!r}{drafts})"


class Unsaid(Record):
    """Drafts of a turn without a message: all attempts rejected, the model failed, or the run was cut short."""

    role: Role
    after: int
    """Number of messages before this turn."""
    attempts: tuple[Attempt, ...]


class Exchange(NamedTuple):
    """The user's messages of one turn and the assistant's reply; either may be empty. It is derived, never stored."""

    user: tuple[Message, ...]
    assistant: tuple[Message, ...]


class Conversation(Record):
    """A sequence of messages about a scenario, with the record of how it was made.

    Example::

        >>> import duologue
        >>> from duologue.data import Message
        >>> messages = (Message(role="user", text="Hello?"), Message(role="assistant", text="Yes."))
        >>> conversation = duologue.Conversation(id="1", scenario={"kind": "call"}, messages=messages)
        >>> [message.text for message in conversation.messages]
        ['Hello?', 'Yes.']
    """

    schema_version: Literal[3] = SCHEMA
    id: str
    scenario: Json
    """What it is about. Its `kind`, such as `simquac`, determines the other keys."""
    ordinal: int = 0
    """Number among equal scenarios of the same source, from 0."""
    repeat: int = 0
    """Number of the simulation of the same scenario, from 0."""
    version: str = ""
    """Of the agent; empty for the one that a run is about. A conversation with another version has the same id."""
    messages: tuple[Message, ...] = ()
    unsaid: tuple[Unsaid, ...] = ()
    stop: StopReason | None = None
    """Why it ended; None if it goes on or the source has no reason. A cast's own reason is written `cast:reason`."""
    stopped_at: str = ""
    """The node of the graph from which it went to its end; empty if it was cut short, or a failure stopped it."""
    failure: Failure | None = None
    provenance: Provenance | None = None
    """None for published conversations."""
    timing: Timing = Field(default_factory=Timing)
    memory: dict[Role, Json] = Field(default_factory=dict[Role, Json])
    """The private memory of each side, if the cast records it."""
    labels: Labels = Field(default_factory=dict)
    closing_usage: Usage | None = None
    """Tokens of calls after the last message, by the closing node: judges of scores, questions to the speakers."""
    extra: Json = Field(default_factory=dict)

    @property
    def fault(self) -> Fault | None:
        """Whose fault the stop is; None without a stop or with an unknown cause."""
        if self.stop is None or self.stop in FAULTS:
            return FAULTS.get(self.stop or "")
        return self.provenance.stop_reasons.get(self.stop) if self.provenance is not None else None

    @property
    def scores(self) -> Mapping[str, Any]:
        """By name what scorers gave: the `value` of each with its `reason`, or its `error`."""
        return as_object(value_of(self.labels, SCORES))

    @property
    def ending_failure(self) -> Failure | None:
        """The failure that ended it; None if it had ended before, and only its world could not be torn down."""
        after = self.failure is not None and self.failure.node == "world" and self.stop not in (None, "model_failed")
        return None if after else self.failure

    @property
    def ended_by_itself(self) -> bool:
        """Whether it ended, and not because of an outside cause such as a failed model or a budget."""
        return ended_by_itself(self.stop, self.fault)

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to simulate; a run that goes on repeats conversations that are not finished."""
        return self.stop == "budget" or self.ended_by_itself

    @property
    def cut_by_run(self) -> bool:
        """Whether a bound of its whole run ended it."""
        return self.stop == "budget"

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """A new turn begins where a user's message follows one of the assistant; third ones' messages are in none."""
        groups: list[tuple[list[Message], list[Message]]] = []
        for message in (message for message in self.messages if message.name is None):
            if not groups or (message.role == "user" and groups[-1][1]):
                groups.append(([], []))
            groups[-1][0 if message.role == "user" else 1].append(message)
        return tuple(Exchange(user=tuple(user), assistant=tuple(assistant)) for user, assistant in groups)

    @property
    def usage(self) -> Usage:
        """The total usage of all calls: judges, rejected drafts, turns without a message and what closes it included.

        Of a fork without the messages that it kept: they were paid for in the conversation that it forks.
        """
        of_messages = (message.usage for message in self.new_messages)
        of_unsaid = (attempt.spent for turn in self.unsaid for attempt in turn.attempts)
        return sum(of_unsaid, sum(of_messages, self.closing_usage or Usage.none()))

    @property
    def forks(self) -> Fork | None:
        """The conversation that it forks, and where; None if it begins by itself."""
        return self.provenance.forks if self.provenance is not None else None

    @property
    def new_messages(self) -> tuple[Message, ...]:
        """The messages that were said in it: of a fork those after the messages that it kept and that cost nothing."""
        if self.forks is None or self.forks.answers_only:  # in a replay the assistant was asked at each message
            return self.messages
        return self.messages[self.forks.at + 1 :]

    def attempts(self, role: Role | None = None, *, new_only: bool = False) -> Iterator[Attempt]:
        """Every draft: first the drafts of the messages, then those of turns without a message.

        `new_only`: without the messages that a fork kept.
        """
        for message in self.new_messages if new_only else self.messages:
            if role in (None, message.role):
                yield from message.attempts
        for turn in self.unsaid:
            if role in (None, turn.role):
                yield from turn.attempts

    def seconds(self, role: Role) -> float | None:
        """Time of the calls of a side, of a fork without those for the messages that it kept; None if none is known."""
        known = [draft.seconds for draft in self.attempts(role, new_only=True) if draft.seconds is not None]
        return sum(known) if known else None

    def without_timing(self) -> Self:
        """The conversation without clock times, those of attempts and steps among them: with equal seeds these are equal."""

        def timeless(turns: Iterable[Any]) -> tuple[Any, ...]:
            return tuple(turn.model_copy(update={"attempts": tuple(map(untimed, turn.attempts))}) for turn in turns)

        def untimed(attempt: Attempt) -> Attempt:
            steps = tuple(step.model_copy(update={"seconds": None}) for step in attempt.steps)
            return attempt.model_copy(update={"steps": steps, "seconds": None})

        said = {"messages": timeless(self.messages), "unsaid": timeless(self.unsaid)}
        return self.model_copy(update={"timing": Timing(), **said})

    def __str__(self) -> str:
        """The dialogue as text, one line for each message."""
        return "\n".join(f"{message.name or message.role}: {message.text}" for message in self.messages)

    def __repr__(self) -> str:
        drafts = sum(attempt.verdict == "rejected" for attempt in self.attempts())
        counts = [(len(self.messages), "message"), *([(drafts, "rejected draft")] if drafts else [])]
        counted = [f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts]
        return f"Conversation({', '.join([self.id, *counted, *([self.stop] if self.stop else [])])})"

    def plain(self) -> dict[str, Any]:
        """Plain JSON values with every key of the schema, so that all lines have the same keys."""
        return self.model_dump(mode="python")
