"""The call journal: what was paid for is not paid again, and a recorded run runs without its endpoint."""

import json
import os
import re
from importlib import import_module
from typing import Any

import pytest
from langchain_core.exceptions import ModelInvalidRequestError
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

import duologue
from duologue import data, nodes, runs
from duologue.errors import DataError, ModelError, SettingError
from duologue.graphs import agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.calls.call_store import Call, SentRequest, StoredReply
from duologue.nodes.calls.service import CallService
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.settings.redaction import error_line
from duologue.runs import CallFile, Conduct, RunError
from duologue.runs.journals.call_differences import SHOWN, ReplayError, short, where_they_differ
from duologue.testing import scripted_model
from tests.fake_models import PaidModel


def cast(till, most=10**9, words=""):
    user, assistant = (PaidModel(side=side, till=till, most=most, words=words) for side in ("student", "teacher"))
    return simquac.cast(user=user, assistant=assistant)


LIMITS = Limits(max_turns=3, seed=4)


def simulated(cast, topics, out, **more):
    scenarios = simquac.scenarios(topics(4))
    return duologue.simulate(cast, scenarios, limits=LIMITS, out=out, **more)


def plain(conversations):
    return [conversation.without_timing().plain() for conversation in conversations]


@pytest.fixture
def whole(tmp_path, topics):
    """An undisturbed run, and the number of its calls."""
    till: list[int] = []
    return plain(simulated(cast(till), topics, tmp_path / "whole")), len(till)


def test_what_was_paid_before_a_run_broke_off_is_not_paid_again(tmp_path, topics, whole):
    undisturbed, calls = whole
    till: list[int] = []
    for most in range(5, calls, 7):
        simulated(cast(till, most), topics, tmp_path / "broken", resume=most > 5)
        assert len(till) == most
    conversations = simulated(cast(till), topics, tmp_path / "broken", resume=True)
    assert plain(conversations) == undisturbed
    assert len(till) == calls


def test_the_journal_is_dropped_when_the_run_is_complete_unless_it_is_to_be_kept(tmp_path, topics):
    simulated(cast([], 9), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    assert journal.is_file()
    simulated(cast([]), topics, tmp_path / "run", resume=True, conduct=Conduct(keep_calls=True))
    assert journal.is_file()
    simulated(cast([]), topics, tmp_path / "run", resume=True)
    assert not journal.exists()


def test_a_reply_to_something_else_is_not_used_and_the_run_says_so(tmp_path, topics, caplog):
    till: list[int] = []
    paid_cast = cast(till, 9)
    simulated(paid_cast, topics, tmp_path / "run")
    lines = (tmp_path / "run/calls.jsonl").read_text().splitlines()
    changed = [re.sub(r'("digest": ?")', r"\1other", line) for line in lines]
    (tmp_path / "run/calls.jsonl").write_text("\n".join(changed) + "\n")
    till.clear()
    summary = duologue.runs.blocking(
        runs.arun(cast(till), simquac.scenarios(topics(4)), tmp_path / "run", limits=LIMITS, resume=True)
    )
    assert summary.complete
    assert any("kept replies were not used" in note for note in summary.notes)


def test_a_broken_line_of_the_journal_is_asked_again(tmp_path, topics, whole):
    undisturbed, calls = whole
    till: list[int] = []
    simulated(cast(till, 12), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"{\xff\n", *lines[3:], b'{"cut off']))
    assert plain(simulated(cast(till), topics, tmp_path / "run", resume=True)) == undisturbed
    assert len(till) == calls


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

    from duologue.nodes.calls.call_store import Call, SentRequest, StoredReply

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


