"""A comparison of two versions in words and as a table, as terminal, page, notebook and Markdown show it."""

from collections.abc import Sequence

from ...over_users.pair_power import FEWEST_SCENARIOS, PairPlan
from ...over_users.paired import PairedDifference, differs
from ...tables import Column, Table
from ..shares import few
from .pairing import PairedTest, TestedPair

AT_MOST = 5
"""Groups of failures, and scenarios with lost or won pairs, that are named."""

NO_INTERVAL = f"no interval: a measure without bounds, such as tokens, needs {FEWEST_SCENARIOS} scenarios that differ"


def paired_lines(result: PairedTest) -> list[str]:
    """The comparison in lines: the difference, the verdict, McNemar's table, what is left out, and pass^k."""
    lines = [
        f"in pairs with {result.old_name}: {difference_line(result)}",
        verdict_line(result),
        f"both succeed in {result.both} pairs, only {result.new_name} in {result.only_new}, "
        f"only {result.old_name} in {result.only_old}, neither in {result.neither}",
        *_left_out(result),
        _pass_hat(result),
        *_same_user(result),
        *result.not_compared,
    ]
    return [line for line in lines if line]


def difference_line(result: PairedDifference) -> str:
    """Both means and the difference, with the interval and p."""
    if result.difference is None or result.old is None or result.new is None:
        return f"no difference: {result.reason}"
    pairs = (
        f"{result.pairs} pair{'s' * (result.pairs != 1)} of {result.scenarios} scenario{'s' * (result.scenarios != 1)}"
    )
    certain = [] if result.low is None else [f"95 % interval {result.low:+.2f} to {result.high:+.2f}"]
    certain += [] if result.p is None else [f"p {_p(result.p)}"]
    certainty = f" ({', '.join(certain)})" if certain else ""
    return f"{pairs}: {result.new:.2f} against {result.old:.2f}, difference {result.difference:+.2f}{certainty}"


def _p(p: float) -> str:
    return "below 0.001" if p < 0.001 else f"{p:.2g}"


def verdict_line(result: PairedTest) -> str:
    """What the difference shows, and the smallest one that so many pairs show."""
    words = verdict_words(result)
    if result.detectable is not None:
        power = f"so many pairs find a difference of {result.detectable:.2f} with a chance of 80 %"
    else:
        power = result.reason
    if differs(result):
        return f"{words} than {result.old_name}" if result.verdict in ("better", "worse") else words
    shown = f"{words}; no difference is shown" if result.margin is not None else "no difference is shown"
    number = result.differing
    few = f"; only {number} scenario{'s differ' if number > 1 else ' differs'}, and {FEWEST_SCENARIOS} are needed"
    return f"{shown}: {power}{few * (0 < number < FEWEST_SCENARIOS <= result.scenarios)}"


def verdict_words(result: PairedTest) -> str:
    """The verdict in words, with the margin where one was given."""
    if result.verdict is None:
        return f"no verdict: {result.reason}"
    words: str = result.verdict
    return (
        words.replace("within the margin", f"within {result.margin:g}")
        if result.margin
        else words.replace(" within the margin", "")
    )


def not_as_good(result: PairedTest) -> str:
    """Why the new version does not pass by the margin; empty if it passes or no margin was given."""
    if result.margin is None or (result.low is not None and result.verdict in ("better", "as good within the margin")):
        return ""
    return f"against {result.old_name}: {verdict_words(result)} (margin {result.margin:g})"


def _left_out(result: PairedTest) -> list[str]:
    if not result.left_out:
        return []
    words = {"user": "by a fault of the user", "infrastructure": "without a score or a record"}
    whose = " and ".join(f"{count} {words[fault]}" for fault, count in result.left_out.items())
    number = sum(result.left_out.values())
    return [
        f"{number} of {len(result.tested)} pairs are left out: {whose}",
        f"with them, a conversation without a score as a failure: {difference_line(result.with_left_out)}",
    ]


def _pass_hat(result: PairedTest) -> str:
    shown = [(k, result.pass_hat[k]) for k in few(result.pass_hat) if k > 1]
    parts = [
        f"pass^{k} {one.new:.2f} against {one.old:.2f}"
        + (f" ({one.low:+.2f} to {one.high:+.2f})" if one.low is not None else "")
        for k, one in shown
        if one.old is not None and one.new is not None
    ]
    return ", ".join(parts)


