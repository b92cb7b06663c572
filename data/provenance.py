"""Where a simulated conversation comes from: who took part, which ways it went, how long it took."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import Field

from .attempts import Json, Record, Role
from .stop_reasons import Fault

Way: TypeAlias = Literal["", "accepted", "regenerate", "continue", "stop"]
"""What leads along an edge of the graph; empty where there is only one way."""

SIDES: Mapping[str, Role] = {
    "user_prompt_selector": "user",
    "user_simulator": "user",
    "question_validator": "user",
    "assistant_prompt_selector": "assistant",
    "assistant": "assistant",
    "answer_validator": "assistant",
}
"""Whose trio a place of the graph belongs to; the others belong to nobody's."""


class NodeInfo(Record):
    """What stands at a place of the graph."""

    role: Role | None = None
    """Whose trio it belongs to."""
    name: str
    """Its class, or the function that it is."""
    label: str
    """What to print for it: the model with its arguments, the replayed file, the agent, the function, or its name."""
    settings: Json = Field(default_factory=dict)

    @classmethod
    def of(cls, place: str, flat: Mapping[str, Any]) -> "NodeInfo":
        """What stands at a place, from its name and settings in one object."""
        settings = {key: value for key, value in flat.items() if key != "name"}
        name = str(flat.get("name", ""))
        return cls(role=SIDES.get(place), name=name, label=_label(name, settings), settings=settings)

    def flat(self) -> dict[str, Any]:
        """Name and settings in one object, as a run's manifest has it."""
        return {"name": self.name, **self.settings}

    @property
    def replays(self) -> str | None:
        """The file that it plays, if it plays stored messages."""
        return str(self.settings["replays"]) if "replays" in self.settings else None


def _label(name: str, settings: Mapping[str, Any]) -> str:
    model = settings.get("model")
    if isinstance(model, Mapping):
        arguments = model.get("arguments")
        known: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
        if not model.get("spec"):
            return str(known.get("model") or model.get("class") or name)
        query = "&".join(f"{key}={value}" for key, value in known.items())
        return f"{model['spec']}?{query}" if query else str(model["spec"])
    if "replays" in settings:
        return f"replay:{settings['replays']}"
    function = settings.get("function")
    if isinstance(function, Mapping):
        return str(function.get("name") or name)
    return str(settings.get("agent") or name)


class Provenance(Record):
    """Where a simulated conversation comes from: enough to make it again."""

    cast: str
    nodes: dict[str, NodeInfo] = Field(default_factory=dict)
    """What stands at each place of the graph, and the stop criterion under `stop`."""
    words: dict[str, str] = Field(default_factory=dict)
    """What the cast itself says: its `greeting`, and the `fallback` for an assistant that does not manage."""
    stop_reasons: dict[str, Fault] = Field(default_factory=dict)
    """The cast's own stop reasons, `cast:reason`, each with its fault."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Digest of every page of the prompt library, by name."""
    limits: Json = Field(default_factory=dict)
    """The limits of the run, the seed among them."""
    data: str = ""
    """Digest of the scenario."""
    begun: str = ""
    """Digest of the messages that the conversation began with, where there were some."""
    version: str = ""
    """Version of the package that simulated."""


class Failure(Record):
    """What stopped a conversation from outside."""

    node: str
    """The node in which it happened, such as `assistant`."""
    error: str
    """The error's class and message, without secrets."""


class Edge(Record):
    """A way from one node of the graph to the next, and how often the conversation went it."""

    source: str
    """The node that it leaves: a place of the graph, or `__start__`."""
    target: str
    """The node that it leads to: a place of the graph, or `__end__`."""
    label: Way = ""
    count: int = 0


class NodeTiming(Record):
    """How often a node ran, and how long in all."""

    runs: int = 0
    seconds: float = 0.0


class Timing(Record):
    """Every time there is. Nothing else in a record depends on the clock."""

    started: str | None = None
    """When the conversation began, in UTC."""
    seconds: float | None = None
    """How long it took in all, in seconds."""
    nodes: dict[str, NodeTiming] = Field(default_factory=dict)
    """By place of the graph."""


def upgraded(value: Mapping[str, Any]) -> dict[str, Any]:
    """A record's JSON form of schema 1 as one of schema 2."""
    made = {**value, "schema_version": 2}
    origin = value.get("provenance")
    if isinstance(origin, Mapping) and isinstance(origin.get("nodes"), Mapping):
        nodes = origin["nodes"]
        infos = {place: NodeInfo.of(place, flat) for place, flat in nodes.items() if isinstance(flat, Mapping)}
        words = {name: text for name, text in nodes.items() if not isinstance(text, Mapping)}
        made["provenance"] = {**origin, "nodes": infos, "words": words}
    return made
