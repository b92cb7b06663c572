"""Runs the steps of a page in one process: commands as a shell would call them, Python in one namespace.

It reads the steps from a file of JSON, and prints a line of JSON for each, with its exit code and output.
"""

import ast
import asyncio
import inspect
import io
import json
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

KEPT = 2000
"""Characters of a step's output that are reported."""
LONG_GRIDS = ("agreement", "calibrated", "differences", "events", "far_above", "kappa", "skewed")
"""Grids of `tests.intervals` that take ten seconds with few draws too: another one runs in their place."""


def command(words: list[str]) -> int:
    """Call the command, or a module of the tests; return its exit code."""
    if words[:1] == ["cd"]:
        os.chdir(words[1])
        sys.path.insert(0, words[1])
        return 0
    if words[:2] == ["python", "-m"]:
        sys.path.append(os.environ["ROOT"])
        from tests.intervals import __main__ as intervals

        intervals.GRIDS.update(dict.fromkeys(LONG_GRIDS, intervals.GRIDS["success"]))
        intervals.main(words[3:])
        return 0
    from duologue.cli import main

    sys.argv = words
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def python(text: str, page: str, line: int, names: dict[str, Any]) -> int:
    """Run a block, also one with `await` at its top level."""
    code = compile("\n" * line + text, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        asyncio.run(result)
    return 0


def main(steps: list[dict[str, Any]]) -> None:
    """Run the steps in order; a failure does not end it."""
    sys.path.insert(0, str(Path.cwd()))
    names: dict[str, Any] = {"__name__": "__main__"}
    out = os.fdopen(os.dup(1), "w")
    for step in steps:
        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            try:
                code = (
                    python(step["text"], step["page"], step["line"], names)
                    if step["is_python"]
                    else command(step["words"])
                )
            except BaseException:
                traceback.print_exc()
                code = -1
        result = {"code": code, "output": output.getvalue()[-KEPT:]}
        print(json.dumps(result), file=out, flush=True)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
