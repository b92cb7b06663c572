"""The changes that `make mutants` tries: what each operator does, which are drawn, and that the checkout stays as it is."""

import ast
import textwrap
from pathlib import Path

import pytest

from tests.mutants import __main__ as command
from tests.mutants.changes import Places, changes_of, drawn

ROOT = Path(__file__).parents[2]


def changed(text: str) -> dict[str, list[str]]:
    """The new sources of a module's changes, by operator."""
    source = textwrap.dedent(text).encode()
    sources: dict[str, list[str]] = {}
    for change in Places("module.py", source).changes():
        sources.setdefault(change.operator, []).append(change.of(source).decode())
    return sources


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("turned", "x = a < b", "x = (a >= b)"),
        ("turned1", "x = a < b == c", "x = (a < b != c)"),
        ("boundary", "x = a < b", "x = (a <= b)"),
        ("and-or", "x = a and b", "x = (a or b)"),
        ("not", "x = not a", "x = (a)"),
        ("number", "x = 3", "x = 4"),
        ("flag", "x = True", "x = False"),
        ("arithmetic", "x = a + b", "x = (a - b)"),
        ("arithmetic", "x += b", "x -= b"),
        ("opposite", "x = min(a)", "x = max(a)"),
        ("never", "x = a if b else c", "x = a if (False) else c"),
        ("always", "if b: pass", "if (True): pass"),
        ("removed", "if b: f(a)", "if b: pass"),
        ("removed", "if b: await f(a)", "if b: pass"),
        ("removed", "if b: x = a", "if b: pass"),
        ("break", "for x in a: continue", "for x in a: break"),
        ("continue", "for x in a: break", "for x in a: continue"),
        ("none", "def f(): return a", "def f(): return None"),
        ("opposite", "def f() -> bool: return a", "def f() -> bool: return not (a)"),
        ("number", "x = '日本' * 2", "x = '日本' * 3"),
    ],
)
def test_an_operator_changes_one_thing(operator, before, after):
    sources = {ast.unparse(ast.parse(source)) for source in changed(before)[operator]}
    assert ast.unparse(ast.parse(after)) in sources


@pytest.mark.parametrize(
    "text",
    [
        '"""Documentation."""',
        "x = 'a text'",
        "x = f'{1 + 1}'",
        "x: Literal[1]",
        "@slots(True)\nclass A: ...",
        "x = 'a' + b",
    ],
)
def test_texts_annotations_and_decorators_stay_as_they_are(text):
    assert changed(text) == {}


@pytest.mark.heavy
def test_each_change_of_the_package_is_python_and_another_program():
    for path in sorted((ROOT / "nodes/validators").rglob("*.py")):
        source = path.read_bytes()
        for change in Places("module.py", source).changes():
            assert ast.dump(ast.parse(change.of(source))) != ast.dump(ast.parse(source)), change


def test_a_constant_is_left_to_the_tests_of_the_functions_that_read_it():
    source = b"LIMIT = 3\n\n\ndef f(a):\n    b = 1\n    return a < LIMIT\n"
    (limit,) = (change for change in Places("module.py", source).changes() if change.line == 1)
    assert set(limit.lines) == {6}


def test_survivors_are_tried_again_when_tests_are_new_or_more_and_kills_are_not():
    survivor, kill = {"ending": "passed", "traces": 1, "ran": 40}, {"ending": "failed", "traces": 1, "ran": 40}
    assert command.is_due(None, 1, 40)
    for traces, tests, due in ((1, 40, False), (2, 40, True), (1, 50, True)):
        assert (command.is_due(survivor, traces, tests), command.is_due(kill, traces, tests)) == (due, False)


def test_the_draw_depends_on_the_seed_alone_and_takes_as_many_of_each_folder():
    folders = ("nodes/validators", "analysis/over_users", "runs/journals")
    pool = changes_of(ROOT, folders)
    changes = drawn(pool, 30, seed=1)
    assert changes == drawn(changes_of(ROOT, folders), 30, seed=1)
    assert changes == drawn(pool, 60, seed=1)[:30]
    assert changes != drawn(pool, 30, seed=2)
    assert [sum(change.path.startswith(f"{folder}/") for change in changes) for folder in folders] == [10] * 3


@pytest.mark.heavy
def test_a_change_is_made_in_the_copy_and_taken_back(tmp_path, monkeypatch):
    path = "nodes/validators/flaws.py"
    change = next(Places(path, (ROOT / path).read_bytes()).changes())
    copy = command.copied(tmp_path / "copy")
    assert (copy / "build/types/duologue").resolve() == copy
    before = (ROOT / path).read_bytes()
    seen = []

    def outcome(folder: Path, tests: list[str], limit: float, *options: str) -> tuple[str, list[str]]:
        seen.append((folder / path).read_bytes())
        assert (ROOT / path).read_bytes() == before
        return "failed", tests

    monkeypatch.setattr(command, "outcome", outcome)
    result = command.tried(change, copy, ["a test"], 1.0)
    assert (result["id"], result["ending"], result["failed"]) == (change.id, "failed", ["a test"])
    assert seen == [change.of(before)] != [before]
    assert (copy / path).read_bytes() == before
    assert command.tried(change, copy, [], 1.0)["ending"] == "not covered"
