"""The link between realism and usefulness: whether users who are like people rank assistants better."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.files.folders import make_folder
from ...data.files.json_files import dumps, write_text
from ...errors import SettingError
from ..sources import MOST_DRAWN, StudySource, conversations_of, logged, of_drawn_users, path_of

if TYPE_CHECKING:
    from ...analysis.validity.link_outcomes import KnownPair, LinkOutcome, UserOutcomes
    from ...analysis.validity.link_report import LinkReport, RealismValue
    from ...data.records import Conversation
    from ...runs import Conduct
    from ...runs.people.link import LinkPlan
    from ...runs.planning.plans import CallPlan

REPORT = "link.json"
NEXT_TURNS = 20
"""People's conversations at whose turns the users are asked for the next one."""
SHOWN_BY: "Mapping[str, tuple[LinkOutcome, ...]]" = {
    "wrong": ("success", "satisfaction"),
    "forgetful": ("success", "satisfaction"),
    "wordy": ("satisfaction", "cost"),
    "slow": ("cost",),
    "unsafe": ("success",),
}
"""The outcomes that each graded fault should change, stated before any is measured."""


@dataclass(frozen=True)
class LinkStudy:
    """Users, assistants of known order, and the measures of realism that are correlated with what the users find."""

    plan: "LinkPlan"
    draws: int = 1000
    next_turns: int = NEXT_TURNS

    @cached_property
    def pairs(self) -> "dict[str, tuple[KnownPair, ...]]":
        """The known pairs in each domain."""
        from ...analysis.validity.link_outcomes import OUTCOMES, pairs_of
        from ...nodes.seeded_faults.graded import CHAINS

        if not self.plan.graded:
            return {one.name: pairs_of([tuple(self.plan.assistants)], [OUTCOMES]) for one in self.plan.domains}
        pairs = {}
        for domain in self.plan.domains:
            met = self.plan.assistants_in(domain)
            chains = [chain for chain in CHAINS if chain[-1] in met]
            pairs[domain.name] = pairs_of(chains, [SHOWN_BY[chain[-1].rpartition("_")[0]] for chain in chains])
        return pairs

    def calls(self, out: Path, *, resume: bool = False) -> "CallPlan":
        """The plan of all runs; with `resume` of what they lack in the folder."""
        from ...runs.planning.conversations import conversations_planned
        from ...runs.planning.plans import joined

        plans = {
            run.place.as_posix(): conversations_planned(
                run.cast, run.states, run.folder(out), run.cast.limits, resume=resume and run.folder(out).is_dir()
            )
            for run in self.plan.runs
        }
        return joined(plans, "conversations", f"in {len(plans)} runs", "runs")

    def tried(self, out: Path | None = None, conduct: "Conduct | None" = None) -> "LinkReport":
        """The report, once all is simulated; with a folder the same call continues."""
        from ...runs import Conduct, simulate

        conduct = conduct or Conduct()
        conduct = replace(conduct, control=conduct.controlled())
        conversations = {}
        for run in self.plan.runs:
            folder = None if out is None else run.folder(out)
            conversations[run.place] = simulate(
                run.cast,
                run.states,
                limits=replace(run.cast.limits, seed=self.plan.seed),
                out=folder,
                resume=folder is not None and folder.exists(),
                conduct=conduct,
            )
        report = self.report(conversations, out)
        if out is not None:
            written(report, out)
        return report

    def report(self, conversations: "Mapping[Path, Sequence[Conversation]]", out: Path | None = None) -> "LinkReport":
        """The report of the conversations of each run, by its place. `out`: for the next turns."""
        from ...analysis.validity.link_report import linked

        return linked(
            self._outcomes(conversations),
            self.pairs,
            list(self._realism(conversations, out)) if self.plan.compared_people else [],
            kinds={user.name: user.played_by for user in self.plan.users},
            draws=self.draws,
            seed=self.plan.seed,
            notes=self._notes,
        )

    @property
    def _notes(self) -> list[str]:
        counts = (
            f"{one.name}: {len(self.plan.users_in(one))} users, {sum(map(len, one.sets))} scenarios"
            for one in self.plan.domains
        )
        notes = [f"Domains: {'; '.join(counts)}. {len(self.plan.assistants)} assistants."]
        if not self.plan.compared_people:
            notes.append("Realism is not measured: give SRC, conversations of people.")
        return notes

    def _outcomes(self, conversations: "Mapping[Path, Sequence[Conversation]]") -> "list[UserOutcomes]":
        from ...analysis.validity.link_outcomes import UserOutcomes

        met: dict[tuple[str, str], tuple[dict[str, list[Any]], dict[str, list[Any]]]] = {}
        for run in self.plan.runs:
            if not run.assistant:
                continue
            for name, number, one in _marked(conversations[run.place]):
                sets = met.setdefault((run.scenarios, name), ({}, {}))
                sets[number].setdefault(run.assistant, []).append(one)
        return [UserOutcomes(user, domain, sets) for (domain, user), sets in met.items()]

    def _realism(
        self, conversations: "Mapping[Path, Sequence[Conversation]]", out: Path | None
    ) -> "Iterator[RealismValue]":
        """Each user's values by each measure of realism."""
        from ...analysis import realism
        from ...analysis.validity.link_report import realism_values

        by_user: dict[str, list[Conversation]] = {}
        for run in self.plan.runs:
            for name, _, one in _marked(conversations[run.place]) if not run.assistant else ():
                by_user.setdefault(name, []).append(one)
        for user in self.plan.users:
            if own := by_user.get(user.name):
                report = realism.compare(
                    own,
                    self.plan.compared_people,
                    seed=self.plan.seed,
                    adversary=True,
                    examples_each=0,
                    shufflings=200,
                    halvings=20,
                )
                yield from realism_values(user.name, report)
        yield from self._next_turns(out)

    def _next_turns(self, out: Path | None) -> "Iterator[RealismValue]":
        """How near the users' next turns are to people's, at the same places."""
        from ...analysis.next_turn import Benchmark
        from ...analysis.validity.link_report import RealismValue
        from ...graphs.single_turn import cast_for
        from ...nodes.settings.environment import untraced
        from ...runs.people.next_turn import folder_name, next_turns

        benchmark = Benchmark.of(self.plan.people, part="test", limit=self.next_turns, seed=self.plan.seed)
        turns = {}
        for user in self.plan.users:
            cast = cast_for(benchmark.moments, user.speaker, **self.plan.filter_of(user))
            benchmark = benchmark.askable(partial(_askable, cast.name))
            folder = None if out is None else out / "next" / folder_name(user.name)
            with untraced():
                turns[user.name] = next_turns(
                    cast, benchmark.moments, seed=self.plan.seed, behaviours=tuple(user.kind.shares), out=folder
                )
        report = benchmark.report(benchmark.judged(turns))
        for row in report.rows:
            if row.kind == "user":
                for score, mean in row.scores.items():
                    if mean.value is not None:
                        yield RealismValue(
                            user=row.name, measure=f"next turn: {score}", family="next turn", value=mean.value
                        )


