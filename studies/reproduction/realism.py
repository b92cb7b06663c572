"""The figures of the realism reports on the published simulated users and on retrieval-based users."""

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from ...data.people.splits import of_part
from ..comparison import compare
from .claim import Claim, Measured, OpenData
from .printed import of_sentence, of_table

if TYPE_CHECKING:
    from ...analysis.realism import RealismReport
    from ...analysis.realism.records import RealismRow
    from ...analysis.realism.statistics.auc import Interval
    from ...analysis.realism.statistics.samples import MeasuredUsers
    from ...data import Conversation
    from ...graphs import Cast

SIMULATED, PEOPLE, REFERENCE = (f"recllmsim/{name}" for name in ("LLM_agent_user", "human_exp_V2", "real_human_user"))
OPEN = {SIMULATED: 233, PEOPLE: 219}
REPORT, RETRIEVAL, README = "docs/users/realism_report.md", "docs/users/retrieval_based.md", "README.md"
COLUMNS = {
    "simulated": "sim", "people": "human", "effect": "effect", "low": "effect_low", "high": "effect_high",
    "distance": "distance", "baseline": "floor",
}  # fmt: skip
BOUNDS = ("low", "high")
READ = ", by the adversary"
HALVINGS = 20
"""Halvings of the people, for the adversary's human-human baseline."""
SEEDS = 3
"""Runs of retrieval-based users that a page prints together."""


def of_auc(name: str, auc: "Interval | None", of: str = "") -> dict[str, float | None]:
    """The AUC of a group and the ends of its interval by figure; `of` begins the names."""
    ends = {} if auc is None else {"AUC": auc.value, "low": auc.low, "high": auc.high}
    return {f"{name}: {of}{end}": value for end, value in ends.items()}


def with_measures(*groups: "Sequence[Conversation]") -> "tuple[list[MeasuredUsers], list[int]]":
    """The groups with their measures, compared in Chinese, and the columns that vary in each."""
    from ...analysis.realism.measures import all_measures
    from ...analysis.realism.measures.transcripts import transcripts_of
    from ...analysis.realism.statistics.samples import measured

    measures = [measure for measure in all_measures() if not measure.pairwise]
    sides = [measured(transcripts_of(group, "zh"), measures) for group in groups]
    return sides, [place for place in range(len(measures)) if all(_varies(side.values[:, place]) for side in sides)]


def _varies(values: Any) -> bool:
    with_value = values[values == values]
    return bool(len(with_value)) and bool(with_value.max() > with_value.min())


def by_adversary(simulated: "Sequence[Conversation] | None", people: "Sequence[Conversation]") -> "Interval":
    """The AUC by the adversary of all these users; None: of halves of the people."""
    from ...analysis.realism.discriminator import FEWER_REPEATS, cross_validated, human_baseline
    from ...analysis.realism.statistics.two_samples import Draws

    sides, columns = with_measures(people if simulated is None else simulated, people)
    draws = Draws(0, 1, HALVINGS)
    if simulated is None:
        return human_baseline(sides[1], columns, draws, by_words=True)
    return cross_validated(sides[0], sides[1], columns, draws, FEWER_REPEATS, by_words=True).auc


def n_of(report: "RealismReport") -> str:
    """The users and conversations of a report, in words."""
    sides = {"simulated": report.sim, "people": report.human}
    return "; ".join(f"{name} {side.users} users, {side.compared} conversations" for name, side in sides.items())


def ranked(report: "RealismReport") -> "list[RealismRow]":
    """The ranked rows of a report."""
    return [row for row in report.measures if row.is_ranked]


def _report_printed() -> Mapping[str, str]:
    return {
        **of_table(REPORT, ("measure", *COLUMNS), tuple(COLUMNS), lambda cell: cell.partition(",")[0]),
        **of_table(REPORT, ("measure", "effect", *BOUNDS, "what it means"), ("effect", *BOUNDS, ())),
        **of_table(REPORT, ("compared", "AUC", "95 % interval"), ("AUC", BOUNDS)),
        **of_table(REPORT, ("measures", "rank correlation"), ("rank correlation",)),
        **of_table(REPORT, ("measure", "people", "simulated users"), ("ICC of people", "ICC of simulated users")),
        **of_sentence(
            REPORT, r"The (?P<ranked>\d+) ranked measures count as (?P<uncorrelated>[\d.]+) uncorrelated ones"
        ),
        **of_sentence(
            README,
            r"AUC (?P<auc>[\d.]+) \((?P<low>[\d.]+) to (?P<high>[\d.]+)\), also without measures of length\. Two halves "
            r"of the people: (?P<halves_auc>[\d.]+) \(middle 95 % of halvings (?P<halves_low>[\d.]+) to "
            r"(?P<halves_high>[\d.]+)\)\. An adversary that also reads words has (?P<read_auc>[\d.]+) "
            r"\((?P<read_low>[\d.]+) to (?P<read_high>[\d.]+)\) and (?P<read_halves_auc>[\d.]+\d)",
        ),
    }


