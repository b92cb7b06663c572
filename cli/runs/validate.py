"""`duologue runs validate`: the problems of a run folder."""

from typing import Annotated

from ..options.shared import RunFolderArgument, json_of
from ..streams import print_json, put


def validate_command(
    folder: RunFolderArgument,
    as_json: Annotated[bool, json_of("the problems")] = False,
) -> int:
    """Print the problems of a run folder, a line each.

    Validates manifest, records, plan, data set and prompt templates. Exit code 1: there is a problem.
    """
    from ...runs.inspection import problems

    lines = problems(folder)
    if as_json:
        print_json({"run": str(folder), "problems": lines})
    else:
        put(*(lines or [f"{folder}: whole and complete"]))
    return 1 if lines else 0
