"""`duologue test --against` and `duologue.test(..., against=)`: two versions of an agent in pairs."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

import duologue
from duologue.data.formats.record_lines import read
from duologue.errors import SettingError

AGENTS = """
from pathlib import Path


def note(letter):
    with Path("order").open("a") as order:
        order.write(letter)


def old(messages):
    note("o")
    return "It is booked." if "table 0" in str(messages) else "I cannot book."


def new(messages):
    note("n")
    return "I cannot book." if "table 0" in str(messages) else "It is booked."
"""
LIMITS = ("--max-turns", 2, "--repeats", 2, "--concurrency", 1)


@pytest.fixture(autouse=True)
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)
    Path("versions.py").write_text(AGENTS)
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(10)]
    Path("goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    Path("fewer.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals[:8]))
    sys.modules.pop("versions", None)
    yield
    sys.modules.pop("versions", None)


def arguments(agent, *more, scenarios="goals.jsonl", out="run"):
    return ("test", "--assistant", f"versions:{agent}", "--scenarios", scenarios, "--out", out, *LIMITS, *more)


def against(text):
    return json.loads(text)["against"]


@pytest.mark.heavy
def test_both_versions_are_simulated_in_turns_and_compared(duologue):
    code, out, err = duologue(*arguments("new", "--against", "versions:old", "--json"))
    assert code == 1, err  # 2 of its 20 conversations fail
    result = against(out)
    assert [result["suite"][name] for name in ("pairs", "only_new", "only_old")] == [20, 18, 2]
    assert (result["difference"]["groups"], result["difference"]["value"]) == (10, pytest.approx(0.8))
    assert result["difference"]["low"] < 0.8 < result["difference"]["high"]
    assert result["suite"]["shown"] == "better"
    # One at a time: a conversation of each version in turn.
    turns = "".join(Path("order").read_text()).replace("nn", "n").replace("oo", "o")
    assert turns == "no" * 20
    runs = [read(Path(folder) / "conversations.jsonl") for folder in ("run", "run/against")]
    assert [one.id for one in runs[0]] == [one.id for one in runs[1]]
    assert all(a.messages[0] == b.messages[0] for a, b in zip(*runs, strict=True))


@pytest.mark.heavy
def test_an_earlier_run_is_compared_with_and_left_as_it_is(duologue):
    duologue(*arguments("old", out="before"))
    before = {path: path.read_bytes() for path in Path("before").rglob("*") if path.is_file()}
    files = ("--junit", "j.xml", "--summary", "s.md")
    code, out, err = duologue(*arguments("new", "--against", "before", "--json", *files))
    assert code == 1, err
    assert against(out)["suite"]["only_new"] == 18
    assert {path: path.read_bytes() for path in Path("before").rglob("*") if path.is_file()} == before
    (suite,) = ElementTree.parse("j.xml").getroot()
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert (properties["difference"], properties["pairs"], properties["only_new"]) == ("0.8", "20", "18")
    assert "on these scenarios: better than before" in Path("s.md").read_text()
    # The same from the folders alone.
    code, out, err = duologue("test", "--results", "run", "--against", "before", "--json")
    assert (code, against(out)["difference"]["value"], against(out)["suite"]["only_old"]) == (1, pytest.approx(0.8), 2)
    code, out, err = duologue("test", "--results", "run", "--against", "before")
    assert "lost: book table 0" in out
    assert "0.90 against 0.10 over 10 scenarios, difference +0.80" in out


@pytest.mark.heavy
def test_the_page_begins_with_the_lost_pairs(duologue):
    duologue(*arguments("new", "--against", "versions:old"))
    assert '<a href="pairs.html">' in Path("run/page.html").read_text()
    page = Path("run/pairs.html").read_text()
    assert " style=" not in page.partition("</style>")[2]  # its policy allows none
    assert page.index("lost") < page.index("won")
    assert "A versions:old, the old version" in page
    assert ">run in pairs with versions:old</h1>" in page
    assert ": versions:new 2, versions:old 18" in page  # the group of failures


@pytest.mark.heavy
def test_a_worse_version_is_said_to_be_where_nothing_lets_the_test_fail(duologue):
    code, out, _ = duologue(*arguments("old", "--against", "versions:new", "--threshold", 0.05))
    assert code == 0
    assert out.startswith("passed, although it is worse than versions:new (no --fail-if-worse): 20 conversations")


@pytest.mark.heavy
def test_a_page_of_pairs_that_cannot_be_written_is_a_line_and_the_rest_is_there(duologue):
    duologue(*arguments("new", "--against", "versions:old"))
    Path("run/pairs.html").unlink()
    Path("run/pairs.html").mkdir()
    Path("run/pairs.html/in the way").touch()
    for command in (
        arguments("new", "--against", "versions:old", "--json"),
        ("test", "--results", "run", "--against", "run/against", "--json"),
    ):
        code, out, err = duologue(*command, "--junit", "j.xml")
        assert (code, json.loads(out)["against"]["suite"]["only_new"]) == (2, 18)
        assert json.loads(out).get("pairs_page") is None
        assert "duologue: run/pairs.html: is a folder" in err
        Path("j.xml").unlink()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("agents", "margin", "code", "words"),
    [
        (("new", "old"), 0.1, 0, "better"),
        (("old", "new"), 0.1, 1, "a loss of "),
        (("old", "new"), "shown", 1, "against versions:new: worse on these scenarios"),
        (("old", "old"), "shown", 0, "no difference from"),
        (("old", "old"), 0.2, 0, "no difference from"),
    ],
)
def test_a_version_that_is_not_shown_to_be_as_good_fails(duologue, agents, margin, code, words):
    new, old = agents
    got, out, err = duologue(*arguments(new, "--against", f"versions:{old}", "--fail-if-worse", margin, "--json"))
    assert (got, json.loads(out)["passed"]) == (code, code == 0)
    assert words in err


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--seed", 3), "limits.seed = 0, the other has 3"),
        (("--max-turns", 3), "limits.max_turns = 2, the other has 3"),
        (("--set", "may_give_up=false"), "nodes.user_prompt_selector.may_give_up = true, the other has false"),
        (
            ("--repeats", 3),
            "repeats differ: the other run lacks 0 of its 20 conversations, and has 10 that it lacks: give the same, or",
        ),
        (("--repeats", 1), "repeats differ: the other run lacks 10 of its 20 conversations"),
        (("--limit", 9), "scenarios differ: the other run lacks 2 of its 20 conversations"),
        (("--fail-if-worse", 0.1, "--against", "goals.jsonl"), "goals.jsonl"),
        (("--against", "empty"), "empty: is not a run folder"),
        (
            ("--against", "versions:nix"),
            "versions:nix: is not a run folder, and cannot be tested: assistant: versions:nix cannot be imported",
        ),
        (("--against", "out/befor"), "out/befor: is not a run folder, and cannot be tested: model 'out/befor' is"),
        (("--against", "versions:old", "--ray", "local"), "--ray: versions are simulated in turns"),
    ],
)
def test_runs_that_are_no_pairs_are_refused_by_name_before_anything_is_simulated(duologue, more, named):
    duologue(*arguments("old", out="before"))
    Path("empty").mkdir()
    chosen = () if "--against" in more else ("--against", "before")
    code, _out, err = duologue(*arguments("new", *chosen, *more))
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert named in err
    assert not Path("run").exists()


@pytest.mark.heavy
def test_what_both_runs_have_is_compared_where_it_is_asked_for(duologue):
    duologue(*arguments("old", out="before"))
    code, out, err = duologue(*arguments("new", "--against", "before", "--common", "--json", scenarios="fewer.jsonl"))
    result = against(out)
    assert (code, result["suite"]["pairs"], result["difference"]["groups"]) == (1, 16, 8)
    assert result["not_compared"] == ["4 conversations of before are not compared: the other run did not plan them"]
    Path("others.jsonl").write_text('{"goal": "cancel it", "success": {"refused": true}}\n')
    code, out, err = duologue(
        *arguments("new", "--against", "before", "--common", scenarios="others.jsonl", out="third")
    )
    assert code == 2
    assert "has no conversation in common with the other run" in err


def test_results_without_what_they_need_are_refused_in_a_line(duologue):
    duologue(*arguments("old"))
    for given, named in (
        (("--results", "run", "--fail-if-worse", 0.1), "give --against"),
        (("--results", "run", "--against", "run"), "is compared with itself"),
        (("--results", "run", "--against", "nowhere"), "nowhere: is not a folder"),
        (("--results", "nowhere", "--against", "run"), "nowhere: is not a run folder"),
        (("--results", "run", "--against", "run", "--scenarios", "goals.jsonl"), "leave out --scenarios"),
        (("--fail-if-worse", 0.1, "--scenarios", "goals.jsonl"), "give --against"),
        (("--common", "--scenarios", "goals.jsonl"), "--common: is an option of a comparison: give --against"),
    ):
        code, out, err = duologue("test", *given)
        assert (code, out, len(err.strip().splitlines())) == (2, "", 1), given
        assert named in err


@pytest.mark.heavy
def test_the_results_of_one_run_are_reported_again_without_simulating(duologue):
    code, before, _ = duologue(*arguments("old", "--threshold", 0.05))
    calls = Path("order").read_text()
    again, out, _ = duologue("test", "--results", "run", "--threshold", 0.05)
    assert (code, again, out.splitlines()[1]) == (0, 0, before.splitlines()[1])
    assert Path("order").read_text() == calls


@pytest.mark.heavy
def test_a_run_of_two_versions_is_resumed_as_any(duologue):
    bound = ("--against", "versions:old", "--max-tokens", 2000)
    assert duologue(*arguments("new", *bound))[0] == 1
    begun = [len(read(Path(folder) / "conversations.jsonl")) for folder in ("run", "run/against")]
    assert 0 < min(begun) <= max(begun) < 20
    code, out, _err = duologue(*arguments("new", "--against", "versions:old", "--json"))
    assert (code, against(out)["suite"]["pairs"], against(out)["left_out"]) == (1, 20, {})
    whole = duologue(*arguments("new", "--against", "versions:old", "--json", out="whole"))[1]
    assert {**against(out), "old_name": "", "groups": ()} == {**against(whole), "old_name": "", "groups": ()}


@pytest.mark.heavy
def test_in_python_an_agent_a_folder_and_a_result_are_compared_with():
    versions = import_module("versions")
    settings = {"scenarios": "goals.jsonl", "repeats": 2, "max_turns": 2}
    both = duologue.test(versions.new, against=versions.old, **settings)
    assert (both.against.suite.pairs, both.against.suite.only_new, both.against.old_name) == (20, 18, "the old version")
    old = duologue.test(versions.old, **settings)
    again = duologue.test(versions.new, against=old, fail_if_worse=0.1, **settings)
    assert again.passed
    named = {"old_name": "", "groups": ()}  # which hold the name of the old version
    assert {**dict(again.against), **named, "margin": None} == {**dict(both.against), **named}
    kept = duologue.test(versions.new, against=versions.old, out="kept", **settings)
    assert kept.against.difference.value == pytest.approx(0.8)
    assert Path("kept/against/manifest.json").is_file()
    worse = duologue.test(versions.old, against="kept", fail_if_worse=0.1, **settings)
    assert len(worse.not_passed_because) == 1
    with pytest.raises(SettingError, match=r"limits\.seed = 0, the other has 1"):
        duologue.test(versions.new, against=old, seed=1, **settings)
    with pytest.raises(SettingError, match="common=True"):
        duologue.test(versions.new, against=old, **{**settings, "repeats": 3})
    with pytest.raises(SettingError, match="give against"):
        duologue.test(versions.new, fail_if_worse=0.1, **settings)
