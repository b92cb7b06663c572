"""Rules are list items and sentences with must, only, not or unless, and forbid the tools that they name."""

import pytest

from duologue.data.documents import Document, of_markdown
from duologue.data.test_design.policy_rules import rules_of
from duologue.data.test_design.tool_schemas import schemas_of
from duologue.errors import DataError


def rules(text):
    return rules_of([Document("policy.md", tuple(of_markdown(text)[0]))])


def tools(**descriptions):
    return schemas_of([{"name": name, "description": text} for name, text in descriptions.items()], "here")


EN = tools(look_up="Look up a booking.", change="Move a booking to another date.", refund="Refund a ticket.")
ZH = tools(query="查询借阅记录。", renew="续借一本书。", reserve="预约一本书。")


def test_list_items_and_sentences_with_words_of_rules_are_rules_and_other_text_is_not():
    text = (
        "# Desk\nWe are glad to help.\nGuests must show a card. The sun shines.\n\n- Greet each guest by name.\n- Ok.\n"
    )
    assert [rule.text for rule in rules(text)] == ["Guests must show a card.", "Greet each guest by name."]


def test_an_item_is_one_rule_with_the_lines_that_go_on_with_it_and_equal_ones_count_once():
    text = "- Look a booking up first;\n  then answer.\n- Look a booking up first;\n  then answer.\n"
    assert [(rule.number, rule.text) for rule in rules(text)] == [(1, "Look a booking up first; then answer.")]


def test_chinese_rules_are_found_in_lists_and_sentences():
    text = "# 规定\n本馆欢迎您。\n\n珍藏本不得续借。读者很多。\n\n1. 办理任何业务前必须先核对读者证号。\n2. 谢谢。\n"
    assert [rule.text for rule in rules(text)] == ["珍藏本不得续借。", "办理任何业务前必须先核对读者证号。"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("- A booking with a basic fare cannot be moved.", ["change"]),
        ("- Never refund a ticket that was used.", ["refund"]),
        ("- It is forbidden to move or refund group bookings.", ["change", "refund"]),
        ("- Moving a basic booking is not allowed.", ["change"]),
        ("- Never say that a booking was moved unless the tool has said so.", []),
        ("- Look a booking up before you say anything about it.", []),
        ("- You must not promise a refund.", []),
    ],
)
def test_a_rule_forbids_the_tools_whose_deed_it_names_and_a_rule_about_words_none(text, names):
    (rule,) = rules(text)
    assert [tool.name for tool in EN if rule.forbids(tool, EN)] == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("- 珍藏本不得续借，也不接受例外。", ["renew"]),
        ("- 逾期未还的读者不能预约。", ["reserve"]),
        ("- 不得透露他人的借阅记录。", []),
        ("- 查询之前必须核对读者证号。", []),
    ],
)
def test_a_chinese_rule_forbids_the_tools_whose_deed_it_names(text, names):
    (rule,) = rules(text)
    assert [tool.name for tool in ZH if rule.forbids(tool, ZH)] == names


def test_the_terms_of_a_rule_are_the_values_of_the_world_that_it_names():
    (rule,) = rules("- A booking with a basic fare cannot be moved.")
    assert rule.terms({"basic", "flex", "Basicland"}) == {"basic"}
    (rule,) = rules("- 珍藏本不得续借，也不接受例外。")
    assert rule.terms({"珍藏本", "普通本"}) == {"珍藏本"}


def test_a_policy_without_a_rule_is_refused_by_name():
    with pytest.raises(DataError, match=r"policy.md: has no rule: write list items, or sentences with must, only"):
        rules("# Welcome\n\nWe are glad to help.\n")
