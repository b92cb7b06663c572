"""Tables of messages: CSV, TSV and Parquet, by their columns and never by their names."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, load, messages
from duologue.data.formats.messages import further
from duologue.data.loading import Loaded
from duologue.data.records import bare

TALK = [("user", "When does it open?"), ("assistant", "At nine, sharp.")]


def file(text: str, name: str = "table.csv") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def words(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def read(path: Path) -> Loaded:
    """The conversations, which are written as lines of messages without a loss, and read back equal."""
    loaded = load(path)
    assert loaded.kind == "tables"
    assert messages.write(loaded, "again.jsonl") == []
    again = load("again.jsonl")
    assert again.kind == "messages"
    assert [(one.messages, further(one)) for one in loaded] == [(one.messages, further(one)) for one in again]
    return loaded


LINES = 'conversation_id,role,content\n1,user,When does it open?\n2,user,Is it free?\n1,assistant,"At nine, sharp."\n'


@pytest.mark.parametrize("name", ["table.csv", "table", "table.json", "table.txt"])
def test_rows_are_messages_of_the_conversation_that_they_name(name: str) -> None:
    first, second = read(file(LINES, name))
    assert (first.id, words(first), second.id) == ("1", TALK, "2")


def test_a_table_may_have_tabs_or_semicolons_a_mark_of_order_and_be_zipped() -> None:
    tabs = "\ufeff" + LINES.replace(",", "\t").replace('"At nine\t sharp."', "At nine, sharp.")
    assert words(read(file(tabs))[0]) == TALK
    assert words(read(file(LINES.replace(",", ";").replace("nine;", "nine,")))[0]) == TALK
    Path("table.gz").write_bytes(gzip.compress(LINES.replace("\n", "\r\n").encode()))
    assert words(read(Path("table.gz"))[0]) == TALK


def test_columns_have_other_names_and_further_cells_are_kept() -> None:
    (conversation,) = loaded = read(file("Speaker,Text,Mood\ncustomer,Hello,glad\nagent,Welcome,\n"))
    assert words(conversation) == [("user", "Hello"), ("assistant", "Welcome")]
    assert conversation.messages[0].extra == {"speaker": "customer", "Mood": "glad"}
    assert loaded.notes == ("nothing names the conversation: all messages are one",)


@pytest.mark.parametrize(
    ("column", "names", "talks"),
    [
        ("id", "1122", ["ab", "cd"]),
        ("ticket", "1122", ["ab", "cd"]),
        ("room", "1212", ["ac", "bd"]),
        ("userId", "1212", ["abcd"]),
        ("id", "1234", ["abcd"]),
        ("message_id", "1122", ["abcd"]),
        ("sender_id", "1212", ["abcd"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_rows_that_share_a_name_are_one_conversation(column: str, names: str, talks: list[str], ending: str) -> None:
    roles = ["user", "user", "assistant", "assistant"] if column == "room" else ["user", "assistant"] * 2
    rows = [
        {column: name, "role": role, "content": text} for name, role, text in zip(names, roles, "abcd", strict=True)
    ]
    table = "\n".join([f"{column},role,content", *(",".join(row.values()) for row in rows)])
    text = table if ending == "csv" else "\n".join(map(json.dumps, rows))
    assert ["".join(one.text for one in talk.messages) for talk in load(file(text, f"table.{ending}"))] == talks


@pytest.mark.parametrize("times", [("2025-01-01T09:05", "2025-01-01T09:00"), ("10", "9"), ("noon", "9")])
def test_messages_are_in_the_order_of_their_times(times: tuple[str, str]) -> None:
    late, early = times
    loaded = read(file(f"session_id,role,content,timestamp\na,assistant,Two,{late}\na,user,One,{early}\n"))
    ordered = late != "noon"
    assert [message.text for message in loaded[0].messages] == (["One", "Two"] if ordered else ["Two", "One"])
    assert loaded.notes == (("messages are in the order of 'timestamp'",) if ordered else ())


def test_questions_and_answers_are_rows() -> None:
    first, second = read(file('Question,Answer,Page\nWhen does it open?,"At nine, sharp.",4\nIs it free?,,5\n'))
    assert (words(first), further(first)["Page"]) == (TALK, "4")
    assert words(second) == [("user", "Is it free?")]


def test_a_cell_that_equals_the_conversations_id_stays() -> None:
    (talk,) = read(file("conversation_id,question,answer,rating,page\n5,a?,b,5,5\n5,c?,d,4,5\n"))
    assert (talk.id, bare(talk.labels), further(talk)["page"]) == ("5", {"rating": "5"}, "5")
    assert talk.messages[2].extra == {"rating": "4", "page": "5"}


def test_a_table_without_roles_is_named_with_its_columns(fault: Callable[..., str]) -> None:
    assert fault(load, file("id,text,mood\n1,Hello,glad\n")).endswith("its columns are id, text, mood")
    assert "is a table without rows" in fault(load, file("role,content\n"))
    assert "'Ann', 'Bo': neither user nor assistant" in fault(load, file("speaker,text\nAnn,Hello\nBo,Welcome\n"))


def test_a_broken_row_is_named_by_its_line(fault: Callable[..., str]) -> None:
    assert "line 3: has more cells than the header" in fault(load, file("role,content\nuser,a\nuser,a,b\n"))
    assert "is not a row" in fault(load, file('role,content\nuser,"a\n'))


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)), min_size=1, max_size=6), st.sampled_from(",;\t"))  # fmt: skip
def test_conversations_written_as_csv_are_read_again(talk: list[tuple[str, str]], delimiter: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([("conversation_id", "role", "content"), *(("a", *turn) for turn in talk)])
    Path("table.csv").write_bytes(text.getvalue().encode())
    (conversation,) = read(Path("table.csv"))
    assert words(conversation) == talk


def parquet(rows: list[dict[str, Any]]) -> Path:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), "table.parquet")
    return Path("table.parquet")


MESSAGES = [{"role": role, "content": text} for role, text in TALK]
PARQUET: dict[str, list[dict[str, Any]]] = {
    "messages": [{"messages": MESSAGES, "source": "ours"}],
    "sharegpt": [{"conversations": [{"from": {"user": "human"}.get(who, "gpt"), "value": text} for who, text in TALK]}],
    "rows": [{"prompt": TALK[0][1], "completion": TALK[1][1]}],
    "single messages": [{"session_id": 1, **message, "score": None} for message in MESSAGES],
    "dialogues": [{"dialogue_id": "a", "turns": [{"speaker": who, "utterance": text} for who, text in TALK]}],
}


@pytest.mark.parametrize("shape", PARQUET)
def test_parquet_holds_rows_of_every_form(shape: str) -> None:
    (conversation,) = read(parquet(PARQUET[shape]))
    assert words(conversation) == TALK
