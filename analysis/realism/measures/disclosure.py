"""Which facts of profile and task users disclose, when, and whether they were asked for them.

A message tells a fact of the profile if it has at least half of the value's content words; a fact of the task is a
content word of the task's context. Only words are compared, so a paraphrase is missed, on both sides.
"""

import re

from ....data.text.segmentation import words_of
from .measure import Measure, per_conversation
from .transcripts import UserTranscript

_SENTENCE = re.compile(r"([^.!?。！？\n]*)([.!?。！？\n]|\Z)")


def _task_words_told(transcript: UserTranscript) -> list[int]:
    """For each content word of the task's context that the user says, the number of the message that says it first."""
    first = transcript.first_said
    return [first[word] for word in transcript.task_words if word in first]


def _profile_share(transcript: UserTranscript) -> float | None:
    return len(transcript.facts_told) / len(transcript.facts) if transcript.facts else None


def _task_share(transcript: UserTranscript) -> float | None:
    return len(_task_words_told(transcript)) / len(transcript.task_words) if transcript.task_words else None


def _at_once(transcript: UserTranscript) -> float | None:
    numbers = [*transcript.facts_told.values(), *_task_words_told(transcript)]
    return numbers.count(0) / len(numbers) if numbers and len(transcript.texts) > 1 else None


def _volunteered(transcript: UserTranscript) -> float | None:
    first_message = transcript.facts_told
    if not first_message:
        return None
    asked = {number: _asked(transcript, number) for number in set(first_message.values())}
    unasked = [
        index for index, number in first_message.items() if not transcript.facts[index].asking_words & asked[number]
    ]
    return len(unasked) / len(first_message)


def _asked(transcript: UserTranscript, number: int) -> set[str]:
    """The words of the questions in the reply before a message."""
    questions = (text for text, end in _SENTENCE.findall(transcript.replies_before[number]) if end in ("?", "？"))
    return {word for question in questions for word in words_of(question, transcript.language)}


MEASURES = (
    Measure(
        name="profile facts told",
        family="disclosure",
        unit="share of facts",
        definition="Share of the profile's values of which a message has at least half of the content words.",
        source="ours",
        direction="users tell more of themselves",
        of=per_conversation(_profile_share),
        keyboard="Partly: it takes words to tell a fact, and typing is work; a typing error may hide one. It is counted"
        " once however long the text is.",
    ),
    Measure(
        name="task facts told",
        family="disclosure",
        unit="share of words",
        definition="Share of the content words of the task's context that the user says.",
        source="ours",
        direction="users tell more of the task",
        of=per_conversation(_task_share),
        keyboard="Partly: whoever types little tells little, and some people paste the task's text. Nothing is done "
        "against it.",
    ),
    Measure(
        name="facts told at once",
        family="disclosure",
        unit="share of facts told",
        definition="Share of the facts told, of profile and task, that the first message tells, where there are two "
        "or more messages.",
        source="ours",
        direction="everything is told at the beginning",
        of=per_conversation(_at_once),
        keyboard="Partly: a first message may be pasted from the task, later ones are typed. Only facts that are told"
        " at all are counted.",
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
        of=per_conversation(_volunteered),
        keyboard="Hardly: it is a share of the facts told. Whether the assistant asked is read from its own question "
        "marks, which it always writes.",
        survives_translation=False,
    ),
)