def test_a_reply_is_on_the_disk_when_its_file_is_closed(tmp_path, monkeypatch):
    from langchain_core.messages import HumanMessage

    from duologue.nodes.calls.call_store import Call, SentRequest, StoredReply

    synced = []
    file = CallFile.recording(tmp_path / "calls.jsonl")
    file.keep(Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")]), StoredReply({}))
    monkeypatch.setattr(os, "fsync", synced.append)
    file.close()
    assert len(synced) == 1


async def test_a_turn_of_an_agent_that_failed_is_not_kept(tmp_path):
    file = CallFile.recording(tmp_path / "calls.jsonl")
    for outcome in ({"failed": "timeout"}, {"drafts": []}):

        async def ask(outcome=outcome):
            return outcome

        call = Call(0, "c1", "assistant")
        assert await CallService(store=file).update({"agent": "a"}, [HumanMessage("Now?")], call, 1, ask) == outcome
    file.close()
    assert file.path.read_text().count('"reply"') == 1


def test_the_second_file_of_calls_is_on_the_disk_and_closed_with_the_first(tmp_path, monkeypatch):
    from langchain_core.messages import HumanMessage

    from duologue.nodes.calls.call_store import Call, SentRequest, StoredReply

    synced = []
    file, copy = (CallFile.recording(tmp_path / name) for name in ("calls.jsonl", "copy.jsonl"))
    file.copy = copy
    file.keep(Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")]), StoredReply({}))
    monkeypatch.setattr(os, "fsync", synced.append)
    file.sync()
    file.sync()  # nothing is left to write
    assert len(synced) == 2
    file.close()
    CallFile.recording(copy.path).close()  # its lock is free


def test_a_second_file_that_lacks_a_reply_gets_it_when_the_first_is_asked_for_it(tmp_path):
    key, sent = Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")])
    file = CallFile.recording(tmp_path / "calls.jsonl")
    file.keep(key, sent, StoredReply({"content": "Yes."}))
    file.close()
    for _ in range(2):
        file, file.copy = (CallFile.recording(tmp_path / name) for name in ("calls.jsonl", "copy.jsonl"))
        assert file.find(key, sent).value == {"content": "Yes."}
        file.close()
    assert (tmp_path / "copy.jsonl").read_text().count('"reply"') == 1


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
        agent_test.cast("openai:m")


def test_a_score_whose_judge_failed_is_asked_again_on_resume(tmp_path, topics):
    closed, is_open = (
        scripted_model(ModelInvalidRequestError("not now")),
        scripted_model('{"reason": "fine", "value": true}'),
    )

    def judged(model):
        return cast(till).replace(closing=nodes.scoring(polite=nodes.judged(model, "Is it polite?")))

    till: list[int] = []
    scenarios = simquac.scenarios(topics(2))
    work = runs.arun(judged(closed), scenarios, tmp_path / "run", limits=LIMITS)
    summary = runs.blocking(work)
    assert (summary.finished, summary.unanswered, summary.complete) == (2, 2, False)
    paid = len(till)
    summary = runs.blocking(runs.arun(judged(is_open), scenarios, tmp_path / "run", limits=LIMITS, resume=True))
    assert (summary.finished, summary.unanswered, summary.complete) == (2, 0, True)
    assert len(till) == paid
    assert len(is_open.sent) == 2


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


@pytest.mark.parametrize("recorded", ["first", "second"])
def test_a_run_that_is_recorded_in_one_of_its_parts_pays_nothing_twice(tmp_path, topics, whole, recorded):
    undisturbed, calls = whole
    till: list[int] = []
    record = Conduct(record=tmp_path / "calls.jsonl")
    simulated(cast(till, most=calls // 2), topics, tmp_path / "run", conduct=record if recorded == "first" else None)
    more = record if recorded == "second" else None
    resumed = simulated(cast(till), topics, tmp_path / "run", resume=True, conduct=more)
    assert plain(resumed) == undisturbed
    assert len(till) == calls
    assert not (tmp_path / "run" / "calls.jsonl").exists()


def test_what_is_begun_anew_does_not_use_what_was_kept_before_and_goes_on_after_a_kill(tmp_path):
    first, second = Call(0, "c1", "user").key(1), Call(0, "c1", "user", 1).key(1)
    sent, path = SentRequest.of({"m": 1}, [HumanMessage("Now?")]), tmp_path / "calls.jsonl"

    def opened():
        """The file, and its copy, which does not use them either."""
        opened_file = CallFile.recording(path)
        opened_file.copy = CallFile.recording(tmp_path / "copy.jsonl")
        return opened_file

    file = opened()
    file.keep(first, sent, StoredReply({"content": "old"}))
    file.begin_anew({"c1"})
    assert file.find(first, sent) is None
    file.keep(first, sent, StoredReply({"content": "new"}))
    file.close()  # as a kill leaves it: the conversation is not over
    file = opened()
    file.begin_anew({"c1"})
    assert file.find(first, sent).value == {"content": "new"}
    file.keep(second, sent, StoredReply({"content": "and on"}))
    file.forget("c1")
    file.close()
    file = opened()
    assert file.find(second, sent).value == {"content": "and on"}
    file.begin_anew({"c1"})
    assert file.find(first, sent) is None
    assert file.find(second, sent) is None
    assert [paid.reply for paid in file.paid] == ["new", "old", "and on"]
    assert path.read_text().count('"message"') == 1  # what was sent stands there once
    file.close()


def test_a_bound_of_tokens_counts_what_was_spent_before_also_where_no_usage_is_reported(tmp_path, topics):
    class Silent(PaidModel):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
            result = super()._generate(messages, stop, run_manager, **more)
            result.generations[0].message.usage_metadata = None
            return result

    till: list[int] = []

    def resumed(resume, tokens):
        silent = simquac.cast(user=Silent(side="student", till=till), assistant=Silent(side="teacher", till=till))
        conduct = Conduct(max_run_tokens=tokens)
        scenarios = simquac.scenarios(topics(4))
        work = runs.arun(
            silent, scenarios, tmp_path / "run", limits=LIMITS, resume=resume, concurrency=1, conduct=conduct
        )
        return runs.blocking(work)

    assert not resumed(False, 2000).complete
    paid = len(till)
    assert paid > 3
    assert "is reached" in str(resumed(True, 2000).stopped)
    assert len(till) <= paid + 3  # what finished conversations have sent is estimated
    assert resumed(True, 10**6).complete


@pytest.mark.parametrize("harm", [lambda path: os.truncate(path, 0), os.remove], ids=["cut", "removed"])
def test_a_run_whose_replies_cannot_be_kept_ends_at_once_and_pays_no_more(tmp_path, topics, harm):
    class Till(list[int]):
        def append(self, one):
            super().append(one)
            if len(self) == 3:
                harm(tmp_path / "run/calls.jsonl")

    till = Till()
    with pytest.raises(RunError, match=r"calls\.jsonl: was (cut|removed)"):
        simulated(cast(till), topics, tmp_path / "run", concurrency=1)
    assert len(till) == 3


def test_a_pipe_is_no_file_of_calls(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for opened in (CallFile.replaying, CallFile.recording):
        with pytest.raises(DataError, match="is a pipe and no file"):
            opened(tmp_path / "pipe")


@pytest.mark.parametrize(
    "spoiled",
    [
        *({"reply": reply} for reply in ({"usage_metadata": {}}, {"content": 5}, {"response_metadata": 5})),
        *({"to": 5}, {"sent": None}, {"turn": "x"}),
    ],
)
def test_a_line_that_is_no_call_is_passed_over_and_the_good_one_before_it_stands(tmp_path, topics, whole, spoiled):
    undisturbed, calls = whole
    till: list[int] = []
    simulated(cast(till, 12), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    call_lines = [json.loads(line) for line in journal.read_text().splitlines()]
    call = next(line for line in call_lines if "reply" in line)
    with journal.open("a") as file:
        file.write(json.dumps(call | spoiled) + "\n")
    assert plain(simulated(cast(till), topics, tmp_path / "run", resume=True)) == undisturbed
    assert len(till) == calls


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


def test_the_last_turn_of_a_side_is_asked_again_and_no_other(tmp_path, steps):
    path = tmp_path / "calls.jsonl"
    keys = [
        Call(0, "c", role, turn).key(attempt) for role in ("user", "assistant") for turn in (0, 1) for attempt in (1, 2)
    ]
    file, sent = CallFile.recording(path), SentRequest.of({"m": 1}, [HumanMessage("Now?")])
    others = [Call(0, f"other {number}", "user").key(1) for number in range(50)]
    for key in keys + others:
        file.keep(key, sent, StoredReply({"content": "x"}))
    file.close()
    file = CallFile.recording(path)
    file.ask_again("c", "user")
    again = [key for key in keys if file.find(key, sent) is None]
    assert again == [key for key in keys if (key.role, key.turn) == ("user", 1)]
    assert steps(file.ask_again, "other 1", "user") < 20  # not all calls are looked at again
    file.ask_again("unknown", "user")
    assert all(file.find(key, sent) for key in keys if key.role == "assistant")
    file.close()


def test_a_call_that_a_file_lacks_is_recorded_without_the_name_of_a_class():
    assert error_line(ReplayError("calls.jsonl: holds no reply")) == "calls.jsonl: holds no reply"


def test_a_file_keeps_no_snapshot_of_a_world_unless_it_has_room_for_them(tmp_path):
    file, sent = CallFile.recording(tmp_path / "calls.jsonl"), SentRequest.of({"m": 1}, [HumanMessage("Now?")])
    for number, room in enumerate((file.snapshot_bytes, 100)):
        key, file.snapshot_bytes = Call(0, "c", "assistant", number).key(1), room
        file.keep(key, sent, StoredReply({"content": "x"}, world={"seats": 1}))
    file.close()
    calls = [line for line in map(json.loads, file.path.read_text().splitlines()) if "reply" in line]
    assert [call.get("world") for call in calls] == [None, {"seats": 1}]
