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

    Conversations are read once and not kept.
    Both rules ground answers in a section: ValueError if no conversation has one.
    """
    tallies = {"as_released": _Tally(), "ours": _Tally()}
    grounded = (conversation for conversation in conversations if conversation.scenario.get("section"))
    is_empty = True
    for conversation in grounded:
        is_empty = False
        for answer in answers_of([conversation]):
            tallies["as_released"].add(*_as_released(*answer), *answer[:2])
            tallies["ours"].add(*_ours(*answer), *answer[:2])
    if is_empty:
        raise DataError("no conversation has a section in which answers could be grounded: give SimQuAC's data or runs")
    return [tally.row(name) for name, tally in tallies.items()]


def _as_released(answer: str, section: str, background: str) -> tuple[str, tuple[Span, ...]]:
    """Outcome, and what is stored."""
    judged = released.judge(answer, section, background)
    return judged.outcome, judged.spans


def _ours(answer: str, section: str, background: str) -> tuple[str, tuple[Span, ...]]:
    grounding = ground(answer, section, background)
    # An empty answer is a refusal in the published data. Ours would ask again, which a file cannot show.
    if grounding.refused or not answer:
        return "refused", ()
    return ("accepted" if grounding.valid else "rejected"), grounding.spans


class _Tally:
    """The counts of one validator, answer by answer."""

    def __init__(self) -> None:
        self._outcomes, self._counts = Counter[str](), Counter[str]()

    def add(self, outcome: str, spans: Sequence[Span], answer: str, section: str) -> None:
        self._outcomes[outcome] += 1
        if outcome == "accepted":
            # Words of the answer beyond those that are stored, each as often as it stands there.
            lost = (Counter(_words(answer)) - Counter(_words(" ".join(span.text for span in spans)))).total()
            self._counts["altered"] += bool(lost)
            self._counts["words_lost"] += lost
            self._counts["spans_lost"] += _lines_lost(answer, spans)
            self._counts["wrong_case"] += sum(section[span.start : span.end] != span.text for span in spans)

    def row(self, name: str) -> ValidatorRow:
        outcomes, counts = self._outcomes, self._counts
        return ValidatorRow(
            validator=name,
            answers=outcomes.total(),
            refused=outcomes["refused"],
            accepted=outcomes["refused"] + outcomes["accepted"],
            rejected=outcomes["rejected"],
            altered=counts["altered"],
            words_lost=counts["words_lost"],
            spans_lost=counts["spans_lost"],
            wrong_case=counts["wrong_case"],
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