def _askable(cast: str, moment: Any) -> bool:
    from ...graphs.single_turn import state_of

    return state_of(moment, cast) is not None


def _marked(conversations: "Sequence[Conversation]") -> "Iterator[tuple[str, int, Conversation]]":
    """Each conversation with the name of its user and the number of its set."""
    from ...runs.people.link import MARK

    for one in conversations:
        mark: Any = one.extra.get(MARK) or {}
        yield str(mark.get("user")), int(mark.get("set", 0)), one


def link_plan(
    users: Sequence[str] = (),
    assistants: Sequence[str] = (),
    source: Path | None = None,
    people: "Sequence[Conversation]" = (),
    scenarios: Path | None = None,
    size: int | None = None,
    seed: int = 0,
) -> "LinkPlan":
    """The plan of the link; without users or assistants that of the shipped ones.

    Args:
        users: Model identifiers, each perhaps with behaviours (`SPEC+BEHAVIOUR,...`); `like` among these is the style
            filter by the source's development split.
        assistants: `NAME=MODEL` or a seeded fault, the best first.
        source: The path of people's conversations.
        people: These conversations.
        scenarios: A source of scenarios, in place of the drawn ones.
        size: Scenarios of each of the two sets of a domain.
        seed: Seed of all draws and calls.

    Returns:
        The plan.

    Raises:
        SettingError: An unknown behaviour or assistant, or a style filter without a source.
    """
    from ...nodes.seeded_faults.graded import GRADED
    from ...runs.people.link import SET_SIZE, LinkPlan, LinkUser, default_users
    from ...runs.people.validity import named_assistants

    place = None if source is None else str(source)
    chosen = [LinkUser.of(text) for text in users or default_users(place)]
    if place is None and (filtered := next((user.name for user in chosen if user.like), None)):
        raise SettingError(f"--user {filtered}: give SRC, conversations of the people whose style it is to have")
    return LinkPlan(
        users=chosen,
        assistants=named_assistants(assistants) if assistants else GRADED,
        people=people,
        source=place,
        scenarios=scenarios,
        size=size or SET_SIZE,
        seed=seed,
    )


def written(report: "LinkReport", folder: Path) -> Path:
    """Write the report into the folder; gives its path."""
    make_folder(folder)
    write_text(folder / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
    return folder / REPORT


def link(
    source: StudySource | None = None,
    user: "Sequence[str] | str" = (),
    *,
    assistants: "Sequence[str] | str" = (),
    scenarios: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    conduct: "Conduct | None" = None,
    draw: int = MOST_DRAWN,
) -> "LinkReport":
    """Measure whether users who are like people rank assistants better; `duologue validity --link` as a function.

    Needs the extras `stats` and `ml`, for Chinese also `zh`. The default users and assistants take about 20 minutes.

    Args:
        source: The path of people's conversations. None: the users' results only.
        user: Model identifiers, each perhaps with behaviours (`SPEC+BEHAVIOUR,...`).
        assistants: `NAME=MODEL`, or the names of seeded faults, the best first.
        scenarios: A source of scenarios, in place of the drawn ones.
        limit: Scenarios of each of the two sets of a domain; None: 20.
        seed: Seed of all draws and calls.
        out: A folder for the report and the runs; the same call continues what it holds.
        conduct: Pace and bounds of the calls, as for `simulate`.
        draw: Maximum number of conversations of `source`; from more, users are drawn with the seed.

    Returns:
        The report, whose `table()` and `criteria_table()` a notebook shows.

    Raises:
        SettingError: An unknown behaviour or assistant, or a style filter without a source.

    Example::

        >>> duologue.link("human_exp_V2", out="out/link").table()  # doctest: +SKIP
    """
    people, remark = of_drawn_users(() if source is None else conversations_of(source), draw, seed)
    if remark:
        logged(remark)
    speakers = ([user] if isinstance(user, str) else user, [assistants] if isinstance(assistants, str) else assistants)
    plan = link_plan(*speakers, path_of(source), people, None if scenarios is None else Path(scenarios), limit, seed)
    return LinkStudy(plan).tried(None if out is None else Path(out), conduct)
