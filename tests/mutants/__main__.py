"""`make mutants`: makes single changes in copies of the checkout, and prints which of them no test notices.

A change is killed when a test turns red, when the tests cannot be collected, or when they hang. Results are kept in
`build/mutants/results.jsonl`: a run that was interrupted goes on, and survivors meet tests that are new since.
"""

import argparse
import contextlib
import fcntl
import importlib
import importlib.util
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from .changes import Change, changes_of, drawn
from .tracing import FOLDERS, NOTES, Notes, Traces, digest, surroundings

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build/mutants"
RESULTS = WORK / "results.jsonl"
LIBRARIES = (
    "langgraph.graph",
    "langchain_core.messages",
    "aiohttp",
    "hypothesis",
    "jinja2",
    "pydantic",
    "pytest",
    "rich",
)
"""What takes long to import: imported once, before the processes of the tests are forked."""
PATIENCE = 60.0
"""Seconds after which tests hang, beside three times those that they took when they were traced."""

ELSEWHERE = 99
"""Exit code of a process whose package is not its copy's: a kill would show nothing of the change."""

Result = dict[str, Any]
FORK = multiprocessing.get_context("fork")


def copied(copy: Path) -> Path:
    """A copy of the checkout, as it is now. Its name can be that of a package: pytest imports it."""
    shutil.rmtree(copy, ignore_errors=True)
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    (copy / "build/types").mkdir(parents=True)
    (copy / "build/types/duologue").symlink_to("../..")
    return copy


