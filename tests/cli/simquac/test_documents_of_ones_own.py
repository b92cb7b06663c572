"""Conversations about documents of one's own."""

import json
from pathlib import Path

import pytest

from duologue import data

DOCUMENTS = Path(__file__).parents[2] / "data" / "fixtures" / "documents"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.md",), "nowhere.md: cannot be read"),
        (("a.pdf",), "a.pdf: .pdf files are not read: save it as"),
        (("empty.md",), "empty.md: has no text: give a document with text"),
        (("in",), "in: holds no document: give a folder with .md, .txt, .html or .docx files"),
        (("a.csv",), "or a document (.md, .txt, .html, .docx)"),
        (("a.md", "--background", "some"), "--background"),
    ],
)
def test_what_gives_no_topic_is_one_line_and_exit_code_two(duologue, tmp_path, arguments, message):
    (tmp_path / "in").mkdir()
    for name, text in (("a.pdf", "x"), ("a.csv", "a,b"), ("empty.md", ""), ("a.md", "# title\n\n## h\n\nwords.\n")):
        (tmp_path / name).write_text(text)
    code, out, err = duologue("simulate", "simquac", "--topics", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_conversations_about_documents_are_grounded_in_their_sections(duologue, tmp_path):
    code, _, err = duologue("simulate", "simquac", "--topics", DOCUMENTS, "--max-turns", 4, "--out", "r")
    assert code == 0, err
    assert "mill.md: 1 heading has no text of its own" in err
    conversations = data.load(tmp_path / "r")
    topics = data.simquac.read_topics(DOCUMENTS)
    assert [(conversation.scenario["section"], conversation.labels["topic_id"]) for conversation in conversations] == [
        (topic.section, topic.id) for topic in topics
    ]
    spans = [
        (span, conversation.scenario["section"])
        for conversation in conversations
        for message in conversation.messages
        for span in message.spans
    ]
    assert len(spans) >= len(topics)
    assert all(section[span.start : span.end] == span.text for span, section in spans)
    assert duologue("check", "r")[0] == 0
    assert json.loads((tmp_path / "r/manifest.json").read_text())["data"][0]["source"] == "documents"


def test_a_background_reaches_the_conversations_and_a_long_section_is_split(duologue, tmp_path):
    sentences = " ".join(f"In year {year} the wheel turned." for year in range(1600, 2000))
    (tmp_path / "a.md").write_text(f"# Mill\n\nFirst.\n\nSecond.\n\n## Wheel\n\n{sentences}\n")
    settings = ("--background", "paragraph", "--max-turns", 1, "--out", "r")
    assert duologue("simulate", "simquac", "--topics", "a.md", *settings)[0] == 0
    conversations = data.load(tmp_path / "r")
    assert {conversation.scenario["background"] for conversation in conversations} == {"First."}
    assert [conversation.scenario["header"] for conversation in conversations] == ["Wheel (1/2)", "Wheel (2/2)"]
    assert " ".join(str(conversation.scenario["section"]) for conversation in conversations) == sentences
    code, _, err = duologue("simulate", "simquac", "--topics", "a.md", *settings)
    assert code == 0, err
    assert len(data.load(tmp_path / "r")) == 2
