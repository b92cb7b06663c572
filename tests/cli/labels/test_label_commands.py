"""`duologue annotate` and `duologue label`: what they print, write and refuse."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue import data
from duologue.data.labels.answers import Item
from duologue.runs.people_labels import AnswerFiles
from tests.labels_by_function import FIRST

Command = Callable[..., tuple[int, str, str]]
MODEL = "from duologue.testing import scripted_model\n\nMODEL = scripted_model({})\n"


@pytest.fixture
def run(duologue: Command, tmp_path: Path) -> Path:
    """A run of three conversations."""
    assert duologue("simulate", "recllmsim", "--limit", 3, "--max-turns", 2, "--out", "run")[0] == 0
    return tmp_path / "run"


def test_a_run_is_labelled_shown_compared_and_written_with_its_labels(duologue: Command, run: Path) -> None:
    models = ("--model", FIRST) * 3
    code, out, err = duologue("annotate", run, "--labels", "style,intent", *models, "--out", "out")
    assert code == 0, err
    assert "style: 3 labelled" in out
    assert "not calibrated" in out
    assert list(data.load("out")[0].labels["style"]) == ["final", "1", "2", "3"]
    assert duologue("show", "out", "--out", "page.html")[0] == 0
    code, out, err = duologue("agreement", "out", "--between", "style", "--json")
    assert code == 0, err
    assert {row["n"] for row in json.loads(out)["rows"]} == {3}
    code, _, err = duologue("convert", "out", "published", "--to", "recllmsim")
    assert code == 0, err
    assert "models or functions gave" in err
    assert sum("strategy_V3" in path.read_text() for path in Path("published").rglob("*.json")) == 3


def test_json_is_the_summary_and_the_same_command_goes_on(duologue: Command, run: Path) -> None:
    command = ("annotate", run, "--labels", "style", "--model", FIRST, "--out", "out", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    document = json.loads(out)
    assert (document["planned"], document["failed"], document["labels"]["style"]["votes"]) == (3, 0, 3)
    assert duologue(*command)[:2] == (0, out)


def test_a_plan_says_how_much_it_is_and_neither_calls_nor_writes(duologue: Command, run: Path, tmp_path: Path) -> None:
    words = ("annotate", run, "--labels", "style,satisfaction", "--model", "openai:m", "--out", "out")
    code, out, err = duologue(*words, "--plan", "--json")
    assert code == 0, err
    replies = sum(message.role == "assistant" for one in data.load(run) for message in one.messages)
    assert json.loads(out)["calls"] == {"usual": 3 * (3 + replies), "most": 9 * (3 + replies)}
    assert not (tmp_path / "out").exists()


def test_a_model_that_fails_and_replies_that_cannot_be_read_end_with_1(
    duologue: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "dead.py").write_text(MODEL.format("OSError('the line is dead'), by_call=True"))
    (tmp_path / "mute.py").write_text(MODEL.format("'I would rather not.', by_call=True"))
    for name, line in (("dead", "3 of 3 are missing: "), ("mute", "3 have no value: each reply was refused")):
        code, _, err = duologue("annotate", run, "--labels", "style", "--model", f"{name}:MODEL", "--out", name)
        assert code == 1
        assert line in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--labels", "style", "--model", FIRST), "--out is missing"),
        (("--labels", "style", "--out", "out"), "no annotator: give a model"),
        (("--labels", "nope", "--model", FIRST, "--out", "out"), "there is no label 'nope'"),
        (("--labels", "style", "--model", "offline", "--out", "out"), "the offline model cannot label"),
        (("--labels", "style,justification", "--model", FIRST, "--out", "out"), "ask for them apart"),
    ],
)
def test_what_cannot_be_labelled_is_one_line(
    duologue: Command, run: Path, words: tuple[str, ...], message: str
) -> None:
    code, out, err = duologue("annotate", run, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not Path("out").exists()


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[str, ...]:
    """Conversations with answers of two people."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tone.md").write_text("---\nunit: user turn\nvalues: [warm, cold]\n---\nHow it sounds.\n")
    messages = (data.Message(role="user", text="<b>hi</b>"), data.Message(role="assistant", text="hello"))
    talks = [data.Conversation(id=f"{n}abc", scenario={"kind": "x"}, messages=messages) for n in range(2)]
    data.record_lines.write(talks, tmp_path / "talks.jsonl")
    for person in ("ann", "ben"):
        with AnswerFiles("answers", person) as answers:
            for number in range(2):
                item = Item(label="tone", conversation=f"{number}abc", message=0)
                answers.put(item.answered({"tone": "cold"}, person))
    return "label", "talks.jsonl", "--labels", "tone", "--labels-dir", "pages"


def test_answers_go_out_come_in_and_become_labels(duologue: Command, labelled: tuple[str, ...]) -> None:
    code, out, _ = duologue(*labelled, "--write", "all.jsonl", "--json")
    assert (code, json.loads(out)) == (0, {"answers": 4, "written": "all.jsonl"})
    code, out, _ = duologue(*labelled, "--read", "all.jsonl", "--answers", "again", "--json")
    assert (code, json.loads(out)) == (0, {"answers": 4, "new": 4, "read": "all.jsonl"})
    code, out, _ = duologue(*labelled, "--out", "people")
    assert (code, out) == (0, "labelled: 2; labels: people\n")
    assert data.load("people")[0].messages[0].labels["tone_human"]["final"] == "cold"
    for place in (("--out", "people"), ("--write", "all.jsonl")):
        code, _, err = duologue(*labelled, *place)
        assert (code, "--force" in err) == (2, True)
        assert duologue(*labelled, *place, "--force")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--study", "none.yaml", "--as", "ann"), "none.yaml"),
        (("talks.jsonl", "--study", "x.yaml", "--as", "ann"), "leave SRC and --labels out"),
        (("--labels", "tone", "--as", "ann"), "SRC is missing"),
        (("talks.jsonl", "--labels", "style"), "--as: name who labels"),
        (("talks.jsonl", "--labels", "style", "--write", "a", "--read", "b"), "exclude each other"),
    ],
)
def test_what_the_page_cannot_show_is_one_line(
    monkeypatch: pytest.MonkeyPatch, duologue: Command, labelled: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("duologue.cli.labels.label.of_extra", lambda *extra: None)  # the page itself is not reached
    code, _, err = duologue("label", *words)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
