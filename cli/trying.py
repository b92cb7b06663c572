"""A trial of simulated users as testers: which runs it takes, and the report of what came of them.

The command and `duologue.try_testers` both go by it; each makes the runs in its own way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.formats.folders import make_folder
from ..data.formats.jsonfiles import dumps, write_text

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.testers import PeopleReport, Rated, Report, Told
    from ..data.records import Conversation
    from ..data.users import UserPart
    from ..runs import Conduct
    from ..runs.testers import Run

REPORT = "report.json"


@dataclass(frozen=True)
class Trial:
    """What is tried."""

    users: Mapping[str, Any]
    """The simulated users by name: whatever a cast takes as its user."""
    assistants: Mapping[str, Any]
    """Whom they meet, by name, the first is the reference; empty: nobody."""
    source: "str | Sequence[Conversation] | None" = None
    """The path of the people's conversations, or they themselves; None: testers are not compared with people."""
    people: "Sequence[Conversation]" = ()
    """The conversations of `source`."""
    judges: Sequence[Any] = ()
    """Models that rate people's conversations, besides the users that a model plays."""
    testers: Mapping[str, "Callable[[Conversation], float | None]"] = field(default_factory=dict)
    """Functions that score people's conversations."""
    part: "UserPart" = "test"
    scenarios: Path | None = None
    limit: int | None = None
    repeats: int = 2
    seed: int = 0

    @cached_property
    def rated(self) -> "Rated | None":
        """The people's conversations with a satisfaction; DataError if there are none."""
        from ..analysis.testers import Rated

        return None if self.source is None else Rated.of(self.people)

    @cached_property
    def ratings(self) -> "list[Run]":
        """The runs in which models rate people's conversations."""
        from ..runs.testers import models_among, ratings

        if self.rated is None or self.source is None:
            return []
        judges = {**{str(judge): judge for judge in self.judges}, **models_among(self.users)}
        return ratings(self.source, self.people, self._chosen, judges)

    @cached_property
    def meetings(self) -> "list[Run]":
        """The runs in which users meet assistants."""
        from ..runs.testers import meetings

        if not self.assistants:
            return []
        return meetings(
            self.users,
            self.assistants,
            scenarios=self.scenarios,
            limit=self.limit,
            repeats=self.repeats,
            seed=self.seed,
        )

    def tried(self, out: Path | None = None, conduct: "Conduct | None" = None) -> "Report":
        """The report, once all is simulated and rated; into a folder, from which the same call goes on, if one is given."""
        from ..runs import Conduct, simulate

        conduct = conduct or Conduct()
        conduct = replace(conduct, control=conduct.controlled())  # one set of bounds for all runs
        made = {}
        for run in (*self.ratings, *self.meetings):
            folder = None if out is None else run.folder(out)
            made[run.place] = simulate(
                run.cast,
                run.states,
                limits=replace(run.cast.limits, seed=self.seed),
                out=folder,
                resume=folder is not None and folder.exists(),
                conduct=conduct,
            )
        report = self.report(made)
        if out is not None:
            written(report, out)
        return report

    def report(self, made: "Mapping[Path, Sequence[Conversation]]") -> "Report":
        """The report of the conversations of each run, by its place."""
        from ..analysis.testers import Report

        return Report(
            people=None if self.rated is None else self._compared(self.rated, made),
            told=tuple(self._told(made)),
            seed=self.seed,
            repeats=self.repeats,
            notes=self._trust(made),
        )

    def _trust(self, made: "Mapping[Path, Sequence[Conversation]]") -> tuple[str, ...]:
        """How far the success and the satisfaction of the meetings can be trusted."""
        from ..analysis.trust import TRUST_IN, Trusts

        trusts = Trusts()
        for run in self.meetings:
            for one in made[run.place]:
                trusts.add_scores(one)
        told = ((name, trusts.told_score(name)) for name in ("success", "satisfaction"))
        return tuple(f"{TRUST_IN}{name}: {marks}." for name, marks in told if marks)

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place of each of the people's conversations in the source."""
        return {id(one): place for place, one in enumerate(self.people)}

    @cached_property
    def _chosen(self) -> list[int]:
        """The places of those that stand in a pair."""
        if self.rated is None:
            return []
        used = sorted({place for pair in self.rated.pairs(self.part) for place in (pair.better, pair.worse)})
        return [self._places[id(self.rated.conversations[place])] for place in used]

    def _compared(self, rated: "Rated", made: "Mapping[Path, Sequence[Conversation]]") -> "PeopleReport":
        """The testers against people."""
        from ..analysis.testers import people_report
        from ..runs.label_origins import annotated_keys
        from ..runs.testers import values_of

        asked: dict[str, list[float | None]] = {
            name: [tester(one) for one in rated.conversations] for name, tester in self.testers.items()
        }
        failures: dict[str, list[str]] = {}
        for run in self.ratings:
            said, failures[run.user] = values_of(run, made[run.place], self._chosen, len(self.people))
            asked[run.user] = [said[self._places[id(one)]] for one in rated.conversations]
        models = annotated_keys(Path(self.source)) if isinstance(self.source, str) else frozenset()
        return people_report(rated, asked, self.part, failures, models)

    def _told(self, made: "Mapping[Path, Sequence[Conversation]]") -> "list[Told]":
        """How each user tells the assistants apart; one made from people also by what people said of the nearest replies."""
        from ..analysis.testers import Meetings, by_nearest_replies, told_apart
        from ..nodes.people.options import people_path

        told: list[Told] = []
        for user in self.users if self.meetings else ():
            own = [run for run in self.meetings if run.user == user]
            with_each = {
                name: [one for run in own if run.assistant == name for one in made[run.place]]
                for name in self.assistants
            }
            about = own[0].scenarios
            told += told_apart(user, own[0].says_by, about, {name: Meetings(each) for name, each in with_each.items()})
            if self.rated is None or people_path(self.users[user]) is None:
                continue
            if tuning := self.rated.places("tune"):
                says = by_nearest_replies(self.rated, tuning)
                nearest = {name: Meetings(each, says(each)) for name, each in with_each.items()}
                told += told_apart(user, "nearest replies", about, nearest)
        return told


def written(report: "Report", folder: Path) -> Path:
    """Write the report into the folder; gives its path."""
    make_folder(folder)
    write_text(folder / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
    return folder / REPORT
