"""The package as a whole: its rooms, the length of its modules, what a stranger gets."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = ("data", "prompts", "nodes", "graphs", "runs", "analysis", "views", "studies", "hosts", "labelling", "cli")


def modules():
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield room, path


def test_the_list_of_packages_is_the_tree():
    folders = {"duologue"} | {
        "duologue." + ".".join(path.parent.relative_to(ROOT).parts)
        for _, path in modules()
        if path.name == "__init__.py"
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


def test_no_other_python_file_lies_at_the_root():
    assert sorted(path.name for path in ROOT.glob("*.py")) == [
        "__init__.py",
        "errors.py",
        "former_names.py",
        "testing.py",
    ]


def test_the_environment_is_read_in_few_places():
    readers = {
        path.relative_to(ROOT).as_posix()
        for _, path in modules()
        if re.search(r"os\.environ|os\.getenv|from dotenv", path.read_text())
    }
    switches_tracing_off, sets_ray = "cli/options/tracing.py", "runs/divided/ray_tasks.py"
    serves_a_page = "labelling/__main__.py"
    assert readers == {
        "nodes/settings/environment.py", "nodes/settings/env_file.py", "nodes/settings/redaction.py", switches_tracing_off, sets_ray, serves_a_page
    }  # fmt: skip


CLOCK = re.compile(
    r"\b(?:(?:monotonic|perf_counter|process_time|thread_time|time)_ns|monotonic|perf_counter|process_time|thread_time"
    r"|time\.time|from time import|timeit|getrusage|clock_gettime|utcnow)\b|\.(?:now|today)\(|\.elapsed\b"
)


def test_no_test_outside_the_benchmarks_reads_a_clock():
    tests = ROOT / "tests"
    readers = {
        path.relative_to(tests).as_posix()
        for path in tests.rglob("*.py")
        if path != Path(__file__) and "benchmarks" not in path.parts and CLOCK.search(path.read_text())
    }
    # An endpoint notes when it sent each reply, for tests/benchmarks/kills.py, and a test replaces the clock.
    assert readers == {"faulty/endpoint.py", "runs/test_jumping_clock.py"}


IMPATIENT = re.compile(
    r"\.(?:wait|join|result|communicate|open|urlopen|until)\((?:[^()\n]*, )?(?:timeout=|within=)?(?P<seconds>\d+(?:\.\d+)?)\)"
)
PATIENT = 300
"""Seconds after which a test may take something for hung, however busy the machine is."""


def test_no_test_takes_a_busy_machine_for_one_that_hangs():
    tests = ROOT / "tests"
    matches = {
        f"{path.relative_to(tests).as_posix()}: {wait[0]}"
        for path in tests.rglob("*.py")
        if path != Path(__file__) and "benchmarks" not in path.parts
        for wait in IMPATIENT.finditer(path.read_text())
        if 1 <= float(wait["seconds"]) < PATIENT  # less is for what does not happen
    }
    # Servers that hold a reply until a test is over, a look that is repeated, and an address that nobody answers.
    assert matches == {
        "nodes/conftest.py: .wait(10)",
        "nodes/models/test_endpoint.py: .wait(10)",
        'server/test_dev_server.py: .urlopen(f"{url}/ok", timeout=5)',
        "notebooks/test_notebooks.py: .urlopen('http://192.0.2.1', timeout=5)",
    }


def test_nothing_depends_on_the_hash_of_an_object():
    callers = [
        path.relative_to(ROOT).as_posix() for _, path in modules() if re.search(r"(?<![\w.])hash\(", path.read_text())
    ]
    assert callers == []  # PYTHONHASHSEED changes it from process to process


def test_modules_are_short():
    paths = [*ROOT.glob("*.py"), *(path for _, path in modules())]
    long = {path.relative_to(ROOT).as_posix(): n for path in paths if (n := len(path.read_text().splitlines())) > 300}
    assert long == {}


def test_no_committed_file_names_a_machine_or_an_index():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = [ROOT / name for name in listed.split("\0") if name] or [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    pattern = re.compile(
        r"index-url[ =]+https?://|https?://[^ \"]+/simple/?[\"\s]|" + re.escape(str(ROOT.parent) + os.sep)
    )
    matches = [path.name for path in files if path.is_file() and pattern.search(path.read_text(errors="ignore"))]
    assert matches == []


def python(*arguments, cwd, **env):
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, env=os.environ | env, check=False
    )


@pytest.mark.heavy
def test_the_front_door_opens_from_anywhere_and_beside_a_users_own_modules(tmp_path):
    (tmp_path / "prompts.py").write_text("raise SystemExit('not mine')")
    code = "import duologue; from duologue import data, graphs, nodes; print(duologue.__version__, duologue.simulate.__name__)"
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout.split()[1:] == ["simulate"], done.stderr


@pytest.mark.heavy
def test_help_and_data_do_not_wait_for_langgraph_or_openai(tmp_path):
    code = "import sys, duologue, duologue.data, duologue.cli; print([m for m in ('langgraph', 'langchain_core', 'openai') if m in sys.modules])"
    assert python("-c", code, cwd=tmp_path).stdout.strip() == "[]"


@pytest.mark.heavy
def test_the_embedded_model_never_imports_openai(tmp_path):
    code = (
        "import sys, duologue; from duologue.graphs import simquac; "
        "duologue.simulate(simquac.cast(), [simquac.scenario({'title': 't', 'header': 'h', 'section': 's s.'})]); "
        "print('langchain_openai' in sys.modules, 'tiktoken' in sys.modules)"
    )
    assert python("-c", code, cwd=tmp_path).stdout.strip() == "False False"


@pytest.mark.heavy
def test_the_wheel_works_in_an_empty_environment(tmp_path, monkeypatch):
    """Built from a copy, installed where nothing else of ours is, and simulating there."""
    monkeypatch.delenv("PYTHONPATH", raising=False)  # it would be the checkout's package again
    copy = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(copy)], check=True, capture_output=True)
    changed = subprocess.run(
        ["git", "ls-files", "-z", "-m", "-o", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, changed.stdout.split("\0")):  # what is not committed yet is tested too
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            target.write_bytes((ROOT / name).read_bytes())
        else:
            target.unlink(missing_ok=True)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path), str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    empty = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(empty)], check=True)
    site = next((empty / "lib").glob("python*/site-packages"))
    # Its dependencies are those of this environment, by a path file: the wheel alone is new.
    here = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True, capture_output=True)
    (site / "dependencies.pth").write_text(str(here) + "\n")
    code = "import duologue.cli, duologue; print(duologue.__file__); duologue.cli.main()"
    done = subprocess.run(
        [str(empty / "bin/python"), "-I", "-c", code, "simulate", "simquac", "--limit", "2", "--max-turns", "2"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site)), done.stdout
    assert "2 of 2 conversations finished" in done.stdout
    assert "4 turns" in done.stdout


@pytest.mark.heavy
def test_the_wheel_brings_all_that_it_needs(tmp_path, monkeypatch):
    """Installed with its own dependencies, and nothing else, from the package index."""
    monkeypatch.delenv("PYTHONPATH", raising=False)  # it would be the checkout's package again
    copy = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(copy)], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "empty")], check=True)
    pip = [str(tmp_path / "empty/bin/python"), "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path), str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    done = subprocess.run(
        [*pip, "install", "-c", str(ROOT / "constraints.txt"), str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    command = [str(tmp_path / "empty/bin/duologue"), "simulate", "simquac", "--limit", "1", "--max-turns", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 conversations finished" in done.stdout


@pytest.mark.parametrize(
    "name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "Makefile", ".env.example"]
)
def test_the_root_holds_what_a_stranger_looks_for(name):
    assert (ROOT / name).stat().st_size > 100
