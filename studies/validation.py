"""The validity of simulated users: which runs it takes to measure it, and the report of what came of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.files.json import dumps, write_text
from ..data.files.paths import make_folder
from ..data.people import MOST_DRAWN
from .sources import StudySource, conversations_of, logged, of_drawn_users, path_of

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.validity import MeetingResult, PeopleReport, RatedConversations, ValidityReport
    from ..data.people import UserPart
    from ..data.records import Conversation
    from ..runs.ask import Runs
    from ..runs.settings import RunSettings
    from ..runs.validity import ValidityRun

REPORT = "report.json"


@dataclass(frozen=True)
class ValidityTrial:
    """The plan of a trial: users, assistants, scoring functions, and the people's conversations."""

    users: Mapping[str, Any]
    """The simulated users by name: anything that a cast takes as its user."""
    assistants: Mapping[str, Any]
    """The assistants by name, the first is the reference; empty: no assistant."""
    source: "str | Sequence[Conversation] | None" = None
    """The path of the people's conversations, or they themselves; None: without a comparison with people."""
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
    def rated(self) -> "RatedConversations | None":
        """The people's conversations with a satisfaction; DataError without any."""
        from ..analysis.validity import RatedConversations

        return None if self.source is None else RatedConversations.of(self.people)

    @cached_property
    def ratings(self) -> "list[ValidityRun]":
        """The runs in which models rate people's conversations."""
        from ..runs.validity import models_among, ratings

        if self.rated is None or self.source is None:
            return []
        judges = {**{str(judge): judge for judge in self.judges}, **models_among(self.users)}
        source = self.source if isinstance(self.source, str) else tuple(self.source)
        return ratings(source, self.people, self._chosen, judges)

    @cached_property
    def meetings(self) -> "list[ValidityRun]":
        """The runs in which users meet assistants."""
        from ..runs.validity import meetings

        if not self.assistants:
            return []
        settings = {"scenarios": self.scenarios, "limit": self.limit, "repeats": self.repeats, "seed": self.seed}
        return meetings(self.users, self.assistants, **settings)  # type: ignore[arg-type]

    def runs(self, out: Path | None = None) -> "Runs":
        """All of them, by their places below the folder."""
        from ..runs.ask import Runs

        every = (*self.ratings, *self.meetings)
        return Runs({run.place: (run.cast, run.states, replace(run.cast.limits, seed=self.seed)) for run in every}, out)

    async def tried(self, out: Path | None = None, settings: "RunSettings | None" = None) -> "ValidityReport":
        """The report, once all is simulated and rated; with a folder it is written there, and the same call goes on."""
        report = self.report(await self.runs(out).conversations(settings))
        if out is not None:
            make_folder(out)
            write_text(out / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
        return report

    def report(self, conversations: "Mapping[str, Sequence[Conversation]]") -> "ValidityReport":
        """The report of the conversations of each run, by its place."""
        from ..analysis.validity import ValidityReport

        return ValidityReport(
            people=None if self.rated is None else self._compared(self.rated, conversations),
            told=tuple(self._meeting_results(conversations)),
            seed=self.seed,
            repeats=self.repeats,
        )

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place of each of the people's conversations in the source."""
        return {id(one): place for place, one in enumerate(self.people)}

    @cached_property
    def _chosen(self) -> list[int]:
        """The places of those that stand in a pair."""
        if self.rated is None:
            return []
        used = sorted({place for pair in self.rated.pairs(self.part) for place in pair})
        return [self._places[id(self.rated.conversations[place])] for place in used]

    def _compared(
        self, rated: "RatedConversations", conversations: "Mapping[str, Sequence[Conversation]]"
    ) -> "PeopleReport":
        """The testers against people."""
        from ..analysis.validity import people_report
        from ..runs.validity import values_of

        values_by_tester: dict[str, list[float | None]] = {
            name: [tester(one) for one in rated.conversations] for name, tester in self.testers.items()
        }
        failures: dict[str, list[str]] = {}
        for run in self.ratings:
            values, failures[run.user] = values_of(run, conversations[run.place], self._chosen, len(self.people))
            values_by_tester[run.user] = [values[self._places[id(one)]] for one in rated.conversations]
        return people_report(rated, values_by_tester, self.part, failures)

    def _meeting_results(self, conversations: "Mapping[str, Sequence[Conversation]]") -> "list[MeetingResult]":
        """The ratings of the assistants by each user."""
        from ..analysis.validity import told_apart

        results: list[MeetingResult] = []
        for user in self.users if self.meetings else ():
            own = [run for run in self.meetings if run.user == user]
            met = {
                name: [one for run in own if run.assistant == name for one in conversations[run.place]]
                for name in self.assistants
            }
            results += told_apart(user, own[0].says_by, own[0].scenarios, met)
        return results


def validity(
    source: "StudySource | None" = None,
    user: Any = ("offline",),
    *,
    assistants: "Mapping[str, Any] | None" = None,
    testers: "Mapping[str, Any] | None" = None,
    judge: "str | Sequence[str]" = (),
    part: "UserPart" = "test",
    scenarios: str | Path | None = None,
    limit: int | None = None,
    repeats: int = 2,
    seed: int = 0,
    out: str | Path | None = None,
    settings: Any = None,
) -> "ValidityReport":
    """Measure the validity of simulated users; `duologue validity` as a function.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        source: People's conversations with their satisfaction, or a path that `load` reads. None: no comparison.
        user: Model identifiers, or users by name: anything that a cast takes as its user.
        assistants: Assistants by name, the reference first; default: those with seeded faults (`nodes.seeded_faults`).
        testers: Scoring functions of a conversation by name. Each returns a number, the greater the better, or None.
        judge: Models that rate, as the person, how satisfied it is.
        part: Take only users of this split of `source`.
        scenarios: A source of scenarios, as for `test`; default: the shipped tasks, or people's contexts.
        limit: Number of scenarios, the first ones; None: all.
        repeats: Number of conversations about each scenario.
        seed: Seed of all draws and calls.
        out: A folder for the report and the runs; the same call goes on with what it holds.
        settings: `runs.RunSettings` of the calls.

    Returns:
        The report, whose `table()` and `people.table()` a notebook shows.

    Raises:
        DataError: No conversation of `source` has a satisfaction.

    Example::

        >>> duologue.validity(testers={"short": lambda talk: -len(talk.messages)}).table()  # doctest: +SKIP
    """
    from ..runs.loop import blocking

    trial = trial_of(
        source, user, assistants, testers=testers or {}, judges=[judge] if isinstance(judge, str) else judge, part=part,
        scenarios=None if scenarios is None else Path(scenarios), limit=limit, repeats=repeats, seed=seed,
    )  # fmt: skip
    return blocking(trial.tried(None if out is None else Path(out), settings))


def trial_of(
    source: "StudySource | None",
    user: Any,
    assistants: "Mapping[str, Any] | None",
    *,
    seed: int,
    **fields: Any,
) -> ValidityTrial:
    """The trial of the parameters of `validity`."""
    from ..nodes.seeded_faults import PLANTED

    people, remark = of_drawn_users(() if source is None else conversations_of(source), MOST_DRAWN, seed)
    if remark:
        logged(f"{path}: {remark}" if (path := path_of(source)) else remark)
    named = [user] if isinstance(user, str) else user
    return ValidityTrial(
        users=dict(named) if isinstance(named, Mapping) else {spec: spec for spec in named},
        assistants=PLANTED if assistants is None else assistants,
        source=None if source is None else str(path) if (path := path_of(source)) and not remark else people,
        people=people,
        seed=seed,
        **fields,
    )
