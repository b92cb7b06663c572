"""Which tests execute a line, and how long each test takes: one traced run of the light suite.

Traces are kept in `build/mutants/traces`. A later run traces only the test modules that are new or have changed since; a
change of a package folder makes all traces anew. The module is also a plugin of pytest, which notes each test's outcome.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from coverage import CoverageData

from .changes import Change

FOLDERS = ("graphs", "nodes/validators", "nodes/calls", "runs/journals", "data/formats", "analysis/over_users")
"""The package folders that are changed and traced."""
TESTS = (
    *(
        "tests/graphs",
        "tests/nodes/calls",
        "tests/nodes/asking",
        "tests/nodes/validators",
        "tests/nodes/speakers",
        "tests/nodes/simquac",
    ),
    *(
        "tests/runs/journals",
        "tests/runs/engine",
        "tests/data/formats",
        "tests/data/test_own_formats.py",
        "tests/data/files/test_streams.py",
    ),
    *("tests/data/test_loading.py", "tests/analysis/over_users", "tests/analysis/labels", "tests/analysis/testing"),
    *(
        "tests/analysis/validity",
        "tests/analysis/simquac/test_validators.py",
        "tests/analysis/simquac/test_equal_questions.py",
        "tests/analysis/next_turn",
    ),
    *(
        "tests/analysis/recllmsim/judges/test_judges.py",
        "tests/cli/recllmsim/test_simulate.py",
        "tests/cli/casts",
    ),
    *(
        "tests/nodes/people/test_users_shown_people.py",
        "tests/runs/test_simulating.py",
        "tests/runs/people/test_profiles.py",
    ),
)
"""The tests that are traced: of the same subjects, and of those that stand on them."""
FIRST = 40
"""So many of the tests that execute a line are always run, and more while they are quick."""
OWN = 8
"""So many tests of each module of the same subject are run for one of each other module."""
NOTES = "tests.jsonl"


class Notes:
    """A plugin of pytest that writes id, seconds and outcome of each phase of each test as a line of JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        line = {"test": report.nodeid, "seconds": report.duration, "failed": report.failed, "skipped": report.skipped}
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def pytest_configure(config: Any) -> None:
    """Registers the notes, in the process that gathers the reports of all."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Notes(config.rootpath / NOTES))


def digest(*paths: Path) -> str:
    """A digest of the contents of files."""
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in paths)).hexdigest()[:16]


def surroundings(copy: Path) -> dict[str, str]:
    """The environment in which the package is that of the copy, for child processes of tests too."""
    changed = {"PYTHONPATH": str(copy / "build/types"), "LANGSMITH_TRACING": "false", "COVERAGE_CORE": "ctrace"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | changed


class Traces:
    """The traces of a checkout: `renew` brings them up to date, `tests` chooses the tests of a change."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.seconds: dict[str, float] = {}
        self.modules: dict[str, str] = {}
        self.newest: dict[str, int] = {}
        self.lines: dict[str, dict[int, set[str]]] = {}

    def renew(self, copy: Path, workers: int) -> None:
        """Trace the test modules of which no trace is there yet, in a copy of the checkout."""
        sources = digest(*(path for folder in FOLDERS for path in sorted((self.root / folder).rglob("*.py"))))
        if not (self.folder / sources).is_dir():
            shutil.rmtree(self.folder, ignore_errors=True)
            (self.folder / sources).mkdir(parents=True)
        self.folder /= sources
        self._read()
        places = [self.root / name for name in TESTS]
        tests = [
            path for place in places for path in ([place] if place.is_file() else sorted(place.rglob("test_*.py")))
        ]
        now = {path.relative_to(self.root).as_posix(): digest(path) for path in tests}
        changed = [name for name, text in now.items() if self.modules.get(name) != text]
        if changed:
            self._trace(copy, changed if self.modules else list(TESTS), workers)
            trace = {name: now[name] for name in changed}
            (self.folder / f"{len(list(self.folder.glob('*.json')))}.json").write_text(json.dumps(trace))
            self._read()

    def _trace(self, copy: Path, tests: list[str], workers: int) -> None:
        """One run of pytest, whose results are moved beside the earlier ones."""
        settings = copy / "traced.ini"
        settings.write_text("[run]\nrelative_files = true\nsource =\n" + "".join(f"    {name}\n" for name in FOLDERS))
        number = len(list(self.folder.glob("*.json")))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants.tracing"]
        command += ["-n", str(workers), "-m", "not heavy", f"--basetemp={copy}_tmp"]
        command += ["--cov", f"--cov-config={settings}", "--cov-report=", "--cov-context=test", *tests]
        (copy / NOTES).unlink(missing_ok=True)
        done = subprocess.run(command, cwd=copy, env=surroundings(copy))
        if done.returncode not in (0, 1):  # tests that fail are not chosen
            raise RuntimeError(f"the tests of {copy} could not be traced")
        (copy / ".coverage").replace(self.folder / f"{number}.coverage")
        (copy / NOTES).replace(self.folder / f"{number}.jsonl")

    def _read(self) -> None:
        """Read times and outcomes; of a test module that was traced again, the newest."""
        bad: set[str] = set()
        for number in range(len(list(self.folder.glob("*.json")))):
            modules = json.loads((self.folder / f"{number}.json").read_text())
            self.modules |= modules
            self.newest |= dict.fromkeys(modules, number)
        for number in sorted(set(self.newest.values())):
            for line in map(json.loads, (self.folder / f"{number}.jsonl").open()):
                test = line["test"]
                if self.newest.get(test.partition("::")[0]) == number:
                    self.seconds[test] = self.seconds.get(test, 0.0) + line["seconds"]
                    bad |= {test} if line["failed"] or line["skipped"] else set()
        for test in bad:
            self.seconds.pop(test)

    def _by_line(self, path: str) -> dict[int, set[str]]:
        """The tests that execute each line of a module."""
        if path not in self.lines:
            lines = self.lines.setdefault(path, defaultdict(set))
            for number in sorted(set(self.newest.values())):
                data = CoverageData(str(self.folder / f"{number}.coverage"))
                data.read()
                for line, contexts in data.contexts_by_lineno(path).items():
                    tests = {context.rpartition("|")[0] for context in contexts} & self.seconds.keys()
                    lines[line] |= {test for test in tests if self.newest.get(test.partition("::")[0]) == number}
        return self.lines[path]

    def took(self, tests: list[str]) -> float:
        """The seconds that tests took in all when they were traced."""
        return sum(self.seconds[test] for test in tests)

    def tests(self, change: Change, seconds: float) -> list[str]:
        """The tests for a change: those that execute it, from each test module in turn, the quickest first.

        They are the first 40, and more while all of them took fewer than so many seconds; most are of the same subject. A
        change outside of functions that no function shows is left to the tests of its folder.
        """
        by_line = self._by_line(change.path)
        place = Path(change.path)
        tests = set().union(*(by_line.get(line, set()) for line in change.lines))
        if not change.lines:
            tests = {test for test in self.seconds if test.startswith(f"tests/{place.parent.as_posix()}/")}
        of_module: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            of_module[test.partition("::")[0]].append(test)

        def near(module: str) -> bool:
            return place.stem in module or module.startswith(f"tests/{place.parent.as_posix()}/")

        ranked = [
            (rank // OWN if near(module) else rank, not near(module), module, test)
            for module, of in of_module.items()
            for rank, test in enumerate(of)
        ]
        chosen: list[str] = []
        for *_, test in sorted(ranked):
            seconds -= self.seconds[test]
            if len(chosen) < FIRST or seconds > 0:
                chosen.append(test)
        return chosen
