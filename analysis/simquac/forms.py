"""How questions are put: types, lengths and repeats."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from statistics import pstdev

from ...data.grounding import tokens
from ...data.records import Conversation, Record
from ...data.rules import asked_before
from ..tables import Cell, Column, Table
from .samples import exchanges, mean_of

TYPES = ("what", "who", "when", "where", "why", "which", "how", "yes or no", "other")
"""Types of questions, by the word that asks."""

_ENGLISH = {**{word: word for word in TYPES[:7]}, "whom": "who", "whose": "who"}
_CHINESE = {
    "什么时候": "when",
    "何时": "when",
    "哪年": "when",
    "为什么": "why",
    "为何": "why",
    "哪里": "where",
    "哪儿": "where",
    "何处": "where",
    "什么": "what",
    "谁": "who",
    "怎": "how",
    "如何": "how",
    "多少": "how",
    "哪": "which",
    "是否": "yes or no",
    "是不是": "yes or no",
    "有没有": "yes or no",
    "吗": "yes or no",
}
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

    def share(self, kind: str) -> float | None:
        """Share of the questions of a type; None without a question."""
        return self.types[kind] / self.questions if self.questions else None


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
    questions_by_conversation = [
        ["\n".join(message.text for message in messages) for messages, _ in exchanges(talk) if messages]
        for talk in conversations
    ]
    texts = [text for questions in questions_by_conversation for text in questions]
    lengths = [len(text.split()) for text in texts]
    types = Counter(map(question_type, texts))
    first = Counter(next((word.casefold() for word in tokens(text) if word.isalnum()), "") for text in texts)
    return QuestionForms(
        questions=len(texts),
        words_mean=mean_of(lengths),
        words_sd=pstdev(lengths) if lengths else None,
        characters_mean=mean_of([len(text) for text in texts]),
        several=sum(sum(text.count(mark) for mark in "?？") > 1 for text in texts),
        asked_again=sum(
            asked_before(text, questions[:n])
            for questions in questions_by_conversation
            for n, text in enumerate(questions)
        ),
        types={kind: types[kind] for kind in TYPES},
        first_words=dict(sorted(first.items(), key=lambda item: (-item[1], item[0]))),
    )


def question_table(forms: Mapping[str, QuestionForms]) -> Table:
    """A row for each number, a column for each source; types as shares of the questions."""
    columns = [Column(name="measure"), *(Column(name=name, kind="number") for name in forms)]
    cells: list[tuple[str, Callable[[QuestionForms], Cell]]] = [
        *((name, attrgetter(name)) for name in QuestionForms.model_fields if name not in ("types", "first_words")),
        *((f"asks {kind}", partial(QuestionForms.share, kind=kind)) for kind in TYPES),
    ]
    rows = [(name.replace("_", " "), *map(cell, forms.values())) for name, cell in cells]
    notes = ["Types: shares of the questions."]
    notes += [f"{name}: no question is asked." for name, of_source in forms.items() if not of_source.questions]
    return Table(title="Questions", columns=tuple(columns), rows=tuple(rows), notes=tuple(notes))
