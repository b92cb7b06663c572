"""`duologue topics`, and conversations about documents of one's own."""

import json
from pathlib import Path

import pytest

from duologue import data

DOCUMENTS = Path(__file__).parents[2] / "data" / "fixtures" / "documents"


def test_the_preview_shows_title_heading_lengths_and_first_words(duologue):
    code, out, err = duologue("topics", DOCUMENTS / "mill.md")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["title", "heading", "background", "section", "first", "words"]
    assert lines[1].startswith("The mill at Ilmtal  Building (1)")
    assert lines[1].split()[6:8] == ["103", "196"]
    assert "The first house" in lines[1]
    assert lines[-1] == "5 topics; lengths are in characters"
    assert err == "mill.md: 1 heading has no text of its own and no topic: 'Open questions'\n"


def test_the_preview_as_json_is_whole_and_alone_on_stdout(duologue):
    code, out, err = duologue("topics", DOCUMENTS, "--json")
    shown = json.loads(out)
    assert code == 0
    assert [topic["id"] for topic in shown["topics"]] == [topic.id for topic in data.simquac.read_topics(DOCUMENTS)]
    assert set(shown["topics"][0]) == {
        "id", "title", "background", "header", "section", "characters", "background_characters",
    }  # fmt: skip
    assert shown["notes"] == err.splitlines()
    assert shown["topics"][-1]["section"].endswith("  Ebbe\n    Flut")


def test_the_preview_takes_whatever_topics_are_read_from(duologue, tmp_path):
    topic = {"title": "t", "background": "b", "header": "h", "section": "It rises."}
    (tmp_path / "t.jsonl").write_text(json.dumps(topic) + "\n")
    assert "It rises." in duologue("topics", "t.jsonl")[1]


def test_signs_that_a_terminal_or_markup_would_obey_are_text(duologue, tmp_path):
    (tmp_path / "a.md").write_text("# [red]T\x1b[31m\n\n## [bold]h\n\n[/] \x1b]0;x\x07 [link=x]y\n\n## \x1bE\n")
    code, out, err = duologue("topics", "a.md")
    assert code == 0
    assert "[red]T�[31m" in out
    assert "[/] �]0;x� [link=x]y" in out
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("topics", "nowhere.md"), "nowhere.md: cannot be read"),
        (("topics", "a.pdf"), "a.pdf: .pdf files are not read: save it as"),
        (("topics", "empty.md"), "empty.md: has no text: give a document with text"),
        (("topics", "in"), "in: holds no document: give a folder with .md, .txt, .html or .docx files"),
        (("topics", "a.csv"), "or a document (.md, .txt, .html, .docx)"),
        (("topics", "a.md", "--max-topic-bytes", "10"), "a.md, 'h': has 12 bytes"),
        (("topics", "a.md", "--max-section-bytes", "10"), "--max-section-bytes"),
        (("simulate", "simquac", "--topics", "empty.md"), "empty.md: has no text"),
        (("simulate", "simquac", "--topics", "a.md", "--background", "some"), "--background"),
    ],
)
def test_what_gives_no_topic_is_one_line_and_exit_code_two(duologue, tmp_path, arguments, message):
    (tmp_path / "in").mkdir()
    for name, text in (("a.pdf", "x"), ("a.csv", "a,b"), ("empty.md", ""), ("a.md", "# title\n\n## h\n\nwords.\n")):
        (tmp_path / name).write_text(text)
    code, out, err = duologue(*arguments)
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


def test_a_background_and_a_bound_of_sections_reach_the_conversations(duologue, tmp_path):
    sentences = " ".join(f"In year {year} the wheel turned." for year in range(1900, 1912))
    (tmp_path / "a.md").write_text(f"# Mill\n\nFirst.\n\nSecond.\n\n## Wheel\n\n{sentences}\n")
    settings = ("--background", "paragraph", "--max-section-bytes", 250, "--max-turns", 1, "--out", "r")
    assert duologue("simulate", "simquac", "--topics", "a.md", *settings)[0] == 0
    conversations = data.load(tmp_path / "r")
    assert {conversation.scenario["background"] for conversation in conversations} == {"First."}
    assert [conversation.scenario["header"] for conversation in conversations] == ["Wheel (1/2)", "Wheel (2/2)"]
    assert " ".join(str(conversation.scenario["section"]) for conversation in conversations) == sentences
    code, _, err = duologue("simulate", "simquac", "--topics", "a.md", *settings, "--resume")
    assert code == 0, err
    assert len(data.load(tmp_path / "r")) == 2
