"""A simulated user in evaluations of the installed Inspect: same words as by hand, epochs as repeats, scores as in a run."""

import math
import re
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import Task, eval
from inspect_ai.agent import agent as agent_of_inspect
from inspect_ai.agent import agent_bridge, react
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model, messages_to_openai
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

import duologue
from duologue.data import domains
from duologue.errors import SettingError
from duologue.hosts import inspect as host
from duologue.testing import scripted_model
from tests.data.generated import conversations

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
MOVE = {"goal": "move my flight to 2026-05-03", "facts": ["The booking code is QX4821."]}


@tool
def change():
    async def execute(booking: str, date: str) -> str:
        """Move a booking.

        Args:
            booking: Its code.
            date: The new date.
        """
        return f"moved {booking} to {date}"

    return execute


def output(text, tokens=8):
    answer = text if isinstance(text, ModelOutput) else ModelOutput.from_content("mockllm/model", text)
    answer.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=tokens)
    return answer


def answering(messages, tools, choice, config):
    """The evaluated model: it asks for the code, then moves the booking with its tool if it has one."""
    heard = " ".join(message.text for message in messages if message.role == "user")
    if "QX4821" not in heard:
        return output("Which is the booking code?")
    if tools and messages[-1].role != "tool":
        arguments = {"booking": "QX4821", "date": "2026-05-03"}
        return output(ModelOutput.for_tool_call("mockllm/model", "change", arguments))
    return output("Done: it is booked on 2026-05-03.")


def evaluated(solver, *samples, scorer=None, **options):
    samples = samples or (Sample(input=MOVE["goal"], metadata={"facts": MOVE["facts"]}),)
    limits = {name: options.pop(name) for name in ("message_limit", "token_limit") if name in options}
    task = Task(dataset=list(samples), solver=solver, scorer=scorer or host.success(), **limits)
    model = get_model("mockllm/model", custom_outputs=answering)
    [log] = eval(task, model=model, display="none", log_dir="logs", **options)
    assert log.status == "success", log.error and log.error.traceback
    return log


def of_user(sample):
    return [message.text for message in sample.messages if message.role == "user"]


def by_hand(**settings):
    """The user's messages with its goodbye."""
    user, messages = duologue.user(**MOVE, **settings), []
    while not isinstance(answer := user.reply_now(messages), duologue.hosts.UserEnded):
        messages.append({"role": "user", "content": answer.text})
        known = any("QX4821" in message["content"] for message in messages if message["role"] == "user")
        text = "Done: it is booked on 2026-05-03." if known else "Which is the booking code?"
        messages.append({"role": "assistant", "content": text})
    return [message["content"] for message in messages if message["role"] == "user"] + [answer.message.text]


def test_each_epoch_is_a_repeat_whose_words_are_those_by_hand():
    log = evaluated(host.simulated_user(seed=3), epochs=3)
    assert [of_user(sample) for sample in log.samples] == [by_hand(seed=3, repeat=repeat) for repeat in range(3)]
    assert len({tuple(of_user(sample)) for sample in log.samples}) > 1
    (score,) = log.results.scores
    assert (score.metrics["accuracy"].value, score.unscored_samples) == (1.0, 0)
    loaded = duologue.load(log.location)
    assert [(talk.repeat, talk.stop) for talk in loaded] == [(repeat, "user_ended") for repeat in range(3)]
    assert len({talk.id for talk in loaded}) == 3


