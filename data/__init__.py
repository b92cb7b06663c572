"""Conversations on paper: records, the data sets' formats, grounding, cleaning, checks. Pure functions."""

from . import chat, checks, cleaning, grounding, identity, recllmsim, record_lines, sentences, sharegpt, simquac
from .errors import DataError
from .kinds import kind_of
from .loading import Loaded, load
from .records import FAULTS, Attempt, Conversation, Exchange, Message, Role, Span, StopReason, Usage
from .tally import Tally, tally

__all__ = [
    "FAULTS",
    "Attempt",
    "Conversation",
    "DataError",
    "Exchange",
    "Loaded",
    "Message",
    "Role",
    "Span",
    "StopReason",
    "Tally",
    "Usage",
    "chat",
    "checks",
    "cleaning",
    "grounding",
    "identity",
    "kind_of",
    "load",
    "recllmsim",
    "record_lines",
    "sentences",
    "sharegpt",
    "simquac",
    "tally",
]
