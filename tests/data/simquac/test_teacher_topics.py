"""Files of teacher topics: people's answers and a model's to one question."""

import json
from pathlib import Path

import pytest

from duologue.data import grounding, load, simquac
from duologue.data.checks import check

TEACHER = """<Topic: --------------------------->
Bread
Food from flour.
Sourdough
It rises slowly. The crust (the outside) is hard. He joined NATO.
<QS:------------>
How does it rise?
QUAC: It rises slowly.
GPT4: slowly
<QS:------------>
What else?
QUAC: The crust is hard.
GPT4: the crust (the outside) is hard
he joined nato
It
<QS:------------>
Why?
QUAC: CANNOTANSWER
GPT4:
<QS:------------>
Who?
QUAC: CANNOTANSWER
GPT4: I cannot find the answer.
<Topic: --------------------------->
Rye

Fields
It grows.
"""


def teacher(text: str, name: str = "teacher.txt") -> Path:
    path = Path(name)
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n"])
def test_teacher_topics_are_read_with_both_answers_and_a_span_a_line(line_end: str, mark: str) -> None:
    bread, rye = load(teacher(mark + TEACHER.replace("\n", line_end)))
    assert bread.scenario["title"] == "Bread"
    assert bread.scenario["background"] == "Food from flour."
    assert bread.scenario["header"] == "Sourdough"
    assert bread.scenario["section"] == "It rises slowly. The crust (the outside) is hard. He joined NATO."
    assert [message.text for message in bread.messages[::2]] == ["How does it rise?", "What else?", "Why?", "Who?"]
    answers = bread.messages[1::2]
    assert [message.labels["quac"].value for message in answers] == [
        "It rises slowly.",
        "The crust is hard.",
        "CANNOTANSWER",
        "CANNOTANSWER",
    ]
    assert [[span.text for span in message.spans] for message in answers] == [
        ["slowly"],
        ["The crust (the outside) is hard", "He joined NATO", "It"],
        [],
        [],
    ]
    assert answers[1].text == "the crust (the outside) is hard\nhe joined nato\nIt"
    assert (rye.scenario["title"], rye.scenario["background"], rye.messages) == ("Rye", "", ())


def test_an_empty_teacher_answer_counts_as_a_refusal() -> None:
    bread, _ = load(teacher(TEACHER))
    assert simquac.write([bread], "again.json") == []
    written = json.loads(Path("again.json").read_text(encoding="utf-8"))["data"][0]["paragraphs"][0]["qas"]
    assert [question["is_impossible"] for question in written] == [False, False, True, True]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_open_teacher_topics_are_read_whole_with_either_line_end(open_data: Path, line_end: str) -> None:
    text = (open_data / "simquac" / "teacher_sim_topics.txt").read_text(encoding="utf-8").replace("\r\n", "\n")
    path = teacher(text.replace("\n", line_end))
    conversations = load(path)
    assert len(conversations) == text.count("<Topic:") == 13
    assert sum(len(conversation.messages) for conversation in conversations) == 2 * text.count("<QS:") == 200
    assert check(conversations, ["span-not-slice", "span-case"]) == []
    for message in (message for conversation in conversations for message in conversation.messages):
        assert "\r" not in message.text + str(message.labels)
        assert (message.role == "assistant") == ("quac" in message.labels)
        assert message.role == "user" or bool(message.spans) != grounding.gives_no_answer(message)
    assert [topic.title for topic in simquac.read_topics(path)] == [c.scenario["title"] for c in conversations]


@pytest.mark.parametrize("begin", ["<Topic: ---->\n", ""])
def test_the_scripts_own_topic_file_has_four_lines_a_topic_and_the_mark_before_or_between(begin: str) -> None:
    text = f"{begin}Bread\nFood.\nSourdough\nIt rises. CANNOTANSWER\n<Topic: ---->\nRye\n\nFields\nIt grows.\n"
    topics = simquac.read_topics(teacher(text.replace("\n", "\r\n")))
    assert [(topic.title, topic.background, topic.header, topic.section) for topic in topics] == [
        ("Bread", "Food.", "Sourdough", "It rises."),
        ("Rye", "", "Fields", "It grows."),
    ]
