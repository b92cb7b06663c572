"""`--user people:SRC` and `openai:NAME?like=SRC` by the command: runs that go on, plans, cards."""

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from duologue.data.formats import record_lines
from duologue.runs import write_dataset

GOALS = ("find a mild tea for the evening", "stop a bicycle brake from squealing", "learn to bake bread")


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
    users = {
        "people": f"people:{source}?part=all",
        "like": f"openai:m-0815?like={source}&licence=CC-BY-4.0&temperature=0.5",
        "none": "openai:m-0815",
    }
    return (
        "simulate", "agent_test", "--scenarios", "goals.jsonl", "--user", users[use], "--assistant", "people:talks.jsonl",
        "--max-turns", "2", *more,
    )  # fmt: skip


def texts(folder):
    return {
        one.id: [(message.role, message.text, message.extra) for message in one.messages]
        for one in record_lines.read(f"{folder}/conversations.jsonl")
    }


@pytest.mark.heavy
@pytest.mark.parametrize("use", ["people", "like"])
def test_a_resumed_run_says_what_one_says(duologue, sent, use):
    code, _, err = duologue(*run(use), "--out", "one")
    assert code in (0, 1), err
    assert len(texts("one")) == len(GOALS) * 2
    whole = texts("one")
    with open("one/conversations.jsonl", encoding="utf-8") as file:
        first = file.readlines()[:2]
    with open("one/conversations.jsonl", "w", encoding="utf-8") as file:
        file.writelines(first)
    assert duologue(*run(use), "--out", "one")[0] in (0, 1)
    assert texts("one") == whole


@pytest.mark.heavy
def test_a_run_goes_on_with_the_same_words_wherever_they_lie_and_with_no_others(duologue):
    assert duologue(*run("like"), "--out", "run")[0] in (0, 1)
    with open("talks.jsonl", encoding="utf-8") as file:
        stored = file.readlines()
    for name, conversations in (("moved/talks.jsonl", stored), ("fewer/talks.jsonl", stored[:-1])):
        Path(name).parent.mkdir()
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(conversations)
    assert duologue(*run("like", source="moved/talks.jsonl"), "--out", "run")[0] in (0, 1)
    code, _, err = duologue(*run("like", source="fewer/talks.jsonl"), "--out", "run")
    assert code == 2
    assert "user_simulator.like.digest" in err


def test_the_card_says_that_a_model_was_shown_peoples_words_and_their_licence(duologue):
    assert duologue(*run("like"), "--out", "run")[0] in (0, 1)
    write_dataset("run")
    with open("run/dataset/README.md", encoding="utf-8") as file:
        card = file.read()
    assert "**shown people's own words** as examples of manner" in card
    assert "12 conversations of 4 users in `talks.jsonl`" in card
    assert "their licence: CC-BY-4.0)" in card
    with open("run/manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["settings"]["nodes"]["user_simulator"]["like"]["digest"] in card
    assert any(name.startswith("like/") for name in manifest["settings"]["prompts"])


def test_the_next_turn_is_written_after_other_peoples_turns(duologue, sent):
    code, out, err = duologue(
        "next-turn", "talks.jsonl", "--user", "openai:m-0815?like=talks.jsonl&part=tune", "--sample", "2", "--json"
    )
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["rows"] if row["name"].startswith("openai:")]
    assert row["chrf"]["value"] >= 0
    assert sent
    assert all("<example>" in str(body["messages"]) for body in sent)


def test_switches_without_effect_on_a_side_made_from_people_are_refused(duologue):
    code, _, err = duologue("simulate", "recllmsim", "--user", "people:talks.jsonl", "--may-give-up", "--out", "run")
    assert code == 2
    assert "--may-give-up: without effect" in err


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
