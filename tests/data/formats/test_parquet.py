"""Parquet with explicit types."""

import json
import sys
from pathlib import Path

import pytest

from duologue.data import Conversation, DataError, Message, kind_of, load
from duologue.data.formats import parquet
from duologue.data.records import bare
from duologue.errors import MissingExtraError
from tests.data.generated import conversations

pyarrow = pytest.importorskip("pyarrow")
TALKS = list(conversations(200))
BARE = Conversation(id="a", scenario={}, messages=(Message(role="user", text="Hello?"),))


def test_a_column_without_a_value_keeps_its_type() -> None:
    parquet.write([BARE], "out.parquet")
    schema = pyarrow.parquet.read_schema("out.parquet")
    assert schema.names == list(parquet.COLUMNS)
    assert "null" not in {str(field.type) for field in schema}
    assert str(schema.field("stop").type) == "string"


def test_tables_of_others_are_still_tables() -> None:
    rows = [{"id": "a", "messages": [{"role": "user", "content": "Hello?"}]}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), "other.parquet")
    assert kind_of("other.parquet") == "tables"


def test_a_row_that_is_no_record_is_named() -> None:
    rows = [{"id": "a", "messages": [], "record": '{"id": 1}'}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), "odd.parquet")
    with pytest.raises(DataError, match=r"row 1.*is this a record"):
        load("odd.parquet")


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[parquet\]"):
        parquet.write([BARE], "out.parquet")
    assert not list(Path().iterdir())


@pytest.mark.heavy
@pytest.mark.parametrize("streaming", [False, True])
def test_datasets_loads_it(streaming: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", minversion="4.7")
    monkeypatch.setenv("HF_HOME", str(Path("home").absolute()))
    parquet.write(TALKS, "out.parquet")
    loaded = datasets.load_dataset("parquet", data_files="out.parquet", cache_dir="cache", streaming=streaming)["train"]
    rows = list(loaded)
    assert [row["id"] for row in rows] == [talk.id for talk in TALKS]
    called = next(row for row in rows if any(turn["tool_calls"] for turn in row["messages"]))
    (calling, *_) = [turn for turn in called["messages"] if turn["tool_calls"]]
    assert json.loads(calling["tool_calls"])[0]["function"].keys() == {"name", "arguments"}
    assert [json.loads(row["labels"]) for row in rows] == [bare(talk.labels) for talk in TALKS]
    rejected = sum(draft.verdict == "rejected" for talk in TALKS for draft in talk.attempts())
    assert sum(len(row["rejected"]) for row in rows) == rejected > 10
