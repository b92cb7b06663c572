"""The results of two runs in pairs: what `duologue test` prints of them, and their page."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.files.json_files import write_text
from ...data.formats.record_lines import attempted
from ...errors import SettingError
from ..streams import print_json, put
from .report_files import ReportFiles
from .success_report import as_json, report

if TYPE_CHECKING:
    from ...analysis.testing.result import Successes
    from ...data.records import Conversation


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
) -> int:
    """Report two runs in pairs without simulating; gives the exit code.

    `bounds`: `threshold`, `at_least` and `margin`. `without`: options that were given and need a simulation.
    """
    from ...studies.paired_tests import compared_runs

    if old is None:
        raise SettingError(f"--results: give --against, the run folder that {new} is compared with")
    if without:
        raise SettingError(f"--results: compares runs that are there, so leave out {', '.join(without)}")
    if not Path(old).is_dir():
        raise SettingError(f"--against {old}: is not a folder: with --results give the run folder of an earlier test")
    result = compared_runs(
        new, Path(old), crashes=files.crashes, common=common, exclude_user_faults=exclude_user_faults, **bounds
    )
    page, unwritten = files.write(result, new, (), with_page=with_page)
    pairs_page = page_of_pairs(result, new, attempted(Path(old))) if with_page else None
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
    put(*unwritten)
    return 0 if result.passed and not unwritten else 1


def page_of_pairs(result: "Successes", folder: Path, old: "Iterable[Conversation]") -> Path:
    """Write the page of the pairs into the folder of the new version's run."""
    from ...views.success import PAIRS_PAGE
    from ...views.testing.pairs import pairs_page

    assert result.against is not None
    page = folder / PAIRS_PAGE
    write_text(page, pairs_page(result.against, old, attempted(folder), title=folder.resolve().name))
    return page
