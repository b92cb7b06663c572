"""How the nodes meet: the topology, the casts, the bridge from state to record, the drawing."""

from . import casts, profiles, recllmsim, simquac
from .cast import Cast, side
from .casts import CastFactory, CastSettings, CastSpec
from .compiled import ConversationGraph, conversation, fuse, mermaid
from .recording import record

__all__ = [
    "Cast",
    "CastFactory",
    "CastSettings",
    "CastSpec",
    "ConversationGraph",
    "casts",
    "conversation",
    "fuse",
    "mermaid",
    "profiles",
    "recllmsim",
    "record",
    "side",
    "simquac",
]