def _report_measured(data: OpenData, seed: int) -> Measured:
    people = data.load(PEOPLE)
    report = compare(
        data.load(SIMULATED),
        people,
        references={"first": data.load(REFERENCE)},
        baseline=False,
        adversary=False,
        seed=seed,
    )
    discriminator = report.discriminator
    (reference,) = discriminator.references
    read, read_halves = by_adversary(data.load(SIMULATED), people), by_adversary(None, people)
    values: dict[str, float | None] = {
        f"{row.name}: {column}": getattr(row, field) for row in report.measures for column, field in COLUMNS.items()
    }
    values |= {
        **of_auc("simulated users and people", discriminator.auc),
        "the same without the measures of length: AUC": discriminator.without_length,
        **of_auc("two halves of the people, middle 95 % of the halvings", discriminator.floor),
        **of_auc("at equal length", discriminator.equal_length),
        **of_auc("the first study's people and the second's", reference.from_people),
        **of_auc(f"simulated users and people{READ}", read),
        **of_auc(f"two halves of the people, middle 95 % of the halvings{READ}", read_halves),
        **of_auc(f"the first study's people and the second's{READ}", by_adversary(data.load(REFERENCE), people)),
        f"{REPORT}: ranked": len(ranked(report)),
        f"{REPORT}: uncorrelated": report.effective_measures,
    }
    for name, auc in {
        "": discriminator.auc,
        "halves ": discriminator.floor,
        "read ": read,
        "read halves ": read_halves,
    }.items():
        ends = {"auc": auc.value, **dict(zip(BOUNDS, (auc.low, auc.high), strict=True))}
        values |= {f"{README}: {name}{end}": value for end, value in ends.items()}
    families = {"shape": "length"}
    for row in discriminator.families:
        values[f"by the measures of {families.get(row.family, row.family)}: AUC"] = row.alone
    for pair in report.correlated:
        values[f"{pair.first}, {pair.second}: rank correlation"] = pair.value
    for persona in report.persona:
        values |= {
            f"{persona.name}: ICC of people": persona.human,
            f"{persona.name}: ICC of simulated users": persona.sim,
        }
    return Measured(values, n_of(report))


BASELINE = (
    "users", "AUC", "interval", "AUC, 10 users in each group", "20 users", "adversary, 23 users", "mean distance",
    "median distance",
)  # fmt: skip
BASELINE_FIGURES = ("AUC", BOUNDS, "AUC, 10 users", "AUC, 20 users", "adversary", "mean distance", "median distance")


def _baseline_printed() -> Mapping[str, str]:
    return of_table(RETRIEVAL, BASELINE, BASELINE_FIGURES)


def _baseline_measured(data: OpenData, seed: int) -> Measured:
    report = compare(data.load(SIMULATED), data.load(PEOPLE), part="test", seed=seed)
    discriminator = report.discriminator
    by_users = {row.users: row for row in discriminator.at_users}
    groups = {
        "people from each other": ("floor", "floor"),
        "retrieval-based users": ("made", "made"),
        "the published simulated users": ("auc", "distance"),
    }
    values: dict[str, float | None] = {}
    for name, (key, distance) in groups.items():
        distances = [getattr(row, distance) for row in ranked(report)]
        values |= of_auc(name, getattr(discriminator, key))
        values |= {f"{name}: AUC, {users} users": getattr(by_users[users], key, None) for users in by_users}
        values[f"{name}: adversary"] = getattr(discriminator.adversary, key, None)
        values |= {f"{name}: mean distance": mean(distances), f"{name}: median distance": median(distances)}
    return Measured(values, n_of(report))


