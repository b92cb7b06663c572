"""The conversation as a LangGraph graph: its topology, the casts by name, records of its states, drawings of it."""

from . import agent_test, casts, label_graph, profiles, recllmsim, simquac
from .casts.cast import Cast
from .casts.registry import CastFactory, CastSpec, scenarios_of
from .casts.settings import CastSettings
from .casts.sides import side
from .conversations.compiled import ConversationGraph, conversation, fuse
from .conversations.recording import record
from .serving.served_graph import ServedGraph, served

__all__ = [
    "Cast",
    "CastFactory",
    "CastSettings",
    "CastSpec",
    "ConversationGraph",
    "ServedGraph",
    "agent_test",
    "casts",
    "conversation",
    "fuse",
    "label_graph",
    "profiles",
    "recllmsim",
    "record",
    "scenarios_of",
    "served",
    "side",
    "simquac",
]
