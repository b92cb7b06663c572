"""The same answers through two validators."""

from duologue import data
from duologue.analysis.simquac import compare_validators
from duologue.data import Conversation, Message
from duologue.data.simquac import Topic
from tests.analysis.printed import measures

SECTION = "Aniston was cast as Rachel Green. The Program was a success (in 1995) for years. She left NBC."


def by_validator(*answers):
    topic = Topic(title="t", background="She was born in 1969.", header="h", section=SECTION)
    messages = [m for a in answers for m in (Message(role="user", text="?"), Message(role="assistant", text=a))]
    conversation = Conversation(id="a", scenario=topic.scenario(), messages=tuple(messages))
    return measures(compare_validators([conversation]).tables()[0])


def test_an_exact_copy_loses_its_first_word_under_the_published_rules_and_none_under_ours():
    rows = by_validator("Aniston was cast as Rachel Green.")
    assert (rows["as_released"].accepted, rows["as_released"].altered, rows["as_released"].words_lost) == (1, 1, 1)
    assert (rows["ours"].accepted, rows["ours"].altered, rows["ours"].words_lost) == (1, 0, 0)


def test_one_word_never_passes_the_published_rules():
    rows = by_validator("NBC")
    assert (rows["as_released"].rejected, rows["ours"].rejected) == (1, 0)


def test_of_several_lines_the_published_rules_keep_a_tail():
    rows = by_validator("Aniston was cast as Rachel Green.\nShe left NBC.")
    assert rows["as_released"].words_lost >= 2
    assert rows["ours"].words_lost == 0


def test_refusals_are_counted_as_accepted():
    rows = by_validator("I cannot find the answer.", "", "the answer")
    assert [(row.refused, row.accepted) for row in rows.values()] == [(3, 3), (2, 2)]
    assert rows["ours"].rejected == 1


def test_the_models_case_is_stored_by_the_published_rules():
    rows = by_validator("the program was a success")
    assert (rows["as_released"].wrong_case, rows["ours"].wrong_case) == (1, 0)


def test_the_open_teacher_topics_are_all_accepted_and_all_altered_by_the_published_rules(open_data):
    table = compare_validators(data.load(open_data / "simquac/teacher_sim_topics.txt")).tables()[0]
    released, ours = measures(table).values()
    assert (released.answers, released.refused, released.accepted, released.rejected) == (100, 28, 100, 0)
    assert released.altered == 72
    assert (ours.accepted, ours.rejected, ours.altered, ours.words_lost, ours.spans_lost) == (100, 0, 0, 0, 0)


def test_the_open_data_sets_give_the_numbers_of_the_documentation(open_data):
    counts = {}
    for name in ("quac_subset", "sim_quac"):
        table = compare_validators(data.load(open_data / f"simquac/{name}.json")).tables()[0]
        released = measures(table)["as_released"]
        counts[name] = (released.accepted, released.rejected, released.altered, released.words_lost)
    assert counts == {"quac_subset": (538, 14, 428, 428), "sim_quac": (861, 63, 501, 1686)}
