"""Logs and tables whose keys, columns and roles have Chinese names."""

import json
from pathlib import Path

import pytest

from duologue.data import Conversation, load
from duologue.data.formats.dialogues import asides
from duologue.data.formats.turns import role_of
from duologue.data.logs.key_names import LISTS, SPEAKERS, TEXTS
from duologue.data.logs.requests import turn_of

WORDS = [("user", "几点开门？"), ("assistant", "九点。")]


def words(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def chinese(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not name.isascii()]


@pytest.mark.parametrize("listed", chinese(LISTS))
@pytest.mark.parametrize("speaker", chinese(SPEAKERS))
@pytest.mark.parametrize("text", chinese(TEXTS))
def test_turns_with_chinese_keys_are_a_dialogue(listed: str, speaker: str, text: str) -> None:
    turns = [{speaker: name, text: said} for name, (_, said) in zip(("用户", "助手"), WORDS, strict=True)]
    Path("log.json").write_text(json.dumps([{"对话ID": "甲", listed: turns}], ensure_ascii=False), encoding="utf-8")
    (talk,) = load("log.json")
    assert (talk.id, words(talk)) == ("甲", WORDS)


@pytest.mark.parametrize(
    ("name", "role"),
    [("用户", "user"), ("客户", "user"), ("助手", "assistant"), ("客服", "assistant"), ("机器人", "assistant"), ("系统", "system")],
)  # fmt: skip
def test_chinese_roles_are_read(name: str, role: str) -> None:
    assert role_of(name) == role


def test_a_table_of_messages_with_chinese_columns_is_read_by_id_and_time() -> None:
    rows = "会话ID,角色,内容,时间\n甲,客服,九点。,2026-01-01 09:01\n甲,客户,几点开门？,2026-01-01 09:00\n乙,系统,请简短。,2026-01-01 09:02\n乙,用户,在吗,2026-01-01 09:03\n"
    Path("table.csv").write_text(rows, encoding="utf-8")
    loaded = load("table.csv")
    assert [(talk.id, words(talk)) for talk in loaded] == [("甲", WORDS), ("乙", [("user", "在吗")])]
    assert "messages are in the order of '时间'" in loaded.notes
    assert [aside["system"] for aside in asides(loaded[1])] == ["请简短。"]


@pytest.mark.parametrize("header", ["问题,回答", "问题,答案", "用户,助手", "用户,机器人", "指令,输出"])
def test_rows_with_chinese_columns_of_question_and_answer_are_read(header: str) -> None:
    Path("table.csv").write_text(f"{header}\n几点开门？,九点。\n", encoding="utf-8")
    assert words(load("table.csv")[0]) == WORDS
    row = dict(zip(header.split(","), (text for _, text in WORDS), strict=True))
    Path("rows.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert (load("rows.jsonl").kind, words(load("rows.jsonl")[0])) == ("rows", WORDS)


def test_a_column_that_names_users_is_not_a_question_beside_one_of_roles() -> None:
    Path("table.csv").write_text("用户,客服,角色,内容\n李,王,客户,几点开门？\n李,王,客服,九点。\n", encoding="utf-8")
    assert words(load("table.csv")[0]) == WORDS


def test_the_input_of_a_chinese_instruction_follows_it() -> None:
    row = {"指令": "翻译", "输入": "Nine.", "输出": "九点。"}
    Path("rows.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert words(load("rows.jsonl")[0]) == [("user", "翻译\n\nNine."), ("assistant", "九点。")]


def test_a_text_in_brackets_is_not_a_list_of_messages() -> None:
    Path("table.csv").write_text('角色,消息\n用户,"[1]"\n助手,"[""好""]"\n', encoding="utf-8")
    assert words(load("table.csv")[0]) == [("user", "[1]"), ("assistant", '["好"]')]


@pytest.mark.parametrize(
    ("speaker", "text", "name"),
    [("角色", "内容", "对话ID"), ("角色", "文本", "会话编号"), ("speaker", "text", "conversation_id"), ("sender", "message", "thread")],
)  # fmt: skip
def test_single_messages_of_any_names_of_keys_are_conversations_by_their_id(speaker: str, text: str, name: str) -> None:
    lines = [
        {name: talk, speaker: role, text: content, "time": at}
        for talk in ("a", "b")
        for at, (role, content) in enumerate(zip(("用户", "助手"), (words for _, words in WORDS), strict=True))
    ]
    Path("log.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    loaded = load("log.jsonl")
    assert [(talk.id, words(talk)) for talk in loaded] == [("a", WORDS), ("b", WORDS)]
    assert loaded[0].messages[1].extra["messages"]["values"] == {"role": "助手", "time": 1}


def test_a_response_and_a_line_without_a_known_role_are_no_single_message() -> None:
    assert turn_of({"role": "assistant", "content": "Hi", "stop_reason": "end_turn", "type": "message"}) is None
    assert turn_of({"speaker": "Ann", "text": "Hi"}) is None
    assert turn_of({"speaker": "user", "text": "Hi", "对话": [{}]}) is None
