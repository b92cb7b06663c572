"""`duologue runs repair`: a run folder, repaired."""

from typing import Annotated

from ..options.shared import RunFolderArgument, json_of
from ..streams import print_json, put


def repair_command(
    folder: RunFolderArgument,
    as_json: Annotated[bool, json_of("the changes, and what is left")] = False,
) -> int:
    """Repair a run folder.

    Removes lines that cannot be read or do not belong to the run. Restores a lost manifest, and writes the data set
    again. A file that is changed is kept beside the new one as NAME.broken. At the end the missing conversations are
    listed, if any.
    """
    from ...runs.folder.run_state import standing, status_lines
    from ...runs.mending import repair as mended

    done = mended(folder)
    left = status_lines(standing(folder))
    if as_json:
        print_json({"run": str(folder), "done": done, "left": left})
    else:
        put(*(done or [f"{folder}: nothing to mend"]), *(f"{folder}: {line}" for line in left))
    return 0
