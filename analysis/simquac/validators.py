"""What two validators do to the same answers: the published script's, and ours."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from ...data.grounding import ground
from ...data.records import Conversation, Record, Span
from ...data.simquac import released
from ...data.text.cleaning import clean
from ...errors import DataError


class ValidatorRow(Record):
    """The verdicts of one validator on a set of answers."""

    validator: str
    answers: int
    refused: int
    """Answers that it takes for refusals."""
    accepted: int
    """Answers that pass, refusals included."""
    rejected: int
    altered: int
    """Accepted answers that are not refusals and of which not every word is stored."""
    words_lost: int
    """Words of accepted answers that are not stored, split at white space."""
    spans_lost: int
    """Lines of accepted answers of which no word is stored."""
    wrong_case: int
    """Stored spans that differ from the section's text at their place."""


def answers_of(conversations: Iterable[Conversation]) -> Iterator[tuple[str, str, str]]:
    """Answer, section and background of each answer: every draft of simulated ones, as cleaned, else the text."""
    for conversation in conversations:
        section = str(conversation.scenario.get("section", ""))
        background = str(conversation.scenario.get("background", ""))
        drafts = [attempt.as_it_came for attempt in conversation.attempts("assistant")]
        texts = drafts or [message.text for message in conversation.messages if message.role == "assistant"]
        for text in texts:
            yield clean(text).text, section, background


def compare_validators(conversations: Iterable[Conversation]) -> list[ValidatorRow]:
    """The same answers through the published script's rules and through ours, a row each.

    Both rules ground answers in a section: ValueError if no conversation has one.
    """
    grounded = [conversation for conversation in conversations if conversation.scenario.get("section")]
    if not grounded:
        raise DataError("no conversation has a section in which answers could be grounded: give SimQuAC's data or runs")
    answers = list(answers_of(grounded))
    return [
        _row("as_released", [_as_released(*answer) for answer in answers]),
        _row("ours", [_ours(*answer) for answer in answers]),
    ]


_Judged = tuple[str, str, str, tuple[Span, ...]]
"""Outcome, answer, section, what is stored."""


def _as_released(answer: str, section: str, background: str) -> _Judged:
    judged = released.judge(answer, section, background)
    return judged.outcome, answer, section, judged.spans


def _ours(answer: str, section: str, background: str) -> _Judged:
    grounding = ground(answer, section, background)
    # An empty answer is a refusal in the published data. Ours would ask again, which a file cannot show.
    if grounding.refused or not answer:
        return "refused", answer, section, ()
    return ("accepted" if grounding.valid else "rejected"), answer, section, grounding.spans


def _row(name: str, judged: Sequence[_Judged]) -> ValidatorRow:
    outcomes = Counter(outcome for outcome, *_ in judged)
    accepted = [(answer, section, spans) for outcome, answer, section, spans in judged if outcome == "accepted"]
    # Words of the answer beyond those that are stored, each as often as it stands there.
    lost = [
        (Counter(_words(answer)) - Counter(_words(" ".join(span.text for span in spans)))).total()
        for answer, _, spans in accepted
    ]
    return ValidatorRow(
        validator=name,
        answers=len(judged),
        refused=outcomes["refused"],
        accepted=outcomes["refused"] + outcomes["accepted"],
        rejected=outcomes["rejected"],
        altered=sum(1 for words in lost if words),
        words_lost=sum(lost),
        spans_lost=sum(_lines_lost(answer, spans) for answer, _, spans in accepted),
        wrong_case=sum(section[span.start : span.end] != span.text for _, section, spans in accepted for span in spans),
    )


def _words(text: str) -> list[str]:
    return [word for part in text.split() if (word := "".join(c for c in part.casefold() if c.isalnum()))]


def _lines_lost(answer: str, spans: Sequence[Span]) -> int:
    stored = {" ".join(_words(span.text)) for span in spans}
    ends = {text.split()[-1] for text in stored if text}
    lines = Counter(" ".join(_words(line)) for line in answer.split("\n"))
    return sum(count for line, count in lines.items() if line and not _is_stored(line, stored, ends))


def _is_stored(line: str, stored: Set[str], ends: Set[str]) -> bool:
    """Whether a stored text holds the line, or ends with its last word: the script keeps tails of lines."""
    return line in stored or line.split()[-1] in ends or any(line in text or text in line for text in stored)
