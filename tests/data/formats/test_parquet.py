"""Parquet with explicit types, and the folder for the Hub with its card and its Croissant description."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, DataError, Message, domains, kind_of, load
from duologue.data.formats import hub_folder, parquet
from tests.data.generated import conversations

pyarrow = pytest.importorskip("pyarrow")
TALKS = list(conversations(200))
BARE = Conversation(id="a", scenario={}, messages=(Message(role="user", text="Hello?"),))


def test_a_column_without_a_value_keeps_its_type() -> None:
    parquet.write([BARE], "out.parquet")
    schema = pyarrow.parquet.read_schema("out.parquet")
    assert schema.names == list(parquet.FEATURES)
    assert "null" not in {str(field.type) for field in schema}
    assert str(schema.field("stop").type) == "string"
    assert "arrow.json" in str(schema.field("messages").type)
    assert json.loads(schema.metadata[b"huggingface"])["info"]["features"] == parquet.FEATURES


def test_rows_are_written_and_read_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP", 30)
    most = waiting = 0

    def counted() -> Any:
        nonlocal most, waiting
        for talk in TALKS:
            waiting += 1
            most = max(most, waiting)
            yield talk
            waiting = 0 if waiting == 30 else waiting

    parquet.write(counted(), "out.parquet")
    groups = pyarrow.parquet.ParquetFile("out.parquet").metadata
    assert ([groups.row_group(number).num_rows for number in range(7)], most) == ([30] * 6 + [20], 30)
    assert list(parquet.read("out.parquet")) == TALKS


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
    with pytest.raises(DataError, match=r"duologue\[parquet\]"):
        parquet.write([BARE], "out.parquet")
    assert not list(Path().iterdir())


def test_a_folder_for_the_hub_has_parquet_a_card_and_croissant() -> None:
    assert domains.targets()["hub"](TALKS, Path("out")) == []
    assert sorted(file.name for file in Path("out").iterdir()) == sorted(
        [hub_folder.DATA, hub_folder.CARD, hub_folder.CROISSANT]
    )
    card = (Path("out") / hub_folder.CARD).read_text(encoding="utf-8")
    assert f"data_files: {hub_folder.DATA}" in card
    assert "| conversations | 200 |" in card
    assert all(f"| `{name}` |" in card for name in parquet.FEATURES)
    about = json.loads((Path("out") / hub_folder.CROISSANT).read_text(encoding="utf-8"))
    (file,) = about["distribution"]
    content = (Path("out") / file["contentUrl"]).read_bytes()
    assert (file["sha256"], file["contentSize"]) == (hashlib.sha256(content).hexdigest(), f"{len(content)} B")
    fields = [field["name"] for field in about["recordSet"][0]["field"]]
    assert fields == list(parquet.FEATURES)
    assert about["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert (kind_of("out"), list(load("out"))) == ("hub", TALKS)


@pytest.mark.heavy
@pytest.mark.parametrize("streaming", [False, True])
def test_datasets_loads_it_with_the_features_that_are_named(streaming: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", minversion="4.7")
    monkeypatch.setenv("HF_HOME", str(Path("home").absolute()))
    domains.targets()["hub"](TALKS, Path("out"))
    file = str(Path("out") / hub_folder.DATA)
    loaded = datasets.load_dataset("parquet", data_files=file, cache_dir="cache", streaming=streaming)["train"]
    assert loaded.features == datasets.Features.from_dict(parquet.FEATURES)
    rows = list(loaded)
    assert [row["id"] for row in rows] == [talk.id for talk in TALKS]
    called = next(row for row in rows if any(turn["tool_calls"] for turn in row["messages"]))
    (calling, *_) = [turn for turn in called["messages"] if turn["tool_calls"]]
    assert calling["tool_calls"][0]["function"].keys() == {"name", "arguments"}
    assert [row["labels"] for row in rows] == [talk.labels for talk in TALKS]
    rejected = sum(draft.verdict == "rejected" for talk in TALKS for draft in talk.attempts())
    assert sum(len(row["rejected"]) for row in rows) == rejected > 10


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_reads_the_records() -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    domains.targets()["hub"](TALKS[:40], Path("out"))
    described = mlcroissant.Dataset(str(Path("out") / hub_folder.CROISSANT))
    assert not described.metadata.issues.errors
    rows = list(described.records("conversations"))
    assert [row["conversations/id"].decode() for row in rows] == [talk.id for talk in TALKS[:40]]
    records = [Conversation.from_plain(json.loads(row["conversations/record"])) for row in rows]
    assert records == TALKS[:40]
    roles = [turn["conversations/messages/role"].decode() for turn in rows[0]["conversations/messages"]]
    assert roles[:1] == ["user"]
