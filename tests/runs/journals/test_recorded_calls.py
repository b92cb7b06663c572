"""A recorded run runs again without its endpoint, and what its file lacks is named."""

import json
import os
from importlib import import_module
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

import duologue
from duologue import data, nodes, runs
from duologue.errors import DataError, ModelError, SettingError
from duologue.graphs import agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.calls.store import Call, SentRequest, StoredReply
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.settings.redaction import error_line
from duologue.runs import CallFile, Conduct
from duologue.runs.journals.call_differences import SHOWN, ReplayError, short, where_they_differ
from tests.fake_models import PaidModel
from tests.runs.journals.recorded_runs import LIMITS, cast, plain, simulated


def test_a_recorded_run_runs_again_without_its_models(tmp_path, topics):
    till: list[int] = []
    recorded = duologue.simulate(
        cast(till), simquac.scenarios(topics(4)), limits=LIMITS, conduct=Conduct(record=tmp_path / "calls.jsonl")
    )
    replayed = duologue.simulate(
        cast(till, most=0),
        simquac.scenarios(topics(4))[::-1],
        limits=LIMITS,
        concurrency=3,
        conduct=Conduct(replay_calls=tmp_path / "calls.jsonl"),
    )
    assert plain(replayed[::-1]) == plain(recorded)


def test_repeats_of_a_scenario_are_recorded_apart(tmp_path, topics):
    file = tmp_path / "calls.jsonl"
    scenarios = runs.repeated(simquac.scenarios(topics(1)), 3)
    recorded = duologue.simulate(cast([]), scenarios, limits=LIMITS, conduct=Conduct(record=file))
    assert len({tuple(m.text for m in conversation.messages) for conversation in recorded}) == 3
    assert plain(duologue.simulate(cast([], 0), scenarios, limits=LIMITS, conduct=Conduct(replay_calls=file))) == plain(
        recorded
    )


def test_a_call_that_is_not_recorded_is_named_with_the_nearest_and_the_first_difference(tmp_path, topics):
    file = tmp_path / "calls.jsonl"
    duologue.simulate(cast([]), simquac.scenarios(topics(1)), limits=LIMITS, conduct=Conduct(record=file))

    def failures(cast, scenarios, limits=LIMITS):
        return [
            str(conversation.failure)
            for conversation in duologue.simulate(cast, scenarios, limits=limits, conduct=Conduct(replay_calls=file))
        ]

    (other,) = failures(cast([]), simquac.scenarios(topics(2))[1:])
    assert "has no call of user in turn 1, attempt 1 of conversation" in other
    assert "the nearest is user in turn 1, attempt 1" in other
    (model,) = failures(cast([], words=" two"), simquac.scenarios(topics(1)))
    assert "arguments was" in model
    assert "paid two" in model


def test_the_first_difference_of_two_messages_is_shown_with_what_is_around_it(tmp_path):
    from langchain_core.messages import HumanMessage, SystemMessage

    from duologue.nodes.calls.store import Call, SentRequest, StoredReply

    key = Call(0, "c1", "user").key(1)
    with Conduct(record=tmp_path / "calls.jsonl").calls() as file:
        file.keep(
            key,
            SentRequest.of({"m": 1}, [SystemMessage("You travel."), HumanMessage("Now to the sea.")]),
            StoredReply({}),
        )
    call_file = CallFile.replaying(tmp_path / "calls.jsonl")
    with pytest.raises(
        runs.ReplayError, match=r"message 2 \(human\) differs at character 12: was 'Now to the sea\.', now"
    ):
        call_file.find(key, SentRequest.of({"m": 1}, [SystemMessage("You travel."), HumanMessage("Now to the hills.")]))
    with pytest.raises(runs.ReplayError, match="m was 1, now it is 2"):
        call_file.find(key, SentRequest.of({"m": 2}, [SystemMessage("You travel.")]))
    with pytest.raises(runs.ReplayError, match="2 messages were sent, now 1"):
        call_file.find(key, SentRequest.of({"m": 1}, [SystemMessage("You travel.")]))


def test_a_message_that_goes_on_differs_where_the_other_one_ends():
    words = where_they_differ({"content": "To the sea"}, {"content": "To the seaside"})
    assert words == "differs at character 11: was 'To the sea', now 'To the seaside'"


def test_a_value_is_cut_where_it_is_longer_than_what_is_shown():
    longest = "x" * (2 * SHOWN - 2)  # with its quotation marks
    assert short(longest) == f'"{longest}"'
    assert short(longest + "x") == f'"{longest}x…'


def test_an_agent_that_keeps_no_history_is_replayed_too(tmp_path):
    lengths: list[int] = []

    def agent(messages):
        lengths.append(len(messages))
        return f"Answer {len(messages)}."

    agent_cast = recllmsim.cast(user="offline", assistant=agent)
    about = data.recllmsim.combined(data.recllmsim.shipped_tasks(), data.recllmsim.shipped_profiles().texts)[:2]
    scenarios = recllmsim.scenarios(about)
    file = tmp_path / "calls.jsonl"
    recorded = duologue.simulate(agent_cast, scenarios, limits=LIMITS, conduct=Conduct(record=file))
    count = len(lengths)
    assert count
    replayed = duologue.simulate(agent_cast, scenarios, limits=LIMITS, conduct=Conduct(replay_calls=file))
    assert plain(replayed) == plain(recorded)
    assert len(lengths) == count


