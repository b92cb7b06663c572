"""The teacher-student data sets: SimQuAC, QuAC in its own layout, and the published teacher topics."""

from . import released
from .dataset import misplaced, to_object, write
from .domain import DOMAIN
from .reference_answers import by_people, references
from .sources import read, read_topics, samples, topics_of
from .topics import KIND, MAX_BYTES, Topic

__all__ = [
    "DOMAIN",
    "KIND",
    "MAX_BYTES",
    "Topic",
    "by_people",
    "misplaced",
    "read",
    "read_topics",
    "references",
    "released",
    "samples",
    "to_object",
    "topics_of",
    "write",
]
