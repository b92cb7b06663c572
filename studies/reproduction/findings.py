"""The figures of README's further findings: the published judge, the published split, and the published script."""

from collections.abc import Mapping

from ...data.people.splits import of_part
from ..label_agreement import agreement
from ..recllmsim.satisfaction_judges import JudgeComparison
from .answers import LABELLED
from .claim import Claim, Measured, OpenData
from .printed import of_sentence, of_table
from .realism import BOUNDS, PEOPLE, README

FINDINGS, MEASURED = "docs/research/findings.md", "docs/labels/measured.md"
MEASURES = "docs/reference/measures.md"
RATED = ("development", "test", "MAE", *BOUNDS)
BOTH = ("recllmsim", "recllmsim_human_vs_agent")
TOPICS = "simquac/teacher_sim_topics.txt"
JUDGED = {"detail": "Detail Level", "utility": "Practical Usefulness", "diversity": "Diversity"}
"""Parts of the annotators' label with the published judge's names."""


def _kappa(part: str) -> str:
    return rf"(?P<{part}_kappa>[-\d.]+), (?P<{part}_low>[-\d.]+) to (?P<{part}_high>[-\d.]+)"


def _judge_printed() -> Mapping[str, str]:
    heading = ("judge and annotators", "accuracy", "always 2", "kappa", "interval", "quadratic weights")
    return {
        **of_table(MEASURED, heading, ("accuracy", "always 2", "kappa", BOUNDS, "quadratic weights")),
        **of_sentence(
            FINDINGS, r"accuracy of (?P<accuracy>[\d.]+)\. Always giving the most frequent value has an accuracy"
        ),
        **of_sentence(README, rf"for detail \(kappa {_kappa('detail')}\) and utility \({_kappa('utility')}\)"),
        **of_sentence(README, rf"low for diversity \({_kappa('diversity')}\)"),
    }


def _judge_measured(data: OpenData, seed: int) -> Measured:
    between = [(f"rating.{name}", f"satisfaction.{part}") for part, name in JUDGED.items()]
    report = agreement(*(data.load(source) for source in BOTH), between=between)
    values: dict[str, float | None] = {}
    for part, row in zip(JUDGED, report.rows, strict=True):
        figures = (row.accuracy, row.base_rate, row.kappa, row.kappa_low, row.kappa_high, row.weighted_kappa)
        names = ("accuracy", "always 2", "kappa", *BOUNDS, "quadratic weights")
        values |= {f"{part}: {name}": figure for name, figure in zip(names, figures, strict=True)}
        values |= {f"{README}: {part} {name}": values[f"{part}: {name}"] for name in ("kappa", *BOUNDS)}
    values[f"{FINDINGS}: accuracy"] = values["detail: accuracy"]
    return Measured(values, f"{report.rows[0].n} conversations; no random draw")


def _split_printed() -> Mapping[str, str]:
    return {
        **of_sentence(
            README,
            r"(?P<leak>\d+) % of the test turns come from conversations, and all from users, that are also in the "
            "training part",
        ),
        **of_sentence(FINDINGS, r"(?P<shared>\d+) of its (?P<tested>\d+) test turns \((?P<leak>[\d.]+) %\)"),
    }


def _split_measured(data: OpenData, seed: int) -> Measured:
    leak = JudgeComparison.of(data.load(PEOPLE), split="published").report([], {}).leak
    percent = 100 * leak.share
    values = {f"{README}: leak": percent, f"{FINDINGS}: leak": percent}
    values |= {f"{FINDINGS}: shared": leak.shared, f"{FINDINGS}: tested": leak.tested}
    return Measured(values, f"{leak.tested} test turns; the published seed")


def _script_printed() -> Mapping[str, str]:
    return {
        **of_sentence(
            FINDINGS,
            r"Of (?P<answers>\d+) public answers of the simulated teacher, (?P<refused>\d+) refuse\. The published "
            r"script alters all (?P<altered>\d+) others, which lose (?P<words_lost>\d+) words",
        ),
        **of_sentence(README, r"alters all (?P<altered>\d+) answers of the public teacher file that are not refusals"),
    }


def _script_measured(data: OpenData, seed: int) -> Measured:
    from ...analysis import compare_validators

    released, _ = compare_validators(data.load(TOPICS))
    names = ("answers", "refused", "altered", "words_lost")
    values = {f"{FINDINGS}: {name.replace('_', ' ')}": getattr(released, name) for name in names}
    values[f"{README}: altered"] = released.altered
    return Measured(values, f"{released.answers} answers; no random draw")


def _ratings_printed() -> Mapping[str, str]:
    return of_table(MEASURES, ("rating of people", *RATED), RATED)


def _ratings_measured(data: OpenData, seed: int) -> Measured:
    from ...analysis.realism.measures.transcripts import transcripts_of
    from ...analysis.realism.published.alignment import rating_errors

    people = data.load(LABELLED)
    tune, test = (transcripts_of([one for one in people if of_part(one, part)], "zh") for part in ("tune", "test"))
    values: dict[str, float | None] = {}
    for row in rating_errors(tune, test, seed=seed):
        figures = (row.sim, row.human, row.value, row.low, row.high)
        values |= {f"{row.of}: {name}": figure for name, figure in zip(RATED, figures, strict=True)}
    return Measured(values, f"{len(tune)} and {len(test)} conversations of people")


CLAIMS = (
    Claim(
        "people-ratings",
        "the absolute error between the ratings of two splits of people",
        (MEASURES,),
        1,
        {LABELLED: 219},
        _ratings_printed,
        _ratings_measured,
    ),
    Claim(
        "published-judge",
        "the published judge of satisfaction against annotators",
        (MEASURED, FINDINGS, README),
        1,
        dict.fromkeys(BOTH, 487),
        _judge_printed,
        _judge_measured,
    ),
    Claim(
        "published-split",
        "users on both sides of the published split of satisfaction",
        (FINDINGS, README),
        1,
        {PEOPLE: 219},
        _split_printed,
        _split_measured,
    ),
    Claim(
        "published-script",
        "answers that the published script of SimQuAC alters",
        (FINDINGS, README),
        1,
        {TOPICS: 13},
        _script_printed,
        _script_measured,
    ),
)
