"""Records of conversations, the formats of data sets, grounding, cleaning and checks. Pure functions."""

from ..errors import DataError
from . import checks, domains, grounding, identity, recllmsim, simquac
from .counts import Counts, count
from .domain import Dataset, Domain, Material
from .executed_graph import ExecutedGraph, executed
from .formats import messages, record_lines, sharegpt
from .formats.detection import Format
from .forms import Form
from .loading import Loaded, kind_of, load
from .outlines import Outline, coverage, outline
from .pairing import Pairing, paired
from .records import (
    FAULTS,
    Attempt,
    Conversation,
    Edge,
    Exchange,
    Message,
    Part,
    Role,
    Span,
    StopReason,
    ToolCall,
    Usage,
)
from .text import cleaning, sentences

__all__ = [
    "FAULTS",
    "Attempt",
    "Conversation",
    "Counts",
    "DataError",
    "Dataset",
    "Domain",
    "Edge",
    "Exchange",
    "ExecutedGraph",
    "Form",
    "Format",
    "Loaded",
    "Material",
    "Message",
    "Outline",
    "Pairing",
    "Part",
    "Role",
    "Span",
    "StopReason",
    "ToolCall",
    "Usage",
    "checks",
    "cleaning",
    "count",
    "coverage",
    "domains",
    "executed",
    "grounding",
    "identity",
    "kind_of",
    "load",
    "messages",
    "outline",
    "paired",
    "recllmsim",
    "record_lines",
    "sentences",
    "sharegpt",
    "simquac",
]
