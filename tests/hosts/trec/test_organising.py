"""The other side of the track: a platform that gives both tasks, keeps every message, and goes on after a kill."""

import asyncio
import json

import httpx
import pytest

from duologue.data.records import Conversation, Message
from duologue.data.test_cases.trec import scenario_of
from duologue.errors import SettingError
from duologue.graphs import agent_test
from duologue.hosts import trec
from duologue.hosts.trec.organising import TrackPlatform
from duologue.hosts.trec.protocol import Platform
from duologue.hosts.trec.serving import check_given
from tests.hosts.trec.stand_in import SCENARIOS


def helper(messages):
    return f"Alpha is one, number {len(messages)}."


def talk():
    said = [
        ("user", "Talks?"),
        ("assistant", "Alpha."),
        ("user", "Others?"),
        ("assistant", "Beta."),
        ("user", "Thanks."),
    ]
    messages = tuple(Message(role=role, text=text) for role, text in said)
    return Conversation(id="a", scenario=scenario_of(SCENARIOS[0]), messages=messages)


def platform(folder, budget=2, agents=None, **settings):
    agents = agents or {"helper": agent_test.cast(assistant=helper), "offline": agent_test.cast()}
    scenarios = [scenario_of(value) for value in SCENARIOS]
    return TrackPlatform(folder, scenarios, agents, [talk()], budget, **settings)


def transport(one):
    async def handle(request):
        body = json.loads(request.content) if request.content else None
        answer = await one.answer(request.method, request.url.path, dict(request.url.params), body)
        if isinstance(answer.body, str):
            return httpx.Response(answer.status, text=answer.body)
        return httpx.Response(answer.status, json=dict(answer.body))

    return httpx.MockTransport(handle)


def asked(one, method, path, body=None, **params):
    return asyncio.run(one.answer(method, path, params, body))


def test_every_scenario_is_played_with_every_agent(tmp_path):
    one = platform(tmp_path)
    report = trec.play(Platform("http://here", "task2", "r", transport=transport(one)))
    assert (report.conversations, report.messages, report.problems) == (4, 8, ())
    lines = [json.loads(line) for line in (tmp_path / "run" / "r.jsonl").read_text().splitlines()[1:]]
    assert [line["agent"] for line in lines if line["ended"]] == ["helper", "offline"] * 2
    assert lines[0]["scenario"] == SCENARIOS[0]


def test_each_message_of_a_person_but_the_first_is_asked_for(tmp_path):
    one = platform(tmp_path)
    report = trec.play(Platform("http://here", "task1", "r", transport=transport(one)))
    assert (report.messages, report.problems) == (2, ())
    answered = talk().model_copy(update={"messages": talk().messages[:4]})
    assert [len(place.history) for place in TrackPlatform(tmp_path, histories=[answered]).places("task1")] == [2]


def test_a_log_without_a_goal_asks_for_what_its_person_asked_first(tmp_path):
    log = talk().model_copy(update={"scenario": {}})
    one = TrackPlatform(tmp_path, histories=[log])
    assert [place.scenario["goal"]["topic"] for place in one.places("task1")] == ["Talks?", "Talks?"]
    assert trec.play(Platform("http://here", "task1", "r", transport=transport(one))).messages == 2


def test_a_platform_that_is_started_again_goes_on(tmp_path):
    one = platform(tmp_path)
    first = asked(one, "POST", "task2/run/start", {"run_id": "r"}).body
    said = {"conversation_id": first["conversation_id"], "text": "Talks?"}
    asked(one, "POST", "task2/run/continue", {"run_id": "r", "user_utterance": said})
    with (tmp_path / "run" / "r.jsonl").open("a") as file:
        file.write('{"run_id": "r", "chat_mess')  # a kill while a line was written
    again = platform(tmp_path)
    before, after = (asked(side, "GET", "run/session", run_id="r").body for side in (one, again))
    assert json.dumps(before) == json.dumps(after)
    answer = asked(again, "POST", "task2/run/continue", {"run_id": "r", "user_utterance": said})
    assert answer.status == 201
    assert len(platform(tmp_path).runs["run", "r"].lines) == 2


def test_what_a_client_does_wrong_gets_a_status_and_a_reason(tmp_path):
    one = platform(tmp_path)
    wrong = [
        *(("POST", "task2/run/start", {"run_id": name}, 422) for name in ("../x", "a/x", ".x", "a" * 101)),
        ("POST", "task2/run/start", {"run_id": "r", "task_name": "next_utterance_prediction"}, 422),
        ("POST", "task2/run/start", [], 422),
        ("POST", "task3/run/start", {"run_id": "r"}, 404),
        ("POST", "task2/run/continue", {"run_id": "r", "user_utterance": {"text": "hi"}}, 404),
        ("GET", "run/dump", None, 404),
        ("DELETE", "run/dump", None, 404),
    ]
    assert [asked(one, *case[:3]).status for case in wrong] == [case[3] for case in wrong]
    assert asked(one, "POST", "task2/run/start", {"run_id": "r"}).status == 200
    assert asked(one, "POST", "task2/run/start", {"run_id": "r"}).status == 412
    of_task2 = {"run_id": "r", "user_utterance": {"text": "hi"}}
    assert asked(one, "POST", "task1/run/continue", of_task2).status == 404
    for utterance, status in [({}, 422), ({"text": 3}, 422), ({"text": "hi", "conversation_id": "z"}, 409)]:
        body = {"run_id": "r", "user_utterance": utterance}
        assert asked(one, "POST", "task2/run/continue", body).status == status
    assert list(tmp_path.rglob("*.jsonl")) == [tmp_path / "run" / "r.jsonl"]


def test_an_agent_that_fails_costs_the_user_no_message(tmp_path):
    def broken(messages):
        raise RuntimeError("no")

    one = platform(tmp_path, agents={"broken": agent_test.cast(assistant=broken)})
    asked(one, "POST", "task2/run/start", {"run_id": "r"})
    said = {"run_id": "r", "user_utterance": {"text": "Talks?"}}
    assert asked(one, "POST", "task2/run/continue", said).status == 503
    assert one.runs["run", "r"].messages == []


@pytest.mark.heavy
def test_a_budget_beyond_the_turns_of_the_agents_cast_is_spent(tmp_path):
    one = platform(tmp_path, budget=14, agents={"helper": agent_test.cast(assistant=helper)})
    report = trec.play(Platform("http://here", "task2", "r", transport=transport(one)), user=lambda messages: "More?")
    assert (report.messages, report.problems) == (28, ())


def test_two_messages_of_a_run_at_once_are_answered_one_after_the_other(tmp_path):
    one = platform(tmp_path, budget=9)

    async def both():
        await one.answer("POST", "task2/run/start", {}, {"run_id": "r"})
        body = {"run_id": "r", "user_utterance": {"text": "Talks?"}}
        return await asyncio.gather(*(one.answer("POST", "task2/run/continue", {}, body) for _ in range(2)))

    first, second = asyncio.run(both())
    assert [len(answer.body["chat_messages"]) for answer in (first, second)] == [2, 4]


def test_a_platform_with_nothing_to_give_is_refused(tmp_path):
    with pytest.raises(SettingError, match="give scenarios and an assistant"):
        check_given(TrackPlatform(tmp_path))
