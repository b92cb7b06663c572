"""A simulated user in environments of the installed Verifiers: same words as by hand, rollouts as repeats, rewards of ours."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("verifiers")

from verifiers.v1.runtimes import Runtime

import duologue
from duologue.hosts import UserEnded
from duologue.hosts.verifiers import record_of
from tests.hosts.verifiers_runs import HERE, run, served

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
PAGE = Path(__file__).parents[2] / "docs/hosts/verifiers.md"
MOVE = {"goal": "move my flight to 2026-05-03", "facts": ["The booking code is QX4821."]}
WANTED = MOVE | {"success": {"tool_called": {"name": "change", "arguments": {"booking": "QX4821"}}}}


def answering(messages):
    """The assistant's model: it asks for the code, then moves the booking with its tool."""
    heard = " ".join(str(message["content"]) for message in messages if message["role"] == "user")
    if "QX4821" not in heard:
        return {"role": "assistant", "content": "Which is the booking code?"}
    if messages[-1]["role"] != "tool":
        function = {"name": "change", "arguments": json.dumps({"booking": "QX4821"})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
    return {"role": "assistant", "content": "Done: it is booked on 2026-05-03."}


def of_user(trace):
    return [str(node.message.content) for node in trace.nodes if node.message.role == "user"]


def by_hand(scenario, **settings):
    """The user's messages before its goodbye."""
    user, messages = duologue.user(scenario=scenario, **settings), []
    while not isinstance(answer := user.reply_now(messages), UserEnded):
        messages.append({"role": "user", "content": answer.text})
        known = any("QX4821" in message["content"] for message in messages if message["role"] == "user")
        text = "Done: it is booked on 2026-05-03." if known else "Which is the booking code?"
        messages.append({"role": "assistant", "content": text})
    return [message["content"] for message in messages if message["role"] == "user"]


def test_each_rollout_is_a_repeat_whose_words_are_those_by_hand_and_success_is_the_reward():
    episodes = run([WANTED], answering, rollouts=3, seed=3)
    traces = [trace for episode in episodes for trace in episode.traces]
    assert [episode.ok for episode in episodes] == [True] * 3
    assert [of_user(trace) for trace in traces] == [by_hand(WANTED, seed=3, repeat=repeat) for repeat in range(3)]
    assert [trace.rewards["success"].score for trace in traces] == [1.0] * 3
    assert [trace.metrics["user_messages"] for trace in traces] == [3.0] * 3
    assert {trace.agent.name for trace in traces} == {"assistant"}
    assert [trace.extra_usage for trace in traces] == [[]] * 3  # rules cost nothing


def test_the_record_has_the_calls_of_tools_and_the_goodbye_which_the_assistant_does_not_get():
    [episode] = run([WANTED], answering)
    [trace] = json.loads(json.dumps(episode.to_record()))["traces"]
    record = duologue.Conversation.from_plain(trace["info"]["duologue"])
    assert record == record_of(episode.traces[0])
    assert [call.arguments for message in record.messages for call in message.tool_calls] == [{"booking": "QX4821"}]
    assert (record.stop, record.messages[-1].text) == ("user_ended", "Thank you, goodbye.")
    assert "goodbye" not in " ".join(of_user(episode.traces[0]))
    assert record.labels["scores"]["success"]["value"] is True


def test_a_scenario_that_fails_has_no_reward_of_success_and_a_scenario_without_success_goes_by_the_goodbye():
    episodes = run([MOVE | {"success": {"tool_not_called": "change"}}, MOVE], answering)
    assert [episode.traces[0].rewards["success"].score for episode in episodes] == [0.0, 1.0]


def test_a_user_that_fails_is_an_error_of_the_episode_and_no_reward():
    Path("broken.py").write_text("async def user(state, runtime):\n    raise ValueError('no such model')\n")
    [episode] = run([MOVE], answering, user="broken:user")
    assert not episode.ok
    assert "the simulated user failed" in episode.errors[0].message
    assert all(reward is None for trace in episode.traces for reward in trace.rewards.values())


def test_a_limit_of_turns_is_scored_and_any_other_limit_is_not():
    def never(messages):
        return {"role": "assistant", "content": "Which is the booking code?"}

    [episode] = run([MOVE], never, assistant={"max_turns": 2})
    assert (episode.ok, episode.traces[0].rewards["success"].score) == (True, 0.0)
    assert record_of(episode.traces[0]).stop == "max_turns"
    [episode] = run([MOVE], never, assistant={"max_total_tokens": 1})
    assert (episode.ok, episode.traces[0].rewards["success"]) == (False, None)
    assert "not scored: it was cut short" in episode.traces[0].errors[0].message


def test_a_model_of_the_assistant_that_fails_is_an_error_of_the_trace():
    [episode] = run([MOVE], lambda messages: {})
    assert not episode.ok


def test_a_task_set_without_scenarios_is_one_line():
    with pytest.raises(duologue.errors.SettingError, match=r"no scenarios: give --env\.taskset\.scenarios FILE"):
        run([], answering)


def test_a_wrong_scenario_of_a_file_is_named_by_its_line():
    Path("scenarios.jsonl").write_text(json.dumps(MOVE) + '\n{"goal": "a", "fact": "b"}\n')
    with pytest.raises(duologue.errors.DataError, match=r"scenarios\.jsonl: line 2: has the key 'fact': did you mean"):
        run("scenarios.jsonl", answering)


def test_scenarios_come_from_a_file_too():
    Path("scenarios.jsonl").write_text(json.dumps(WANTED) + "\n" + json.dumps(MOVE) + "\n")
    episodes = run("scenarios.jsonl", answering)
    assert [episode.task.data.description for episode in episodes] == [MOVE["goal"]] * 2


def test_the_modules_of_the_page_run_as_they_stand():
    first, _, third = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(first.strip().splitlines()) <= 5
    [episode] = run([WANTED], answering, module=third)
    rewards = episode.traces[0].rewards
    assert (rewards["success"].value, rewards["refused"].value) == (1.0, 0.0)
    [episode] = run([WANTED], answering, module=first)
    assert episode.ok


def test_the_command_of_the_page_finds_the_module_that_it_shows():
    text = PAGE.read_text()
    Path("support.py").write_text(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    Path("scenarios.jsonl").write_text(json.dumps(WANTED) + "\n")
    shutil.copy(Path(HERE) / "chat_in_process.py", ".")
    command = re.search(r"^    (PYTHONPATH=.*)$", text, re.MULTILINE)[1].replace("MODEL", "m")
    seat = "--env.assistant.harness.id chat_in_process --env.assistant.runtime.type subprocess"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with served(answering) as address:
        more = f"{seat} --client.base-url {address} --client.api-key-var NO_KEY_OF_A_MODEL"
        ended = subprocess.run(
            f"{command} {more}", shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [file] = Path("outputs").rglob("traces.jsonl")
    rewards = [episode["traces"][0]["rewards"]["success"]["score"] for episode in map(json.loads, file.open())]
    assert rewards == [1.0] * 3


def test_the_bash_harness_of_verifiers_goes_on_with_our_user(monkeypatch):
    program = Path("program.py").absolute()

    async def prepared(self, script, env=None, *, activate=True):
        """The program by this interpreter: `uv` would install its packages, which are here already, from an index."""
        program.write_text(script)
        return [sys.executable, str(program)]

    def commanding(messages):
        message = answering(messages)
        if calls := message.get("tool_calls"):
            calls[0]["function"] = {"name": "bash", "arguments": json.dumps({"command": "echo moved QX4821"})}
        return message

    monkeypatch.setattr(Runtime, "prepare_uv_script", prepared)
    scenario = MOVE | {"success": {"tool_called": "bash"}}
    [episode] = run([scenario], commanding, assistant={"harness": {"id": "bash"}})
    assert (episode.ok, episode.errors) == (True, [])
    [trace] = episode.traces
    record = record_of(trace)
    assert (record.stop, trace.rewards["success"].score) == ("user_ended", 1.0)
    assert [turn.text for turn in record.messages if turn.role == "user"][:-1] == by_hand(scenario)
    assert [call.result for turn in record.messages for call in turn.tool_calls] == ["moved QX4821\n"]
