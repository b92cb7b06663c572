"""The history of run folders: how often each run succeeded, and what it cost."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

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


class History(TabledReport):
    """Runs, by cast, agent and date."""

    runs: tuple[RunRow, ...]

    @override
    def tables(self) -> list[Table]:
        columns = [Column(name=name) for name in ("run", "cast", "agent", "begun")]
        columns += [Column(name=name, kind="count") for name in ("finished", "planned")]
        for name in ("success", "low", "high", "cost"):
            columns.append(Column(name=name, kind="number", places=2, wide=name in ("low", "high")))
        columns.append(Column(name="duologue", wide=True))
        rows = []
        for run in self.runs:
            share = run.success
            ends = (None, None, None) if share is None else (share.value, share.low, share.high)
            about = (run.path, run.cast, run.agent, (run.begun or "")[:16].replace("T", " "), run.finished, run.planned)
            rows.append((*about, *ends, run.cost, run.version))
        note = "cost: US dollars of the run's replies."
        return [Table(title="Runs", columns=tuple(columns), rows=tuple(rows), notes=(note,))]


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
        if talks or not agent:
            yield RunRow(
                **dict(standing(folder, version=agent)),
                path=str(folder),
                agent=agent,
                success=share_over_scenarios(scored) if scored else None,
                cost=_cost(folder / REPLIES),
            )


def _cost(file: Path) -> float | None:
    if not file.is_file() or find_spec("genai_prices") is None:
        return None
    spending = Spending(priced=True)
    with Replies(file, frozen=True) as replies:
        spending.add_kept(replies)
    return spending.counted_cost
