"""The page of runs that grow: what they are doing, counts, pace, results, failures, the graph and the newest list."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ...analysis.growth import GrownConversation, RunGrowth, groups_of_runs
from ...analysis.labels.reliability import COMPUTED
from ...analysis.testing.failed_conversations import FailureGroup
from ...analysis.testing.result import BY_RULES
from ...analysis.testing.result_text import share_line
from ...data.stop_reasons import in_words
from ..graph.drawing import drawn
from ..pages import in_notebook, page, plural, render

PARTS = ("state", "figures", "results", "newest", "graphs")
"""The parts of the page, each of which is put in place anew when it has changed."""
GROUPS = 10
"""Most groups of failures that are listed."""
SCRIPT = "live.js"
MINUTES = 90
"""Minutes from which a time is told in hours."""

AddressOf = Callable[[RunGrowth, str], str]
"""Address of a conversation of a run, by its id; empty without one."""


def live_page(title: str, parts: Mapping[str, str]) -> str:
    """The page that a server answers: its script asks that server for the parts anew, each second."""
    return page(title, _body(title, parts, served=True), script=SCRIPT, is_live=True)


class LiveParts:
    """The parts of the page of one run, or of several that are simulated in turns.

    `address_of`: where each conversation is shown; default: nowhere.
    """

    def __init__(self, runs: Sequence[RunGrowth], address_of: AddressOf | None = None) -> None:
        self.runs, self._address_of = runs, address_of
        self._rendered: tuple[int, dict[str, str]] = (-1, {})

    @property
    def has_ended(self) -> bool:
        """Whether every planned conversation is over."""
        return all(run.has_ended for run in self.runs)

    def html(self, state: str, lines: Sequence[str] = ()) -> dict[str, str]:
        """Each part as HTML. `state`: what the run is doing, in a line; `lines`: what else is said of it."""
        planned, over = (sum(numbers) for numbers in zip(*map(_progress, self.runs), strict=True))
        looks = sum(run.looks for run in self.runs)
        if looks != self._rendered[0]:
            self._rendered = looks, {"results": self._results(), "newest": self._newest(), "graphs": self._graphs()}
        errors = [f"{self._name(run)}{run.last_error}" for run in self.runs if run.last_error]
        parts = {
            "state": _part("state", state=state, planned=planned, over=over, lines=[*lines, *errors]),
            "figures": self._figures(),
            **self._rendered[1],
        }
        return {name: parts[name] for name in PARTS}

    def _figures(self) -> str:
        """A row for each figure that any run has, and a column for each run."""
        runs = self.runs
        rows: list[tuple[str, list[str]]] = [
            ("finished", [f"{run.finished:,} of {run.planned:,}" for run in runs]),
            ("failed or cut short", [_cut_short(run) for run in runs]),
            ("under way", [f"{run.under_way:,}" if run.under_way else "" for run in runs]),
            ("conversations a minute", [_pace(run) for run in runs]),
            ("time left", [_left(run) for run in runs]),
            ("tokens", [f"{run.tokens:,}" if run.tokens else "" for run in runs]),
            ("cost", [_cost(run) for run in runs]),
        ]
        return _part("figures", runs=runs, rows=[row for row in rows if any(row[1])])

    def _name(self, run: RunGrowth) -> str:
        """The run's name at the beginning of a line; empty for a single run."""
        return f"{run.name}: " if len(self.runs) > 1 else ""

    def _results(self) -> str:
        shares = [f"{self._name(run)}{share_line(share)}" for run in self.runs if (share := run.share)]
        trusts = dict.fromkeys(run.trust for run in self.runs if run.share and run.trust)
        groups = groups_of_runs(self.runs)
        failed = sum(group.conversations for group in groups)
        return _part(
            "results",
            shares=shares,
            trusts=[f"success: {trust}{BY_RULES * (trust == COMPUTED)}" for trust in trusts],
            groups=[(self._group_line(group, failed), self._shortest(group)) for group in groups[:GROUPS]],
            more_groups=max(0, len(groups) - GROUPS),
        )

    def _group_line(self, group: FailureGroup, failed: int) -> str:
        versions = ", ".join(f"{name} {count}" for name, count in group.versions.items())
        return f"{group.conversations} of {failed}: {group.name}{f' ({versions})' if versions else ''}"

    def _shortest(self, group: FailureGroup) -> str:
        """The address of the shortest conversation of a group."""
        run = next((run for run in self.runs if run.name in group.versions), self.runs[0])
        return self._address_of(run, group.first) if self._address_of is not None else ""

    def _newest(self) -> str:
        runs = [(run, grown) for run in self.runs for grown in run.newest]
        if len(self.runs) > 1:
            runs.sort(key=lambda pair: pair[1].conversation.timing.started or "")
        runs = runs[-(self.runs[0].newest.maxlen or len(runs)) :] if runs else []
        return _part(
            "newest",
            newest=[self._row(run, grown) for run, grown in reversed(runs)],
            scored=any(grown.is_scored for _, grown in runs),
            counted=any(grown.tokens for _, grown in runs),
            over=sum(over for _, over in map(_progress, self.runs)),
        )

    def _row(self, run: RunGrowth, grown: GrownConversation) -> dict[str, Any]:
        line, success = grown.outline, grown.outcome.success
        repeat = f"repeat {grown.conversation.repeat + 1}" if grown.conversation.repeat else ""
        return {
            "title": line.title,
            "small": " · ".join(filter(None, [line.topic, repeat, run.name if len(self.runs) > 1 else ""])),
            "href": self._address_of(run, line.id) if self._address_of is not None else "",
            "success": "no score" if success is None else "yes" if success else "no",
            "reason": grown.outcome.reason,
            "stop": line.stop,
            "finished": grown.finished,
            "turns": line.exchanges,
            "rejected": line.rejected,
            "tokens": grown.tokens or None,
        }

    def _graphs(self) -> str:
        graphs = [(self._name(run), run.graph.graph) for run in self.runs]
        return _part("graphs", figures=[(name, Markup(drawn(graph))) for name, graph in graphs if graph.edges])


