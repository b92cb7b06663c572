"""The figures of predictions and judges in docs/research are those that the commands print."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.recllmsim.rated import Command

pytest.importorskip("sklearn")
pytest.importorskip("jieba")

PAGE = (Path(__file__).parents[3] / "docs/papers/predictions.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|–")
SPLITS = {"users": "users held out", "published": "published split"}
METRICS = ("f1_micro", "f1_macro", "f1_weighted", "exact", "hit_1", "hit_3", "recall_1", "recall_3")
SCORES = {
    "five": ("accuracy",), "points": ("mae", "mae_rounded", "qwk"), "binary": ("auc",), "reasons": ("accuracy",),
    "six": ("macro_f1",), "intent": ("accuracy",),
}  # fmt: skip


@pytest.fixture
def result_of(duologue: Command) -> Callable[..., Any]:
    def printed(*arguments: Any) -> Any:
        code, out, err = duologue("papers", "recllmsim", *arguments, "--json")
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


def shown(row: Any, *keys: str) -> list[str]:
    """As the page has numbers: whole ones as they are, others with three places; a missing interval is one dash."""
    values = [(key, row[key]) for key in keys if not (row[key] is None and key.endswith("high"))]
    texts = ["–" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}" for _, value in values]
    return [text if text == "–" or float(text) else text.removeprefix("-") for text in texts]


def models(report: Any) -> dict[str, list[str]]:
    return {f"{row['model']}, {SPLITS[row['split']]}": shown(row, "n", *METRICS) for row in report["mean"]}


def aspects(report: Any) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for row in report["aspects"]:
        rows.setdefault(f"{row['model']}, {SPLITS[row['split']]}", []).extend(shown(row, "hit_1"))
    return rows


def values(report: Any, name: Callable[[Any], str], *keys: str) -> dict[str, list[str]]:
    """A row for each task or text, model and score, in both splits."""
    rows: dict[str, list[str]] = {}
    for split in SPLITS:
        for row in report["scores"]:
            if row["split"] == split and row["score"] in SCORES[row["task"]]:
                rows.setdefault(name(row), []).extend(shown(row, "n", "value", *keys))
    return rows


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_profiles_are_predicted_as_the_page_says(result_of: Any, open_data: Path) -> None:
    simulated, *people = (
        open_data / "recllmsim" / name for name in ("LLM_agent_user", "real_human_user", "human_exp_V2")
    )
    report = result_of("predict", *people)
    assert table("people, mean of five aspects") == models(report)
    assert table("people, hit@1 by aspect") == aspects(report)
    assert table("simulated users, mean of five aspects") == models(result_of("predict", simulated))
    mixed = result_of("predict", *people, "--train", simulated)["mean"]
    told = {f"{row['training']}: {row['model']}": shown(row, "n", *METRICS) for row in mixed if row["split"] == "users"}
    page = table("tested on people, users held out, without Others")
    assert page == {name: told[name] for name in page}


@pytest.mark.heavy
@pytest.mark.long
@pytest.mark.untraced
def test_intents_and_satisfaction_are_predicted_as_the_page_says(result_of: Any, open_data: Path) -> None:
    intents = result_of("intents", open_data / "recllmsim/real_human_user")
    told = values(intents, lambda row: f"{row['model']}, {row['reads']}", "low", "high")
    assert table("accuracy of intents, 135 messages of 20 people") == told
    satisfied = result_of("satisfaction", open_data / "recllmsim/human_exp_V2")
    told = values(satisfied, lambda row: f"{row['task']}, {row['model']}: {row['score'].replace('_', ' ')}")
    assert table("task, model: score") == told


@pytest.mark.heavy
def test_judges_are_what_the_page_says_of_them(result_of: Any, open_data: Path) -> None:
    report = result_of("judges", open_data / "recllmsim/human_exp_V2")["judges"]
    keys = [f"{score}{end}" for score in ("qwk", "mae", "auc", "concordance") for end in ("", "_low", "_high")]
    headings = {"users": "953 turns of 97 users, users held out", "published": "191 turns at random"}
    for split, heading in headings.items():
        rows = {row["judge"]: row for row in report if row["split"] == split}
        assert table(heading) == {name: shown(row, *keys) for name, row in rows.items()}
    assert {round(row["known"] * 191) for row in report if row["split"] == "published"} == {185}
