"""People's answers on the disk: saved at each answer, taken back, resumed, several people apart."""

from contextlib import closing

import pytest

from duologue import data
from duologue.data.labels.answers import Item, LabelAnswer, in_order, items_of, model_value
from duologue.data.labels.definition import LabelDefinition
from duologue.data.records import Conversation, Message
from duologue.errors import DataError, SettingError
from duologue.runs.store import BusyError
from duologue.runs.labels.answers import AnswerFiles, answers_of
from duologue.studies.labelling import LabellingSettings, LabelWork

MOOD = LabelDefinition.of(
    "mood", {"unit": "conversation", "votes": True, "parts": {"mood": {"values": ["good", "bad"]}}}, "x", "p"
)
TONE = LabelDefinition.of("tone", {"unit": "user turn", "values": ["warm", "cold"]}, "x", "p")


def talk(number, votes=(), label="mood"):
    labels = (
        {label: {"final": {"mood": votes[0]}, **{str(n): {"mood": vote} for n, vote in enumerate(votes, 1)}}}
        if votes
        else {}
    )
    messages = [
        Message(role="user", text="Hello"),
        Message(role="assistant", text="Hi"),
        Message(role="user", text=" "),
    ]
    return Conversation(id=str(number), scenario={"n": number}, messages=tuple(messages), labels=labels)


def item(number=1):
    return Item(label="mood", conversation=str(number))


def test_each_conversation_is_labelled_once_and_each_message_of_the_labels_side():
    items = items_of([talk(1), talk(2)], [MOOD, TONE])
    assert [item.key for item in items] == [
        ("mood", "1", None),
        ("tone", "1", 0),
        ("mood", "2", None),
        ("tone", "2", 0),
    ]


def test_an_answer_is_about_the_text_that_was_seen():
    (first, *_) = items_of([talk(1)], [TONE])
    answer = first.answered({"tone": "warm"}, "ann")
    assert first.is_of(answer)
    changed = talk(1).model_copy(update={"messages": (Message(role="user", text="Bye"),)})
    assert not items_of([changed], [TONE])[0].is_of(answer)
    assert items_of([changed], [TONE])[0].is_of(answer.model_copy(update={"seen": ""}))


def test_what_is_not_there_is_not_asked_for():
    summary = LabelDefinition.of("x", {"unit": "preference", "text": True}, "x", "p")
    unstored = Message(role="user", text="Bye", stored=False)
    one = Conversation(id="1", scenario={}, messages=(Message(role="user", text="Hi"), unstored))
    assert [item.key for item in items_of([one], [summary, TONE])] == [("tone", "1", 0)]


def test_what_the_votes_dispute_comes_first():
    talks = {str(n): talk(n, votes) for n, votes in enumerate([("good",) * 3, ("good", "bad", "good"), ("bad",) * 3])}
    order = in_order(items_of(talks.values(), [MOOD]), {"mood": MOOD}, talks)
    assert order[0].conversation == "1"
    assert {item.conversation for item in order[1:]} == {"0", "2"}


def test_votes_that_are_stored_by_themselves_are_disputed_too():
    alone = LabelDefinition.of("alone", {"unit": "conversation", "values": ["good", "bad"]}, "x", "p")
    talks = {str(n): talk(n) for n in range(9)}
    talks["4"] = talks["4"].model_copy(update={"labels": {"alone": {"final": None, "1": "good", "2": "bad"}}})
    assert in_order(items_of(talks.values(), [alone]), {"alone": alone}, talks)[0].conversation == "4"


def test_what_other_people_dispute_comes_first():
    talks = {str(n): talk(n) for n in range(9)}
    answers = [item(4).answered({"mood": value}, by) for by, value in (("a", "good"), ("b", "bad"))]
    answers += [item(5).answered({"mood": "good"}, by) for by in "ab"]
    assert in_order(items_of(talks.values(), [MOOD]), {"mood": MOOD}, talks, answers)[0].conversation == "4"


def test_an_answer_is_on_the_disk_at_once_and_there_when_the_person_comes_back(tmp_path):
    answers = AnswerFiles(tmp_path, "ann")
    answers.put(item().answered({"mood": "good"}, "ann"))
    assert answers_of(tmp_path)["ann"][0].value == {"mood": "good"}  # while it is open
    answers.close()
    with AnswerFiles(tmp_path, "ann") as again:
        assert again.standing[item().key].value == {"mood": "good"}