def notebook_parts(title: str, parts: Mapping[str, str]) -> str:
    """The parts with their own style, for a cell's output."""
    return in_notebook(_body(title, parts, served=False))


def _body(title: str, parts: Mapping[str, str], *, served: bool) -> str:
    return render("live.html", title=title, parts={name: Markup(part) for name, part in parts.items()}, served=served)


def _progress(run: RunGrowth) -> tuple[int, int]:
    return run.planned, run.finished + run.cut_short


def _cut_short(run: RunGrowth) -> str:
    why = ", ".join(f"{in_words(stop)}: {count}" for stop, count in run.stops.items())
    return f"{run.cut_short:,} ({why})" if run.cut_short else ""


def _pace(run: RunGrowth) -> str:
    pace = run.a_minute
    return "" if not pace else f"{pace:,.0f}" if pace >= 10 else f"{pace:.1f}"


def _left(run: RunGrowth) -> str:
    pace = run.a_minute
    return f"about {in_time(run.missing / pace)}" if pace and run.missing else ""


def in_time(minutes: float) -> str:
    """A number of minutes in words.

    >>> in_time(0.4), in_time(3.2), in_time(200)
    ('1 minute', '4 minutes', '3 hours')
    """
    if minutes < MINUTES:
        return plural(max(1, round(minutes + 0.5)), "minute")
    return plural(round(minutes / 60), "hour")


def _cost(run: RunGrowth) -> str:
    if not run.priced or not run.tokens:
        return ""
    cost = run.cost
    return "unknown price" if cost is None else f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


def _part(name: str, **values: Any) -> str:
    return render("live_parts.html", part=name, **values).strip()
