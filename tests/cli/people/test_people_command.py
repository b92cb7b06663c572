"""`--user people:SRC`: a run without a model, by the command."""

import json

import pytest

import duologue as package
from duologue.data.formats import record_lines

GOALS = ("find a mild tea for the evening", "stop a bicycle brake from squealing", "learn to bake bread")


@pytest.fixture(autouse=True)
def files(tmp_path):
    talks = [
        {
            "id": f"{name}-{number}",
            "user": name,
            "messages": [
                {"role": "user", "content": f"I want to {goal}, says {name}. How?"},
                {"role": "assistant", "content": f"To {goal}, begin slowly."},
                {"role": "user", "content": f"What comes then, asks {name}?"},
                {"role": "assistant", "content": "Then go on."},
            ],
        }
        for name in ("ann", "bob", "cem", "dag")
        for number, goal in enumerate(GOALS)
    ]
    lines("talks.jsonl", talks)
    lines("goals.jsonl", [{"goal": goal, "facts": f"Number {n}."} for goal in GOALS for n in range(3)])


def lines(name, values):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


RUN = (
    "simulate",
    "agent_test",
    "--scenarios",
    "goals.jsonl",
    "--user",
    "people:talks.jsonl?part=all",
    "--assistant",
    "people:talks.jsonl",
)


def texts(folder):
    return {
        one.id: [(message.role, message.text, message.extra) for message in one.messages]
        for one in record_lines.read(f"{folder}/conversations.jsonl")
    }


@pytest.mark.heavy
def test_two_processes_and_a_resumed_run_say_what_one_says(duologue):
    assert duologue(*RUN, "--out", "one")[0] in (0, 1)
    assert len(texts("one")) == len(GOALS) * 3
    assert duologue(*RUN, "--out", "two", "--processes", "2")[0] in (0, 1)
    assert texts("two") == texts("one")
    with open("one/conversations.jsonl", encoding="utf-8") as file:
        first = file.readlines()[:4]
    with open("one/conversations.jsonl", "w", encoding="utf-8") as file:
        file.writelines(first)
    assert duologue(*RUN, "--out", "one", "--resume")[0] in (0, 1)
    assert texts("one") == texts("two")


def test_a_run_cannot_go_on_with_other_options(duologue):
    assert duologue(*RUN, "--out", "run")[0] in (0, 1)
    other = [part.replace("part=all", "part=tune") for part in RUN]
    code, _, err = duologue(*other, "--out", "run", "--resume")
    assert code == 2
    assert "turns_of" in err or "options" in err or "user" in err


def test_a_plan_counts_no_calls(duologue):
    code, out, _ = duologue(*RUN, "--plan", "--out", "run")
    assert code == 0
    assert out.endswith(": no calls of a model\n")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("people:nowhere", "nowhere: cannot be read"),
        ("people:talks.jsonl?colour=red", "has no option 'colour'"),
        ("people:talks.jsonl?part=half", "part must be one of tune, test, all"),
        ("people:", "names no source"),
    ],
)
def test_a_wrong_source_or_option_ends_the_command_in_one_line(duologue, spec, message):
    code, _, err = duologue(
        "test", "--scenarios", "goals.jsonl", "--user", spec, "--assistant", "offline", "--out", "run"
    )
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_switches_without_effect_on_a_side_made_from_people_are_refused(duologue):
    code, _, err = duologue("simulate", "recllmsim", "--user", "people:talks.jsonl", "--may-give-up", "--out", "run")
    assert code == 2
    assert "--may-give-up: without effect, a side made from people repeats its stored messages" in err


def test_every_cast_of_tasks_runs_without_a_model(duologue):
    code, _, _ = duologue(
        "simulate", "recllmsim", "--user", "people:talks.jsonl", "--assistant", "people:talks.jsonl", "--limit", "2",
        "--out", "run",
    )  # fmt: skip
    assert code == 0
    for conversation in package.load("run"):
        assert conversation.stop == "user_ended"
        assert {message.extra["people"]["source"] for message in conversation.messages} == {"talks.jsonl"}
        assert conversation.usage.calls == 0


@pytest.mark.parametrize("path", [0, 1])
def test_a_test_by_a_user_made_from_people_says_before_it_begins_which_scenarios_can_have_no_score(
    duologue, tmp_path, path
):
    goals: list[dict[str, object]] = [{"goal": f"goal {number}"} for number in range(3)]
    for goal in goals[:path]:
        goal["success"] = {"text_contains": "x"}
    lines("goals.jsonl", goals)
    code, _, err = duologue(
        "test", "--assistant", "offline", "--user", "people:talks.jsonl", "--scenarios", "goals.jsonl", "--out", "run"
    )
    line = " ".join(err.split())
    if path:
        assert "2 of 3 scenarios have no 'success', so their conversations will have no score" in line
    else:
        assert code == 2
        assert (
            "no conversation would have a score: a retrieval-based user leaves where its source conversation ends"
            in line
        )
    assert (tmp_path / "run").exists() is bool(path)


def test_people_of_another_language_than_the_cast_are_told_of(duologue, tmp_path):
    messages = [{"role": "user", "content": "我想去北京旅行"}, {"role": "assistant", "content": "好的"}]
    lines = [json.dumps({"id": str(n), "user": str(n), "task": "travel", "messages": messages}) for n in range(3)]
    (tmp_path / "zh.jsonl").write_text("\n".join(lines) + "\n")
    words = ("simulate", "recllmsim", "--user", "people:zh.jsonl", "--limit", 1)
    line = "user: the people of zh.jsonl write zh, and the language of the cast is en: give --language zh\n"
    assert line in duologue(*words, "--out", "en")[2]
    assert line not in duologue(*words, "--language", "zh", "--out", "zh")[2]
