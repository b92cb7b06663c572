"""What two validators do to the same answers: the published script's, and ours."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...data.grounding import ground
from ...data.records import Conversation, Span
from ...data.simquac import released
from ...data.text.cleaning import clean
from ...errors import DataError
from ..tables import Cell, Table, TablesReport


def compare_validators(conversations: Iterable[Conversation]) -> TablesReport:
    """The same answers through the published script's rules (`as_released`) and through ours.

    `accepted` answers include those `refused`, which it takes for refusals. Of the others `altered` are those of which not
    every word is stored; `words lost` and `spans lost` count words, and whole lines, that are not stored; `wrong case` stored
    spans that differ from the section's text at their place. DataError if no conversation has a section: both rules ground
    answers in it.
    """
    answers = [answer for conversation in conversations for answer in _answers_of(conversation)]
    if not answers:
        raise DataError("no conversation has a section in which answers could be grounded: give SimQuAC's data or runs")
    rows = {name: _row(judge, answers) for name, judge in (("as_released", _as_released), ("ours", _ours))}
    return TablesReport(by_name={"validators": Table.across("The same answers through two validators", rows)})


def _answers_of(conversation: Conversation) -> Iterator[tuple[str, str, str]]:
    """Answer, section and background of each answer: every draft of simulated ones, as cleaned, else the text."""
    section = str(conversation.scenario.get("section") or "")
    background = str(conversation.scenario.get("background", ""))
    if section:
        drafts = [attempt.as_it_came for attempt in conversation.attempts("assistant")]
        texts = drafts or [message.text for message in conversation.messages if message.role == "assistant"]
        yield from ((clean(text).text, section, background) for text in texts)


def _as_released(answer: str, section: str, background: str) -> tuple[str, Sequence[Span]]:
    """Outcome, and what is stored."""
    judged = released.judge(answer, section, background)
    return judged.outcome, judged.spans


def _ours(answer: str, section: str, background: str) -> tuple[str, Sequence[Span]]:
    grounding = ground(answer, section, background)
    # An empty answer is a refusal in the published data. Ours would ask again, which a file cannot show.
    if grounding.refused or not answer:
        return "refused", ()
    return ("accepted" if grounding.valid else "rejected"), grounding.spans


def _row(
    judge: Callable[[str, str, str], tuple[str, Sequence[Span]]], answers: Sequence[tuple[str, str, str]]
) -> dict[str, Cell]:
    counts = Counter[str]()
    for answer, section, background in answers:
        outcome, spans = judge(answer, section, background)
        counts[outcome] += 1
        if outcome == "accepted":
            # Words of the answer beyond those that are stored, each as often as it stands there.
            lost = (Counter(_words(answer)) - Counter(_words(" ".join(span.text for span in spans)))).total()
            counts["altered"] += bool(lost)
            counts["words lost"] += lost
            counts["spans lost"] += _lines_lost(answer, spans)
            counts["wrong case"] += sum(section[span.start : span.end] != span.text for span in spans)
    passed = {"refused": counts["refused"], "accepted": counts["refused"] + counts["accepted"]}
    damaged = {name.replace(" ", "_"): counts[name] for name in ("altered", "words lost", "spans lost", "wrong case")}
    return {"answers": len(answers), **passed, "rejected": counts["rejected"], **damaged}


def _words(text: str) -> list[str]:
    return [word for part in text.split() if (word := "".join(c for c in part.casefold() if c.isalnum()))]


def _lines_lost(answer: str, spans: Sequence[Span]) -> int:
    """Lines of which no stored text holds the words, or ends with the last one: the script keeps tails of lines."""
    stored = {" ".join(_words(span.text)) for span in spans}
    ends = {text.split()[-1] for text in stored if text}
    lines = (" ".join(_words(line)) for line in answer.split("\n"))
    return sum(
        line.split()[-1] not in ends and not any(line in text or text in line for text in stored)
        for line in lines
        if line
    )
