"""The package as a whole: what is shipped, what importing it costs, what a stranger gets."""

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


def test_nothing_depends_on_the_hash_of_an_object():
    callers = [
        path.relative_to(ROOT).as_posix() for _, path in modules() if re.search(r"(?<![\w.])hash\(", path.read_text())
    ]
    assert callers == []  # PYTHONHASHSEED changes it from process to process


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