def test_calls_of_tools_are_in_the_messages_and_in_the_record_and_the_log_gives_the_record():
    wanted = MOVE | {"success": {"tool_called": {"name": "change", "arguments": {"booking": "QX4821"}}}}
    solvers = [system_message("Be brief."), use_tools(change()), host.simulated_user()]
    task = host.dataset([wanted, MOVE | {"success": {"tool_not_called": "change"}}])
    log = evaluated(solvers, *task)
    assert [sample.scores["success"].value for sample in log.samples] == [True, False]
    assert log.samples[1].scores["success"].metadata == {"fault": "assistant", "stop": "user_ended"}
    roles = [message.role for message in log.samples[0].messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    talk = duologue.load(log.location)[0]
    assert talk.plain() == host.record_of(log.samples[0]).plain()
    assert [call.arguments["booking"] for message in talk.messages for call in message.tool_calls] == ["QX4821"]
    assert talk.scenario["success"] == wanted["success"]
    assert talk.scores["success"]["value"] is True
    assert "assistant" not in talk.provenance.nodes


def test_an_agent_answers_each_message_and_its_instructions_are_said_once():
    log = evaluated(host.simulated_user(react(tools=[change()], submit=False)))
    (sample,) = log.samples
    assert of_user(sample) == by_hand()
    assert [message.role for message in sample.messages].count("system") == 1
    assert [message.function for message in sample.messages if message.role == "tool"] == ["change"]


@agent_of_inspect
def bridged():
    async def execute(state):
        from openai import AsyncOpenAI

        async with agent_bridge(state) as bridge, AsyncOpenAI(api_key="none") as client:
            messages = await messages_to_openai(state.messages)
            await client.chat.completions.create(model="inspect", messages=messages)
            return bridge.state

    return execute


def test_a_bridged_agent_answers_too():
    (sample,) = evaluated(host.simulated_user(bridged())).samples
    assert of_user(sample) == by_hand()


def test_a_sample_that_says_nothing_of_the_agent_is_unscored():
    broken = scripted_model(ValueError("no such model"))
    for log, reason in (
        (evaluated(host.simulated_user(user=broken), scorer=host.success()), "no such model"),
        (evaluated(host.simulated_user(), message_limit=2), "a limit ended it"),
        (evaluated(host.simulated_user(), token_limit=4), "a limit ended it"),
    ):
        score = log.samples[0].scores["success"]
        assert math.isnan(score.value)
        assert reason in score.explanation
        assert {score.unscored_samples for score in log.results.scores} == {1}
        assert len(duologue.load(log.location)) == 1


def test_an_input_of_messages_is_the_beginning_of_the_conversation():
    greeting = Sample(input=[ChatMessageAssistant(content="Hello, how can I help?")], metadata={"scenario": MOVE})
    (sample,) = evaluated(host.simulated_user(), greeting).samples
    assert sample.messages[0].text == "Hello, how can I help?"
    assert host.record_of(sample).messages[0].text == "Hello, how can I help?"
    assert host.record_of(sample).stop == "user_ended"


@pytest.mark.parametrize(
    ("sample", "line"),
    [
        (Sample(input=""), "sample 1: has no goal: give it as input, or as metadata 'goal'"),
        (Sample(input="x", metadata={"scenario": "y"}), "sample 1: metadata 'scenario' is not an object"),
    ],
)
def test_a_sample_without_a_scenario_is_one_line(sample, line):
    task = Task(dataset=[sample], solver=host.simulated_user())
    [log] = eval(task, model="mockllm/model", display="none", log_dir="logs")
    assert line in log.error.message


def agent_that_gives(value):
    @agent_of_inspect
    def giving():
        async def execute(state):
            return state if value == "state" else value

        return execute

    return giving()


def solver_that_gives_none():
    async def solve(state, generate):
        return None

    return solve


@pytest.mark.parametrize(
    ("solver", "line"),
    [
        (lambda: host.simulated_user(agent_that_gives({"a": 1})), "the agent gave dict: let it return its state"),
        (lambda: host.simulated_user(agent_that_gives("state")), "the agent gave no answer: let it append one"),
        (lambda: host.simulated_user(solver_that_gives_none()), "the solver gave NoneType: let it return its state"),
    ],
)
def test_who_does_not_answer_is_one_line(solver, line):
    task = Task(dataset=[Sample(input="x")], solver=solver())
    [log] = eval(task, model="mockllm/model", display="none", log_dir="logs")
    assert line in log.error.message


def test_a_score_without_our_solver_is_one_line():
    task = Task(dataset=[Sample(input="x")], solver=generate(), scorer=host.success())
    [log] = eval(task, model=get_model("mockllm/model", custom_outputs=answering), display="none", log_dir="logs")
    assert "give the task the solver simulated_user()" in log.error.message


@pytest.mark.parametrize("name", ["out.eval", "out.json"])
def test_inspect_reads_a_thousand_conversations_that_are_written_as_its_log(name):
    talks = list(conversations(1_000))
    assert domains.targets()["inspect"](iter(talks), Path(name)) == []
    log = read_eval_log(name)
    assert (log.status, log.results.total_samples, len(log.samples)) == ("success", 1000, 1000)
    assert len(read_eval_log_sample_summaries(name)) == 1000
    header = read_eval_log(name, header_only=True)
    assert (header.eval.eval_id, header.results.scores) == (log.eval.eval_id, log.results.scores)
    by_id = {sample.id: sample for sample in log.samples}
    for talk in talks:
        sample = by_id[talk.id]
        spoken = [
            (turn.role, turn.text) for turn in sample.messages if turn.role in ("user", "assistant") and turn.text
        ]
        words = [
            (turn.role, turn.text.replace("\ud83d", "\ufffd")) for turn in talk.messages if turn.stored and turn.text
        ]
        assert [(role, re.sub(r"<think>.*?</think>\s*", "", text, flags=re.S)) for role, text in spoken] == words
        calls = [call.name for turn in talk.messages if turn.role == "assistant" for call in turn.tool_calls]
        called = [
            call.function for turn in sample.messages if turn.role == "assistant" for call in turn.tool_calls or []
        ]
        assert called == calls


def test_a_wrong_setting_is_one_line_before_the_first_sample():
    with pytest.raises(SettingError, match="there is no setting 'colour'"):
        host.simulated_user(colour="red")
    with pytest.raises(SettingError, match="there is no behaviour 'rude'"):
        host.simulated_user(behaviours=["rude"])
    with pytest.raises(SettingError, match=r"expected an agent or a solver .* not 'agent_test'"):
        host.simulated_user("agent_test")
