"""A comparison of two versions in words and as a table, as terminal, page, notebook and Markdown show it."""

from collections.abc import Sequence

from ...over_users.pairs import FEWEST_SCENARIOS, PairedDifference
from ...tables import Column, Table
from ..shares import few
from .pairing import PairedTest, TestedPair

AT_MOST = 5
"""Groups of failures, and scenarios with lost or won pairs, that are named."""

NO_INTERVAL = f"no interval: a measure without bounds, such as tokens, needs {FEWEST_SCENARIOS} scenarios that differ"


def paired_lines(result: PairedTest) -> list[str]:
    """The comparison in lines: on these scenarios, scenario by scenario, on scenarios like these, and what is left out."""
    lines = [
        verdict_line(result),
        *scenario_lines(result),
        f"on scenarios like these: {difference_line(result)}",
        *_left_out(result),
        _pass_hat(result),
        *_same_user(result),
        *result.not_compared,
    ]
    return [line for line in lines if line]


def difference_line(result: PairedDifference) -> str:
    """Both means over scenarios and the difference, with the interval and p."""
    if result.difference is None or result.old is None or result.new is None:
        return f"no difference: {result.reason}"
    number = f"{result.scenarios} scenario{'s' * (result.scenarios != 1)}"
    certainty = result.reason if result.low is None else _interval(result.low, result.high, result.p)
    return f"{result.new:.2f} against {result.old:.2f} over {number}, difference {result.difference:+.2f} ({certainty})"


def _interval(low: float | None, high: float | None, p: float | None) -> str:
    return f"95 % interval {low:+.2f} to {high:+.2f}, p {_p(p)}"


def _p(p: float | None) -> str:
    return "unknown" if p is None else "below 0.001" if p < 0.001 else f"{p:.2g}"


def verdict_line(result: PairedTest) -> str:
    """What the pairs show on these scenarios, and what so many could have shown."""
    suite, old = result.suite, result.old_name
    if suite.difference is None:
        return f"against {old}: no pair counts"
    pairs = f"{suite.pairs} pair{'s' * (suite.pairs != 1)}"
    lost = f"only {old} succeeds in {suite.only_old} of {pairs}, only {result.new_name} in {suite.only_new}"
    shown = f"{suite.shown} than {old}" if suite.shown != "not shown" else f"no difference from {old} is shown"
    line = f"on these scenarios: {shown}: {lost}; difference {suite.difference:+.2f} ({_interval(suite.low, suite.high, suite.p)})"
    if suite.shown != "not shown":
        return line
    if suite.detectable is None:
        return f"{line}; so few pairs show none, however large: more repeats are needed"
    return f"{line}; so many pairs show one of {suite.detectable:.2f} with a chance of 80 %"


def scenario_lines(result: PairedTest) -> list[str]:
    """The scenarios in which the versions succeeded unequally often, those that lost most first."""
    changed = [row for row in result.by_scenario if row.old != row.new]
    ordered = [*changed[:AT_MOST], *(row for row in changed[AT_MOST:] if row.new > row.old)][: 2 * AT_MOST]
    lines = [f"{row.scenario}: {row.new} of {row.pairs}, {row.old} of {row.pairs} before" for row in ordered]
    left = len(changed) - len(ordered)
    return lines + [f"{left} more scenarios differ"] * (left > 0)


def not_as_good(result: PairedTest) -> str:
    """Why the new version does not pass; empty if it passes, or nothing was said of what fails it."""
    suite, against = result.suite, f"against {result.old_name}"
    if result.margin is None:
        return ""
    if suite.low is None:
        return f"{against}: no pair counts"
    if result.margin == "shown":
        return f"{against}: worse on these scenarios (p {_p(suite.p)})" if suite.shown == "worse" else ""
    loss = max(0.0, -suite.low)
    return (
        f"{against}: a loss of {loss:.2f} is not excluded (at most {result.margin:g} may be)"
        if loss > result.margin
        else ""
    )


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


def paired_properties(result: PairedTest) -> dict[str, str]:
    """The comparison as properties of a test suite, by name."""
    suite = {
        name: getattr(result.suite, name)
        for name in ("difference", "low", "high", "p", "pairs", "only_new", "only_old")
    }
    return {"against": result.old_name, "shown on these scenarios": result.suite.shown} | {
        name: f"{value:.6g}" for name, value in suite.items() if value is not None
    }
