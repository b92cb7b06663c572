"""Provenance of a simulated conversation: the cast's nodes, prompts and limits; edges, failure and timing."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from .attempts import Json, Record, Role, as_object
from .stop_reasons import Fault

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

    @classmethod
    def of(cls, node: str, flat: Mapping[str, Any]) -> "NodeInfo":
        """The description of a node of the graph, from its name and settings in one object."""
        settings = {key: value for key, value in flat.items() if key != "name"}
        name = str(flat.get("name", ""))
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
    model = settings.get("model")
    if isinstance(model, Mapping):
        parameters = as_object(model.get("arguments"))
        query_items = [(SHOWN, turns["turns_of"])] if isinstance(turns := settings.get(SHOWN), Mapping) else []
        if model.get("spec"):
            query_items = [*parameters.items(), *query_items]
        query = "&".join(f"{key}={value}" for key, value in query_items)
        called = str(model.get("spec") or parameters.get("model") or model.get("class") or name)
        return f"{called}?{query}" if query else called
    if "replays" in settings:
        return f"replay:{settings['replays']}"
    if "turns_of" in settings:
        options = as_object(settings.get("options")).items()
        query = "&".join(f"{key}={'true' if value is True else value}" for key, value in options)
        return f"people:{settings['turns_of']}{query and '?' + query}"
    if isinstance(otherwise := settings.get("otherwise"), Mapping):
        return f"written drafts, then {_label(str(otherwise.get('name', '')), otherwise)}"
    if isinstance(function := settings.get("function"), Mapping):
        return str(function.get("name") or name)
    if "agent" in settings:
        return str(settings.get("object") or settings["agent"])  # every compiled graph is called LangGraph by default
    return name


class Fork(Record):
    """The conversation that another one takes up, and at which message."""

    id: str
    """Id of the conversation that is taken up."""
    at: int
    """Number of the last message that was kept, from 0, as pages print it; -1 if none was."""
    source: str = ""
    """Name of the file or folder that holds it; empty if it was given as an object."""
    edited: bool = False
    """Whether that message has a text of its own here."""
    answers_only: bool = False
    """Whether it is a replay that left its record there: the assistant was asked at each message before."""
    notes: tuple[str, ...] = ()
    """What the record lacks of the state at that message, a line each."""

    @property
    def prefix_length(self) -> int:
        """Number of messages that were kept and cost nothing; 0 for a replay, in which the assistant was asked."""
        return 0 if self.answers_only else self.at + 1


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
    """`assistant` if the agent's own code crashed, or it answered nothing at all its attempts; `user` if a user of one's
    own did. `infrastructure` if an endpoint is away that one's own code called. None for a model's endpoint
    and another node."""
    frames: tuple[str, ...] = ()
    """The last places in one's own code that the error passed, the innermost last, such as `shop/tools.py:12 in book`.
    """


class Edge(Record):
    """An edge of the graph, and how often the conversation took it."""

    source: str
    """The node that it leaves, or `__start__`."""
    target: str
    """The node that it leads to, or `__end__`."""
    label: str = ""
    """The answer of the node that it leaves, where there are several ways."""
    count: int = 0


class NodeTiming(Record):
    """How often a node ran, and its seconds in total."""

    runs: int = 0
    seconds: float = 0.0


class Timing(Record):
    """All clock times of a conversation.

    Nothing else in a record depends on the clock.
    """

    started: str | None = None
    """When the conversation began, in UTC."""
    seconds: float | None = None
    """Duration of the conversation in seconds."""
    nodes: dict[str, NodeTiming] = Field(default_factory=dict)
    """Runs and seconds by node of the graph."""
