"""How the nodes meet: the topology, the casts, the bridge from state to record, the drawing."""

from . import profiles, recllmsim, simquac
from .cast import Cast
from .compiled import ConversationGraph, conversation, fuse, mermaid
from .recording import record

__all__ = ["Cast", "ConversationGraph", "conversation", "fuse", "mermaid", "profiles", "recllmsim", "record", "simquac"]
