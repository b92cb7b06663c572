"""Which facts of profile and task users let out, when, and whether they were asked for.

A fact of the profile is told by a message that has at least half of the value's content words; a fact of the
task is a content word of the task's context. Both are words alone: a paraphrase is missed on both sides.
"""

import re

from ..speech import Speech
from ..words import words_of
from .measure import Measure, each

_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


def _task_told(speech: Speech) -> list[int]:
    """For each content word of the task's context that is said, the message that says it first."""
    said = [set(words) for words in speech.words]
    first = (next((n for n, words in enumerate(said) if word in words), None) for word in speech.task_words)
    return [number for number in first if number is not None]


def _profile_share(speech: Speech) -> float | None:
    return len(speech.facts_told) / len(speech.facts) if speech.facts else None


def _task_share(speech: Speech) -> float | None:
    return len(_task_told(speech)) / len(speech.task_words) if speech.task_words else None


def _at_once(speech: Speech) -> float | None:
    numbers = [*speech.facts_told.values(), *_task_told(speech)]
    return numbers.count(0) / len(numbers) if numbers and len(speech.user) > 1 else None


def _volunteered(speech: Speech) -> float | None:
    told = speech.facts_told
    if not told:
        return None
    asked = [
        {word for question in _QUESTION.findall(text) for word in words_of(question, speech.language)}
        for text in speech.before
    ]
    return sum(not (speech.facts[place].asked & asked[number]) for place, number in told.items()) / len(told)


MEASURES = (
    Measure(
        name="profile facts told",
        family="disclosure",
        unit="share of facts",
        definition="Share of the profile's values of which a message has at least half of the content words.",
        source="ours",
        direction="users tell more of themselves",
        of=each(_profile_share),
    ),
    Measure(
        name="task facts told",
        family="disclosure",
        unit="share of words",
        definition="Share of the content words of the task's context that the user says.",
        source="ours",
        direction="users tell more of the task",
        of=each(_task_share),
    ),
    Measure(
        name="facts told at once",
        family="disclosure",
        unit="share of facts told",
        definition="Share of the facts told, of profile and task, that the first message tells, where there are two "
        "or more messages.",
        source="ours",
        direction="everything is told at the beginning",
        of=each(_at_once),
        shows="first",
        survives_translation=False,
    ),
    Measure(
        name="facts volunteered",
        family="disclosure",
        unit="share of facts told",
        definition="Share of the profile's told values that the assistant's message before has not asked for: none of "
        "its questions has a content word of value or attribute.",
        source="ours",
        direction="users tell without being asked",
        of=each(_volunteered),
        survives_translation=False,
    ),
)
