"""The figures of next-turn prediction and of validity."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..link.study import link
from ..prediction import next_turn
from ..validation import validity
from .claim import Claim, Measured, OpenData
from .printed import of_sentence, of_table
from .realism import BOUNDS, PEOPLE, SIMULATED

if TYPE_CHECKING:
    from ...analysis.next_turn.report import TurnScore
    from ...analysis.validity import ValidityReport

NEXT_TURN, VALIDITY = "docs/users/next_turn.md", "docs/users/validity.md"
LABELLED = "recllmsim_human_vs_agent/human_exp_V2"
QUESTIONS, STUDENTS = "simquac/quac_subset.json", "simquac/sim_quac.json"
SCORES: "tuple[TurnScore, ...]" = ("first", "later", "words", "acts", "ended", "stayed")


def _turns_printed(users: int) -> Callable[[], Mapping[str, str]]:
    columns = ("chrF", *BOUNDS, *SCORES)
    return lambda: of_table(NEXT_TURN, (f"{users} people", *columns), columns)


def _turns_measured(people: str, published: str, part: Any) -> Callable[[OpenData, int], Measured]:
    def measured(data: OpenData, seed: int) -> Measured:
        report = next_turn(data.load(people), "offline", published=data.load(published), part=part, seed=seed)
        values: dict[str, float | None] = {}
        for row in report.rows:
            chrf = row.scores["chrf"]
            values |= {f"{row.name}: chrF": chrf.value, f"{row.name}: low": chrf.low, f"{row.name}: high": chrf.high}
            values |= {f"{row.name}: {score}": row.scores[score].value for score in SCORES}
        return Measured(values, f"{report.users} people, {report.turns} turns, {report.ends} ends")

    return measured


RATED = ("concordance", *BOUNDS, "by user", "above length", "above low", "above high")
MET = ("n", "good", "it", "difference", *BOUNDS, "detects", "needs")


def _validity_printed() -> Mapping[str, str]:
    met = of_table(VALIDITY, ("user", "assistant", "by", *MET), (*MET[:-2], (), "needs"), joined=3)
    return of_table(VALIDITY, ("rated by", *RATED), RATED) | met


def _validity_measured(data: OpenData, seed: int) -> Measured:
    source = str(data.path(LABELLED))
    report = validity(source, {"offline": "offline", "people": f"people:{source}?part=tune"}, seed=seed)
    values = _rated(report)
    for met in report.told:
        for by, difference in (
            ("success", met.success),
            (f"satisfaction: {met.satisfaction_by}", met.satisfaction),
        ):
            figures = (
                met.conversations,
                difference.reference,
                difference.value,
                difference.difference,
                difference.low,
                difference.high,
                difference.needed,
            )
            names = (*MET[:-2], "needs")
            values |= {
                f"{met.user}, {met.assistant}, {by}: {name}": value for name, value in zip(names, figures, strict=True)
            }
    return Measured(values, _n_of(report))


def _all_printed() -> Mapping[str, str]:
    return {
        **of_table(VALIDITY, ("rated by, all people", *RATED), RATED),
        **of_sentence(VALIDITY, r"All (?P<people>\d+) people with a pair count \((?P<pairs>\d+) pairs\)"),
    }


def _all_measured(data: OpenData, seed: int) -> Measured:
    report = validity(str(data.path(LABELLED)), {}, assistants={}, part="all", seed=seed)
    people = report.people
    more = {} if people is None else {f"{VALIDITY}: people": people.users, f"{VALIDITY}: pairs": people.pairs}
    return Measured(_rated(report) | more, _n_of(report))


def _rated(report: "ValidityReport") -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for row in report.people.rows if report.people is not None else ():
        of_row, above = row.concordance, row.above_length
        figures = (of_row.value, of_row.low, of_row.high, of_row.by_user, above.value, above.low, above.high)
        values |= {f"{row.tester}: {name}": value for name, value in zip(RATED, figures, strict=True)}
    return values


def _n_of(report: "ValidityReport") -> str:
    people = report.people
    return "no people" if people is None else f"{people.pairs} pairs of {people.users} people"


LINKED = (
    "agreement", "agreement low", "agreement high", "agreement p adj", "control", "control low", "control high",
    "size", "size low", "size high", "size p adj", "all users",
)  # fmt: skip
CRITERIA = ("agreement", "same at twice", "beyond band")
KINDS = {"rules": "rule-based", "retrieval": "retrieval-based"}


def _link_printed() -> Mapping[str, str]:
    ranges = tuple((name, f"{name} min", f"{name} max") for name in CRITERIA)
    heading = ("criteria, median over users (minimum to maximum)", "users", "order kept", *CRITERIA)
    return {
        **of_table(VALIDITY, ("measure", *_short(LINKED)), LINKED),
        **of_table(VALIDITY, heading, ("users", "order kept", *ranges)),
        **of_sentence(VALIDITY, r"\*\*None of (?P<correlations>\d+) correlations differs from 0 by more than chance"),
    }


def _short(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The headings of the columns: the bounds and p of a figure follow it, without its name."""
    return tuple(name.removeprefix(f"{name.split()[0]} ") for name in columns[:-1]) + columns[-1:]


def _link_measured(data: OpenData, seed: int) -> Measured:
    report = link(str(data.path(PEOPLE)), seed=seed)
    cells = {column.name: place for place, column in enumerate(report.table().columns)}
    values: dict[str, Any] = {f"{row[0]}: {name}": row[cells[name]] for row in report.table().rows for name in LINKED}
    criteria = report.criteria_table()
    for kind, domain, *numbers in criteria.rows:
        row = dict(zip((column.name for column in criteria.columns[2:]), numbers, strict=True))
        values |= {f"{KINDS.get(str(kind), kind)}, {domain}: {name}": number for name, number in row.items()}
    values[f"{VALIDITY}: correlations"] = sum(one.rho is not None for row in report.rows for one in row.by.values())
    return Measured(
        values,
        f"{len({row.user for row in report.users})} users, {sum(row.conversations for row in report.users)} conversations",
    )


CLAIMS = (
    Claim(
        "link",
        "whether users who are like people rank assistants better, and their criteria of validity",
        (VALIDITY,),
        25,
        {PEOPLE: 219},
        _link_printed,
        _link_measured,
    ),
    Claim(
        "next-turn",
        "the next messages of people with a task, predicted",
        (NEXT_TURN,),
        1,
        {PEOPLE: 219, SIMULATED: 233},
        _turns_printed(47),
        _turns_measured(PEOPLE, SIMULATED, "test"),
    ),
    Claim(
        "next-turn-questions",
        "the next questions of people about a section, predicted",
        (NEXT_TURN,),
        1,
        {QUESTIONS: 77, STUDENTS: 77},
        _turns_printed(77),
        _turns_measured(QUESTIONS, STUDENTS, "all"),
    ),
    Claim(
        "validity",
        "agreement with people of the test split, and detection of seeded faults",
        (VALIDITY,),
        2,
        {LABELLED: 219},
        _validity_printed,
        _validity_measured,
    ),
    Claim(
        "validity-all",
        "agreement with all people, cross-validated",
        (VALIDITY,),
        1,
        {LABELLED: 219},
        _all_printed,
        _all_measured,
    ),
)
