"""`duologue papers simquac` and `duologue agreement`: what they print, write and refuse."""

import json

import pytest

pytest.importorskip("sklearn")

from duologue.data import Conversation, Message, Span
from duologue.data.simquac import Topic, write

SECTION = "Three keepers lived there. The last one left in 1968. Ships pass."


@pytest.fixture
def quac(tmp_path):
    """A data set of eight conversations about a section each."""
    talks = []
    for number in range(8):
        text = "Three keepers" if number % 2 else "Ships pass."
        span = Span(text=text, start=SECTION.index(text))
        topic = Topic(title=f"Light {number}", header="Keepers", section=SECTION)
        messages = (Message(role="user", text="Who?"), Message(role="assistant", text=text, spans=(span,)))
        talks.append(Conversation(id=f"c{number}", scenario=topic.scenario(), messages=messages))
    path = tmp_path / "quac.json"
    write(talks, path)
    return path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("stats",), lambda value: value["sources"][0]["answered"] == 8),
        (("validators",), lambda value: [row["answers"] for row in value] == [8, 8]),
        (("readers", "--model", "first"), lambda value: [row["reader"] for row in value["rows"]][:2] == ["no answer", "first sentence"]),
        (("readers", "--model", "offline", "--whole"), lambda value: value["rows"][-1]["questions"] == 8),
        (("baseline",), lambda value: set(value["teachers"]) == {"offline", "first sentence", "random sentence"}),
    ],
)  # fmt: skip
def test_each_table_is_printed_as_the_functions_give_it(duologue, quac, words, found):
    name, *options = words
    code, out, err = duologue("papers", "simquac", name, quac, *options, "--json")
    assert code == 0, err
    assert found(json.loads(out))
    assert duologue("papers", "simquac", name, quac, *options)[0] == 0


def test_a_teacher_is_compared_with_people_and_figure_2_is_drawn(duologue, quac):
    pytest.importorskip("matplotlib")
    code, out, err = duologue("papers", "simquac", "teacher", quac, "--people", quac, "--json")
    assert code == 0, err
    assert json.loads(out)["agreement"]["same"]["single"] == 8
    code, _, err = duologue("papers", "simquac", "stats", quac, quac, "--figure", "two.svg")
    assert code == 0, err
    assert "<svg" in (quac.parent / "two.svg").read_text()


def test_damaged_answers_are_repaired_into_a_new_file_with_a_list_of_changes(duologue, quac, tmp_path):
    code, _, err = duologue("papers", "simquac", "repair", quac, "--out", tmp_path / "new.json")
    assert code == 0, err
    assert (tmp_path / "new.json").is_file()
    assert (tmp_path / "new.json.changes.jsonl").is_file()
    assert duologue("papers", "simquac", "repair", quac, "--out", tmp_path / "new.json")[0] == 2


def test_a_reader_that_is_a_model_keeps_its_answers_and_is_not_asked_again(duologue, quac, tmp_path):
    (tmp_path / "mine.py").write_text("def read(messages):\n    return 'Three keepers'\n")
    command = ("papers", "simquac", "readers", quac, "--model", "mine:read", "--journal", tmp_path / "j", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    row = json.loads(out)["rows"][-1]
    assert (row["reader"], row["f1"]) == ("mine:read", 0.5)
    (tmp_path / "mine.py").write_text("raise ValueError\n")
    assert len([*(tmp_path / "j").glob("*/conversations.jsonl")]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stats", "nowhere.json"), "nowhere.json"),
        (("readers", "quac.json", "--model", "gpt"), "is not a model that reads"),
        (("readers", "quac.json", "--unanswerable", "few"), "write a number from 0, or all"),
        (("teacher", "quac.json"), "holds no answers of people"),
        (("stats", "chat.jsonl"), "this needs SimQuAC or QuAC JSON"),
    ],
)
def test_bad_input_is_one_line(duologue, quac, words, message):
    (quac.parent / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')
    code, out, err = duologue("papers", "simquac", *words)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


@pytest.fixture
def labelled(tmp_path):
    """Twenty conversations with people's label and a judge's, and ten with the judge's alone."""
    talks = []
    for number in range(30):
        labels = {"judge": "High" if number % 3 else "Low"}
        labels |= {"human": "High" if number % 2 else "Low"} if number < 20 else {}
        messages = (Message(role="user", text="Hello?"), Message(role="assistant", text="Yes."))
        scenario = {"kind": "call", "user": f"user {number}"}
        talks.append(Conversation(id=str(number), scenario=scenario, messages=messages, labels=labels).plain())
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    return path


def test_agreement_prints_the_report_of_the_function(duologue, labelled):
    command = ("agreement", labelled, "--between", "human,judge")
    code, out, err = duologue(*command, "--scale", "Low,High", "--confusion", "--rectify", "--json")
    report = json.loads(out)
    assert code == 0, err
    assert (report["rows"][0]["n"], len(report["confusion"]), report["rectified"][0]["of"]) == (20, 4, 30)
    assert report["rows"][0]["weighted_kappa"]["value"] == report["rows"][0]["kappa"]["value"]
    code, out, err = duologue(*command)
    assert code == 0, err
    assert "Agreement of labels" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--between: give two labels"),
        (("--between", "human,nothing"), "no conversation has the label 'nothing'"),
        (("--between", "a,b,c"), "give 1 to 2 names"),
        (("--between", "human,judge", "--scale", "Low"), "give 2 to 100 names"),
        (("--between", "human", "--confusion"), "--confusion and --rectify compare two labels"),
        (("--between", "human"), "nothing has both labels, or a vote beside another"),
    ],
)
def test_agreement_refuses_in_one_line(duologue, labelled, options, message):
    code, out, err = duologue("agreement", labelled, *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
