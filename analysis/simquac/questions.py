"""How questions are put: types, lengths and repeats."""

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean, pstdev

from ...data.grounding import tokens
from ...data.records import Conversation
from ...data.rules import asked_before
from ..tables import Cell, Table

TYPES = ("what", "who", "when", "where", "why", "which", "how", "yes or no", "other")
"""Types of questions, by the word that asks."""

_ENGLISH = {**{word: word for word in TYPES[:7]}, "whom": "who", "whose": "who"}
_LEADING = frozenset("and but so or also ok okay well then".split())
_AUXILIARY = frozenset(
    "is are was were am be do does did has have had can could will would shall should may might must "
    "isn aren wasn weren don doesn didn hasn haven hadn couldn won wouldn shouldn".split()
)


def question_type(question: str) -> str:
    """The type of a question, one of `TYPES`.

    A question that begins with an auxiliary verb, after "and" and its like, is a yes-no question. Else the first asking
    word anywhere gives the type ("In what year" asks what, "whose" asks who). Of English questions only.
    """
    words = [word.casefold() for word in tokens(question) if word.isalnum()]
    while words and words[0] in _LEADING:
        words.pop(0)
    if words and words[0] in _AUXILIARY:
        return "yes or no"
    return next((_ENGLISH[word] for word in words if word in _ENGLISH), "other")


def question_forms(conversations: Iterable[Conversation]) -> dict[str, Cell]:
    """How the questions of teacher-student conversations are put: numbers, lengths, repeats, and the share of each type.

    Words are split at white space; `sd` is of the population. `several` have more than one question mark; `asked again`
    repeat an earlier question of their conversation, white space, punctuation and case aside.
    """
    by_conversation = [
        [
            "\n".join(message.text for message in said)
            for exchange in talk.exchanges
            if (said := [message for message in exchange.user if message.stored])
        ]
        for talk in conversations
    ]
    texts = [text for questions in by_conversation for text in questions]
    lengths = [len(text.split()) for text in texts]
    types = Counter(map(question_type, texts))
    return {
        "questions": len(texts),
        "words_mean": fmean(lengths) if texts else None,
        "words_sd": pstdev(lengths) if texts else None,
        "characters_mean": fmean(map(len, texts)) if texts else None,
        "several": sum(sum(text.count(mark) for mark in "?？") > 1 for text in texts),
        "asked_again": sum(
            asked_before(text, asked[:number]) for asked in by_conversation for number, text in enumerate(asked)
        ),
        **{f"asks {kind}": types[kind] / len(texts) if texts else None for kind in TYPES},
    }


def question_table(sources: Mapping[str, Iterable[Conversation]]) -> Table:
    """A row for each number, a column for each source; types as shares of the questions."""
    forms = {name: question_forms(conversations) for name, conversations in sources.items()}
    return Table.across("Questions", forms, ("Types: shares of the questions.",))
