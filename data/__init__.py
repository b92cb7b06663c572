"""Conversations on paper: records, the data sets' formats, grounding, cleaning, checks. Pure functions."""

from . import chat, checks, cleaning, grounding, identity, recllmsim, record_lines, sentences, sharegpt, simquac
from .errors import DataError
from .executed import ExecutedGraph, executed
from .kinds import kind_of
from .loading import Loaded, load
from .outline import Outline, coverage, outline
from .pairing import Pairing, paired
from .records import FAULTS, Attempt, Conversation, Edge, Exchange, Message, Role, Span, StopReason, Usage
from .tally import Tally, tally

__all__ = [
    "FAULTS",
    "Attempt",
    "Conversation",
    "DataError",
    "Edge",
    "Exchange",
    "ExecutedGraph",
    "Loaded",
    "Message",
    "Outline",
    "Pairing",
    "Role",
    "Span",
    "StopReason",
    "Tally",
    "Usage",
    "chat",
    "checks",
    "cleaning",
    "coverage",
    "executed",
    "grounding",
    "identity",
    "kind_of",
    "load",
    "outline",
    "paired",
    "recllmsim",
    "record_lines",
    "sentences",
    "sharegpt",
    "simquac",
    "tally",
]
