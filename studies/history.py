"""The history of run folders: how often each run succeeded, what it cost, and how long the agent's turns took."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import quantiles

from typing_extensions import override

from ..analysis.estimates import Estimate
from ..analysis.outcomes import score_of
from ..analysis.tables import Column, Table, TabledReport
from ..analysis.testing.success import share_over_scenarios
from ..data.formats.record_lines import attempted
from ..data.formats.source import CONVERSATIONS, MANIFEST
from ..errors import DataError
from ..nodes.calls.spending import Spending
from ..nodes.calls.store import AGAINST, Replies
from ..runs.settings import REPLIES
from ..runs.store import RunInfo, standing


class RunRow(RunInfo):
    """A run folder, or one version of an agent in it."""

    path: str
    agent: str
    """`against` for the other version of a comparison; else empty."""
    success: Estimate | None
    """The share of successes over scenarios; None where nothing is scored."""
    cost: float | None
    """US dollars of the kept replies of the whole run, by list prices (extra `cost`); None where one is unknown."""
    turn_seconds_p50: float | None
    """Of the conversations' mean seconds of an agent's turn, half are below this."""
    turn_seconds_p95: float | None
    """... and nineteen of twenty below this."""


class History(TabledReport):
    """Runs, by cast, agent and date."""

    runs: tuple[RunRow, ...]

    @override
    def tables(self) -> list[Table]:
        columns = [Column(name=name) for name in ("run", "cast", "agent", "begun")]
        columns += [Column(name=name, kind="count") for name in ("finished", "planned")]
        for name in ("success", "low", "high", "cost", "p50", "p95"):
            columns.append(Column(name=name, kind="number", places=2, wide=name in ("low", "high")))
        columns.append(Column(name="duologue", wide=True))
        rows = []
        for run in self.runs:
            share = run.success
            ends = (None, None, None) if share is None else (share.value, share.low, share.high)
            about = (run.path, run.cast, run.agent, (run.begun or "")[:16].replace("T", " "), run.finished, run.planned)
            rows.append((*about, *ends, run.cost, run.turn_seconds_p50, run.turn_seconds_p95, run.version))
        note = "p50, p95: of the conversations' mean seconds of an agent's turn. cost: US dollars of the run's replies."
        return [Table(title="Runs", columns=tuple(columns), rows=tuple(rows), notes=(note,))]

    def page(self) -> str:
        """The table as a page, which sorts and filters."""
        from ..views.listing import ListColumn, ListRow, list_page

        (table,) = self.tables()
        columns = [
            ListColumn(one.name, one.kind != "text", one.places if one.kind == "number" else 0) for one in table.columns
        ]
        rows = [
            ListRow(cells, " ".join(map(str, cells)), choices={"cast": run.cast, "agent": run.agent or "the agent"})
            for run, cells in zip(self.runs, table.rows, strict=True)
        ]
        return list_page("Runs", columns, rows, lines=table.notes)


def history(folders: Sequence[str | Path]) -> History:
    """The runs among these folders and right below them, by cast, agent and date; no model is called.

    DataError for a path that is not a folder.
    """
    rows = [row for folder in dict.fromkeys(_among(folders)) for row in _rows(folder)]
    return History(runs=tuple(sorted(rows, key=lambda row: (row.cast, row.agent, row.begun or "", row.path))))


def _among(folders: Sequence[str | Path]) -> Iterator[Path]:
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise DataError(f"{folder}: is not a folder: give run folders, or folders of them")
        below = [folder] if (folder / MANIFEST).is_file() else sorted(folder.iterdir())
        yield from (path for path in below if (path / CONVERSATIONS).is_file() and (path / MANIFEST).is_file())


def _rows(folder: Path) -> Iterator[RunRow]:
    """Each version of a run."""
    for agent in ("", AGAINST):
        talks = list(attempted(folder, version=agent))
        scored = [(one, score[0]) for one in talks if not isinstance(score := score_of(one), str)]
        timed = [(one.seconds("assistant"), len(one.exchanges)) for one in talks]
        seconds = [spent / turns for spent, turns in timed if spent is not None and turns]
        parts = quantiles(seconds, n=20, method="inclusive") if len(seconds) > 1 else seconds * 19
        if talks or not agent:
            yield RunRow(
                **dict(standing(folder, version=agent)),
                path=str(folder),
                agent=agent,
                success=share_over_scenarios(scored) if scored else None,
                cost=_cost(folder / REPLIES),
                turn_seconds_p50=parts[9] if parts else None,
                turn_seconds_p95=parts[18] if parts else None,
            )


def _cost(file: Path) -> float | None:
    if not file.is_file() or find_spec("genai_prices") is None:
        return None
    spending = Spending(priced=True)
    with Replies(file, frozen=True) as replies:
        spending.add_kept(replies)
    return spending.counted_cost
