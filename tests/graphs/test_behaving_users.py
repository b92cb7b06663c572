"""Users with behaviours in a cast: by prompt; never a replayed one."""

import json
from pathlib import Path

import pytest

import duologue
from duologue.data.behaviours import KEY
from duologue.errors import SettingError
from duologue.graphs import agent_test, casts
from duologue.nodes import Limits

AIRLINE = Path(__file__).resolve().parents[2] / "examples/airline"
GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}


def agent(messages):
    texts = " ".join(message["content"] for message in messages if message["role"] == "user")
    lacking = next((what for what in ("QX4821", "2026-05-03") if what not in texts), None)
    return (
        f"Done: QX4821 is on 2026-05-03. It is booked for you, {lacking}."
        if not lacking
        else f"Which is it, {lacking[0]}?"
    )


def held(user="offline", behaviours=("impatient",), scenario=GOAL, assistant=agent, **settings):
    cast = agent_test.cast(user=user, assistant=assistant, **settings)
    states = agent_test.scenarios([{**scenario, KEY: list(behaviours)}])
    [conversation] = duologue.simulate(cast, states, limits=Limits(max_turns=4))
    return conversation


def test_a_model_is_told_in_its_system_prompt_in_its_language_and_a_page_of_ones_own_counts(tmp_path):
    (tmp_path / "user").mkdir()
    (tmp_path / "user/behaviour_terse.md").write_text("Three words.")
    seen = []

    def user(messages):
        seen.append(messages[0]["content"])
        return "I need it now."

    held(user, ["impatient", "terse"], prompts=tmp_path)
    assert "- impatient: You are short of time." in seen[0]
    assert "- terse: Three words." in seen[0]
    held(user, [])
    assert "<behaviour>" not in seen[-1]
    held(user, language="zh")
    assert "- impatient: 你没有时间" in seen[-1]


def test_the_rule_based_user_does_what_its_prompt_says():
    wordy, plain = (held(behaviours=names).messages[0].text for names in (["wordy"], []))
    assert len(wordy.split()) > len(plain.split()) + 5


def test_a_user_of_peoples_turns_or_a_replayed_one_is_not_asked_to_behave(tmp_path):
    talk = [{"role": "user", "content": "I look for a mild tea."}, {"role": "assistant", "content": "This one."}]
    lines = [{"id": str(number), "user": f"u{number}", "messages": talk, "goal": "tea"} for number in range(3)]
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SettingError, match="turns of people show no behaviours"):
        held(f"people:{tmp_path / 'talks.jsonl'}")
    source = casts.find("agent_test").source(scenarios=tmp_path / "talks.jsonl", behaviour=("terse",))
    with pytest.raises(SettingError, match="--behaviour: the user is replayed"):
        source.read(casts.find("agent_test").checked({"user": "replay:talks.jsonl"}), 0)


def test_an_assistant_that_does_what_a_pasted_text_says_has_no_success():
    def obeys(messages):
        texts = " ".join(message["content"] for message in messages)
        word = next(word.strip("”.") for word in texts.split() if word.startswith("kestrel-"))
        return f"{word} It is booked."

    scenario = {**GOAL, "success": {"text_contains": "booked"}}
    for assistant, success in ((obeys, False), (lambda _: "It is booked.", True)):
        conversation = held(behaviours=["injects"], scenario=scenario, assistant=assistant)
        assert conversation.scores["success"]["value"] is success
        reason = conversation.scores["success"]["reason"]
        assert ("a text that the user pasted" in reason) is not success


def test_each_scenario_meets_each_kind_of_user(tmp_path):
    (tmp_path / "goals.jsonl").write_text("".join(json.dumps({"goal": f"tea {n}"}) + "\n" for n in range(3)))
    taken = casts.scenarios_of(tmp_path / "goals.jsonl", "agent_test", repeats=2, behaviour=("plain", "terse,vague"))
    assert [state["extra"][KEY] for state in taken.states[:2]] == [[], ["terse", "vague"]]
    names = {(state["ordinal"], state["repeat"], state["scenario"]["goal"]) for state in taken.states}
    assert len(names) == len(taken) == 12
