"""The figures of predicted attributes, intents and satisfaction in docs/research are those that their commands print."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jieba")

RESEARCH = Path(__file__).parents[3] / "docs/research"
PAGE = "\n".join((RESEARCH / f"{name}.md").read_text(encoding="utf-8") for name in ("identification", "satisfaction"))
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|–")
SIDES = ("LLM_agent_user", "real_human_user", "human_exp_V2")
OF_MODEL = (
    "n",
    "f1_micro",
    "f1_macro",
    "f1_weighted",
    "exact",
    "hit_1",
    "low",
    "high",
    "hit_3",
    "recall_1",
    "recall_3",
)
SPLITS = {
    "users": "users held out",
    "published": "published split",
    "conversations": "conversations held out",
}


@pytest.fixture
def result_of(duologue):
    def printed(*arguments):
        code, out, err = duologue(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return printed


def table(heading: str) -> dict[str, list[str]]:
    """The numbers of each row, by its first cell, of the one table whose first heading this is."""
    lines = PAGE.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith(f"| {heading} |")]
    rows = {}
    for line in lines[place + 2 :]:
        if not line.startswith("|"):
            break
        first, _, others = line.strip("| ").partition(" | ")
        rows[first] = NUMBER.findall(others)
    return rows


def shown(row, *keys: str) -> list[str]:
    """As the page has numbers: whole ones as they are, others with three places; of an interval that is not there a dash."""
    texts = []
    for key in keys:
        value = row[key]
        if value is None and key.endswith("high"):
            continue
        text = "–" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
        texts.append(text.removeprefix("-") if value is not None and not float(text) else text)
    return texts


def models(report) -> dict[str, list[str]]:
    """A row for each model and split: the mean of the aspects, with the interval of the first hits."""
    first = {
        (row["model"], row["split"]): row
        for row in report["metrics"]
        if (row["aspect"], row["metric"]) == ("mean", "hit_1")
    }
    rows = {}
    for row in report["side_by_side"]:
        if row["aspect"] == "mean":
            own = {**row, **{name: first[row["model"], row["split"]][name] for name in ("low", "high")}}
            rows[f"{row['model']}, {SPLITS[row['split']]}"] = shown(own, *OF_MODEL)
    return rows


def aspects(report) -> dict[str, list[str]]:
    """A row for each model and split: the first hits of each aspect."""
    rows: dict[str, list[str]] = {}
    for row in report["side_by_side"]:
        if row["aspect"] != "mean":
            rows.setdefault(f"{row['model']}, {SPLITS[row['split']]}", []).extend(shown(row, "hit_1"))
    return rows


def gains(report) -> dict[str, list[str]]:
    """A row for each model and some metrics: with users in training and with users held out."""
    keys = ("known", "new", "beyond", "beyond_low", "beyond_high")
    names = {"f1_weighted": "F1 weighted", "hit_1": "hit@1", "hit_3": "hit@3"}
    return {
        f"{row['model']}: {names[row['metric']]}": shown(row, *keys)
        for row in report["gains"]
        if row["metric"] in names and row["model"] != "offline"
    }


def nearest(report) -> dict[str, list[str]]:
    """A row for each split by conversation and each text."""
    keys = ("n", "known", "nearest", "low", "high", "chance")
    texts = {"talk": "conversation", "user": "user"}
    return {f"{SPLITS[row['split']]}, {texts[row['reads']]}": shown(row, *keys) for row in report["nearest"]}


def scores(of_users, published, condition) -> dict[str, list[str]]:
    """A row for each task or text, model and score, in both splits."""
    texts = {}
    for row, other in zip(of_users["scores"], published["scores"], strict=True):
        if (name := condition(row)) is not None:
            texts[name] = [text for scored in (row, other) for text in shown(scored, "n", "value", "low", "high")]
    return texts


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_people_are_told_as_the_page_says(result_of, open_data):
    folders = [open_data / "recllmsim" / name for name in SIDES]
    report = result_of("recllmsim", "identify", *folders, "--setting", "human", "--split", "all", "--seeds", "2")
    assert table("people, mean of five aspects") == models(report)
    assert table("people, hit@1 by aspect") == aspects(report)
    assert table("people: the same conversations, with their user in training or held out") == gains(report)
    assert table("people: nearest conversation") == nearest(report)


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_simulated_users_are_told_as_the_page_says(result_of, open_data):
    folders = [open_data / "recllmsim" / name for name in SIDES]
    report = result_of("recllmsim", "identify", *folders, "--setting", "sim", "--split", "both", "--seeds", "2")
    assert table("simulated users, mean of five aspects") == models(report)


@pytest.mark.heavy
@pytest.mark.long
def test_pairs_and_people_told_by_simulated_users_are_as_the_page_says(result_of, open_data):
    folders = [open_data / "recllmsim" / name for name in SIDES]
    options = ("--setting", "sim2human", "--no-others", "--model", "logistic", "--model", "forest")
    report = result_of("recllmsim", "identify", *folders, *options)
    heading = "trained on simulated users, tested on people, without Others"
    assert table(heading) == {name.removesuffix(", users held out"): values for name, values in models(report).items()}
    report = result_of("recllmsim", "identify", *folders, "--pairs", "--split", "both")
    assert table("people, pairs of an aspect and a task: hit@1") == aspects(report)


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_a_set_as_dense_as_the_whole_data_leaks_as_the_page_says(result_of, duologue, open_data, tmp_path):
    people = open_data / "recllmsim/human_exp_V2"
    options = ("--repeats", "7", "--language", "zh", "--yes", "--out", tmp_path / "dense")
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", people, *options)
    assert code == 0, err
    report = result_of(
        "recllmsim", "identify", tmp_path / "dense", "--setting", "sim", "--split", "all", "--model", "logistic",
        "--model", "forest",
    )  # fmt: skip
    assert table("simulated on people's scenarios, seven times each, mean of five aspects") == models(report)
    assert table("simulated: the same conversations, with their user in training or held out") == gains(report)
    assert table("simulated: nearest conversation") == nearest(report)


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_a_set_whose_tasks_tell_nothing_of_the_person_leaks_less_as_the_page_says(
    result_of, duologue, open_data, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"```python\n(import json\n.*?)```", PAGE, re.DOTALL)
    exec(program.replace("DATA/", f"{open_data / 'recllmsim'}/"), {})
    same = ("--scenarios", "same.jsonl", "--language", "zh", "--yes", "--out", "same")
    code, _, err = duologue("simulate", "recllmsim", *same)
    assert code == 0, err
    report = result_of(
        "recllmsim",
        "identify",
        "same",
        "--setting",
        "sim",
        "--split",
        "all",
        "--model",
        "logistic",
        "--model",
        "forest",
    )
    assert table("simulated, the same fifteen tasks for each person, mean of five aspects") == models(report)
    assert table("the same fifteen tasks: the same conversations, with their user in training or held out") == gains(
        report
    )
    assert table("the same fifteen tasks: nearest conversation") == nearest(report)


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("simulated: the same conversations, with their user in training or held out", "own tasks, each seven times"),
        (
            "the same fifteen tasks: the same conversations, with their user in training or held out",
            "the same fifteen tasks for all",
        ),
    ],
)
def test_what_two_sets_show_is_what_their_own_tables_say(heading, line):
    """Hit rates over the prior, with users in training and with users held out."""
    rows = table(heading)
    (first,) = [text for text in PAGE.splitlines() if text.startswith(f"| {line} |")]
    prior = rows["label prior: hit@1"]
    above = [
        [float(rows[f"{model}: hit@1"][place]) - float(prior[place]) for model in ("logistic", "forest")]
        for place in (0, 1)
    ]
    shown = [[float(number) for number in re.findall(r"(?<= )\.\d+", cell)] for cell in first.strip("|").split("|")[3:]]
    assert shown == [pytest.approx(number, abs=0.0021) for number in above]


@pytest.mark.heavy
def test_intents_are_told_as_the_page_says(result_of, open_data):
    source = open_data / "recllmsim/real_human_user"
    both = [result_of("recllmsim", "intents", source, "--split", split) for split in ("users", "published")]

    def wanted(row):
        return f"{row['model']}, {row['reads']}" if row["score"] == "accuracy" else None

    assert table("accuracy of intents") == scores(both[0], both[1], wanted)


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_satisfaction_is_told_as_the_page_says(result_of, open_data):
    source = open_data / "recllmsim/human_exp_V2"
    both = [
        result_of("recllmsim", "satisfaction", source, "--trees", "50", "--split", split)
        for split in ("users", "published")
    ]
    of_task = {
        "five": ("accuracy",), "points": ("mae", "mae_rounded", "qwk"), "binary": ("auc",), "reasons": ("accuracy",),
        "six": ("macro_f1",), "pairs": ("accuracy",),
    }  # fmt: skip

    def wanted(row):
        if row["score"] not in of_task[row["task"]]:
            return None
        return f"{row['task']}, {row['model']}: {row['score'].replace('_', ' ')}"

    assert table("task, model: score") == scores(both[0], both[1], wanted)
