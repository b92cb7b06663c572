"""The package as a whole: what is shipped, what importing it costs, what a stranger gets."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def needed(distribution):
    """The distributions of this environment that one asks for without an extra, with those that these ask for."""
    found, left = {}, [(distribution, frozenset())]
    while left:
        asking, extras = left.pop()
        for requirement in map(Requirement, asking.requires or []):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
                asked = canonicalize_name(requirement.name), frozenset(requirement.extras)
                if asked not in found:
                    found[asked] = metadata.distribution(requirement.name)
                    left.append((found[asked], asked[1]))
    return {name: distribution for (name, _), distribution in found.items()}


@pytest.mark.heavy
def test_the_wheel_works_beside_the_packages_that_it_asks_for_and_no_other(tmp_path, monkeypatch):
    """Built from a copy; its dependencies are links to those of this environment."""
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
    empty = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(empty)], check=True)
    site = next((empty / "lib").glob("python*/site-packages"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(tmp_path), str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    install = [*pip, "--python", str(empty / "bin/python"), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (installed,) = metadata.distributions(path=[str(site)])
    others = needed(installed)
    assert (
        {"langgraph", "pydantic", "openai"}
        <= set(others)
        < {canonicalize_name(d.name) for d in metadata.distributions()}
    )
    for distribution in others.values():
        for file in distribution.files:
            if ".." not in file.parts:  # a command beside the packages
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(Path(file.locate()).resolve())
    code = (
        "import duologue.cli, sys; print(duologue.__file__, [entry for entry in sys.path if 'site-packages' in entry])"
    )
    done = subprocess.run([str(empty / "bin/python"), "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == [str(site / "duologue/__init__.py"), f"['{site}']"], done.stderr
    command = [str(empty / "bin/duologue"), "simulate", "simquac", "--limit", "2", "--max-turns", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 conversations finished" in done.stdout
    assert "4 turns" in done.stdout


@pytest.mark.parametrize(
    "name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "Makefile", ".env.example"]
)
def test_the_root_holds_what_a_stranger_looks_for(name):
    assert (ROOT / name).stat().st_size > 100