def run_tests(copy: Path, tests: list[str], options: list[str]) -> None:
    """Run tests of a copy in this process, which is a forked one, and end it."""
    os.setsid()
    os.chdir(copy)
    os.environ.clear()
    os.environ.update(surroundings(copy))
    sys.path[:0] = [str(copy), str(copy / "build/types")]
    for name in [name for name in sys.modules if name.partition(".")[0] in {"tests", "duologue"}]:
        del sys.modules[name]
    log = os.open(f"{copy}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, handle in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
        os.dup2(handle, stream)
    spec = importlib.util.find_spec("duologue")
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != copy.resolve() / "__init__.py":
        os._exit(ELSEWHERE)
    listing = Path(f"{copy}.tests")
    listing.write_text("".join(f"{test}\n" for test in tests))
    imported_before = "ignore::pytest.PytestAssertRewriteWarning"
    arguments = [
        "-q",
        "-W",
        imported_before,
        "-p",
        "no:cacheprovider",
        f"--basetemp={copy}_tmp",
        "-m",
        "not heavy",
        *options,
        f"@{listing}",
    ]
    os._exit(pytest.main(arguments, plugins=[Notes(copy / NOTES)]))


def outcome(copy: Path, tests: list[str], limit: float, *options: str) -> tuple[str, list[str]]:
    """How tests of a copy end: `passed`, `failed` with those that did, `hung`, or `broken`: they were not collected."""
    (copy / NOTES).unlink(missing_ok=True)
    process = FORK.Process(target=run_tests, args=(copy, tests, list(options)))
    process.start()
    code = None
    try:
        process.join(limit)
        code = process.exitcode
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # with what the tests have started
        process.join()
    if code == ELSEWHERE:
        raise RuntimeError(f"{copy} does not import its own package")
    if code in {None, 0}:
        return "hung" if code is None else "passed", []
    notes = [json.loads(line) for line in (copy / NOTES).open()] if (copy / NOTES).is_file() else []
    failed = [note["test"] for note in notes if note["failed"]]
    return "failed" if failed else "broken", failed


def tried(change: Change, copy: Path, tests: list[str], limit: float) -> Result:
    """Make a change in a copy, run the tests, and put the module back."""
    path, source = copy / change.path, (ROOT / change.path).read_bytes()
    compiled = Path(importlib.util.cache_from_source(str(path)))
    ending, failed = "not covered", []
    try:
        path.write_bytes(change.of(source))
        compiled.unlink(missing_ok=True)  # of the same second and size, it would pass for that of the change
        if tests:
            ending, failed = outcome(copy, tests, limit, "-x")
    finally:
        path.write_bytes(source)
        compiled.unlink(missing_ok=True)
    if ending in {"broken", "hung"} and outcome(copy, tests, limit)[0] != "passed":
        ending = "void"
    return {"id": change.id, "module": digest(path), "ending": ending, "ran": len(tests), "failed": failed[:1]}


def work(copy: Path, jobs: list[tuple[Change, list[str], float]], traces: int) -> None:
    """Try changes one after another, and keep each result."""
    for change, tests, limit in jobs:
        keep(tried(change, copy, tests, limit) | {"traces": traces})


def keep(result: Result) -> None:
    """Add a result to the file, and say it."""
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")
    print(f"{result['ending']:12}{result['id']}", flush=True)


def confirm(copy: Path, results: list[Result], limit: float) -> None:
    """Take back the kills by tests that fail without any change as well."""
    failed = sorted({test for result in results for test in result["failed"]})
    ending, bad = outcome(copy, failed, limit) if failed else ("passed", [])
    if ending not in {"passed", "failed"}:
        raise RuntimeError(f"the tests that kill are {ending} without a change: {copy}.log")
    for result in results:
        if set(result["failed"]) & set(bad):
            keep(result | {"ending": "void"})


def stored_results() -> dict[str, Result]:
    """The newest result of each change, where its module is still the same."""
    lines = map(json.loads, RESULTS.open()) if RESULTS.is_file() else iter(())
    return {line["id"]: line for line in lines if line["module"] == digest(ROOT / line["id"].partition(":")[0])}


def is_killed(result: Result) -> bool:
    """Whether a test, or the collecting of the tests, noticed the change."""
    return result["ending"] in {"failed", "broken", "hung"}


def is_due(result: Result | None, traces: int, tests: int) -> bool:
    """Whether a change is to be tried: for the first time, or as a survivor that meets new tests or more of them."""
    if result is None or result["ending"] == "void":
        return True
    return not is_killed(result) and (result["traces"] < traces or result["ran"] < tests)


def report(changes: Iterable[Change], results: dict[str, Result]) -> str:
    """The table by folder, the share of all with its interval, and the survivors."""
    # Here alone: a process of tests that is forked after it would have the checkout's package, not its copy's.
    from duologue.analysis.over_users.rates import wilson

    ran = [change for change in changes if change.id in results]
    killed = {change.id for change in ran if is_killed(results[change.id])}
    lines: list[str] = []
    for folder in FOLDERS:
        here = [change.id for change in ran if change.path.startswith(f"{folder}/")]
        lines.append(f"{folder:22} {len(killed.intersection(here)):4} of {len(here)}")
    if ran:
        rate = wilson(len(killed) / len(ran), len(ran))
        low, high = round(100 * rate.low, 1), round(100 * rate.high, 1)
        lines.append(f"{'all':22} {len(killed):4} of {len(ran)}: {100 * rate.value:.1f} % (95 %: {low} to {high})")
    for change in ran:
        if change.id not in killed:
            text = change.shown((ROOT / change.path).read_bytes())
            lines.append(f"{change.id}  {results[change.id]['ending']}\n    {text}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=200, help="changes to draw (200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (1)")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="this change; may be repeated")
    parser.add_argument("--workers", type=int, default=2, help="copies in which changes are tried at once (2)")
    parser.add_argument("--seconds", type=float, default=20, help="of tests for a change, more than the first 40 (20)")
    parser.add_argument("--read", action="store_true", help="try nothing, print the results that are stored")
    options = parser.parse_args()
    os.nice(5)
    WORK.mkdir(parents=True, exist_ok=True)
    if (beside := ROOT.parent / "shared").is_dir() and not (WORK / "shared").exists():
        (WORK / "shared").symlink_to(beside)  # the open data, without which a copy skips tests
    pool = changes_of(ROOT, FOLDERS)
    changes = [change for of in pool.values() for change in of if change.id in options.only]
    changes = changes or drawn(pool, options.number, options.seed)
    if not options.read:
        lock = (WORK / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parser.error(f"another run is at work in {WORK}")
        copies = [copied(WORK / f"worker{number + 1}") for number in range(options.workers)]
        traces = Traces(ROOT, WORK / "traces")
        traces.renew(copies[0], options.workers)
        stored, count = stored_results(), len(set(traces.newest.values()))
        chosen = [(change, traces.tests(change, options.seconds)) for change in changes]
        jobs = [
            (change, tests, PATIENCE + 3 * traces.took(tests))
            for change, tests in chosen
            if options.only or is_due(stored.get(change.id), count, len(tests))
        ]
        for name in LIBRARIES:
            importlib.import_module(name)
        processes = [
            FORK.Process(target=work, args=(copy, jobs[number :: options.workers], count))
            for number, copy in enumerate(copies)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        results = [result for id, result in stored_results().items() if id in {change.id for change in changes}]
        confirm(copies[0], [result for result in results if is_killed(result)], PATIENCE * len(changes))
    print(report(changes, stored_results()))


if __name__ == "__main__":
    main()
