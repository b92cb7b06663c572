"""Which facts of profile and task users disclose, when, and whether they were asked for them.

A message discloses a fact of the profile if it has at least half of the value's content words. A fact of the task is a
content word of the task's context. Only words are compared, so a paraphrase is missed, on both sides.
"""

import re
from functools import partial

from ....data.text.words import words_of
from .measure import Measure
from .transcripts import UserTranscript

_SENTENCE = re.compile(r"([^.!?。！？\n]*)([.!?。！？\n]|\Z)")


def _task_words_told(transcript: UserTranscript) -> list[int]:
    """The number of the first message with each content word of the task's context that the user writes."""
    first = transcript.first_said
    return [first[word] for word in transcript.task_words if word in first]


def _at_once(transcript: UserTranscript) -> float | None:
    numbers = [*transcript.facts_told.values(), *_task_words_told(transcript)]
    return numbers.count(0) / len(numbers) if numbers and len(transcript.texts) > 1 else None


def _volunteered(transcript: UserTranscript) -> float | None:
    first_message = transcript.facts_told
    if not first_message:
        return None
    question_words = {number: _question_words(transcript, number) for number in set(first_message.values())}
    unasked = [
        index
        for index, number in first_message.items()
        if not transcript.facts[index].asking_words & question_words[number]
    ]
    return len(unasked) / len(first_message)


def _question_words(transcript: UserTranscript, number: int) -> set[str]:
    """The words of the questions in the reply before a message."""
    questions = (text for text, end in _SENTENCE.findall(transcript.replies_before[number]) if end in ("?", "？"))
    return {word for question in questions for word in words_of(question, transcript.language)}


_disclosure = partial(Measure, family="disclosure")

MEASURES = (
    _disclosure(
        name="profile facts told",
        unit="share of facts",
        definition="Share of the profile's values of which a message has at least half of the content words.",
        direction="users tell more of themselves",
        of_conversation=lambda user: len(user.facts_told) / len(user.facts) if user.facts else None,
        keyboard="Partly: it takes words to tell a fact, and typing is work; a typing error may hide one. It is counted"
        " once however long the text is.",
    ),
    _disclosure(
        name="task facts told",
        unit="share of words",
        definition="Share of the content words of the task's context that the user says.",
        direction="users tell more of the task",
        of_conversation=lambda user: len(_task_words_told(user)) / len(user.task_words) if user.task_words else None,
        keyboard="Partly: whoever types little tells little, and some people paste the task's text. Nothing is done "
        "against it.",
    ),
    _disclosure(
        name="facts told at once",
        unit="share of facts told",
        definition="Share of the facts told, of profile and task, that the first message tells, where there are two "
        "or more messages.",
        direction="everything is told at the beginning",
        of_conversation=_at_once,
        keyboard="Partly: a first message may be pasted from the task, later ones are typed. Only facts that are told"
        " at all are counted.",
        shows="first",
        survives_translation=False,
    ),
    _disclosure(
        name="facts volunteered",
        unit="share of facts told",
        definition="Share of the profile's told values that the assistant's message before has not asked for: none of "
        "its questions has a content word of value or attribute.",
        direction="users tell without being asked",
        of_conversation=_volunteered,
        keyboard="Hardly: it is a share of the facts told. Whether the assistant asked is read from its own question "
        "marks, which it always writes.",
        survives_translation=False,
    ),
)
