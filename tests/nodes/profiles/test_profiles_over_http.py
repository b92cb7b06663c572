"""Making profiles with an OpenAI-compatible endpoint on the loopback."""

import pytest

from duologue import runs
from duologue.data.recllmsim import shipped_profiles

TEXTS = shipped_profiles().texts


def test_the_endpoint_sees_request_draft_and_reason(endpoint, tmp_path):
    endpoint.say(user=[TEXTS[0].replace("9. Other", "10. Another"), f"Sure!\n\n{TEXTS[0]}", TEXTS[4]])
    generation = runs.profiles.generate(2, tmp_path / "a.txt", "openai:m?temperature=1")
    assert generation.complete
    assert generation.rejected == {"incomplete": 1}
    assert (tmp_path / "a.txt").read_text() == "\n\n".join([TEXTS[0], TEXTS[4]])
    bodies = endpoint.bodies()
    assert [[m["role"] for m in body["messages"]] for body in bodies] == [
        ["system", "user"], ["system", "user", "assistant", "user"], ["system", "user"]
    ]  # fmt: skip
    assert "it lacks Other Aspects." in bodies[1]["messages"][-1]["content"]
    assert "<pool>" not in bodies[0]["messages"][1]["content"]
    assert "First-year student of geology" in bodies[2]["messages"][1]["content"]
    assert len({body["seed"] for body in bodies}) == 3
    assert generation.usage == {"input_tokens": 60, "output_tokens": 9, "calls": 3}
    assert endpoint.key not in (tmp_path / "a.drafts.jsonl").read_text()


@pytest.mark.heavy
def test_a_refused_key_ends_it_with_a_line_without_the_key(endpoint, tmp_path):
    endpoint.say(user=[TEXTS[0]])
    endpoint.otherwise["user"] = endpoint.failing(401, f"wrong key {endpoint.key}")
    generation = runs.profiles.generate(2, tmp_path / "a.txt", "openai:m")
    assert (generation.stop, len(generation.profiles)) == ("model_failed", 1)
    assert "401" in generation.failure
    assert endpoint.key not in generation.failure
