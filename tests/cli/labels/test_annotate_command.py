"""`duologue annotate`: what it prints, writes and refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue import data
from tests.labels_by_function import FIRST

Command = Callable[..., tuple[int, str, str]]
MOOD = "---\nunit: conversation\nvotes: true\nparts:\n  mood: {values: [good, bad]}\n---\ngood: x. bad: y.\n"
FUNCTIONS = "def good(talk, label):\n    return 'good'\n\n\ndef bad(talk, label):\n    return 'bad'\n"

MODEL = "from duologue.testing import scripted_model\n\nMODEL = scripted_model({})\n"
GOOD = '{"mood": "good"}'
FAILING = MODEL.format(f"*[{GOOD!r}] * 5, OSError('the line is dead'), by_call=True")


@pytest.fixture
def run(duologue: Command, tmp_path: Path) -> Path:
    """A run of three conversations."""
    assert duologue("simulate", "recllmsim", "--limit", 3, "--max-turns", 2, "--out", "run")[0] == 0
    return tmp_path / "run"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a label of one's own, and functions that know its values."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "mood.md").write_text(MOOD)
    (tmp_path / "moods.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "pages"


def test_a_run_is_labelled_in_a_copy(duologue: Command, run: Path, tmp_path: Path) -> None:
    models = ("--model", FIRST) * 3
    code, out, err = duologue("annotate", run, "--labels", "style,intent", *models, "--out", "out")
    assert code == 0, err
    assert "style: 3 labelled" in out
    assert "not calibrated" in out
    labels = data.load(tmp_path / "out").conversations[0].labels
    assert list(labels["style"]) == ["final", "1", "2", "3"]
    assert "dataset/ is not in the copy" in err


def test_json_is_the_summary_and_a_second_call_needs_resume(duologue: Command, run: Path) -> None:
    command = ("annotate", run, "--labels", "style", "--model", FIRST, "--out", "out", "--json")
    code, out, err = duologue(*command)
    assert code == 0, err
    document = json.loads(out)
    assert (document["planned"], document["missing"], document["labels"]["style"]["votes"]) == (3, 0, 3)
    code, _, err = duologue(*command)
    assert (code, "go on with" in err) == (2, True)
    assert duologue(*command)[0] == 0


def test_a_label_of_ones_own_is_a_page_in_a_folder_and_functions_have_one_vote_each(
    duologue: Command, run: Path, pages: Path, tmp_path: Path
) -> None:
    models = ("--model", "moods:good", "--model", "moods:bad")
    code, out, err = duologue("annotate", run, "--labels", "mood", "--labels-dir", pages, *models, "--out", "out")
    assert code == 0, err
    assert "mood: 0 labelled, 3 with a tie, 0 of 6 votes without a value" in out
    assert data.load(tmp_path / "out").conversations[0].labels["mood"] == {
        "final": {"mood": None}, "1": {"mood": "good"}, "2": {"mood": "bad"}
    }  # fmt: skip


def test_a_plan_says_how_much_it_is_and_neither_calls_nor_writes(duologue: Command, run: Path, tmp_path: Path) -> None:
    code, out, err = duologue(
        "annotate", run, "--labels", "style,satisfaction", "--model", "openai:m", "--plan", "--json"
    )
    assert code == 0, err
    document = json.loads(out)
    assert document["labels"]["style"]["calls"] == 9
    units = document["labels"]["satisfaction"]["units"]
    assert document["labels"]["satisfaction"]["calls"] == 3 * units  # a call for each reply
    assert document["calls"]["most"] == 3 * document["calls"]["usual"]
    assert document["tokens"]["input"] > 1000
    assert not (tmp_path / "out").exists()


def test_a_plan_with_resume_leaves_out_the_votes_and_replies_that_the_copy_has(
    duologue: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "mood.md").write_text(MOOD)
    command = ("annotate", run, "--labels", "mood", "--labels-dir", "pages", "--model", "failing:MODEL", "--out", "out")

    def calls(*more: str) -> tuple[int, int]:
        code, out, err = duologue(*command, "--plan", "--json", *more)
        assert code == 0, err
        document = json.loads(out)
        return document["labellings"], document["calls"]["usual"]

    assert calls() == (3, 9)
    assert duologue(*command, "--concurrency", 1)[0] == 1
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert calls("--resume") == (2, 4)  # one conversation has its votes, and of another two votes have their reply
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    code, _, err = duologue(*command, "--plan")
    assert (code, "go on with" in err) == (2, True)


def test_replies_that_cannot_be_read_are_told_with_an_example_and_end_with_1(
    duologue: Command, run: Path, pages: Path, tmp_path: Path
) -> None:
    (tmp_path / "mute.py").write_text(MODEL.format("'Hm.'"))
    (pages / "mood.md").write_text("---\nunit: conversation\nvalues: [good, bad]\n---\ngood: x. bad: y.\n")
    command = ("annotate", run, "--labels", "mood", "--labels-dir", pages, "--model", "mute:MODEL", "--out", "out")
    code, out, err = duologue(*command)
    line = " ".join(err.split())
    assert code == 1
    assert "mood: 0 labelled, 0 with a tie, 9 of 9 votes without a value" in out
    assert "3 of mood have no value" in line
    assert "such as 'Hm.'; --redo mood asks anew" in line
    assert "a definition with 'votes: true' stores them" in line
    code, out, err = duologue(*command[:-1], "none", "--plan", "--redo", "mood,")
    assert (code, "9 calls" in out) == (0, True)


def test_a_bound_ends_it_before_the_call_that_would_pass_it_and_is_told_with_the_sum_of_all_calls(
    duologue: Command, run: Path, pages: Path, tmp_path: Path
) -> None:
    (tmp_path / "priced.py").write_text(MODEL.format(f"{GOOD!r}, tokens=(900, 100)"))
    command = ("annotate", run, "--labels", "mood", "--labels-dir", pages, "--model", "priced:MODEL", "--out", "out")
    code, out, err = duologue(*command, "--max-tokens", 3500, "--concurrency", 1)
    assert code == 1
    assert "3 calls, 3000 tokens;" in out
    reached = "--max-tokens 3,500 is reached, with 3,000 tokens: the next call, of about 996 tokens, would pass it"
    assert f"2 of 3 are missing: {reached}" in " ".join(err.split())
    code, out, err = duologue(*command, "--max-tokens", 9000)
    assert code == 0
    assert "9 calls, 9000 tokens in all, those of earlier commands too;" in out
    assert "--max-tokens 9,000 is reached, with 9,000 tokens" in " ".join(err.split())


def test_a_plan_of_a_function_tells_no_calls_and_no_tokens(duologue: Command, run: Path) -> None:
    code, out, _ = duologue("annotate", run, "--labels", "style", "--model", "builtins:len", "--plan")
    assert (code, out) == (0, "3 labellings planned, 1 vote each: no calls of a model\n")
    _, out, _ = duologue("annotate", run, "--labels", "style", "--model", "openai:m", "--plan")
    assert "up to 9 calls, and up to 27 if every reply has to be asked again" in " ".join(out.split())


def test_without_a_key_a_function_is_named_in_place_of_the_offline_model(
    duologue: Command, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    err = duologue("annotate", run, "--labels", "style", "--out", "out", "--model", "openai:m")[2]
    assert "or give a function, --model MODULE:NAME" in " ".join(err.split())
    assert "offline" not in err


def test_a_plan_of_nothing_says_why(duologue: Command, run: Path) -> None:
    duologue("annotate", run, "--labels", "style", "--model", FIRST, "--out", "out")
    code, _, err = duologue("annotate", "out", "--labels", "style", "--model", FIRST, "--plan")
    assert (code, "nothing to ask" in err) == (0, True)


def test_the_copy_of_a_run_says_the_command_that_writes_its_data_set(duologue: Command, run: Path) -> None:
    _, _, err = duologue("annotate", run, "--labels", "style", "--model", FIRST, "--out", "out")
    assert "duologue convert out NEW --to recllmsim" in " ".join(err.split())
    assert duologue("convert", "out", "NEW", "--to", "recllmsim")[0] == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--labels", "mood"), "there is no label 'mood'; there are advice"),
        (("--labels", " , "), "--labels: name one or more"),
        (("--labels", "style"), "no annotator: give a model, such as openai:NAME, or a function"),
        (("--labels", "style", "--model", "offline"), "the offline model cannot label: give openai:NAME, or"),
        (
            ("--labels", "hallucination,hallucination_people", "--model", FIRST),
            "stored under the same key, 'hallucination'",
        ),
        (("--labels", "style", "--model", FIRST, "--model", FIRST, "--votes", "3"), "one vote each"),
        (("--labels", "style", "--model", FIRST, "--redo", "intent"), "not one of the requested labels"),
        (("--labels", "style", "--labels-dir", "nowhere"), "is not a folder with a label definition"),
        (("--labels", "style", "--model", "nothing"), "nothing"),
        (("--labels", "style", "--model", FIRST), "there is nothing to resume: name the folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(
    duologue: Command, run: Path, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    code, _, err = duologue("annotate", run, "--out", "out", *more)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "out").exists()


def test_the_source_is_never_written(duologue: Command, run: Path) -> None:
    for out in (run, run / "copy", run.parent):
        code, _, err = duologue("annotate", run, "--labels", "style", "--out", out)
        assert (code, "choose another folder" in err) == (2, True)
    code, _, err = duologue("annotate", run, "--labels", "style")
    assert (code, "--out is missing" in err) == (2, True)


def test_what_has_its_labels_is_left_alone_and_the_command_says_so(duologue: Command, run: Path) -> None:
    named = ("--labels", "style", "--model", FIRST)
    duologue("annotate", run, *named, "--out", "out")
    code, _, err = duologue("annotate", "out", *named, "--out", "again")
    assert (code, "nothing to ask" in err) == (0, True)
    code, _, err = duologue("annotate", "out", *named, "--redo", "style", "--out", "anew")
    assert (code, "nothing to ask" in err) == (0, False)


def test_a_function_that_raises_is_an_annotator_that_failed(duologue: Command, run: Path) -> None:
    code, _, err = duologue("annotate", run, "--labels", "style", "--model", "builtins:len", "--out", "out")
    assert code == 1
    assert "3 of 3 are missing: TypeError" in " ".join(err.split())
    assert "--resume" in err
