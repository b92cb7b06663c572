"""`duologue.frame` and `duologue.save`, and records as other libraries read them."""

import json
from pathlib import Path

import pandas
import pytest

import duologue
from duologue.data import Attempt, Conversation, Label, Message, Usage
from duologue.errors import DataError, SettingError

DRAFTS = (
    Attempt(text="Eight?", verdict="rejected", reason="length", usage=Usage(input_tokens=5, output_tokens=2)),
    Attempt(number=2, text="Nine", verdict="accepted", usage=Usage(input_tokens=6, output_tokens=1)),
)
TALK = Conversation(
    id="a",
    scenario={"title": "Tea"},
    messages=(
        Message(role="user", text="When?"),
        Message(role="user", name="moderator", text="Be brief."),
        Message(role="assistant", text="Nine", attempts=DRAFTS),
        Message(role="user", text="Thanks", labels={"polite": Label(value=True)}),
    ),
    stop="user_ended",
)


def test_a_frame_has_a_row_for_each_message() -> None:
    rows = duologue.frame([TALK, TALK.model_copy(update={"id": "b", "stop": None})])
    assert rows.conversation.tolist() == ["a"] * 4 + ["b"] * 4
    first = rows[rows.conversation == "a"]
    assert first.role.tolist() == ["user", "moderator", "assistant", "user"]
    assert first.turn.tolist() == [0, 0, 0, 1]
    assert first.rejected.tolist() == [0, 0, 1, 0]
    assert first.tokens.isna().tolist() == [True, True, False, True]
    assert first.tokens.sum() == 14
    assert set(first.scenario) == {"Tea"}
    assert first.stop.eq("user_ended").all()
    assert rows.stop.isna().sum() == 4


def test_a_frame_of_nothing_has_the_same_columns_and_types() -> None:
    assert duologue.frame([]).dtypes.equals(duologue.frame([TALK]).dtypes)


@pytest.mark.parametrize(("name", "to"), [("talks.jsonl", ""), ("talks.parquet", ""), ("talks.json", "replay")])
def test_what_is_saved_with_all_its_content_is_loaded_again(tmp_path: Path, name: str, to: str) -> None:
    assert duologue.save(iter([TALK]), tmp_path / name, to) == []
    assert list(duologue.load(tmp_path / name)) == [TALK]


def test_conversations_of_a_data_set_are_saved_as_it_is_published(tmp_path: Path) -> None:
    simquac = duologue.graphs.simquac
    scenarios = simquac.scenarios(duologue.data.simquac.samples()[:2])
    talks = duologue.simulate(simquac.cast(), scenarios, limits=duologue.Limits(max_turns=1))
    duologue.save(talks, tmp_path / "set.json")
    assert duologue.load(tmp_path / "set.json").kind == "simquac"


@pytest.mark.parametrize(("name", "to"), [("talks.json", ""), ("talks.jsonl", "sheet")])
def test_a_format_that_is_not_named_or_not_known_is_an_error(tmp_path: Path, name: str, to: str) -> None:
    with pytest.raises(SettingError):
        duologue.save([TALK], tmp_path / name, to)


def test_what_a_format_cannot_hold_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        duologue.save([TALK], tmp_path / "set.json", "simquac")


def test_other_libraries_read_records_without_help(tmp_path: Path) -> None:
    flat = pandas.json_normalize([TALK.model_dump(mode="json")], "messages", "id")
    assert flat["labels.polite.value"].tolist()[-1] is True
    duologue.save([TALK, TALK], tmp_path / "talks.jsonl")
    table = pandas.read_json(tmp_path / "talks.jsonl", lines=True)
    assert table.id.tolist() == ["a", "a"]
    lines = (tmp_path / "talks.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == TALK.model_dump(mode="json")


def test_datasets_loads_a_file_of_records(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    duologue.save([TALK, TALK], tmp_path / "talks.jsonl")
    table = datasets.load_dataset(
        "json", data_files=str(tmp_path / "talks.jsonl"), split="train", cache_dir=str(tmp_path)
    )
    assert [message["text"] for message in table[0]["messages"]] == [message.text for message in TALK.messages]
