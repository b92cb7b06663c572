"""How questions are put: types, lengths and repeats."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean, pstdev

from ...data.grounding import tokens
from ...data.records import Conversation, Record
from ...data.rules import asked_before
from ..tables import Cell, Column, Table

TYPES = ("what", "who", "when", "where", "why", "which", "how", "yes or no", "other")
"""Types of questions, by the word that asks."""

_ENGLISH = {**{word: word for word in TYPES[:7]}, "whom": "who", "whose": "who"}
_CHINESE = {
    word: kind
    for kind, words in {
        "when": ("什么时候", "何时", "哪年"),
        "why": ("为什么", "为何"),
        "where": ("哪里", "哪儿", "何处"),
        "what": ("什么",),
        "who": ("谁",),
        "how": ("怎", "如何", "多少"),
        "which": ("哪",),
        "yes or no": ("是否", "是不是", "有没有", "吗"),
    }.items()
    for word in words
}
"""Longer words stand before those that they hold."""
_ASKS = re.compile("|".join(_CHINESE))
_LEADING = frozenset("and but so or also ok okay well then".split())
_AUXILIARY = frozenset(
    "is are was were am be do does did has have had can could will would shall should may might must "
    "isn aren wasn weren don doesn didn hasn haven hadn couldn won wouldn shouldn".split()
)


class QuestionForms(Record):
    """How the questions of a source are put."""

    questions: int
    words_mean: float | None
    """Words of a question, split at white space."""
    words_sd: float | None
    """Population standard deviation of it."""
    characters_mean: float | None
    several: int
    """Questions with more than one question mark."""
    asked_again: int
    """Questions that repeat an earlier one of their conversation, white space, punctuation and case aside."""
    types: dict[str, int]
    """Questions by type: `question_type`."""
    first_words: dict[str, int]
    """Questions by their first word in lower case, the most frequent first."""


def question_type(question: str) -> str:
    """The type of a question, one of `TYPES`.

    A question that begins with an auxiliary verb, after "and" and its like, is a yes-no question. Else the first asking
    word anywhere gives the type ("In what year" asks what, "whose" asks who). In Chinese only the asking words decide;
    a question with no other than 吗 is one of yes or no.
    """
    chinese = [_CHINESE[word] for word in _ASKS.findall(question)]
    if chinese:
        return next((kind for kind in chinese if kind != "yes or no"), "yes or no")
    words = [word.casefold() for word in tokens(question) if word.isalnum()]
    while words and words[0] in _LEADING:
        words.pop(0)
    if words and words[0] in _AUXILIARY:
        return "yes or no"
    return next((_ENGLISH[word] for word in words if word in _ENGLISH), "other")


def question_forms(conversations: Iterable[Conversation]) -> QuestionForms:
    """How the questions of teacher-student conversations are put."""
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
    first = Counter(next((word.casefold() for word in tokens(text) if word.isalnum()), "") for text in texts)
    return QuestionForms(
        questions=len(texts),
        words_mean=fmean(lengths) if texts else None,
        words_sd=pstdev(lengths) if texts else None,
        characters_mean=fmean(map(len, texts)) if texts else None,
        several=sum(sum(text.count(mark) for mark in "?？") > 1 for text in texts),
        asked_again=sum(
            asked_before(text, asked[:number]) for asked in by_conversation for number, text in enumerate(asked)
        ),
        types={kind: types[kind] for kind in TYPES},
        first_words=dict(sorted(first.items(), key=lambda item: (-item[1], item[0]))),
    )


def question_table(forms: Mapping[str, QuestionForms]) -> Table:
    """A row for each number, a column for each source; types as shares of the questions."""
    columns = (Column(name="measure"), *(Column(name=name, kind="number") for name in forms))
    rows: list[tuple[Cell, ...]] = [
        (name.replace("_", " "), *(getattr(one, name) for one in forms.values()))
        for name in QuestionForms.model_fields
        if name not in ("types", "first_words")
    ]
    for kind in TYPES:
        shares = (one.types[kind] / one.questions if one.questions else None for one in forms.values())
        rows.append((f"asks {kind}", *shares))
    return Table(title="Questions", columns=columns, rows=tuple(rows), notes=("Types: shares of the questions.",))