def simulated_from_people(data: OpenData, seed: int, **options: Any) -> "list[Conversation]":
    """Retrieval-based users with the words of the development split, on the tasks of the test split's people.

    `options`: further ones of `PeopleOptions`, for both roles.
    """
    from ...graphs import recllmsim
    from ...nodes.people import PeopleOptions, PeopleSpeaker

    people, chosen = data.load(PEOPLE), PeopleOptions(part="tune", **options)
    user, assistant = (PeopleSpeaker.of(people, role, options=chosen) for role in ("user", "assistant"))
    test = [one for one in people if of_part(one, "test")]
    return simulated_on(recllmsim.cast(user=user, assistant=assistant, language="zh"), test, seed)


def simulated_on(cast: "Cast", people: "Sequence[Conversation]", seed: int, **limits: Any) -> "list[Conversation]":
    """Conversations about the tasks of these people's conversations; `limits`: those that differ from the defaults."""
    from ...graphs import recllmsim
    from ...nodes.limits import Limits
    from ...runs import simulate

    scenarios: Any = [
        {"scenario": one["scenario"], "ordinal": one.get("ordinal", 0)} for one in recllmsim.scenarios(people)
    ]
    return simulate(cast, scenarios, limits=Limits(seed=seed, **limits))


def _retrieval_printed() -> Mapping[str, str]:
    seen, unseen, read, read_unseen = (
        rf"(?P<{name}_least>[\d.]+) to (?P<{name}_most>[\d.]+\d)"
        for name in ("seen", "unseen", "seen_by_words", "unseen_by_words")
    )
    return {
        **of_table(
            RETRIEVAL,
            ("users", "AUC", "95 % interval", "AUC by the adversary", "interval"),
            ("AUC", BOUNDS, "adversary AUC", ("adversary low", "adversary high")),
        ),
        **of_sentence(
            README,
            f"the AUC is {seen}, and {read} by the adversary. In unseen contexts it is {unseen}, and {read_unseen}",
        ),
    }


def _retrieval_measured(data: OpenData, seed: int) -> Measured:
    """Three runs each, with seeds from three times `seed` on."""
    from ...analysis import realism
    from ...graphs import recllmsim

    people = data.load(PEOPLE)
    test = [one for one in people if of_part(one, "test")]

    def aucs(name: str, conversations: "Sequence[Conversation]") -> dict[str, float | None]:
        auc = realism.compare(conversations, people, part="test").discriminator.auc
        return of_auc(name, auc) | of_auc(name, by_adversary(conversations, test), "adversary ")

    groups = {
        "people of the development split": [one for one in people if of_part(one, "tune")],
        "the published simulated users, in a machine translation from English": data.load(SIMULATED),
        "the embedded offline user": simulated_on(recllmsim.cast(language="zh"), test, seed),
    }
    report = realism.compare(groups["people of the development split"], people, part="test")
    floor = "people of the test split from each other (human-human baseline)"
    values = of_auc(floor, report.discriminator.floor) | of_auc(floor, by_adversary(None, test), "adversary ")
    for name, conversations in groups.items():
        values |= aucs(name, conversations)
    for unseen, how in ((False, ""), (True, ", unseen=true")):
        runs = [simulated_from_people(data, SEEDS * seed + run, unseen=unseen) for run in range(SEEDS)]
        for run, of_run in enumerate(runs):
            values |= aucs(f"retrieval-based{how}, seed {run}", of_run)
        for kind, words in (("AUC", ""), ("adversary AUC", " by words")):
            of_runs = [values[f"retrieval-based{how}, seed {run}: {kind}"] for run in range(SEEDS)]
            numbers = [number for number in of_runs if number is not None]
            name = f"{README}: {'unseen' if unseen else 'seen'}{words}"
            values |= {f"{name} least": min(numbers, default=None), f"{name} most": max(numbers, default=None)}
    return Measured(values, f"simulated and {n_of(report).partition('; ')[2]}")


CLAIMS = (
    Claim(
        "realism-report",
        "the published simulated users against people",
        (REPORT, README),
        1,
        {**OPEN, REFERENCE: 35},
        _report_printed,
        _report_measured,
    ),
    Claim(
        "retrieval-based",
        "retrieval-based users against people, in seen and in unseen contexts",
        (RETRIEVAL, README),
        3,
        OPEN,
        _retrieval_printed,
        _retrieval_measured,
    ),
    Claim(
        "retrieval-baseline",
        "retrieval-based users beside the published ones, with the adversary",
        (RETRIEVAL,),
        2,
        OPEN,
        _baseline_printed,
        _baseline_measured,
    ),
)
