"""The figures that the docs tell are those that their commands print."""

import json
from pathlib import Path

import pytest

from tests.cli.printed_tables import agree, table

ROOT = Path(__file__).parents[2]


@pytest.fixture
def result_of(duologue):
    def printed(*arguments):
        code, out, err = duologue(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return printed


def by_source(rows):
    """Of a table across sources the numbers of each by measure."""
    names = [name for name in rows[0] if name != "measure"]
    return [{row["measure"].replace(" ", "_"): row[name] for row in rows} for name in names]


def test_figures_of_other_places_do_not_agree():
    assert agree(["0.24", "1,121"], 0.2356, 1121)
    assert not agree(["0.237"], 0.2356)


@pytest.mark.heavy
def test_the_baseline_is_what_the_docs_say_of_it(result_of, open_data):
    baseline = result_of("papers", "simquac", "baseline", open_data / "simquac/quac_subset.json")
    shown = table(
        "docs/papers/simquac.md",
        "teacher on people's 552 questions",
        "offline",
        "first sentence",
        "random sentence",
    )
    for place, one in enumerate(by_source(baseline["teachers"])):
        assert one["questions"] == 552
        assert agree(shown["F1"][place], one["f1"])
        assert agree(shown["exact match (equal to HEQ-Q with one reference)"][place], one["exact"])
        assert one["exact"] == one["heq_q"]
        assert agree(shown["HEQ-D"][place], one["heq_d"])
        assert agree(shown["refusals, correct / wrong"][place], one["refused_right"], one["refused_wrong"])
        assert agree(shown["answers to questions that people do not answer"][place], one["answered_wrong"])
    shown = table("docs/papers/simquac.md", "student, 924 questions", "offline", "offline, no prompt selector")
    for place, one in enumerate(by_source(baseline["students"])):
        assert one["questions"] == 924
        assert agree(shown["answered"][place], one["answered"])
        assert agree(shown["repeated questions"][place], one["asked_again"])
        assert agree(shown["mean coverage of the section"][place], one["coverage"])


@pytest.mark.heavy
def test_what_the_validators_say_of_the_published_users_is_what_the_docs_say_of_it(result_of, open_data, tmp_path):
    shown = table("docs/papers/recllmsim.md", "", "RecLLMSim (simulated)", "people")
    for place, folders in enumerate((("LLM_agent_user",), ("real_human_user", "human_exp_V2"))):
        summaries = []
        for folder in folders:
            spec = f"replay:{open_data / 'recllmsim' / folder}"
            summaries.append(
                result_of("simulate", "recllmsim", "--user", spec, "--assistant", spec, "--out", tmp_path / folder)
            )
        users = [one["sides"][0] for one in summaries]
        assert agree(shown["conversations"][place], sum(one["conversations"] for one in summaries))
        assert agree(shown["user's messages"][place], sum(one["messages"] for one in users))
        for label, kind, key in (
            ("messages that write for another role (`[System]: ...`)", "reasons", "role_leak"),
            ("messages that show instructions or a model", "reasons", "prompt_leak"),
            ("repeated messages (counted)", "notes", "repeat"),
        ):
            assert agree(shown[label][place], sum(one[kind].get(key, 0) for one in users)), label


@pytest.mark.heavy
def test_peoples_labels_agree_with_the_published_ones_as_the_docs_say(result_of, open_data):
    pytest.importorskip("scipy")
    source = open_data / "recllmsim_human_vs_agent"
    names = [f"{name}_human,{name}" for name in ("solving", "broadness", "style", "advice")]
    options = [part for pair in names for part in ("--between", pair)]
    rows = result_of("agreement", source, *options, "--ordered", "Low,Moderate,High")["rows"]
    shown = table(
        "docs/papers/findings.md", "label", "simulated: accuracy", "always the commonest", "kappa", "AC1", "people: accuracy",
        "always the commonest (people)", "kappa (people)", "AC1 (people)",
    )  # fmt: skip
    assert len(rows) == 2 * len(shown) == 22
    for row in rows:
        own = shown[row["label"].replace("_human.", " ")]
        accuracy, base_rate, kappa, ac1 = own[:4] if row["side"] == "simulated" else own[4:]
        assert agree(accuracy, row["accuracy"]["value"])
        assert agree(base_rate, row["base_rate"])
        assert agree(kappa, *([] if row["kappa"]["value"] is None else [row["kappa"]["value"]]))
        assert agree(ac1, row["ac1"]["value"])


@pytest.mark.heavy
def test_the_published_judge_is_what_the_docs_say_of_it(result_of, open_data):
    pytest.importorskip("scipy")
    parts = {"detail": "Detail Level", "utility": "Practical Usefulness", "diversity": "Diversity"}
    options = [of for part, name in parts.items() for of in ("--between", f"rating.{name},satisfaction.{part}")]
    rows = result_of(
        "agreement", open_data / "recllmsim", open_data / "recllmsim_human_vs_agent", *options, "--confusion"
    )
    assert [row["commonest"] for row in rows["rows"]] == ["2", "2", "2"]
    below = [one for one in rows["confusion"] if one["part"] == "Detail Level" and one["value"] != "2"]
    assert sum(one["n"] for one in below) == 24
    assert {one["judged"] for one in below} == {"2"}


@pytest.mark.heavy
def test_votes_agree_as_the_docs_say(result_of, open_data):
    pytest.importorskip("scipy")
    source = open_data / "recllmsim_human_vs_agent"
    options = [of for name in ("solving", "broadness", "style", "advice") for of in ("--between", name)]
    rows = {(row["label"], row["side"]): row for row in result_of("agreement", source, *options)["rows"]}
    shown = table(
        "docs/papers/findings.md",
        "votes of",
        "unanimous: simulated, people",
        "Fleiss' kappa: simulated, people",
    )
    for name in (
        "solving.problem_solving",
        "solving.order",
        "broadness.question_broadness",
        "broadness.context_dependency",
    ):
        sides = [rows[name, side] for side in ("simulated", "people")]
        unanimous, fleiss = shown[name.replace(".", " ")]
        assert agree(unanimous, *(row["unanimity"] for row in sides))
        assert agree(fleiss, *(row["kappa"]["value"] for row in sides))
    assert {row["unanimity"] for (name, _), row in rows.items() if name.startswith(("style", "advice"))} == {1}
