"""The figures of retrieval-based users with varied sources and adapted turns, paired by the people whose tasks they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from ...data.identity import digest
from ...data.people.pairing import STORED
from ...data.people.splits import UserPart, of_part, user_of
from .claim import Claim, Measured, OpenData
from .printed import of_table
from .realism import BOUNDS, PEOPLE, RETRIEVAL, ranked, with_measures

if TYPE_CHECKING:
    from ...data import Conversation

GRAM = 5
"""Characters of the runs of text whose copying is counted."""
VARIED = {"wish": 3.0, "theme": 0.6, "source": 0.6, "adapted": 1.0}
"""The weights that were chosen on halves of the development split, where they are not the defaults."""
COLUMNS = ("default weights", "these weights", "difference", *BOUNDS)
REASONS = ("task facts told", "contradictions")
"""Measures whose means show why an AUC is higher."""
EVERY = 100_000
"""Features of a model that are looked at: all."""
FEATURES = ("seen", "seen, varied", "unseen", "unseen, varied")
"""Columns of the table of features: contexts, with the default or with these weights."""
CASES: Mapping[str, Mapping[str, Any]] = {
    "seen": {},
    "unseen": {"unseen": True},
    "seen, mix=3": {"mix": "3"},
    "unseen, mix=3": {"unseen": True, "mix": "3"},
}


@dataclass(frozen=True)
class PairedUsers:
    """Retrieval-based users with the words of one split of the people, on the tasks of another."""

    corpus: "Sequence[Conversation]"
    people: "Sequence[Conversation]"
    seed: int

    @classmethod
    def of(cls, data: OpenData, corpus: UserPart, part: UserPart, seed: int) -> "PairedUsers":
        """Those of two splits."""
        people = data.load(PEOPLE)
        own, others = ([one for one in people if of_part(one, split)] for split in (corpus, part))
        return cls(own, others, seed)

    def simulated(self, weights: Mapping[str, float], **options: Any) -> "list[Conversation]":
        """A conversation for each of the people's, on its task; `options`: those of `PeopleOptions`."""
        from ...graphs import recllmsim
        from ...nodes.limits import Limits
        from ...nodes.people import ChoiceWeights, PeopleOptions, PeopleSpeaker
        from ...runs import simulate

        chosen = PeopleOptions(**options)
        user = PeopleSpeaker.of(self.corpus, "user", options=chosen, weights=ChoiceWeights(**weights))
        assistant = PeopleSpeaker.of(self.corpus, "assistant", options=PeopleOptions(unseen=chosen.unseen))
        states: Any = [
            {
                "scenario": state["scenario"],
                "ordinal": state.get("ordinal", 0),
                "extra": {
                    STORED: {"id": one.id, "scenario": digest(one.scenario), "user": user_of(one)},
                    "user": user_of(one),
                },
            }
            for one, state in zip(self.people, recllmsim.scenarios(self.people), strict=True)
        ]
        cast = recllmsim.cast(user=user, assistant=assistant, language="zh")
        return simulate(cast, states, limits=Limits(seed=self.seed))

    def compared(
        self, former: "Sequence[Conversation]", now: "Sequence[Conversation]"
    ) -> dict[str, dict[str, float | None]]:
        """For each figure its values by column: of the default weights, of these, and the paired difference."""
        from ...analysis.realism.discriminator import paired_aucs
        from ...analysis.realism.statistics.two_samples import Draws

        sides, columns = with_measures(now, former, self.people)
        figures: dict[str, dict[str, float | None]] = {}
        for name, by_words in (("AUC by the measures", False), ("AUC by the adversary", True)):
            new, old, difference = paired_aucs(
                sides[0], sides[1], sides[2], columns, Draws(self.seed, 1, 1), by_words=by_words
            )
            values = (old.value, new.value, difference.value, difference.low, difference.high)
            figures[name] = dict(zip(COLUMNS, values, strict=True))
        of_groups = [self._alone(conversations) for conversations in (former, now)]
        for name, value in of_groups[0].items():
            other = of_groups[1][name]
            figures[name] = dict(zip(COLUMNS, (value, other, other - value, None, None), strict=True))
        return figures

    def features(self, simulated: "Sequence[Conversation]") -> dict[str, float | None]:
        """The coefficient of every feature of the adversary's logistic regressions; above 0: it looks simulated."""
        import numpy as np

        from ...analysis.realism.adversary import strongest_features
        from ...analysis.realism.held_out import numbered, standardised
        from ...analysis.realism.measures import all_measures

        sides, columns = with_measures(simulated, self.people)
        names = [measure.name for measure in all_measures() if not measure.pairwise]
        stratum = numbered([stratum for side in sides for stratum in side.strata])
        values = standardised(np.concatenate([side.values for side in sides]), stratum)[:, columns]
        transcripts = [transcript for side in sides for transcript in side.transcripts]
        is_simulated = np.array([1] * len(simulated) + [0] * len(self.people), dtype=np.int64)
        uses = strongest_features(transcripts, values, [names[place] for place in columns], is_simulated, EVERY)
        return {f"{feature.model}, {feature.name}": feature.weight for feature in uses}

    def _alone(self, conversations: "Sequence[Conversation]") -> dict[str, float]:
        """Distances from the people, and the share of copied runs of characters."""
        from ...analysis.realism import compare

        report = compare(conversations, self.people, auc=False)
        distances = [row.distance for row in ranked(report) if row.distance is not None]
        rows = {row.name: row for row in report.measures}
        texts = [_texts(group) for group in (self.corpus, conversations)]
        present = {text[at : at + GRAM] for text in texts[0] for at in range(len(text) - GRAM + 1)}
        copied = [text[at : at + GRAM] in present for text in texts[1] for at in range(len(text) - GRAM + 1)]
        return {
            "mean distance": mean(distances),
            "median distance": median(distances),
            "distance of n-gram overlap": rows["n-gram overlap"].distance or 0.0,
            **{name: rows[name].sim or 0.0 for name in REASONS},
            "copied 5-grams": mean(copied),
        }


def _texts(conversations: "Sequence[Conversation]") -> list[str]:
    return [message.text for one in conversations for message in one.messages if message.role == "user"]


def _printed() -> Mapping[str, str]:
    return {
        **of_table(RETRIEVAL, ("contexts, figure", *COLUMNS), COLUMNS),
        **of_table(
            RETRIEVAL, ("model", "feature", *FEATURES), FEATURES, lambda cell: cell.partition(' ("')[0], joined=2
        ),
    }


def _measured(data: OpenData, seed: int) -> Measured:
    users = PairedUsers.of(data, "tune", "test", seed)
    values: dict[str, float | None] = {}
    by_default = {unseen: users.simulated({}, unseen=unseen) for unseen in (False, True)}
    for case, options in CASES.items():
        default = by_default["unseen" in options]
        varied = users.simulated(VARIED, **options)
        for figure, columns in users.compared(default, varied).items():
            values |= {f"{case}, {figure}: {column}": value for column, value in columns.items()}
        if case in FEATURES:
            for column, simulated in ((case, default), (f"{case}, varied", varied)):
                values |= {f"{name}: {column}": weight for name, weight in users.features(simulated).items()}
    count = len({user_of(one) for one in users.people})
    return Measured(values, f"{count} people, {len(users.people)} conversations of them and of each simulated user")


CLAIMS = (
    Claim(
        "retrieval-varied",
        "retrieval-based users that vary their sources and adapt their turns",
        (RETRIEVAL,),
        4,
        {PEOPLE: 219},
        _printed,
        _measured,
    ),
)
