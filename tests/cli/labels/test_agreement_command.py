"""`duologue agreement`: what it prints, and what it says of bad input."""

import json

import pytest

from duologue.data.labels.answers import Item
from duologue.data.records import Conversation, Message
from duologue.runs.labels.answers import AnswerFiles

pytest.importorskip("scipy", reason="agreement needs the extra stats")


def lines(path, labels):
    """A data set with these labels, each conversation of its own user."""
    messages = (Message(role="user", text="Hello?"), Message(role="assistant", text="Yes."))
    records = [
        Conversation(
            id=str(n), scenario={"kind": "call", "user": f"user {n}"}, messages=messages, labels=of_one
        ).plain()
        for n, of_one in enumerate(labels)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def votes(*values, final):
    return {"final": {"order": final}} | {str(number): {"order": vote} for number, vote in enumerate(values, start=1)}


@pytest.fixture
def source(tmp_path):
    of = [
        {"human": {"final": {"order": "Low" if n % 3 else "High"}}, "judge": votes("Low", "Low", "High", final="Low")}
        if n % 2
        else {"human": {"final": {"order": "High"}}, "judge": votes("High", "High", "High", final="High")}
        for n in range(20)
    ]
    return lines(
        tmp_path / "talks.jsonl", [*of, *({"judge": votes("Low", "Low", "Low", final="Low")} for _ in range(10))]
    )


def test_flat_rows_are_alone_on_stdout(duologue, source):
    code, out, _ = duologue("agreement", source, "--between", "human,judge", "--json")
    (row,) = json.loads(out)
    assert code == 0
    columns = "side label n accuracy kappa kappa_low kappa_high weighted_kappa base_rate unanimity note".split()
    assert {*columns} <= {*row}
    assert (row["n"], row["accuracy"], row["unanimity"]) == (20, 0.85, 20 / 30)
    assert row["weighted_kappa"] is None


def test_an_order_and_a_page(duologue, source):
    code, out, _ = duologue("agreement", source, "--between", "human,judge", "--scale", "Low,High")
    assert code == 0
    assert "human and judge" in out
    assert "Base rate: the accuracy of always saying the commonest value of the first label." in " ".join(out.split())
    _, out, _ = duologue("agreement", source, "--between", "human,judge", "--scale", "Low,High", "--json")
    assert json.loads(out)[0]["weighted_kappa"] == json.loads(out)[0]["kappa"]


def test_words_of_which_no_page_tells_the_order_are_told(duologue, tmp_path):
    words = ["low", "middle", "high"]
    path = lines(tmp_path / "t.jsonl", [{"human": words[n % 3], "mood": words[n * n % 3]} for n in range(9)])
    command = ("agreement", path, "--between", "human,mood")
    line = "mood: no label definition at hand orders the values, so there is no weighted kappa"
    assert line in " ".join(duologue(*command)[1].split())
    assert line not in " ".join(duologue(*command, "--scale", "low,middle,high")[1].split())
    (tmp_path / "mood.md").write_text("---\nunit: conversation\nvalues: [low, middle, high]\n---\nlow: x.\n")
    assert line not in " ".join(duologue(*command, "--labels-dir", tmp_path)[1].split())


def test_more_tables_stand_beside_each_other_in_json(duologue, source):
    more = ["--confusion", "--calibrate"]
    code, out, _ = duologue(
        "agreement", source, "--between", "human.order,judge.order", "--between", "judge", *more, "--json"
    )
    document = json.loads(out)
    assert code == 0
    assert [*document] == ["agreement", "confusion", "worth"]
    assert [row["against"] for row in document["agreement"]] == ["judge.order", "votes"]
    assert sum(row["n"] for row in document["confusion"]) == 20
    assert {row["value"]: row["of"] for row in document["worth"]} == {"High": 30, "Low": 30}
    _, out, _ = duologue("agreement", source, "--between", "human,judge", *more)
    assert "judge, calibrated by human" in out


@pytest.mark.heavy
def test_at_80_columns_no_number_and_no_name_is_broken(duologue, open_data, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"strategy_human_V{n},strategy_V{n}" for n in (1, 2, 3, 4)] + ["strategy_V1", "strategy_V2"]
    options = [part for name in names for part in ("--between", name)]
    more = ["--confusion", "--calibrate"]
    _, out, _ = duologue("agreement", open_data / "recllmsim_human_vs_agent", *options, *more)
    assert max(map(len, out.splitlines())) <= 80
    words = set(out.split())
    for word in ("simulated", "people", "operability", "broadness", "dependency", "accuracy", "unanimity", "calibrated",
                 "0.27…0.91", "0.65…1.00", "StepByStep", "BreadthDepth", "NoExplanation"):  # fmt: skip
        assert word in words, word


def test_of_two_sources_titles_say_which_is_which(duologue, tmp_path):
    first = lines(tmp_path / "a.jsonl", [{"mood": "1"}, {"mood": "2"}, {"mood": "2"}])
    (tmp_path / "new").mkdir()
    second = lines(tmp_path / "new" / "a.jsonl", [{"mood": 1}, {"mood": 2}])
    _, out, _ = duologue("agreement", first, second, "--between", "mood,mood")
    assert "and mood of new/a.jsonl" in " ".join(out.split())


def test_tables_are_written_and_nothing_is_replaced_unasked(duologue, source, tmp_path):
    out = tmp_path / "rows.csv"
    assert duologue("agreement", source, "--between", "human,judge", "--format", "csv", "--out", out)[0] == 0
    assert out.read_text().startswith("side,label,against,part,n,users,accuracy,")
    code, _, err = duologue("agreement", source, "--between", "human,judge", "--format", "csv", "--out", out)
    assert code == 2
    assert "--force" in err


def test_a_place_that_is_taken_is_told_before_anything_is_read(duologue, tmp_path):
    (tmp_path / "there.csv").write_text("mine")
    for more, message in (
        (("--format", "csv", "--out", "there.csv"), "exists: give --force"),
        (("--out", "x"), "--out needs --format"),
    ):
        code, _, err = duologue("agreement", tmp_path / "no such data", "--between", "a,b", *more)
        assert code == 2
        assert message in err


def test_what_a_file_says_is_text_on_the_terminal(duologue, tmp_path):
    evil = "\x1b[31m[red]x"
    path = lines(tmp_path / "t.jsonl", [{"human": {evil: word}, "judge": {evil: word}} for word in ("a", evil, "a")])
    for more in ((), ("--confusion", "--calibrate"), ("--format", "md"), ("--json",)):
        code, out, err = duologue("agreement", path, "--between", "human,judge", *more)
        assert code == 0
        assert "\x1b" not in out + err


def test_labels_that_are_all_ties_are_one_line(duologue, tmp_path):
    tie = {"final": None, "1": "Low", "2": "High"}
    path = lines(tmp_path / "tied.jsonl", [{"human": "Low", "judge": tie} for _ in range(6)])
    for between in ("human,judge", "judge,human", "judge,judge"):
        code, out, err = duologue("agreement", path, "--between", between, "--calibrate")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "one or both are a tie in all 6 cases, so no value is left to compare: compare the votes of one" in err


@pytest.mark.parametrize(("chosen_by", "share", "warned"), [("disputed", 4, 1), ("random", 4, 0), ("disputed", 10, 0)])
def test_kappa_of_what_was_disputed_is_said_not_to_be_kappa_of_all(duologue, tmp_path, chosen_by, share, warned):
    lines(tmp_path / "talks.jsonl", [{"tone": "warm" if n % 2 else "cold"} for n in range(10)])
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tone.md").write_text("---\nunit: conversation\nvalues: [warm, cold]\n---\nThe tone.\n")
    named = ("--labels", "tone", "--labels-dir", "pages")
    with AnswerFiles("answers", "ann") as answers:
        for n in range(share):
            value = {"tone": "warm" if n % 3 else "cold"}
            answers.put(Item(label="tone", conversation=str(n)).answered(value, "ann", chosen_by=chosen_by))
    for name in ("all.jsonl",):
        duologue("label", "talks.jsonl", *named, "--write", name)
        duologue("label", *named, "talks.jsonl", "--answers", f"from {name}", "--read", name)
        code, _, err = duologue("label", "talks.jsonl", *named, "--answers", f"from {name}", "--out", f"copy {name}")
        assert code == 0, err
        code, out, err = duologue("agreement", f"copy {name}", "--between", "tone_human,tone")
        assert code == 0, err
        text = " ".join(out.split())
        line = "tone_human: people labelled 4 of 10 things, 4 of them chosen because votes disagree on them: kappa of these"
        assert text.count(line) == warned
        assert text.count("is not kappa of all") == warned


def test_two_sources_meet_by_id(duologue, tmp_path):
    first = lines(tmp_path / "a.jsonl", [{"human": "1"}, {"human": "2"}, {"human": "2"}])
    second = lines(tmp_path / "b.jsonl", [{"judge": 1}, {"judge": 2}])
    _, out, _ = duologue("agreement", first, second, "--between", "human,judge", "--json")
    assert (json.loads(out)[0]["n"], json.loads(out)[0]["accuracy"]) == (2, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--between: give two labels"),
        (["--between", "a,b,c"], "--between a,b,c: compares two labels"),
        (["--between", "human,,"], "a name is missing beside a comma"),
        (["--between", "nobody,judge"], "no conversation has the label 'nobody'; there is human, judge"),
        (["--between", "human,judge", "--scale", "Low"], "--scale 'Low': is not a list of words"),
        (["--between", "judge", "--calibrate"], "compare two labels: give --between A,B"),
        (["--between", "human"], "human: one value each and no votes, nothing to compare: name a second label"),
        (["--between", "human,judge", "--scale", "Lo,High"], "ordered Lo,High: is not an order of any label"),
    ],
)
def test_bad_input_is_one_line(duologue, source, options, message):
    code, out, err = duologue("agreement", source, *options)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.heavy
def test_the_published_judge_stands_beside_always_the_commonest(duologue, open_data):
    names = ("rating.Detail Level,satisfaction.detail", "rating.Diversity,satisfaction.diversity")
    options = [part for name in names for part in ("--between", name)]
    code, out, _ = duologue(
        "agreement", open_data / "recllmsim", open_data / "recllmsim_human_vs_agent", *options, "--json"
    )
    detail, diversity = json.loads(out)
    assert code == 0
    assert (detail["n"], detail["commonest"]) == (233, "2")
    assert detail["accuracy"] == pytest.approx(208 / 233)
    assert detail["base_rate"] == pytest.approx(209 / 233)
    assert diversity["kappa"] < 0.25
