"""Rows that exist: of a file of scenarios, or those that the conversations of a run touched."""

from pathlib import Path

from ...analysis.testing.design.run_coverage import touched_row
from ...data.records import as_object
from ...data.scenarios import ScenarioReader
from ...data.test_design.lines import row_of
from ...errors import DataError, at


def present_rows(path: Path) -> list[dict[str, str]]:
    """The rows of the designed scenarios of a file, or the touched levels of each conversation of a run.

    DataError for a source that cannot be read, or without a designed scenario.
    """
    rows: list[dict[str, str]] = []
    is_designed = False
    for entry in ScenarioReader(path):
        row = row_of(as_object(entry.scenario))
        is_designed = is_designed or bool(row)
        rows.append(row if entry.conversation is None else touched_row(entry.conversation))
    if not is_designed:
        raise DataError(
            f"{at(path)}: has no designed scenario: give what `duologue scenarios` wrote, or a run about it"
        )
    return [row for row in rows if row]
