"""The results of two runs in pairs: what `duologue test` prints of them, and their page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...data.formats.record_lines import attempted
from ...errors import SettingError
from ..streams import failed, print_json, put
from .report_files import ReportFiles
from .success_report import as_json, report


def compared_results(
    new: Path,
    old: str | None,
    files: ReportFiles,
    *,
    common: bool,
    bounds: Mapping[str, float | None],
    without: Sequence[str],
    with_page: bool,
    as_json_text: bool,
) -> int:
    """Report a run without simulating, in pairs with an `old` one if it is given; gives the exit code.

    `bounds`: `threshold`, `at_least` and `margin`. `without`: options that were given and need a simulation.
    """
    from ...studies.paired_tests import compared_runs

    if without:
        raise SettingError(f"--results: reports runs that are there, so leave out {', '.join(without)}")
    if old is not None and not Path(old).is_dir():
        raise SettingError(f"--against {old}: is not a folder: with --results give the run folder of an earlier test")
    result = compared_runs(
        new,
        None if old is None else Path(old),
        common=common,
        **bounds,
    )
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
            }
        )
    else:
        report(result, page)
        put(*(f"{name}: {path}" for name, path in (("page", page), ("pairs", pairs_page)) if path is not None))
    return max([0 if result.passed else 1, *map(failed, unwritten)])
