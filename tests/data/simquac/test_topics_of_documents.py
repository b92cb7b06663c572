"""Topics from documents: title, background, sections, their sizes and ids, and what is said of the rest."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from duologue.data import simquac
from duologue.data.simquac import Topic
from duologue.data.simquac.sources import pieces, size

DOCUMENTS = Path(__file__).parents[1] / "fixtures" / "documents"


def topics_of_text(text: str, name: str = "a-mill_of.md", **settings: object) -> simquac.TopicSet:
    Path(name).write_text(text, encoding="utf-8")
    return simquac.topic_set(name, **settings)


def short(topic_set: simquac.TopicSet) -> list[tuple[str, str, str, str]]:
    return [(topic.title, topic.background, topic.header, topic.section) for topic in topic_set.topics]


def test_the_first_heading_is_the_title_its_text_the_background_and_each_further_heading_a_topic() -> None:
    topic_set = simquac.topic_set(DOCUMENTS / "mill.md")
    assert {topic.title for topic in topic_set.topics} == {"The mill at Ilmtal"}
    (background,) = {topic.background for topic in topic_set.topics}
    assert background.startswith("The mill stands by the river")
    assert background.endswith("\n\nIt has ground rye since 1823.")
    assert [topic.header for topic in topic_set.topics] == [
        "Building",
        "Prices",
        "Later years",
        "Owners",
        "Building",
    ]
    assert topic_set.notes == ("mill.md: 1 heading has no text of its own and no topic: 'Open questions'",)


def test_ids_name_file_and_heading_and_are_each_used_once() -> None:
    topic_set = simquac.read_topics(DOCUMENTS)
    ids = [topic.id for topic in topic_set]
    assert ids[0] == "bees.txt#Bees on the roofs"
    assert "villages/harbour.html#Schiffe <title>" in ids
    assert len(set(ids)) == len(ids)
    twice = topics_of_text("# A\n\n## x\n\n1\n\n## x\n\n2\n")
    assert [topic.id for topic in twice.topics] == ["a-mill_of.md#x", "a-mill_of.md#x~2"]


def test_headings_of_the_same_name_are_told_apart_by_those_above_them_though_levels_are_skipped() -> None:
    topic_set = topics_of_text(
        "# Guide\n\n## Linux\n\n#### Install\n\na\n\n## Windows\n\n### Install\n\nb\n\n## Other\n\nc\n"
    )
    assert [topic.header for topic in topic_set.topics] == ["Linux: Install", "Windows: Install", "Other"]
    assert "2 headings have no text of their own and no topic: 'Linux', 'Windows'" in topic_set.notes[0]


def test_several_highest_headings_are_sections_as_those_below_them() -> None:
    chapters = topics_of_text("Before.\n\n# A\n\nlead\n\n## x\n\n1\n\n# B\n\n2\n\n# C\n")
    assert short(chapters) == [
        ("a mill of", "Before.", "A", "lead"),
        ("a mill of", "Before.", "x", "1"),
        ("a mill of", "Before.", "B", "2"),
    ]
    assert "'C'" in chapters.notes[0]


def test_a_document_without_further_headings_is_one_topic() -> None:
    assert short(topics_of_text("# Mill\n\nOne.\n\nTwo.\n")) == [("Mill", "", "Mill", "One.\n\nTwo.")]
    bare = topics_of_text("# Mill\n\nOne.\n\n## Owners\n")
    assert short(bare) == [("Mill", "", "Mill", "One.")]
    assert "no heading under 'Mill' has text: the text under it is the section" in bare.notes[0]
    assert short(topics_of_text("One.\n\nTwo.\n")) == [("a mill of", "", "a mill of", "One.\n\nTwo.")]


def test_the_background_is_the_lead_as_far_as_the_bound_allows_and_the_rest_is_told() -> None:
    text = "# Mill\n\nFirst.\n\nSecond.\n\n## A\n\n1\n"
    assert topics_of_text(text).topics[0].background == "First.\n\nSecond."
    short = topics_of_text(text, max_section_bytes=10)
    assert short.topics[0].background == "First."
    assert short.notes == ("a-mill_of.md: 7 characters under 'Mill' are in no background",)


@given(
    st.lists(st.text(alphabet="ab .!?。水é\U0001f40e\n", min_size=1, max_size=300), max_size=8), st.integers(20, 200)
)
def test_no_word_is_lost_and_no_piece_is_above_the_bound(texts: list[str], bound: int) -> None:
    paragraphs = [text.strip() for text in texts if text.strip()]
    if paragraphs:
        cut = pieces(paragraphs, bound)
        assert "".join("".join(cut).split()) == "".join("".join(paragraphs).split())
        assert all(piece.strip() and size(piece) <= bound for piece in cut)


def test_a_paragraph_is_cut_behind_a_sentence_then_at_a_space_then_anywhere() -> None:
    assert pieces(["It burned in 1840. It was built again of stone."], 30) == [
        "It burned in 1840.",
        "It was built again of stone.",
    ]
    assert pieces(["one two three four five six"], 15) == ["one two three", "four five six"]
    assert pieces(["水磨坊。" * 4], 30) == ["水磨坊。水磨坊。", "水磨坊。水磨坊。"]
    assert [len(piece) for piece in pieces(["x" * 100], 60)] == [60, 40]


def test_data_sets_with_the_name_of_a_text_are_still_read_as_such() -> None:
    Path("teacher.txt").write_text("<Topic: 1>\nMill\nIt is old.\nOwners\nA miller.\n", encoding="utf-8")
    assert simquac.read_topics("teacher.txt") == [
        Topic(title="Mill", background="It is old.", header="Owners", section="A miller.")
    ]
    Path("topics.txt").write_text('{"title": "t", "background": "", "header": "h", "section": "s"}\n')
    assert simquac.read_topics("topics.txt")[0].header == "h"
    assert (
        topics_of_text("[note] {text} that is no JSON", name="note.txt").topics[0].section
        == "[note] {text} that is no JSON"
    )
