"""The source of conversations' scores: rules, or judges, which people's labels of the same conversations measure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...data.labels.reading import SCORES, plain_values
from ...data.people import user_of
from ...data.records import Conversation
from ...errors import MissingExtraError

ScoredBy: TypeAlias = Literal["model", "rule", "not told"]
_ASKING = frozenset({"model", "judge", "judged", "criterion"})
"""Keys of a scorer's description, or of a part of it, that name a model or a judge."""


@dataclass(frozen=True)
class ScoreSource:
    """One score of one conversation."""

    by: ScoredBy
    value: str
    human: str
    """People's value, from the conversation's label of the same name with `_human`; empty if it has none."""
    user: str


@dataclass
class ScoreOrigin:
    """One score of several conversations."""

    whose: set[ScoredBy] = field(default_factory=set)
    both: list[ScoreSource] = field(default_factory=list)
    """Those that people labelled too."""

    @staticmethod
    def of(conversation: Conversation) -> dict[str, ScoreSource]:
        """The scores of a conversation by name."""
        scores = conversation.labels.get(SCORES)
        sources = {}
        for name, score in scores.items() if isinstance(scores, Mapping) else ():
            if isinstance(score, Mapping):
                value, human = (
                    plain_values(label) for label in (score.get("value"), conversation.labels.get(f"{name}_human"))
                )
                sources[name] = ScoreSource(
                    scored_by(conversation, name, score),
                    " + ".join(value).lower(),
                    " + ".join(human).lower(),
                    user_of(conversation) if human else "",
                )
        return sources

    def add(self, score: ScoreSource) -> None:
        """Count one more."""
        self.whose.add(score.by)
        if score.human and score.value:
            self.both.append(score)

    @property
    def by(self) -> ScoredBy:
        """The source of the scores: a judge, if any was a judge's."""
        if "model" in self.whose:
            return "model"
        return "rule" if self.whose == {"rule"} else "not told"

    def measured(self) -> dict[str, Any] | None:
        """Kappa with people's values, AC1 where kappa is undefined; None without people's values."""
        if not self.both:
            return None
        try:
            from .agreement.coefficients import cohen_kappa, gwet_ac
        except MissingExtraError:
            return {"note": "people labelled it too: install the extra 'stats' to see how far it agrees"}
        human_values, judged_values = [one.human for one in self.both], [one.value for one in self.both]
        users = [one.user for one in self.both]
        kappa = cohen_kappa(human_values, judged_values, users=users)
        constant = len({*human_values}) == 1 or len({*judged_values}) == 1
        coefficient = gwet_ac(human_values, judged_values, users=users) if constant else kappa
        return {
            "coefficient": "AC1" if constant else "kappa",
            "value": coefficient.value,
            "low": coefficient.low,
            "high": coefficient.high,
            "n": len(judged_values),
            "always": max(map(human_values.count, human_values)) / len(human_values),
            "note": "" if coefficient.value is not None else coefficient.reason,
        }


def scored_by(conversation: Conversation, name: str, score: Mapping[str, Any]) -> ScoredBy:
    """Whether a model or a rule scored the conversation.

    A model if the score has tokens of one, or if the description of its scorer has one. A rule if the record names its
    scorer.
    """
    if score.get("usage") is not None:
        return "model"
    closing = conversation.provenance.nodes.get("closing") if conversation.provenance is not None else None
    scorers = closing.settings.get("scorers") if closing is not None else None
    scorer = scorers.get(name) if isinstance(scorers, Mapping) else None
    of_scenario = conversation.scenario.get(name) if name == "success" else None
    descriptions = [description for description in (scorer, of_scenario) if description is not None]
    if not _ASKING.isdisjoint(key for description in descriptions for key in _keys(description)):
        return "model"
    return "rule" if descriptions else "not told"


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)
