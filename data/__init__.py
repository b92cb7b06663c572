"""Records of conversations, formats of data sets, grounding, cleaning and checks, as pure functions."""

from ..errors import DataError
from . import checks, domains, grounding, identity, recllmsim, simquac
from .checks import check
from .domains import Dataset, Domain, Material, register_format
from .executed_graph import executed
from .files.json import read_text
from .formats import messages, record_lines
from .formats.source import Format, Source
from .loading import Loaded, frame, kind_of, load, save
from .people import paired
from .records import Attempt, Conversation, Label, Message, Part, Span, ToolCall, Usage
from .summaries import count, coverage, outline

__all__ = [
    "Attempt",
    "Conversation",
    "DataError",
    "Dataset",
    "Domain",
    "Format",
    "Label",
    "Loaded",
    "Material",
    "Message",
    "Part",
    "Source",
    "Span",
    "ToolCall",
    "Usage",
    "check",
    "checks",
    "count",
    "coverage",
    "domains",
    "executed",
    "frame",
    "grounding",
    "identity",
    "kind_of",
    "load",
    "messages",
    "outline",
    "paired",
    "read_text",
    "recllmsim",
    "record_lines",
    "register_format",
    "save",
    "simquac",
]
