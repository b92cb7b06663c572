"""The results of two runs in pairs: what `duologue test` prints of them, and their page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.formats.record_lines import attempted
from ...errors import SettingError
from ..streams import failed, print_json, put, stdout
from .report_files import ReportFiles
from .success_report import as_json, report

if TYPE_CHECKING:
    from ...analysis.over_users.pair_power import PairPlan
    from ...analysis.testing.pairs.pairing import PairedTest
    from ...data.records import Conversation
    from ...runs.planning.plans import CallPlan


def compared_results(
    new: Path,
    old: str | None,
    files: ReportFiles,
    *,
    common: bool,
    bounds: Mapping[str, float | None],
    exclude_user_faults: bool,
    without: Sequence[str],
    with_page: bool,
    as_json_text: bool,
    detect: float | None = None,
) -> int:
    """Report a run without simulating, in pairs with an `old` one if it is given; gives the exit code.

    `bounds`: `threshold`, `at_least` and `margin`. `without`: options that were given and need a simulation. `detect`: the
    difference for which scenarios and repeats are planned.
    """
    from ...studies.paired_tests import compared_runs

    if old is None and detect is not None:
        raise SettingError("--detect: plans a comparison: give --against too")
    if without:
        raise SettingError(f"--results: reports runs that are there, so leave out {', '.join(without)}")
    if old is not None and not Path(old).is_dir():
        raise SettingError(f"--against {old}: is not a folder: with --results give the run folder of an earlier test")
    result = compared_runs(
        new,
        None if old is None else Path(old),
        crashes=files.crashes,
        common=common,
        exclude_user_faults=exclude_user_faults,
        **bounds,
    )
    rows = None if detect is None else comparison_rows(detect, paired=result.against)
    page, pairs_page, unwritten = files.write(
        result, new, (), with_page=with_page, old=None if old is None else attempted(Path(old))
    )
    if as_json_text:
        print_json(
            {
                "out": str(new),
                "page": page and str(page),
                "pairs_page": pairs_page and str(pairs_page),
                **as_json(result, page),
                **(rows.plain if rows is not None else {}),
            }
        )
    else:
        report(result, page)
        if rows is not None:
            rows.put()
        put(*(f"{name}: {path}" for name, path in (("page", page), ("pairs", pairs_page)) if path is not None))
    return max([0 if result.passed else 1, *map(failed, unwritten)])


@dataclass(frozen=True)
class ComparisonRows:
    """What finds a difference between two versions, and what that costs."""

    detect: float
    rows: "Sequence[PairPlan]"
    costs: Sequence[float | None]
    """US dollars of each row; None where the price is unknown or nothing is asked."""
    note: str

    @property
    def plain(self) -> dict[str, Any]:
        """As JSON."""
        rows = [{**row.model_dump(), "cost": cost} for row, cost in zip(self.rows, self.costs, strict=True)]
        return {"detect": {"difference": self.detect, "rests_on": self.note, "rows": rows}}

    def put(self) -> None:
        """Print the table, and what its rows cost."""
        from ...analysis.testing.pairs.pairs_text import plan_table

        stdout.print(plan_table(self.rows, self.detect, self.note).rich())
        costs = [
            f"{row.repeats} x {row.scenarios}: about ${cost:.2g}"
            for row, cost in zip(self.rows, self.costs, strict=True)
            if cost
        ]
        put(*[f"cost of repeats x scenarios: {', '.join(costs)}"] * bool(costs))


def comparison_rows(
    detect: float,
    plan: "CallPlan | None" = None,
    *,
    paired: "PairedTest | None" = None,
    old: "Iterable[Conversation] | None" = None,
) -> ComparisonRows:
    """The rows for a difference; `plan`: of a run whose conversations cost as much as those of the rows."""
    from ...studies.paired_tests import comparison_plan

    rows, note = comparison_plan(detect, paired=paired, old=old)
    cost = plan.estimated().cost if plan is not None and plan.count else None
    cost_of_one = None if cost is None or plan is None else cost[1] / plan.count
    return ComparisonRows(detect, rows, [cost_of_one and cost_of_one * row.conversations for row in rows], note)