def test_no_key_and_no_header_is_in_a_recorded_file(tmp_path, topics, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-4711")

    class Leaking(PaidModel):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
            result = super()._generate(messages, stop, run_manager, **more)
            message = result.generations[0].message
            message.response_metadata = {"headers": {"Authorization": "Bearer x"}, "model_name": "m"}
            message.content += " sk-very-secret-4711"
            return result

    leaking_cast = simquac.cast(user=Leaking(side="student", till=[]), assistant=Leaking(side="teacher", till=[]))
    duologue.simulate(
        leaking_cast, simquac.scenarios(topics(1)), limits=LIMITS, conduct=Conduct(record=tmp_path / "c.jsonl")
    )
    text = (tmp_path / "c.jsonl").read_text()
    assert "sk-very-secret" not in text
    assert "Authorization" not in text
    assert "[key]" in text


def test_a_file_that_is_none_or_is_there_already_is_refused(tmp_path, topics):
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": 1}\n')
    for conduct in (Conduct(record=other), Conduct(replay_calls=other)):
        with pytest.raises((DataError, SettingError), match=r"other\.jsonl"):
            duologue.simulate(cast([]), simquac.scenarios(topics(1)), limits=LIMITS, conduct=conduct)
    assert other.read_text() == '{"id": 1}\n'
    with pytest.raises(SettingError, match="give one of them"):
        Conduct(record="a", replay_calls="b")


def test_calls_outside_a_run_are_recorded_and_replayed_too(tmp_path, topics):
    file, till = tmp_path / "calls.jsonl", []

    def talk(most):
        return duologue.simulate(cast(till, most), simquac.scenarios(topics(1)), limits=LIMITS)

    with runs.recorded_calls(file, record=True):
        first = talk(10**9)
    with runs.recorded_calls(file):
        assert plain(talk(0)) == plain(first)


def test_recorded_calls_need_no_key(tmp_path, faulty, monkeypatch):
    file, endpoint = tmp_path / "calls.jsonl", faulty(reply="It is now on 3 May.")

    def talk():
        openai = import_module("langchain_openai").ChatOpenAI(model="m")  # of an agent of one's own
        agent = StateGraph(MessagesState).add_node("say", lambda state: {"messages": [openai.invoke("Hello?")]})
        cast = agent_test.cast("openai:m", agent.add_edge(START, "say").compile())
        return duologue.simulate(cast, agent_test.scenarios([{"goal": "move it"}]), limits=Limits(max_turns=1))

    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    with runs.recorded_calls(file, record=True):
        first = talk()
    monkeypatch.delenv("OPENAI_API_KEY")
    calls = endpoint.counts()["requests"]
    with runs.recorded_calls(file):
        assert plain(talk()) == plain(first)
    assert (endpoint.counts()["requests"], os.environ.get("OPENAI_API_KEY")) == (calls, None)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        assert agent_test.cast("openai:m").nodes
    assert "OPENAI_API_KEY is not set" in repr(agent_test.cast("openai:m"))


def test_two_judges_of_the_same_question_are_replayed_apart(tmp_path, topics):
    class Judge(ScriptedModel):
        model: str  # the record names it

    models = {name: Judge(model=name, lines=[json.dumps({"reason": name, "value": name == "a"})]) for name in "ab"}
    judges = {name: nodes.judged(model, "Is it polite?") for name, model in models.items()}
    judged_cast = cast([]).replace(closing=nodes.scoring(**judges))
    recorded = simulated(judged_cast, topics, None, conduct=Conduct(record=tmp_path / "calls.jsonl"))
    assert sum(len(model.sent) for model in models.values()) == 8
    replayed = simulated(judged_cast, topics, None, conduct=Conduct(replay_calls=tmp_path / "calls.jsonl"))
    assert plain(replayed) == plain(recorded)
    assert sum(len(model.sent) for model in models.values()) == 8


def test_a_pipe_is_no_file_of_calls(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for opened in (CallFile.replaying, CallFile.recording):
        with pytest.raises(DataError, match="is a pipe and no file"):
            opened(tmp_path / "pipe")


def test_only_the_first_of_many_replies_that_are_not_used_is_compared(tmp_path, monkeypatch):
    path = tmp_path / "calls.jsonl"
    keys = [Call(0, f"c{number}", "user").key(1) for number in range(50)]
    file = CallFile.recording(path)
    for key in keys:
        file.keep(key, SentRequest.of({"m": 1}, [HumanMessage("Then?")]), StoredReply({"content": "old"}))
    file.close()
    file, looked, find = CallFile.recording(path), [], CallFile._messages

    def counted(*of: Any) -> Any:
        looked.append(1)
        return find(*of)

    monkeypatch.setattr(CallFile, "_messages", counted)
    assert [file.find(key, SentRequest.of({"m": 1}, [HumanMessage("Now?")])) for key in keys] == [None] * 50
    assert "was 'Then?', now 'Now?'" in file.unused[keys[0]]
    assert len(file.unused) == 50
    assert len(looked) == 1
    file.close()


def test_a_call_that_a_file_lacks_is_recorded_without_the_name_of_a_class():
    assert error_line(ReplayError("calls.jsonl: holds no reply")) == "calls.jsonl: holds no reply"
