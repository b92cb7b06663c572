"""The teacher-student data sets: SimQuAC, QuAC in its own layout, and the published teacher topics."""

from . import released
from .dataset import misplaced, to_object, write
from .domain import DOMAIN
from .sources import read, read_topics, samples
from .topics import KIND, MAX_BYTES, Topic

__all__ = [
    "DOMAIN",
    "KIND",
    "MAX_BYTES",
    "Topic",
    "misplaced",
    "read",
    "read_topics",
    "released",
    "samples",
    "to_object",
    "write",
]
