"""The realism report: measures of simulated users and of people on one screen, and how well a model tells them apart."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ...data.people import UserPart
from ...data.records import Conversation, Record
from ...data.text.languages import Language
from ...errors import SettingError, of_extra
from ..estimates import Estimate
from ..tables import Column, Table
from .effects import Comparison, Floats, Side, between_halves, numbered
from .matching import NAMES, PEOPLE, SIMULATED, Matched, matched
from .measures import MEASURES, Measure, labels_of
from .separability import Reader
from .transcripts import UserTranscript

LONGEST = 300
"""Characters after which an example is cut."""


class SideSummary(Record):
    """What a side consists of."""

    conversations: int
    compared: int
    """Conversations that have the language and a common task."""
    users: int
    """Users or profiles of those."""


class Example(Record):
    """A message of a conversation whose value lies in the middle of its side."""

    conversation: str
    """Id of its conversation."""
    text: str


class RealismRow(Record):
    """A measure of both sides."""

    name: str
    unit: str
    definition: str
    simulated: float
    """The mean, as each user counts once in a task; `people` likewise."""
    people: float
    effect: Estimate
    """Cliff's delta, -1 to 1: the probability that a random conversation of a random simulated user lies above one of a
    random person about the same task, less that it lies below; with its interval over users."""
    between_people: float | None
    """The size of effect that one in 20 halvings of the people exceeds."""
    differs: bool | None
    """Whether the whole interval lies beyond what halves of the people differ by; None without an interval."""
    annotation: bool = False
    """Whether it is a judgement of the data's annotators, who may be others on either side."""
    references: dict[str, float | None]
    """The effect of each further study's people against the people."""
    examples_simulated: tuple[Example, ...] = ()
    examples_people: tuple[Example, ...] = ()


class RealismReport(Record):
    """How far simulated users are from people, and people from other people."""

    language: Language | None
    part: UserPart
    simulated: SideSummary
    people: SideSummary
    references: dict[str, SideSummary]
    tasks: tuple[str, ...]
    auc: Estimate
    """How often a model puts the right one of a simulated and a person's conversation first; .5 is chance."""
    auc_halves: Estimate
    """The same of two halves of the people: the median of ten halvings, with the lowest and the highest."""
    auc_references: dict[str, Estimate]
    """The same of each further study's people and the people."""
    rows: tuple[RealismRow, ...]
    """Those that differ first, by the size of their effect."""
    left_out: tuple[str, ...]
    """Measures without a row, and why."""
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        differing = sum(bool(row.differs) for row in self.rows)
        return f"RealismReport({differing} of {len(self.rows)} measures differ; {self.summary[1]})"

    @property
    def summary(self) -> tuple[str, str]:
        """What was compared, and how well a model tells the sides apart: a line each."""
        language = f"in {NAMES[self.language]}" if self.language else "without words"
        compared = (
            f"{self.people.compared} of people's conversations ({self.people.users} users) and "
            f"{self.simulated.compared} simulated ({self.simulated.users}), {language}, {len(self.tasks)} tasks."
        )
        aucs = [f"A model tells them apart: AUC {_in_words(self.auc)}"]
        aucs.append(f"two halves of the people {_in_words(self.auc_halves)}")
        aucs += [f"{name} from the people {_in_words(auc)}" for name, auc in self.auc_references.items()]
        return compared, "; ".join(aucs) + "."

    def table(self) -> Table:
        """The measures as a table."""
        columns = (
            Column(name="measure"),
            Column(name="simulated", kind="number"),
            Column(name="people", kind="number"),
            Column(name="effect", kind="number", places=2),
            Column(name="low", kind="number", places=2),
            Column(name="high", kind="number", places=2),
            Column(name="halves", kind="number", places=2),
            *(Column(name=name, kind="number", places=2) for name in self.references),
            Column(name="differs", kind="flag"),
        )
        rows = tuple(
            (
                row.name, row.simulated, row.people, *row.effect.ends, row.between_people, *row.references.values(), row.differs,
            )
            for row in self.rows
        )  # fmt: skip
        reasons = dict.fromkeys(row.effect.reason for row in self.rows if row.effect.reason)
        left_out = [f"Left out: {'; '.join(self.left_out)}."] if self.left_out else []
        return Table(
            title="Simulated users and people",
            columns=columns,
            rows=rows,
            notes=(*self.summary, *reasons, *left_out, *self.notes),
        )

    def frame(self) -> Any:
        """A pandas data frame of the table."""
        return self.table().frame()


