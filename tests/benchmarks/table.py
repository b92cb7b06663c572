"""The rows of the benchmark's table: which figure, its target, and what was reached."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

from .parts import Round
from .reading import COMMANDS

ConversationNumbers = dict[str, Any]
Figure = Callable[[Round], float]


def cpu(one: ConversationNumbers) -> float:
    """Seconds of CPU for a model call."""
    return float(one["cpu"]) / (one.get("made") or one["calls"])


def rate(one: ConversationNumbers) -> float:
    """Calls per second between the endpoint's first request and its last reply."""
    return float(one["calls"]) / one["window"] if one["window"] else math.nan


def grown(one: ConversationNumbers) -> float:
    """Bytes by which the process grew, for each conversation."""
    return float(one["rss_highest"] - one["rss_before"]) / one["conversations"]


def peak(command: str) -> Callable[[ConversationNumbers], float]:
    """The peak of a command's memory."""
    return lambda one: float(one["read"][command]["peak"])


def of(measure: Callable[[ConversationNumbers], float], ours: str, other: str) -> Figure:
    """The ratio of two measurements of a round."""
    return lambda figures: measure(figures[ours]) / measure(figures[other])


def own_share(ours: str) -> Figure:
    """(A - M) / (I - M) by CPU a call: A of our graph and I of the idiomatic one with an instant model, M of calling
    that model alone as often by `ainvoke`."""

    def figure(figures: Round) -> float:
        alone = cpu(figures["model alone"])
        return (cpu(figures[ours]) - alone) / (cpu(figures["idiomatic"]) - alone)

    return figure


@dataclass(frozen=True)
class Row:
    """A figure of the table."""

    part: str
    told: str
    figure: Figure
    target: float | None = None
    stretch: float | None = None
    at_most: bool = True
    """Whether the target is a bound from above, else from below."""
    unit: str = "x"

    @property
    def wanted(self) -> str:
        """The target in words."""
        if self.target is None:
            return "reported"
        bound = "at most" if self.at_most else "at least"
        return f"{bound} {number(self.target)}{f' ({number(self.stretch)})' if self.stretch else ''}"

    def reached(self, rounds: list[Round]) -> list[float]:
        """The figure of each round that has it."""
        values = []
        for measured_round in rounds:
            try:
                values.append(self.figure(measured_round))
            except (KeyError, ZeroDivisionError):
                continue
        return [value for value in values if not math.isnan(value)]

    def holds(self, value: float) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return value <= self.target if self.at_most else value >= self.target


ROWS = (
    Row("calls", "CPU per call: ours / idiomatic LangGraph loop", of(cpu, "ours", "idiomatic"), 0.40, 0.30),
    Row("calls", "CPU per call: ours / openevals", of(cpu, "ours", "openevals"), 0.45),
    Row("calls", "CPU per call: ours / bare client", of(cpu, "ours", "bare")),
    Row("calls", "Calls per second, 200 ms x 64: ours / bare client", of(rate, "ours", "bare"), 0.80, None, False),
    Row("calls", "Calls per second, 200 ms x 64: idiomatic / bare client", of(rate, "idiomatic", "bare")),
    Row("calls", "Conversations a minute: ours / openevals", of(rate, "ours", "openevals"), 2, None, False),
    Row("calls", "Calls per second: ours / one after another", of(rate, "ours", "one_by_one"), 35, None, False),
    Row("graph", "Graph's own share: ours / idiomatic", own_share("ours"), 0.8, 0.6),
    Row("graph", "The same, model included", of(cpu, "ours", "idiomatic")),
    Row("graph", "The same as the first, with ours in a run folder", own_share("ours, in a folder")),
    Row(
        "jittered",
        "Calls per second, 1 s jittered x 256: ours / bare client",
        of(rate, "ours", "bare"),
        0.85,
        None,
        False,
    ),
    Row("many", "Calls per second, 1 s x 1024: ours / bare client", of(rate, "ours", "bare")),
    Row("many", "Memory of a conversation under way: ours / bare client", of(grown, "ours", "bare"), 2),
    Row("kept", "Bytes kept for each conversation that is over", lambda made: made["ours"]["kept"], 1024, unit="bytes"),
    Row(
        "kept", "The same with the plan and the writing of the data set", lambda made: grown(made["ours"]), unit="bytes"
    ),
    *(
        Row("reading", f"Memory for 100,000 / for 10,000 conversations: {name}", of(peak(name), "100,000", "10,000"))
        for name, *_ in COMMANDS
    ),
)


def number(value: float | None) -> str:
    """A figure with three digits that count."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def lines(parts: dict[str, list[Round]]) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Part, figure, target, median, range with number of rounds, and whether the target is reached."""
    for row in ROWS:
        if row.part not in parts:
            continue
        values = row.reached(parts[row.part])
        if not values:
            left_out = [other for other in ("openevals", "ray") if other in row.told.lower() and not find_spec(other)]
            missing = f"{left_out[0]} is not installed" if left_out else "not measured"
            yield row.part, row.told, row.wanted, "-", missing, ""
            continue
        middle, unit = median(values), "" if row.unit == "x" else f" {row.unit}"
        verdict = {True: "yes", False: "no", None: ""}[row.holds(middle)]
        spread = f"{number(min(values))} to {number(max(values))}, {len(values)} round{'s' * (len(values) > 1)}"
        yield row.part, row.told, row.wanted, f"{number(middle)}{unit}", spread, verdict


HEAD = ("part", "figure", "target", "reached", "of all rounds", "met")


def plain(parts: dict[str, list[Round]]) -> str:
    """The table for a terminal."""
    rows = [HEAD, *lines(parts)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def markdown(parts: dict[str, list[Round]]) -> str:
    """The table for README, with the command that measures each figure again."""
    head = ("Figure", "Target", "Reached", "Of all rounds", "Command")
    rows = [head, tuple("---" for _ in head)]
    for part, title, bound, reached, spread, verdict in lines(parts):
        mark = {"yes": f"**{reached}**", "no": f"{reached} (missed)", "": reached}[verdict]
        rows.append((title, bound, mark, spread, f'`make bench ARGS="--only {part}"`'))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def absolute(parts: dict[str, list[Round]]) -> str:
    """Medians of what the ratios are made of, which hold on this machine alone."""
    report = []
    for part, rounds in parts.items():
        for label in dict.fromkeys(label for measured_round in rounds for label in measured_round):
            ones = [measured_round[label] for measured_round in rounds if label in measured_round]
            if "read" in ones[0]:
                report += [
                    f"{part:9} {label:18} {name:20} {used['peak'] / 1e6:8.0f} MB {used['seconds']:7.1f} s"
                    for name, *_ in COMMANDS
                    for used in [ones[0]["read"][name]]
                ]
                continue
            line = f"{part:9} {label:18} {1000 * median(map(cpu, ones)):7.2f} ms CPU a call"
            if others := median(one["cpu_of_others"] for one in ones):
                line += f" ({100 * others / median(one['cpu'] for one in ones):.0f} % of it in other processes)"
            if ones[0]["calls"]:
                counted = ones[0]["calls"]
                line += f" {median(map(rate, ones)):8.1f} calls/s, {median(one['wall'] for one in ones):6.1f} s in all"
                line += f", {ones[0]['bytes'] / counted:.0f} bytes sent a call, {ones[0]['connections']} connections"
                line += f", endpoint {1000 * median(one['endpoint_cpu'] for one in ones) / counted:.2f} ms CPU a call"
            report.append(line)
    return "\n".join(report)
