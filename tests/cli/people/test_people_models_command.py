"""`--user openai:NAME?like=SRC` and `?rewrite=SRC` by the command: processes, a run that goes on, plans, cards."""

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from duologue.data.formats import record_lines

GOALS = ("find a mild tea for the evening", "stop a bicycle brake from squealing", "learn to bake bread")
USES = ("like", "rewrite")


def lines(name, values):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)


@pytest.fixture(autouse=True)
def sent(httpserver: HTTPServer, monkeypatch):
    """What the endpoint was sent; it answers the same to the same."""
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
    lines("goals.jsonl", [{"goal": goal, "facts": f"Number {n}."} for goal in GOALS for n in range(2)])
    bodies = []

    def answer(request: Request) -> Response:
        body = json.loads(request.get_data())
        bodies.append(body)
        line = f"What comes {sum(map(len, (m['content'] for m in body['messages'])))} then?"
        reply = {
            "id": "c", "object": "chat.completion", "created": 1, "model": "m-0815",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": line}}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
        }  # fmt: skip
        return Response(json.dumps(reply), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.4711")
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    return bodies


def run(use, *more, source="talks.jsonl"):
    user = f"openai:m-0815?{use}={source}&licence=CC-BY-4.0&temperature=0.5"
    return (
        "simulate", "agent_test", "--scenarios", "goals.jsonl", "--user", user, "--assistant", "people:talks.jsonl",
        "--max-turns", "2", *more,
    )  # fmt: skip


def texts(folder):
    return {
        one.id: [(message.role, message.text, message.extra) for message in one.messages]
        for one in record_lines.read(f"{folder}/conversations.jsonl")
    }


@pytest.mark.heavy
@pytest.mark.parametrize("use", USES)
def test_two_processes_and_a_resumed_run_say_what_one_says(duologue, sent, use):
    code, _, err = duologue(*run(use), "--out", "one")
    assert code in (0, 1), err
    assert len(texts("one")) == len(GOALS) * 2
    assert duologue(*run(use), "--out", "two", "--processes", "2")[0] in (0, 1)
    assert texts("two") == texts("one")
    with open("one/conversations.jsonl", encoding="utf-8") as file:
        first = file.readlines()[:2]
    with open("one/conversations.jsonl", "w", encoding="utf-8") as file:
        file.writelines(first)
    assert duologue(*run(use), "--out", "one", "--resume")[0] in (0, 1)
    assert texts("one") == texts("two")


@pytest.mark.heavy
@pytest.mark.parametrize("use", USES)
def test_a_run_goes_on_with_the_same_words_wherever_they_lie_and_with_no_others(duologue, use):
    assert duologue(*run(use), "--out", "run")[0] in (0, 1)
    with open("talks.jsonl", encoding="utf-8") as file:
        stored = file.readlines()
    for name, conversations in (("moved/talks.jsonl", stored), ("fewer/talks.jsonl", stored[:-1])):
        folder = name.partition("/")[0]
        Path(folder).mkdir()
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(conversations)
    assert duologue(*run(use, source="moved/talks.jsonl"), "--out", "run", "--resume")[0] in (0, 1)
    code, _, err = duologue(*run(use, source="fewer/talks.jsonl"), "--out", "run", "--resume")
    assert code == 2
    assert f"user_simulator.{use}.digest" in err
    code, _, err = duologue(*run("rewrite" if use == "like" else "like"), "--out", "run", "--resume")
    assert code == 2


@pytest.mark.parametrize("use", USES)
def test_a_plan_counts_what_is_shown(duologue, sent, use):
    code, out, err = duologue(*run(use), "--plan", "--out", "run")
    assert code == 0, err
    shown_lines = [line for line in out.splitlines() if "tokens" in line]
    assert shown_lines
    code, bare, _ = duologue(
        "simulate", "agent_test", "--scenarios", "goals.jsonl", "--user", "openai:m-0815", "--assistant",
        "people:talks.jsonl", "--max-turns", "2", "--plan", "--out", "run",
    )  # fmt: skip
    assert shown_lines != [line for line in bare.splitlines() if "tokens" in line]
    assert sent == []


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("like", "**shown people's own words** as examples of manner"),
        ("rewrite", "people's turns that a language model fitted"),
    ],
)
def test_the_card_says_that_a_model_was_given_peoples_words_and_their_licence(duologue, use, message):
    assert duologue(*run(use), "--out", "run")[0] in (0, 1)
    with open("run/dataset/README.md", encoding="utf-8") as file:
        card = file.read()
    assert message in card
    assert "12 conversations of 4 users in `talks.jsonl`" in card
    assert "Their licence: CC-BY-4.0." in card
    with open("run/manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["settings"]["nodes"]["user_simulator"][use]["digest"] in card
    assert any(name.startswith(f"{use}/") for name in manifest["settings"]["prompts"])


@pytest.mark.parametrize("use", USES)
def test_the_next_turn_is_written_from_other_peoples_turns(duologue, sent, use):
    code, out, err = duologue(
        "next-turn", "talks.jsonl", "--user", f"openai:m-0815?{use}=talks.jsonl&part=tune", "--sample", "2", "--json"
    )
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["rows"] if row["name"].startswith("openai:")]
    assert row["scores"]["chrf"]["value"] >= 0
    mark = "<example>" if use == "like" else "<quote>"
    assert sent
    assert all(mark in str(body["messages"]) for body in sent)


def test_switches_without_effect_on_a_fitted_user_are_refused(duologue):
    code, _, err = duologue(
        "simulate", "recllmsim", "--user", "openai:m?rewrite=talks.jsonl", "--may-give-up", "--out", "run"
    )
    assert code == 2
    assert "--may-give-up: without effect" in err


def test_a_wrong_source_ends_the_command_in_one_line(duologue):
    code, _, err = duologue(*run("like", source="nowhere"), "--out", "run")
    assert code == 2
    assert "nowhere: cannot be read" in err
    assert len(err.strip().splitlines()) == 1