def test_the_last_answer_is_taken_back_and_then_the_one_before(tmp_path):
    with AnswerFiles(tmp_path, "ann") as answers:
        for number in (1, 2):
            answers.put(item(number).answered({"mood": "good"}, "ann"))
        assert answers.undo() == item(2)
        assert answers.undo() == item(1)
        assert answers.undo() is None
        answers.put(item(2).answered({"mood": "bad"}, "ann"))
        last = answers.last()
        assert last is not None
        assert last.value == {"mood": "bad"}
        assert answers.last(set()) is None
    assert [answer.value for answer in answers_of(tmp_path)["ann"]] == [{"mood": "bad"}]


def test_a_line_that_was_cut_off_is_lost_and_no_other(tmp_path):
    with AnswerFiles(tmp_path, "ann") as answers:
        answers.put(item(1).answered({"mood": "good"}, "ann"))
    with (tmp_path / "ann.jsonl").open("a") as file:
        file.write('{"label": "mood", "conv')
    assert len(answers_of(tmp_path)["ann"]) == 1
    with AnswerFiles(tmp_path, "ann") as answers:
        answers.put(item(2).answered({"mood": "bad"}, "ann"))
    assert [answer.conversation for answer in answers_of(tmp_path)["ann"]] == ["1", "2"]


def test_a_person_has_one_window_and_two_people_do_not_wait_for_each_other(tmp_path):
    with AnswerFiles(tmp_path, "ann") as ann, AnswerFiles(tmp_path, "ben") as ben:
        ann.put(item().answered({"mood": "good"}, "ann"))
        ben.put(item().answered({"mood": "bad"}, "ben"))
        assert [answer.by for answer in ann.others()] == ["ben"]
        with pytest.raises(BusyError, match="ann"):
            AnswerFiles(tmp_path, "ann")


def test_a_name_that_is_no_file_name_and_a_line_that_is_no_answer_are_one_line(tmp_path):
    with pytest.raises(SettingError, match=r"--as '\.\./x': a name has"):
        AnswerFiles(tmp_path, "../x")
    (tmp_path / "ann.jsonl").write_text('{"label": 1}\n')
    with pytest.raises(DataError, match="line 1: is not an answer"):
        answers_of(tmp_path)


def test_the_models_label_is_found_beside_the_item():
    one = talk(1, ("good", "good", "bad"))
    assert model_value(MOOD, one, item()) == {"mood": "good"}
    assert model_value(MOOD, talk(1), item()) is None


def test_an_answer_says_who_gave_it_and_whether_the_model_was_seen():
    answer = item().answered({"mood": "good"}, "ann", model_shown=True)
    assert LabelAnswer.model_validate(answer.plain()) == answer
    assert (answer.by, answer.model_shown) == ("ann", True)


def work(tmp_path, talks, **settings):
    """The work of a person on these conversations."""
    data.record_lines.write(talks, tmp_path / "talks.jsonl")
    pages = tmp_path / "pages"
    pages.mkdir(exist_ok=True)
    (pages / "mood.md").write_text(
        "---\nunit: conversation\nvotes: true\nparts:\n  mood: {values: [good, bad]}\n---\nThe mood.\n"
    )
    whole = {"source": tmp_path / "talks.jsonl", "labels": ("mood",), "labels_dir": pages, "by": "ann"}
    return LabelWork(LabellingSettings.model_validate({**whole, "answers": tmp_path / "answers", **settings}))


DISPUTED = [talk(n, ("good", "bad") if n > 7 else ("good", "good")) for n in range(10)]


def test_a_random_share_comes_first_by_the_seed_and_each_answer_says_how_its_thing_was_chosen(tmp_path):
    def first(**settings):
        of_person = work(tmp_path, DISPUTED, **settings)
        with closing(of_person.answers):
            return [item.conversation for item in of_person.waiting[:5]]

    assert {*first()[:2]} == {"8", "9"}
    assert first(order="random") == first(order="random")
    assert first(order="random") != first(order="random", seed=1)
    assert {*first(order="random")[:2]} != {"8", "9"}
    for order, talks, chosen in (
        ("disputed", DISPUTED, "disputed"), ("random", DISPUTED, "random"), ("disputed", DISPUTED[:8], "random"),
    ):  # fmt: skip
        of_person = work(tmp_path, talks, order=order, answers=tmp_path / f"{order}{len(talks)}")
        with closing(of_person.answers):
            of_person.answer(of_person.waiting[0], {"mood": "good"})
        assert answers_of(of_person.answers.folder)["ann"][0].chosen_by == chosen