def _in_words(auc: Estimate) -> str:
    if auc.value is None:
        return f"- ({auc.reason})"
    ends = f" ({auc.low:.2f} to {auc.high:.2f})" if auc.low is not None and auc.high is not None else ""
    return f"{auc.value:.2f}{ends}"


def compare(
    sim: Sequence[Conversation],
    people: Sequence[Conversation],
    *,
    references: Mapping[str, Sequence[Conversation]] = MappingProxyType({}),
    language: Language | None = None,
    part: UserPart = "all",
    measures: Sequence[Measure] = (),
    examples: int = 0,
) -> RealismReport:
    """Measure how far simulated users are from people, and how far people are from other people.

    Args:
        sim: Simulated conversations.
        people: People's conversations.
        references: Conversations of other people, by name.
        language: Language in which the sides are compared; default: one that both have.
        part: Take only users of this split of the people: `tune`, `test` or `all`.
        measures: Measures of your own, beside the shipped ones.
        examples: Number of messages of each side that show a measure that differs.

    Returns:
        The report. What cannot be compared is named in it, with the reason.

    Raises:
        SettingError: Two measures have one name, or a measure failed.
        MissingExtraError: For Chinese jieba is missing (extra `zh`).
    """
    every = (*MEASURES, *measures)
    if len({measure.name for measure in every}) < len(every):
        raise SettingError("two measures have one name: give yours another one than the shipped measures have")
    references = {
        f"reference {name}" if name in (SIMULATED, PEOPLE) else name: side for name, side in references.items()
    }
    found = matched(sim, people, references, language, part)
    # Several threads wait for each other on small arrays, and last digits would hang on their number.
    with of_extra("threadpoolctl", "stats").threadpool_limits(limits=1):
        return _report(found, every, {SIMULATED: sim, PEOPLE: people, **references}, part, examples)


def _report(
    found: Matched,
    measures: Sequence[Measure],
    given: Mapping[str, Sequence[Conversation]],
    part: UserPart,
    examples: int,
) -> RealismReport:
    sim, people = found.sides[SIMULATED], found.sides[PEOPLE]
    translated = any(one.translated for one in (*sim, *people))
    labels, left_out = labels_of(sim, people)
    lost = [one.name for one in measures if translated and not one.survives_translation]
    worded = [one.name for one in measures if found.language is None and not one.wordless]
    computed = [*(one for one in measures if one.name not in {*lost, *worded}), *labels]
    if lost:
        left_out.append(f"a translation changes {', '.join(lost)}")
    if worded:
        left_out.append(f"without a common language {len(worded)} measures of words")
    transcripts = [one for side in found.sides.values() for one in side]
    values = np.full((len(transcripts), len(computed)), np.nan)
    for place, one in enumerate(transcripts):
        values[place] = [np.nan if (number := measure.value(one)) is None else number for measure in computed]
    side_of = np.repeat(np.arange(len(found.sides)), [len(side) for side in found.sides.values()])
    # One name on two sides is two users, whose conversations may differ.
    user = numbered([(side, one.user) for side, one in zip(side_of.tolist(), transcripts, strict=True)])
    task = numbered([one.task for one in transcripts])
    places = {name: np.flatnonzero(side_of == number) for number, name in enumerate(found.sides)}
    sides = {name: Side(values[rows], user[rows], task[rows]) for name, rows in places.items()}
    rows = []
    for column, measure in enumerate(computed):
        row = _row(measure, sides, column)
        if isinstance(row, str):
            left_out.append(row)
            continue
        if examples and row.differs and not row.annotation:
            of_sim, of_people = (
                _typical(found.sides[name], sides[name].values[:, column], measure, examples)
                for name in (SIMULATED, PEOPLE)
            )
            row = row.model_copy(update={"examples_simulated": of_sim, "examples_people": of_people})
        rows.append(row)
    read = {row.name for row in rows if not row.annotation}
    columns = [column for column, measure in enumerate(computed) if measure.name in read]
    # Words of a translation tell the translator, and words of different languages the language.
    reader = Reader.of(transcripts, values[:, columns], user, words=found.language is not None and not translated)
    notes = list(found.notes)
    if translated:
        notes.append("The model reads the measures only: words of a translation would tell the translator.")
    return RealismReport(
        language=found.language,
        part=part,
        simulated=_summary(given[SIMULATED], sim),
        people=_summary(given[PEOPLE], people),
        references={name: _summary(given[name], side) for name, side in list(found.sides.items())[2:]},
        tasks=found.tasks,
        auc=reader.auc(places[SIMULATED], places[PEOPLE]),
        auc_halves=reader.halves(places[PEOPLE], np.random.default_rng(0)),
        auc_references={name: reader.auc(places[name], places[PEOPLE]) for name in list(places)[2:]},
        rows=tuple(sorted(rows, key=lambda row: (row.annotation, not row.differs, -abs(row.effect.value or 0)))),
        left_out=tuple(left_out),
        notes=tuple(notes),
    )


