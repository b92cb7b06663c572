"""The conversation as a LangGraph graph: its topology, the casts by name, records of its states."""

from . import agent_test, casts, recllmsim, simquac
from .casts.cast import Cast
from .casts.registry import CastFactory, scenarios_of
from .graph import builder, conversation, world
from .records import begun, record

__all__ = [
    "Cast",
    "CastFactory",
    "agent_test",
    "begun",
    "builder",
    "casts",
    "conversation",
    "recllmsim",
    "record",
    "scenarios_of",
    "simquac",
    "world",
]
