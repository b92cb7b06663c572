"""Published task-oriented conversations through the real graph: they come out as they went in."""

import json
import shutil
from pathlib import Path

import pytest

import duologue
from duologue import data, runs
from duologue.data import recllmsim as format
from duologue.graphs import recllmsim
from duologue.nodes import Limits

FOLDERS = ("recllmsim", "recllmsim_human_vs_agent")


def play_again(source: Path, out: Path) -> runs.Summary:
    cast = recllmsim.cast(user=f"replay:{source}", assistant=f"replay:{source}")
    return runs.blocking(runs.arun(cast, recllmsim.scenarios(format.read(source)), out))


def differing(source: Path, dataset: Path) -> list[str]:
    """Relative paths of the conversations whose bytes are not those of the source."""
    there = [str(one.extra["path"]) for one in format.read(source)]
    return [name for name in there if (source / name).read_bytes() != (dataset / name).read_bytes()]


@pytest.mark.heavy
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_open_conversation_comes_out_byte_for_byte_at_its_path(open_data, tmp_path, folder):
    summary = play_again(open_data / folder, tmp_path / "run")
    assert (summary.planned, summary.finished, summary.left_out) == (487, 487, [])
    assert differing(open_data / folder, summary.dataset) == []
    user, assistant = summary.counts.sides
    assert (user.reasons["role_leak"], assistant.reasons) == (31, {})


@pytest.mark.heavy
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_choice_of_each_variant_and_every_odd_one_comes_out_equal(open_data, tmp_path, folder):
    source = open_data / folder
    everything = format.read(source)
    odd = {path for paths in format.oddities(everything).values() for path in paths}
    assert len(odd) >= 10
    for number, one in enumerate(everything):
        if number % 20 == 0 or one.extra["path"] in odd:
            target = tmp_path / "some" / one.extra["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / one.extra["path"], target)
    summary = play_again(tmp_path / "some", tmp_path / "run")
    assert summary.finished == summary.planned >= 30
    assert {format.variant(one) for one in written(summary)} == {"simulated", "human", "human_v2"}
    assert differing(tmp_path / "some", summary.dataset) == []


def written(summary: runs.Summary):
    return format.read(summary.dataset)


def test_a_file_that_was_changed_does_not_come_out_equal(open_data, tmp_path):
    file = next((open_data / "recllmsim" / "LLM_agent_user").rglob("*.json"))
    (tmp_path / "one").mkdir()
    value = json.loads(file.read_text())
    (tmp_path / "one" / "a.json").write_text(json.dumps(value, ensure_ascii=False, indent=4))
    summary = play_again(tmp_path / "one", tmp_path / "run")
    assert differing(tmp_path / "one", summary.dataset) == []
    (summary.dataset / "a.json").write_text(json.dumps(value | {"task": "x"}, ensure_ascii=False, indent=4))
    assert differing(tmp_path / "one", summary.dataset) == ["a.json"]


def test_a_replayed_user_meets_another_assistant(open_data, tmp_path):
    source = open_data / "recllmsim" / "LLM_agent_user" / "recipe planning"
    (some, *_) = format.read(source)
    cast = recllmsim.cast(user=f"replay:{source}", assistant="offline")
    summary = runs.blocking(runs.arun(cast, recllmsim.scenarios([some]), tmp_path / "run"))
    (conversation,) = format.read(summary.dataset)
    users = [[m.text for m in one.messages if m.role == "user"] for one in (some, conversation)]
    assert users[0] == users[1]
    assert conversation.messages != some.messages
    assert conversation.scenario == some.scenario


def test_a_goodbye_that_is_played_again_is_not_answered(tmp_path):
    about = format.combined(format.shipped_tasks(), format.shipped_profiles().texts)[:2]
    first = runs.blocking(runs.arun(recllmsim.cast(), recllmsim.scenarios(about), tmp_path / "first"))
    for assistant in ("offline", f"replay:{first.path}"):
        cast = recllmsim.cast(user=f"replay:{first.path}", assistant=assistant)
        out = tmp_path / assistant[:7].strip(":")
        again = runs.blocking(runs.arun(cast, recllmsim.scenarios(data.load(first.path)), out))
        for one, other in zip(data.load(first.path), data.load(again.path), strict=True):
            assert other.stop == "user_ended"
            assert [(m.role, m.stored) for m in one.messages] == [(m.role, m.stored) for m in other.messages]


def test_annotations_of_published_replies_are_not_those_of_another_assistants(open_data, tmp_path):
    source = open_data / "recllmsim" / "human_exp_V2" / "User_2"
    stored = format.read(source)
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


def test_a_replayed_user_meets_another_assistant_more_than_once(open_data, tmp_path):
    source = open_data / "recllmsim" / "LLM_agent_user" / "recipe planning"
    cast = recllmsim.cast(user=f"replay:{source}", assistant="offline")
    scenarios = runs.repeated(recllmsim.scenarios(format.read(source)[:2]), 2)
    summary = runs.blocking(runs.arun(cast, scenarios, tmp_path / "run"))
    assert summary.left_out == []
    paths = sorted(str(one.extra["path"]) for one in format.read(summary.dataset))
    assert paths == sorted(name for one in format.read(source)[:2] for name in _twice(str(one.extra["path"])))


def _twice(name: str) -> tuple[str, str]:
    return name, name.replace(".json", "_2.json")
