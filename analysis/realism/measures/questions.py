"""Whether users ask, by the marks, words and forms of a question (`data.text.lexicons`)."""

from functools import partial

from ....data.text.lexicons import questions_in
from .measure import Measure

_KEYBOARD = (
    "Partly: people often leave the question mark out when they type, and translators put it in. So the words and "
    "forms of a question count too; a question that has neither is still missed."
)


_asking = partial(
    Measure,
    family="questions",
    unit="share of messages",
    source="ours: marks, and the lexicon's question words",
    keyboard=_KEYBOARD,
)

MEASURES = (
    _asking(
        name="questions",
        definition="Share of messages with a question mark, or with a word or form of a question, such as 'what', "
        "'can you', 吗, 什么.",
        direction="users ask more",
        of_text=lambda transcript, number: questions_in(transcript.texts[number], transcript.language) > 0,
    ),
    _asking(
        name="several questions",
        definition="Share of messages of which two or more clauses ask, by a question mark or a word or form of a "
        "question.",
        direction="users ask several things at once",
        of_text=lambda transcript, number: questions_in(transcript.texts[number], transcript.language) > 1,
    ),
)
