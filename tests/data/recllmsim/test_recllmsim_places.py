"""Paths of a data set with a file for each conversation, checked against each other before a run."""

import pytest

import duologue
from duologue import data
from duologue.data import Conversation, DataError
from duologue.data.recllmsim import paths, shipped_profiles, shipped_tasks
from duologue.graphs import recllmsim
from duologue.nodes import Limits


def at(*places):
    return [Conversation(id=f"{n}", scenario={"kind": "x"}, extra={"path": place}) for n, place in enumerate(places)]


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        (("a/b.json", "a//b.json"), "is also that of another one"),
        (("a/b.json", "./a/b.json"), "is also that of another one"),
        (("README.md",), "is that of the card"),
        (("readme.md",), "is that of the card"),
        (("README.md/a.json",), "is that of the card"),
        (("x" * 300 + ".json",), "has a name of 305 bytes, more than the 230 that fit"),
        (("旅" * 80 + ".json",), "has a name of 245 bytes"),
        (("/".join(["x" * 200] * 6),), "is 1200 bytes long"),
        (("../a.json",), "leads out of the data set"),
        (("..",), "leads out of the data set"),
        (("/etc/passwd",), "leads out of the data set"),
        (("",), "leads out of the data set"),
        (("a\0b",), "leads out of the data set"),
        (("\ud800.json",), "is not a text that a file's name can hold"),
        (("a", "a/b.json"), "cannot be beside"),
        (("a/b.json", "a"), "cannot be beside"),
        (("Tea/1.json", "tea/1.json"), "differs only in case or in the form of its letters"),
        (("\u00e9.json", "e\u0301.json"), "differs only in case or in the form of its letters"),
    ],
)
def test_a_place_that_a_data_set_cannot_hold_is_told(places, reason):
    ((conversation, problem),) = paths.unfit(at(*places))
    assert conversation.id == str(len(places) - 1)
    assert reason in problem
    problem.encode("utf-8")
    assert "\n" not in problem


def test_places_that_fit_beside_each_other_are_nobodys_fault():
    repeats = [conversation.model_copy(update={"repeat": n}) for n, conversation in enumerate(at("a/b.json") * 3)]
    assert not list(paths.unfit([*repeats, *at("a/c.json", "b/b.json", "ab", "x" * 230, "Lire/été.json")]))


def scenarios(*places):
    about = data.recllmsim.combined(shipped_tasks(), shipped_profiles().texts)[: len(places)]
    states = recllmsim.scenarios(about)
    return [{**state, "extra": {"path": place}} for state, place in zip(states, places, strict=True)]


def test_a_run_whose_data_set_cannot_hold_a_name_does_not_begin(tmp_path):
    problem = r'^scenarios\[1\] \(\w{16}\): its place "a//b.json" in the data set is also that of another one: give it another'
    with pytest.raises(DataError, match=problem):
        duologue.simulate(recllmsim.cast(), scenarios("a/b.json", "a//b.json"), out=tmp_path / "r")
    long = [{**state, "scenario": {**state["scenario"], "task": "t" * 300}} for state in scenarios("a.json")]
    for state in long:
        del state["extra"]
    with pytest.raises(DataError, match=r"has a name of 300 bytes"):
        duologue.simulate(recllmsim.cast(), long, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_the_longest_name_that_a_run_takes_can_be_written(tmp_path):
    places = ("x" * 225 + ".json", "a/b.json")
    duologue.simulate(recllmsim.cast(), scenarios(*places), out=tmp_path / "r", limits=Limits(max_turns=1))
    assert all((tmp_path / "r/dataset" / place).is_file() for place in places)