def _row(measure: Measure, sides: Mapping[str, Side], column: int) -> RealismRow | str:
    """The row of a measure; a line with the reason where it has none."""
    sim, people = sides[SIMULATED], sides[PEOPLE]
    both = Comparison(sim, people, column)
    means = both.means
    if means is None:
        return f"{measure.name}: no task has values of both sides"
    if float(np.nanmin(values := _values(sim, people, column))) == float(np.nanmax(values)):
        return f"{measure.name}: every value is {values[0]:g}"
    effect = both.effect()
    between = between_halves(people, column, np.random.default_rng(0))
    differs = None
    if effect.low is not None and effect.high is not None and between is not None:
        differs = effect.low > between or effect.high < -between
    return RealismRow(
        name=measure.name,
        unit=measure.unit,
        definition=measure.definition,
        simulated=means[0],
        people=means[1],
        effect=effect,
        between_people=between,
        differs=differs,
        annotation=measure.annotation,
        references={name: Comparison(side, people, column).effect().value for name, side in list(sides.items())[2:]},
    )


def _values(sim: Side, people: Side, column: int) -> Floats:
    """The values of both sides that there are."""
    values = np.concatenate([sim.values[:, column], people.values[:, column]])
    defined: Floats = values[~np.isnan(values)]
    return defined


def _typical(side: Sequence[UserTranscript], values: Floats, measure: Measure, count: int) -> tuple[Example, ...]:
    """A message each of different users, from the conversations whose values are nearest to the side's mean."""
    rows = np.flatnonzero(~np.isnan(values))
    mean = float(values[rows].mean())
    of_user: dict[str, UserTranscript] = {}
    for row in sorted(rows.tolist(), key=lambda row: abs(values[row] - mean)):
        of_user.setdefault(side[row].user, side[row])
    return tuple(_example(one, measure, mean) for one in list(of_user.values())[:count])


def _example(transcript: UserTranscript, measure: Measure, mean: float) -> Example:
    """The message whose value is nearest to the mean; of a measure of conversations the first one."""
    number = 0
    if measure.of_text is not None:
        found = [(number, measure.of_text(transcript, number)) for number in range(len(transcript.texts))]
        number = min(((abs(value - mean), number) for number, value in found if value is not None), default=(0, 0))[1]
    text = transcript.texts[number].strip()
    return Example(
        conversation=transcript.conversation.id,
        text=text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …",
    )


def _summary(given: Sequence[Conversation], compared: Sequence[UserTranscript]) -> SideSummary:
    return SideSummary(
        conversations=len(given), compared=len(compared), users=len({transcript.user for transcript in compared})
    )
