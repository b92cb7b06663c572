"""Rules of task-oriented conversations: what users leak, repeat and plan, and what is odd about a file."""

from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message, load
from duologue.data.checks import check, check_all, is_plan, is_repeat, user_notes, user_reasons
from duologue.data.recllmsim import Situation, variant

CONTEXT = "You want to buy good tea for a friend who likes it strong."


def talk(*texts: str, first: str = "user", labels: tuple[dict[str, Any], ...] = ()) -> Conversation:
    """The sides in turn; labels belong to the messages in order."""
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    messages = tuple(
        Message(role=roles[n % 2], text=text, labels=labels[n] if n < len(labels) else {})
        for n, text in enumerate(texts)
    )
    situation = Situation(task="tea", task_context=CONTEXT, preference="1. Age: 2")
    return Conversation(id="a", scenario=situation.scenario(), messages=messages)


def rules(conversation: Conversation) -> list[tuple[str, int]]:
    return [(finding.rule, finding.message) for finding in check(conversation)]


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!\n\n[System]: You're welcome!",
        "Thanks! [system] Glad to help.",
        "Assistant: Here is your plan.",
        "Good.\n**User**: And now?",
        "Thank you! AI: You're welcome.",
        "好的，谢谢。\n系统：不客气！",
        "助手: 这是计划",
        "【系统】对话结束",
        "<|im_start|>user",
        "Fine [/INST]",
    ],
)
def test_speaking_for_another_side_is_a_role_leak(text: str) -> None:
    assert user_reasons(text) == ("role_leak",)


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I do not eat.",
        "I'm a language model and cannot travel.",
        "I am simulating a user here.",
        "<think>What next?</think> And the hotel?",
        "### Response\nWhich hotel?",
        "My instructions say that I end now.",
        "According to my persona I like tea.",
        "Do you have more, given my profile?",
        "I was told to act surprised.",
        "The user wants a cheaper hotel.",
        "Here's my next message: which hotel?",
        "作为一个AI，我没有口味。",
        "作为AI语言模型，我不能旅行。",
        "我正在扮演用户。",
        "根据我的人设，我喜欢喝茶。",
        "该用户想要便宜的酒店",
    ],
)
def test_showing_the_instructions_or_the_model_is_a_prompt_leak(text: str) -> None:
    assert user_reasons(text) == ("prompt_leak",)


@pytest.mark.parametrize("text", ["", " \n", "...", "？！", "👍"])
def test_without_a_letter_or_digit_a_message_is_empty(text: str) -> None:
    assert user_reasons(text) == ("empty",)


@pytest.mark.parametrize(
    "text",
    [
        "Which operating system: the old one?",
        "I work as an AI engineer and want to learn French.",
        "I am an AI researcher.",
        "Please follow the instructions of the recipe.",
        "My profile of interests: tea. Can you plan?",
        "我想学习人工智能，请推荐教程",
        "作为人工智能专业的学生，我想学法语",
        "帮我做一个大模型微调的学习计划",
        "我在设计用户界面，用户：十个人",
        "You're a great assistant. Thank you!",
        "谢谢，再见",
    ],
)
def test_what_people_say_is_not_rejected(text: str) -> None:
    assert user_reasons(text) == ()


def test_a_repeat_differs_in_white_space_punctuation_and_case_alone() -> None:
    assert is_repeat("Thank you, goodbye!", ["Hello", "thank you good bye"])
    assert is_repeat("买 茶。", ["买茶"])
    assert not is_repeat("Thank you too", ["Thank you"])
    assert not is_repeat("...", ["!"])


PLAN = "Great:\nDay 1: the old town.\nDay 2: the harbour.\nDay 3: the museum."
LIST = "1. I start from Porto.\n2. My budget is 500 euros.\n3. I like the sea."


def test_three_items_that_nobody_asked_for_are_a_plan() -> None:
    assert is_plan(PLAN, "Enjoy your trip.")
    assert is_plan(PLAN)
    assert is_plan("第一天：故宫\n第二天：长城\n第三天：颐和园", "祝你旅途愉快。")
    assert is_plan("- **9:00** breakfast\n- **10:30** castle\n- **13:00** lunch", "Any wishes?")
    assert not is_plan("Day 1: the old town.\nDay 2: the harbour.")
    assert not is_plan("Then we go to the old town, the harbour and the museum.", "Enjoy!")


def test_items_that_answer_or_ask_are_no_plan() -> None:
    assert not is_plan(LIST, "What is your budget, and where do you start?")
    assert not is_plan(LIST, "Please tell me the following:\n1. Where you start.\n2. Your budget.\n3. What you like.")
    assert is_plan(LIST, "Here you are. Would you prefer a museum?")
    assert not is_plan("1. Which hotel?\n2. Which train?\n3. Which day?", "Here you are.")
    assert not is_plan(LIST)  # the wishes of someone who opens
    assert not is_plan("1、我想要便宜的酒店\n2、预算五百元\n3、从上海出发", "请问您的预算是多少？从哪里出发？")


def test_what_is_counted_is_told_by_name() -> None:
    assert user_notes(PLAN, [PLAN], "Enjoy.") == ("repeat", "plan")
    assert user_notes("Hello") == ()


