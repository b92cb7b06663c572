"""What tuning of a simulator has found: trials of settings, each judged against people, and the judgement of the
best."""

from typing import Any

from pydantic import Field

from .attempts import Record

WORST = 10
"""How many measures, those that are furthest from people at the start, are to come nearer."""


class MeasureGap(Record):
    """How far a measure of simulated users is from people."""

    name: str
    family: str
    unit: str
    direction: str
    """What a higher value means."""
    sim: float | None
    human: float | None
    distance: float
    """Wasserstein's distance in people's standard deviations."""
    floor: float
    """The same distance between halves of the people: the median over halvings."""
    floor_high: float
    """The distance that one in 20 halvings exceeds."""


class Judgement(Record):
    """How far a simulator is from people: one number to search by, and the measures that it is made of."""

    value: float
    """0 if no measure is beyond its human-human baseline; lower is better."""
    penalty: float = 0.0
    """The part of it for measures that are worse than at the start."""
    gaps: tuple[MeasureGap, ...] = ()
    """The furthest first."""
    words: tuple[str, ...] = ()
    """The measures beyond their human-human baseline in words, the furthest first."""

    def distances(self) -> dict[str, float]:
        """The distance of each measure by its name."""
        return {gap.name: gap.distance for gap in self.gaps}


class TuningTrial(Record):
    """The settings of one trial.

    Number 0 is the start: the settings as they were.
    """

    number: int
    values: dict[str, Any] = Field(default_factory=dict)
    """Value by the name in the search space."""
    conversations: int = 0
    judgement: Judgement | None = None
    failed: str = ""
    """Why there is no judgement."""


class AccessToTestSet(Record):
    """An opening of the test half: people's conversations that no setting was selected by were compared with."""

    number: int
    """From 1."""
    what: tuple[str, ...]
    """Digests of the settings that were judged, the start first."""
    people: str
    """Digest of the people's conversations."""
    users: int


class JudgedTrial(Record):
    """Start and best against the test half."""

    opening: AccessToTestSet
    start: Judgement
    best: Judgement

    @property
    def untouched(self) -> bool:
        """Whether this is the first access to these people."""
        return self.opening.number == 1


class TuningResult(Record):
    """The result of tuning: the trials, the best one, and its distance from held-out people."""

    cast: str
    people: str
    """Name of the source."""
    users: dict[str, int]
    """Number of users in each part: `learn`, `select` and `test`."""
    seed: int
    space: dict[str, Any]
    trials: tuple[TuningTrial, ...]
    best: int
    """Number of the best trial."""
    settings: dict[str, Any]
    """Settings of the cast at the best trial, as they can be given again: specs with their arguments."""
    limits: dict[str, Any] = Field(default_factory=dict)
    pages: dict[str, str] = Field(default_factory=dict)
    """Name and digest of each page that was changed."""
    page_judgements: tuple[Judgement, ...] = ()
    """Of the pages before and after, on the people selected by; empty where none were searched."""
    repeats: tuple[float, ...] = ()
    """Values of further runs of the settings as they were, with other seeds, on the people selected by."""
    judged: JudgedTrial | None = None
    command: str = ""
    """A line that simulates with the best settings."""
    notes: tuple[str, ...] = ()

    @property
    def start(self) -> Judgement | None:
        """The judgement of the settings as they were, on the people selected by."""
        return self.trials[0].judgement

    @property
    def chosen(self) -> Judgement | None:
        """The judgement of the best settings, on the people selected by."""
        if self.page_judgements:
            return self.page_judgements[-1]
        return next((trial.judgement for trial in self.trials if trial.number == self.best), None)


def halved(start: Judgement, end: Judgement) -> list[str]:
    """Of the measures furthest from people at the start, those whose distance halved at least."""
    now = end.distances()
    return [gap.name for gap in start.gaps[:WORST] if now.get(gap.name, gap.distance) <= gap.distance / 2]


def worse(start: Judgement, end: Judgement) -> list[str]:
    """The measures whose distance is greater than at the start, and than one in 20 halvings of the people has."""
    before = start.distances()
    return [gap.name for gap in end.gaps if gap.distance > max(before.get(gap.name, 0.0), gap.floor_high)]
