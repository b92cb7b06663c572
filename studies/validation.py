"""The validity of simulated users: which runs it takes to measure it, and the report of what came of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.files.json import dumps, write_text
from ..data.files.paths import make_folder
from ..data.people import MOST_DRAWN
from .sources import StudySource, conversations_of, logged, of_drawn_users, path_of

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.validity import MeetingResult, ValidityReport
    from ..data.people import UserPart
    from ..data.records import Conversation
    from ..runs.ask import Carry
    from ..runs.settings import RunSettings
    from ..runs.validity import ValidityRun

REPORT = "report.json"


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
    run: "RunSettings | None" = None,
    carry: "Carry | None" = None,
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
        run: `runs.RunSettings` of the calls.
        carry: How the runs are carried out, in place of `run`.

    Returns:
        The report, whose `table()` and `people.table()` a notebook shows.

    Raises:
        DataError: No conversation of `source` has a satisfaction.

    Example::

        >>> duologue.validity(testers={"short": lambda talk: -len(talk.messages)}).table()  # doctest: +SKIP
    """
    from ..analysis.validity import RatedConversations, ValidityReport, people_report
    from ..nodes.seeded_faults import PLANTED
    from ..runs.ask import Runs, carried
    from ..runs.validity import meetings, models_among, ratings, values_of

    people, remark = of_drawn_users(() if source is None else conversations_of(source), MOST_DRAWN, seed)
    path, folder = path_of(source), None if out is None else Path(out)
    if remark:
        logged(f"{path}: {remark}" if path else remark)
    named = [user] if isinstance(user, str) else user
    users = dict(named) if isinstance(named, Mapping) else {spec: spec for spec in named}
    agents = PLANTED if assistants is None else assistants
    rated = None if source is None else RatedConversations.of(people, part)
    places = {id(one): place for place, one in enumerate(people)}
    chosen: list[int] = []  # the places of the people's conversations that stand in a pair
    rating: list[ValidityRun] = []
    if rated is not None:
        used = sorted({place for pair in rated.pairs for place in pair})
        chosen = [places[id(rated.conversations[place])] for place in used]
        judges = {str(one): one for one in ([judge] if isinstance(judge, str) else judge)} | models_among(users)
        rating = ratings(str(path) if path and not remark else people, people, chosen, judges)
    meeting: list[ValidityRun] = []
    if agents:
        file = None if scenarios is None else Path(scenarios)
        meeting = meetings(users, agents, scenarios=file, limit=limit, repeats=repeats, seed=seed)
    every = (*rating, *meeting)
    runs = Runs({one.place: (one.cast, one.states, replace(one.cast.limits, seed=seed)) for one in every}, folder)
    talks = (carry or carried(run))(runs, "conversations", f"in {len(every)} runs")
    of_people = None
    if rated is not None:
        values = {name: [tester(one) for one in rated.conversations] for name, tester in (testers or {}).items()}
        failures: dict[str, list[str]] = {}
        for one in rating:
            own, failures[one.user] = values_of(one, talks[one.place], chosen, len(people))
            values[one.user] = [own[places[id(talk)]] for talk in rated.conversations]
        of_people = people_report(rated, values, failures)
    told = tuple(_told_apart(users, agents, meeting, talks)) if meeting else ()
    report = ValidityReport(people=of_people, told=told, seed=seed, repeats=repeats)
    if folder is not None:
        make_folder(folder)
        write_text(folder / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
    return report


def _told_apart(
    users: Mapping[str, Any],
    assistants: Mapping[str, Any],
    meetings: "Sequence[ValidityRun]",
    talks: "Mapping[str, Sequence[Conversation]]",
) -> "Iterator[MeetingResult]":
    """The ratings of the assistants by each user."""
    from ..analysis.validity import told_apart

    for user in users:
        own = [run for run in meetings if run.user == user]
        met = {name: [one for run in own if run.assistant == name for one in talks[run.place]] for name in assistants}
        yield from told_apart(user, own[0].says_by, own[0].scenarios, met)
