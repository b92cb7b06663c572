"""The teacher-student data sets: SimQuAC, QuAC in its own layout, and the published teacher topics."""

from . import released
from .dataset import read, repair, to_object, write
from .domain import DOMAIN
from .reading import UNANSWERABLE, ReadingQuestion, by_people, questions_of, references
from .rows import write_quac, write_squad_v2
from .sources import TopicSet, read_topics, samples, topic_set, topics_of
from .topics import ENDING, KIND, Topic, problem_of

__all__ = [
    "DOMAIN",
    "ENDING",
    "KIND",
    "UNANSWERABLE",
    "ReadingQuestion",
    "Topic",
    "TopicSet",
    "by_people",
    "problem_of",
    "questions_of",
    "read",
    "read_topics",
    "references",
    "released",
    "repair",
    "samples",
    "to_object",
    "topic_set",
    "topics_of",
    "write",
    "write_quac",
    "write_squad_v2",
]
