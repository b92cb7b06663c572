"""Scripted scenarios: what the user says is fixed, or the conversation begins in the middle."""

import json
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue.errors import DataError

BEGUN = [{"role": "user", "text": "I want a refund."}, {"role": "assistant", "content": "Which order?"}]


def agent(messages: list[dict[str, Any]]) -> str:
    said = [one["content"] for one in messages if one["role"] == "user"]
    return f"{len(said)}: {said[-1]}"


@pytest.mark.parametrize(
    ("scenario", "texts"),
    [
        ({"script": ["One.", "Two."]}, ["One.", "1: One.", "Two.", "2: Two."]),
        ({"goal": "a refund", "script": ["KX4411"], "messages": BEGUN}, ["I want a refund.", "Which order?", "KX4411", "2: KX4411"]),
        ({"script": ["Again."], "messages": BEGUN[:1]}, ["I want a refund.", "1: I want a refund.", "Again.", "2: Again."]),
    ],
)  # fmt: skip
def test_the_user_says_its_script_from_the_messages_on_in_memory_and_from_a_file(
    tmp_path: Path, scenario: dict[str, Any], texts: list[str]
) -> None:
    scenario |= {"success": {"text_contains": texts[-1]}}
    (tmp_path / "s.jsonl").write_text(json.dumps(scenario) + "\n")
    for given in ([scenario], tmp_path / "s.jsonl"):
        result = duologue.test(agent, given, user=lambda messages: "never asked")
        (talk,) = result.records
        assert [message.text for message in talk.messages] == texts
        assert (talk.stop, result.passed) == ("user_ended", True)


def test_without_a_script_the_user_goes_on_from_the_messages() -> None:
    (talk,) = duologue.test(lambda messages: "Done: refunded.", [{"goal": "a refund", "messages": BEGUN}]).records
    assert talk.messages[2].role == "user"
    assert (talk.messages[3].text, talk.stop) == ("Done: refunded.", "user_ended")


@pytest.mark.parametrize(
    "scenario",
    [
        {"goal": "x", "script": []},
        {"goal": "x", "script": "One."},
        {"goal": "x", "messages": [{"role": "tool", "text": "x"}]},
        {"goal": "x", "messages": [{"role": "user"}]},
        {"first_message": "x", "messages": BEGUN},
    ],
)
def test_another_form_is_an_error(scenario: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"script|messages"):
        duologue.test(agent, [scenario])