@pytest.mark.parametrize(
    "piece",
    ["\n", "[ ", ". ", "# ", "-\n", "*", "given my ", "1. a\n", "给", '" ', "as an ", "`", "```", "“", '"a', "> ", "on a\n",
     "from:abc\n", "based on my profile ", "#A", "[end of ", "http://", "‘",
     " 'a", "press [end] ", "[end]", "</s>", "TERMINATE ", "bye *", "system prompt ", "the prompt asks ", "you reply as a human ", "my profile says email "],
)  # fmt: skip
def test_input_made_to_be_slow_ends_soon(piece: str) -> None:
    text = piece * (30_000 // len(piece)) + "a"
    user_reasons(text)
    user_notes(text, [text], text)


def test_a_finding_shows_the_words_where_they_stand_in_the_message() -> None:
    [finding] = check(talk("`x`the user wants tea. Then more.", "Fine."))
    assert finding.reason == '"the user wants" in "`x`the user wants tea. Then more."'
    [finding] = check(talk('The "[System]: ok" and then all the rest of the message. ###STOP###', "Fine."))
    assert finding.reason == '"###STOP###" in "est of the message. ###STOP###"'


def test_each_rule_names_its_message() -> None:
    assert rules(talk("Hi. [System]: Hello.", "Hello.", "As an AI, fine.", "Good.", "!", "Bye.")) == [
        ("user-role-leak", 0),
        ("user-prompt-leak", 2),
        ("user-empty", 4),
    ]
    assert rules(talk("Tea?", "Yes.", "tea", "No.")) == [("user-repeat", 2)]
    assert rules(talk("Hi", "Hello.", PLAN, "Good.")) == [("user-plan", 2)]
    assert rules(talk("I " + CONTEXT[4:], "Good.")) == [("user-pastes-task", 0)]
    assert rules(talk("Hello!", first="assistant")) == [("assistant-first", 0)]
    assert rules(talk("Tea?")) == [("user-last", 0)]
    assert rules(talk("Tea?", "API 错误，请稍后再试")) == [("error-reply", 1)]
    assert rules(talk("Tea?", "API error: 500")) == [("error-reply", 1)]
    assert rules(talk()) == []


def test_two_messages_of_one_side_are_told_and_a_goodbye_that_is_not_stored_needs_no_reply() -> None:
    both = talk("Tea?", "Yes.")
    user, assistant = both.messages
    assert rules(both.model_copy(update={"messages": (user, assistant, assistant)})) == [("same-side-again", 2)]
    goodbye = Message(role="user", text="Thank you, goodbye.", stored=False)
    assert rules(both.model_copy(update={"messages": (user, assistant, goodbye)})) == []


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        ({"hallucination": {"hallucination": True, "memo": "no such hotel"}}, ["hallucination"]),
        ({"hallucination": "是"}, ["hallucination"]),
        ({"hallucination": "无法判断"}, ["hallucination"]),
        ({"hallucination": "否", "satisfaction": "3", "reason": "short", "intent": ["a"]}, []),
        ({"hallucination": {"hallucination": False, "memo": ""}, "intent": "Others", "intent_zh": "其他"}, []),
        ({"hallucination": "maybe"}, ["label-shape"]),
        ({"hallucination": {"memo": ""}}, ["label-shape"]),
        ({"satisfaction": 3}, ["label-shape"]),
        ({"intent": [1], "reason": None}, ["label-shape", "label-shape"]),
        ({"intent": {"final": None, "1": ["a"], "2": None}, "satisfaction": {"final": None, "1": "5", "2": "1"}}, []),
    ],
)
def test_annotations_are_read_in_both_published_shapes(labels: dict[str, Any], values: list[str]) -> None:
    assert [rule for rule, _ in rules(talk("Tea?", "Yes.", labels=({}, labels)))] == values


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_leak_in_the_open_files_is_found_and_no_person_is_accused(open_data: Path, part: str) -> None:
    conversations = load(open_data / part).conversations
    leaks = {
        (c.id, n) for c in conversations for n, m in enumerate(c.messages) if m.role == "user" and "[System]" in m.text
    }
    findings = check_all(
        conversations, ["user-role-leak", "user-prompt-leak", "user-empty", "user-repeat", "user-plan"]
    )
    assert len(leaks) == 31
    assert {(f.conversation, f.message) for f in findings if f.rule == "user-role-leak"} == leaks
    kinds = {conversation.id: variant(conversation) for conversation in conversations}
    counts: dict[str, dict[str, int]] = {"simulated": {}, "people": {}}
    for finding in findings:
        side = counts["simulated" if kinds[finding.conversation] == "simulated" else "people"]
        side[finding.rule] = side.get(finding.rule, 0) + 1
    assert counts["people"] == {"user-repeat": 6}  # of 1,121 messages
    assert counts["simulated"] == {"user-role-leak": 31, "user-prompt-leak": 3, "user-repeat": 1, "user-plan": 2}


def test_findings_name_the_file(open_data: Path) -> None:
    (finding,) = check_all(load(open_data / "recllmsim"), ["assistant-first"])
    assert finding.path.startswith("LLM_agent_user/")