def _same_user(result: PairedTest) -> list[str]:
    """In how many pairs the conversations are equal up to an answer of the agent, and what both versions share."""
    every = len(result.tested)
    to_the_end = sum(pair.differs_at is None for pair in result.tested)
    users = sum(pair.user_differs for pair in result.tested)
    if not every:
        return []
    which = "all pairs" if not users else f"{every - users} of {every} pairs ({100 * (every - users) / every:.0f} %)"
    line = f"{which} are equal up to an answer of the agent, and {to_the_end} of {every} to the end"
    more = f"; in {users} the user differs after the same messages, so not only the agent differs" if users else ""
    return [line + more, *_shared_line(result.shared_replies)]


def _shared_line(count: int) -> list[str]:
    """How many replies of the user are those to another version; none without any."""
    replies = f"{count} repl{'y' if count == 1 else 'ies'} of the user {'is' if count == 1 else 'are'} shared"
    return [f"{replies} by the versions: the user was sent the same, and asked once"] if count else []


def _lines_by_scenario(word: str, pairs: Sequence[TestedPair], result: PairedTest) -> list[str]:
    """The scenarios in which one version won pairs: the first pair, where it differs and why the other version failed."""
    by_scenario: dict[str, list[TestedPair]] = {}
    for pair in pairs:
        by_scenario.setdefault(pair.scenario, []).append(pair)
    lines = []
    for scenario, (first, *others) in by_scenario.items():
        failed = first.new_reason if first.old else first.old_reason
        place = "" if first.differs_at is None else f", differs from message {first.differs_at}"
        more = f"; {len(others)} more of this scenario" if others else ""
        name = result.new_name if first.old else result.old_name
        lines.append(f"{word}: {scenario} ({first.id}{place}{more}): {name} failed: {failed}")
    left = len(lines) - AT_MOST
    return lines[:AT_MOST] + [f"{word}: {left} more scenario{'s' * (left > 1)}"] * (left > 0)


def group_lines(result: PairedTest) -> list[str]:
    """The largest groups of failures, each with its number in both versions."""
    names = (result.new_name, result.old_name)
    return [
        f"failed: {group.name}: {', '.join(f'{name} {group.versions.get(name, 0)}' for name in names)}"
        for group in result.groups[:AT_MOST]
    ]


def changed_lines(result: PairedTest) -> list[str]:
    """The groups of failures by version, and the scenarios in which one version won pairs, the lost ones first."""
    return [
        *group_lines(result),
        *_lines_by_scenario("lost", result.lost, result),
        *_lines_by_scenario("won", result.won, result),
    ]


def measure_table(result: PairedTest) -> Table:
    """Each measure beside success, a row."""
    notes = ["adjusted p: for the number of measures, by Holm's method"] if len(result.measures) > 1 else []
    notes += [NO_INTERVAL] if any(one.pairs and one.low is None for one in result.measures) else []
    return Table.of(
        f"Other measures, {result.new_name} against {result.old_name}",
        [
            Column(name="measure"),
            Column(name="pairs", kind="count"),
            *(Column(name=name, kind="number", places=2) for name in ("old", "new", "difference", "low", "high")),
            *(Column(name=name, kind="p") for name in ("p", "adjusted p")),
        ],
        result.measures,
        notes,
    )


def plan_table(rows: Sequence[PairPlan], detect: float, note: str) -> Table:
    """What finds a difference with a chance of 80 %, a row for each number of repeats."""
    return Table.of(
        f"To find a difference of {detect:g} with a chance of 80 %",
        [
            Column(name="repeats", kind="count"),
            *(Column(name=name, kind="count") for name in ("scenarios", "conversations")),
            Column(name="fewest"),
        ],
        [{**dict(row), "fewest": "yes" if row.fewest else ""} for row in rows],
        ["conversations: of both versions together", note],
    )


def paired_properties(result: PairedTest) -> dict[str, str]:
    """The comparison as properties of a test suite, by name."""
    figures = {
        name: getattr(result, name) for name in ("difference", "low", "high", "p", "pairs", "only_new", "only_old")
    }
    named = {"against": result.old_name, "verdict of the comparison": verdict_words(result)}
    return named | {name: f"{value:.6g}" for name, value in figures.items() if value is not None}
