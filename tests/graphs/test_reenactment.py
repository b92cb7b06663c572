"""Published task-oriented conversations through the real graph: they come out as they went in."""

import shutil
from pathlib import Path

import pytest

import duologue
from duologue import data, runs
from duologue.data import recllmsim as format
from duologue.data.summaries import count
from duologue.graphs import recllmsim
from duologue.nodes import Limits

FOLDERS = ("recllmsim", "recllmsim_human_vs_agent")


def play_again(source: Path, out: Path) -> list[data.Conversation]:
    cast = recllmsim.cast(user=f"replay:{source}", assistant=f"replay:{source}")
    return duologue.simulate(cast, recllmsim.scenarios(format.read_folder(source).conversations), out=out)


def differing(source: Path, dataset: Path) -> list[str]:
    """Relative paths of the conversations whose bytes are not those of the source."""
    there = [str(one.extra["path"]) for one in format.read_folder(source).conversations]
    return [name for name in there if (source / name).read_bytes() != (dataset / name).read_bytes()]


@pytest.mark.heavy
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_open_conversation_comes_out_byte_for_byte_at_its_path(open_data, tmp_path, folder):
    done = play_again(open_data / folder, tmp_path / "run")
    path, left_out = runs.write_dataset(tmp_path / "run")
    assert (len(done), left_out) == (487, [])
    assert differing(open_data / folder, path) == []
    user, assistant = count(done).sides
    assert (user.reasons["role_leak"], assistant.reasons) == (31, {})


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_choice_of_each_variant_comes_out_equal(open_data, tmp_path, folder):
    source, some = open_data / folder, tmp_path / "some"
    everything = format.read_folder(source).conversations
    of_variant = {
        variant: [one for one in everything if format.variant(one) == variant]
        for variant in map(format.variant, everything)
    }
    for one in (one for conversations in of_variant.values() for one in conversations[:2]):
        target = some / one.extra["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / one.extra["path"], target)
    play_again(some, tmp_path / "run")
    path, _ = runs.write_dataset(tmp_path / "run")
    assert {format.variant(one) for one in format.read_folder(path).conversations} == {"simulated", "human", "human_v2"}
    assert differing(some, path) == []


def test_a_replayed_user_meets_another_assistant_also_more_than_once(open_data, tmp_path):
    source = open_data / "recllmsim" / "LLM_agent_user" / "recipe planning"
    (some, *_) = stored = format.read_folder(source).conversations[:2]
    cast = recllmsim.cast(user=f"replay:{source}", assistant="offline")
    duologue.simulate(cast, recllmsim.scenarios(stored), repeats=2, out=tmp_path / "run")
    again = {
        str(one.extra["path"]): one for one in format.read_folder(runs.write_dataset(tmp_path / "run")[0]).conversations
    }
    assert again.keys() == {
        str(one.extra["path"]).replace(".json", end) for one in stored for end in (".json", "_2.json")
    }
    one = again[str(some.extra["path"])]
    users = [[m.text for m in each.messages if m.role == "user"] for each in (some, one)]
    assert (users[0], some.scenario) == (users[1], one.scenario)
    assert one.messages != some.messages


def test_a_goodbye_that_is_played_again_is_not_answered(tmp_path):
    about = format.combined(format.shipped_tasks(), format.shipped_profiles().texts)[:2]
    first = duologue.simulate(recllmsim.cast(), recllmsim.scenarios(about), out=tmp_path / "first")
    for assistant in ("offline", f"replay:{tmp_path / 'first'}"):
        cast = recllmsim.cast(user=f"replay:{tmp_path / 'first'}", assistant=assistant)
        again = duologue.simulate(cast, recllmsim.scenarios(first))
        for one, other in zip(first, again, strict=True):
            assert other.stop == "user_ended"
            assert [(m.role, m.stored) for m in one.messages] == [(m.role, m.stored) for m in other.messages]


def test_annotations_of_published_replies_are_not_those_of_another_assistants(open_data, tmp_path):
    source = open_data / "recllmsim" / "human_exp_V2" / "User_2"
    stored = format.read_folder(source).conversations
    assert all({"chat_model", "questionnaire"} <= set(one.labels) for one in stored)
    one_side = recllmsim.cast(user=f"replay:{source}", assistant="offline")
    conversations = duologue.simulate(one_side, recllmsim.scenarios(stored))
    assert [one.labels for one in conversations] == [{}] * len(stored)
    assert [one.extra["path"] for one in conversations] == [one.extra["path"] for one in stored]
    both = recllmsim.cast(user=f"replay:{source}", assistant=f"replay:{source}")
    again = duologue.simulate(both, recllmsim.scenarios(stored))
    assert [one.labels for one in again] == [one.labels for one in stored]
    short = duologue.simulate(both, recllmsim.scenarios(stored), limits=Limits(max_turns=1))
    assert [one.labels for one in short] == [{}] * len(stored)
