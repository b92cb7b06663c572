"""The repair, measured on answers whose sound form is known."""

from duologue import data
from duologue.analysis import measure_repair
from duologue.data import Conversation, Message, Span
from duologue.data.simquac import Topic
from duologue.data.simquac.damaged_answers import repair

SECTION = "Aniston was cast as Rachel Green. The program was a success. She left NBC in 2004."


def conversation(*spans):
    topic = Topic(title="t", header="h", section=SECTION)
    messages = [Message(role="assistant", text=span.text, spans=(span,)) for span in spans]
    return Conversation(id="a", scenario=topic.scenario(), messages=tuple(messages))


def span(text, start=None):
    return Span(text=text, start=SECTION.casefold().index(text.casefold()) if start is None else start)


def mended(*spans):
    ((repaired,), changes) = repair([conversation(*spans)])
    assert all(SECTION[s.start : s.end] == s.text for m in repaired.messages for s in m.spans)
    return [m.spans[0].text for m in repaired.messages], [change.kind for change in changes]


def test_the_first_word_of_a_sentence_comes_back():
    assert mended(span("program was a success")) == (["The program was a success"], ["first_word"])


def test_an_answer_within_a_sentence_is_left():
    assert mended(span("left NBC in 2004", SECTION.index("NBC") + 0), span("Rachel Green"))[1] == [
        "offset",
        "first_word",
    ]
    assert mended(span("Rachel Green")) == (["Rachel Green"], [])


def test_the_sections_case_and_place_come_back():
    assert mended(span("THE PROGRAM")) == (["The program"], ["case"])
    assert mended(span("Rachel Green", 3)) == (["Rachel Green"], ["offset"])


def test_a_misplaced_answer_that_stands_in_several_places_is_left():
    section = "He won in 1903. Then she won in 1911."
    topic = Topic(title="t", header="h", section=section)
    wrong = Span(text="won in", start=0)
    reply = Message(role="assistant", text=wrong.text, spans=(wrong,))
    one = Conversation(id="a", scenario=topic.scenario(), messages=(reply,))
    assert repair([one]) == ([one], [])


def test_damaging_and_repairing_gives_the_answers_back_where_they_begin_a_sentence():
    quality = measure_repair([conversation(span("The program was a success."), span("cast as Rachel Green"))])
    assert (quality.spans, quality.damaged, quality.restored, quality.left, quality.changed_otherwise) == (
        2,
        2,
        1,
        1,
        0,
    )
    assert quality.spoiled == 0


def test_on_the_open_teacher_topics_most_come_back_and_none_is_spoiled(open_data):
    quality = measure_repair(data.load(open_data / "simquac/teacher_sim_topics.txt"))
    assert (quality.damaged, quality.restored, quality.changed_otherwise, quality.spoiled) == (86, 78, 0, 0)
