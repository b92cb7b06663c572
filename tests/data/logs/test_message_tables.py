"""Tables of messages: CSV, TSV, Parquet and workbooks, by their columns and never by their names."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Conversation, DataError, load, messages
from duologue.data.formats.dialogues import further
from duologue.data.loading import Loaded

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


def test_the_index_of_pandas_is_not_read_and_a_name_may_hold_any_mark() -> None:
    (conversation,) = read(file(',Question?,question,answer\n0,x,When does it open?,"At nine, sharp."\n'))
    assert (words(conversation), further(conversation)["Question?"]) == (TALK, "x")
    assert "" not in further(conversation)


def test_columns_have_other_names_and_further_cells_are_kept() -> None:
    (conversation,) = loaded = read(file("Speaker,Text,Mood\ncustomer,Hello,glad\nagent,Welcome,\n"))
    assert words(conversation) == [("user", "Hello"), ("assistant", "Welcome")]
    assert conversation.messages[0].extra["messages"]["values"] == {"speaker": "customer", "Mood": "glad"}
    assert loaded.notes == ("no column names the conversation: all rows are one",)


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


def test_a_table_without_roles_is_named_with_its_columns(fault: Callable[..., str]) -> None:
    assert fault(load, file("id,text,mood\n1,Hello,glad\n")).endswith(
        "has no column of roles beside 'text': name one role and one content, or question and answer; "
        "its columns are id, text, mood"
    )
    assert "is a table without rows" in fault(load, file("role,content\n"))
    assert "'Ann', 'Bo': neither user nor assistant" in fault(load, file("speaker,text\nAnn,Hello\nBo,Welcome\n"))


def test_a_broken_row_is_named_by_its_line(fault: Callable[..., str]) -> None:
    assert "line 3: has 3 cells, the header 2" in fault(load, file("role,content\nuser,a\nuser,a,b\n"))
    assert "line 2: is not a row" in fault(load, file('role,content\nuser,"a\n'))


@pytest.mark.parametrize(
    "text", ["Hello, this is content\nof a text.\n", "a,b\n1,2\n", "role: user\ncontent: Hello\n", "text\nHello\n"]
)
def test_other_texts_are_not_tables(text: str, fault: Callable[..., str]) -> None:
    assert "not in a known format" in fault(load, file(text, "words.txt"))


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
    "rows": [{"prompt": TALK[0][1], "chosen": MESSAGES, "rejected": MESSAGES[:1]}],
    "single messages": [{"session_id": 1, **message, "score": None} for message in MESSAGES],
    "dialogues": [{"dialogue_id": "a", "turns": [{"speaker": who, "utterance": text} for who, text in TALK]}],
}


@pytest.mark.parametrize("shape", PARQUET)
def test_parquet_holds_rows_of_every_form(shape: str) -> None:
    (conversation,) = read(parquet(PARQUET[shape]))
    assert words(conversation) == TALK


def test_images_in_parquet_are_parts() -> None:
    image = {"bytes": b"\x89PNG\r\n\x1a\nrest", "path": None}
    row = {"conversations": [{"from": "human", "value": "<image>?"}], "chosen": {"from": "gpt", "value": "A door."}}
    (conversation,) = read(parquet([row | {"rejected": {"from": "gpt", "value": "A cat."}, "images": [image]}]))
    (part,) = conversation.messages[0].parts
    assert (part.type, part.mime_type) == ("image", "image/png")


def test_parquet_that_cannot_be_read_is_one_line(fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    line = fault(load, parquet([{"x": 1}]))
    assert line.endswith("its columns are x")
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    assert "is not a Parquet file that can be read" in fault(load, "broken.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert fault(load, "table.parquet").endswith('is Parquet and needs pyarrow: pip install "duologue[parquet]"')


def workbook(name: str = "table.xlsx", **sheets: list[list[Any]]) -> Path:
    book = pytest.importorskip("openpyxl").Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(name)
    return Path(name)


def test_the_sheets_of_a_workbook_with_messages_are_read(
    fault: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(Talks=[["Role", "Content", "Score"], [*TALK[0], 3], [], [*TALK[1], None]], Notes=[["day"], [1]])
    (conversation,) = loaded = read(path)
    assert words(conversation) == TALK
    assert conversation.messages[0].extra["messages"]["values"] == {"Score": 3}
    assert "the sheet 'Notes' left out" in loaded.notes[-1]
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert 'pip install "duologue[stats]"' in fault(load, path)


def test_a_folder_has_its_tables_by_what_they_hold() -> None:
    Path("logs").mkdir()
    file(LINES, "logs/a.csv")
    file("day,visitors\n1,20\n", "logs/b.csv")
    file("id,text\n1,Hello\n", "logs/c.csv")
    loaded = load("logs")
    assert [conversation.id for conversation in loaded] == ["1", "2"]
    assert loaded.notes == (
        "left out: logs/c.csv: has no column of roles beside 'text': name one role and one content, or question and "
        "answer; its columns are id, text",
    )


def test_lists_in_cells_are_read_as_json_and_as_pandas_writes_them() -> None:
    turns = [{"role": "user", "content": "It's open?"}, {"role": "assistant", "content": "At nine."}]
    odd = [{"role": "user", "content": b"Open?"}]
    for name, last in (("lists.csv", turns), ("odd.csv", odd)):
        with Path(name).open("w", encoding="utf-8", newline="") as table:
            csv.writer(table).writerows([["id", "messages"], ["a", json.dumps(turns)], ["b", str(last)]])
    texts = [[message.text for message in talk.messages] for talk in load("lists.csv")]
    assert texts == [["It's open?", "At nine."]] * 2
    with pytest.raises(DataError, match="line 3: has no list 'messages'"):
        load("odd.csv")
