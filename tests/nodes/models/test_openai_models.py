"""langchain-openai for real, against an endpoint on the loopback: what is sent, and what becomes of it."""

import asyncio
import gc
import json
from typing import Any

import pytest
from werkzeug import Response

import duologue
from duologue import graphs
from duologue.nodes import Limits
from duologue.nodes.models.scripted import ScriptedModel
from tests.fake_models import SeededModel, SeedlessModel

LISTED = "1. Who lived on the rock?\n2. When did they leave?"
QUESTIONS = ["Who lived on the rock?", "Who was the last of them?", "Do vessels come by?"]
IN_OTHER_WORDS = "A trio of wardens was at home there."
INVENTED = "It was Ada, as far as is known."


@pytest.fixture
def simulated(lighthouse):
    """One conversation about the lighthouse between two models."""

    def simulate(user: Any = "openai:m", assistant: Any = None, turns: int = 1, **limits: int):
        cast = graphs.simquac.cast(user, user if assistant is None else assistant)
        scenario = graphs.simquac.scenario(lighthouse)
        return duologue.simulate(cast, [scenario], limits=Limits(max_turns=turns, **limits))[0]

    return simulate


@pytest.fixture
def talk(endpoint, simulated):
    """Three turns: a listed question, two answers in the teacher's own words, and a refusal."""
    endpoint.say(
        user=[LISTED, *QUESTIONS],
        assistant=[IN_OTHER_WORDS, "three keepers", INVENTED, "Ada Quill", "I cannot find the answer."],
    )
    return simulated(turns=3)


def test_a_conversation_stores_the_sections_own_words(talk, endpoint):
    assert (talk.stop, talk.failure) == ("max_turns", None)
    assert [message.text for message in talk.messages] == [
        QUESTIONS[0], "Three keepers",
        QUESTIONS[1], "Ada Quill",
        QUESTIONS[2], "I cannot find the answer.",
    ]  # fmt: skip
    assert [attempt.reason for attempt in talk.attempts() if attempt.verdict == "rejected"] == [
        "enumeration", "not_in_section", "not_in_section",
    ]  # fmt: skip
    assert (talk.usage.calls, talk.usage.input_tokens, talk.usage.output_tokens) == (9, 180, 27)
    assert talk.provenance.nodes["assistant"].settings["model"] == {"spec": "openai:m", "arguments": {}}
    assert [side for side, *_ in endpoint.calls] == [*2 * ["user"], *2 * ["assistant"], "user", *2 * ["assistant"], "user", "assistant"]  # fmt: skip


def test_each_request_names_the_model_and_asks_for_no_stream(talk, endpoint):
    assert {body["model"] for body in endpoint.bodies()} == {"m"}
    assert not any(body.get("stream") or "stream_options" in body for body in endpoint.bodies())
    assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {endpoint.key}"}


def test_every_call_has_a_seed_of_its_own(talk, endpoint):
    seeds = [body["seed"] for body in endpoint.bodies()]
    assert len(set(seeds)) == len(endpoint.calls) == 9
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in seeds)


def test_the_same_run_sends_the_same_and_another_seed_other_seeds(endpoint, simulated):
    sent = []
    for seed in (0, 0, 1):
        simulated(turns=2, seed=seed)
        sent.append(endpoint.bodies())
        endpoint.calls.clear()
    assert sent[0] == sent[1]
    assert not {body["seed"] for body in sent[0]} & {body["seed"] for body in sent[2]}


def test_a_seed_in_the_spec_is_the_seed_of_every_call(endpoint, simulated):
    simulated("openai:m?seed=7", turns=2)
    assert {body["seed"] for body in endpoint.bodies()} == {7}


def test_roles_alternate_after_the_system_message(talk, endpoint):
    for body in endpoint.bodies():
        roles = [message["role"] for message in body["messages"]]
        assert roles == (["system"] + ["user", "assistant"] * len(roles))[: len(roles)]
        assert roles[-1] == "user"
        assert all(message["content"].strip() for message in body["messages"])


def test_the_student_is_sent_neither_the_section_nor_a_rejected_draft(talk, endpoint, lighthouse):
    for text in endpoint.texts("user"):
        assert "<section>" not in text
        assert not any(sentence in text for sentence in lighthouse.section.split(". "))
        assert not any(draft in text for draft in (LISTED, "When did they leave?", IN_OTHER_WORDS, INVENTED))
    last = endpoint.bodies("user")[-1]["messages"]
    own = [message["content"] for message in last if message["role"] == "assistant"]
    assert own == QUESTIONS[:2]
    assert [words in endpoint.texts("user")[-1] for words in ("Three keepers", "Ada Quill")] == [True, True]


def test_the_teacher_is_sent_the_section_and_its_rejected_answers_of_this_turn_alone(talk, endpoint, lighthouse):
    texts = endpoint.texts("assistant")
    assert all(text.count(lighthouse.section) == 1 for text in texts)
    assert [IN_OTHER_WORDS in text for text in texts] == [False, True, False, False, False]
    assert [INVENTED in text for text in texts] == [False, False, False, True, False]
    assert not any(LISTED in text for text in texts)
    again = endpoint.bodies("assistant")[3]["messages"]
    assert [m["content"] for m in again if m["role"] == "assistant"] == ["Three keepers", INVENTED]


def test_the_reminder_goes_with_each_question_and_is_never_stored(talk, endpoint):
    reminder = next(iter(talk.attempts("assistant"))).prompt
    assert reminder.name == "assistant/reminder"
    for body, text in zip(endpoint.bodies("assistant"), endpoint.texts("assistant"), strict=True):
        assert text.count(reminder.text) == 1
        questions = [m["content"] for m in body["messages"] if m["role"] == "user" and reminder.text in m["content"]]
        assert any(question in questions[0] for question in QUESTIONS)
    assert not any(reminder.text in message.text or "<note>" in message.text for message in talk.messages)
    assert not any(reminder.text in text for text in endpoint.texts("user"))


def test_a_rejected_draft_is_followed_by_a_repair_prompt(talk, endpoint):
    for side, number, page in (
        ("user", 1, "user/repair_enumeration"),
        ("assistant", 1, "assistant/repair_not_in_section"),
    ):
        prompt = next(a.prompt for a in talk.attempts(side) if a.number == 2)
        assert prompt.name == page
        assert endpoint.bodies(side)[number]["messages"][-1]["content"].endswith(f"<note>{prompt.text}</note>")


def test_system_messages_hold_nothing_of_the_topic_nor_of_the_other_side(talk, endpoint, lighthouse):
    foreign = [lighthouse.title, lighthouse.background, lighthouse.header, *lighthouse.section.split(". ")]
    foreign += [*QUESTIONS, LISTED, IN_OTHER_WORDS, INVENTED, "Three keepers", "Ada Quill"]
    for side in ("user", "assistant"):
        systems = [[m["content"] for m in body["messages"] if m["role"] == "system"] for body in endpoint.bodies(side)]
        assert all(system == systems[0] and len(system) == 1 for system in systems)
        assert not any(text in systems[0][0] for text in foreign)


def test_arguments_of_the_spec_reach_the_request_and_the_record(endpoint, simulated):
    conversation = simulated("openai:m?temperature=0.5&max_tokens=60", "openai:other?top_p=0.9")
    user, assistant = endpoint.bodies()
    assert (user["model"], user["temperature"]) == ("m", 0.5)
    assert 60 in (user.get("max_tokens"), user.get("max_completion_tokens"))
    assert (assistant["model"], assistant["top_p"]) == ("other", 0.9)
    assert "temperature" not in assistant
    assert conversation.provenance.nodes["user_simulator"].settings["model"] == {
        "spec": "openai:m",
        "arguments": {"temperature": 0.5, "max_tokens": 60},
    }


async def test_the_graph_itself_can_be_awaited(endpoint, lighthouse):
    graph = graphs.conversation(graphs.simquac.cast("openai:m", "openai:m"))
    state = await graph.ainvoke(graphs.simquac.scenario(lighthouse), context=Limits(max_turns=2))
    assert (state["stop"], len(state["messages"]), len(endpoint.calls)) == ("max_turns", 4, 4)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LANGSMITH_GATEWAY", "true"),
        ("OPENAI_API_BASE", "http://127.0.0.1:9/v1"),
        ("OPENAI_PROXY", "http://127.0.0.1:9"),
        ("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9"),
        ("OPENAI_API_TYPE", "azure"),
    ],
)
def test_no_other_variable_diverts_a_call(endpoint, simulated, monkeypatch, name, value):
    for key in ("LANGSMITH_API_KEY", "LANGSMITH_GATEWAY_API_KEY", "AZURE_OPENAI_API_KEY"):
        monkeypatch.setenv(key, "another-key")
    monkeypatch.setenv(name, value)
    conversation = simulated("openai:m?max_retries=0")
    assert (conversation.stop, conversation.failure) == ("max_turns", None)
    assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {endpoint.key}"}


def test_one_cast_serves_several_calls(endpoint, lighthouse):
    cast = graphs.simquac.cast("openai:m", "openai:m", limits=Limits(max_turns=1))
    first, second = (duologue.simulate(cast, [graphs.simquac.scenario(lighthouse)])[0] for _ in range(2))
    assert first.stop == "max_turns"
    assert first.without_timing() == second.without_timing()


async def test_simulate_works_inside_a_running_loop(endpoint, simulated):
    conversation = simulated(turns=2)
    assert (conversation.stop, len(endpoint.calls)) == ("max_turns", 4)


@pytest.fixture
def played(lighthouse):
    """Plays the same cast in one way after another, and gives how each conversation stopped."""
    cast = graphs.simquac.cast("openai:m?max_retries=0", "openai:m?max_retries=0", limits=Limits(max_turns=1))
    graph, scenario = graphs.conversation(cast), graphs.simquac.scenario(lighthouse)

    async def awaited():
        return (await graph.ainvoke(scenario))["stop"]

    def simulated():
        return duologue.simulate(cast, [scenario])[0].stop

    async def in_a_notebook():
        return simulated(), await awaited()

    ways = {
        "simulate": lambda: [simulated()],
        "run": lambda: [asyncio.run(awaited())],
        "notebook": lambda: [*asyncio.run(in_a_notebook())],
    }
    return lambda *names: [stop for name in names for stop in ways[name]()]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize(
    "ways",
    [("simulate", "simulate"), ("run", "run"), ("simulate", "run"), ("run", "simulate"), ("notebook",)],
    ids="_then_".join,
)
def test_one_cast_serves_one_loop_after_another(lasting, played, ways):
    stops = played(*ways)
    gc.collect()
    assert stops == ["max_turns", "max_turns"]


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_no_connection_outlives_its_loop(lasting, played):
    assert played("run") == ["max_turns"]
    left = lasting.left_open()
    gc.collect()
    assert left == 0


def test_a_chat_model_instance_stands_in_for_a_spec(simulated):
    student, teacher = ScriptedModel(lines=["Who lived there?"]), ScriptedModel(lines=["three keepers"])
    conversation = simulated(student, teacher)
    assert [message.text for message in conversation.messages] == ["Who lived there?", "Three keepers"]
    assert conversation.provenance.nodes["user_simulator"].settings["model"] == {
        "class": "ScriptedModel",
        "arguments": {},
    }
    assert conversation.usage.calls == 2


def test_an_instance_is_sent_a_seed_only_if_it_knows_one_and_has_none(simulated):
    plain, seeded, settled = (
        SeedlessModel(lines=["Who?"]),
        SeededModel(lines=["Who?"]),
        SeededModel(lines=["Who?"], seed=3),
    )
    for student in (plain, seeded, settled):
        simulated(student, "offline", turns=2)
    assert plain.options == [{}, {}]
    assert [sorted(kwargs) for kwargs in seeded.options] == [["seed"], ["seed"]]
    assert seeded.options[0] != seeded.options[1]
    assert settled.options == [{}, {}]


def test_a_reply_that_the_endpoint_cut_off_is_rejected_and_the_record_says_so(endpoint, simulated):
    cut = json.loads(endpoint.completion("Three keep").get_data())
    cut["choices"][0]["finish_reason"] = "length"
    cut["usage"] |= {
        "prompt_tokens_details": {"cached_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    endpoint.say(user=["Who lived there?"], assistant=[Response(json.dumps(cut), content_type="application/json")])
    conversation = simulated("openai:m", "openai:m")
    first, second = conversation.messages[1].attempts
    assert (first.reason, first.finish_reason, first.model) == ("cut_off", "length", "m-0815")
    assert (first.usage.cached_tokens, first.usage.reasoning_tokens) == (7, 2)
    assert (second.verdict, second.finish_reason) == ("accepted", "stop")
    assert (conversation.usage.cached_tokens, conversation.usage.reasoning_tokens) == (7, 2)
    assert "broke off before its end" in endpoint.bodies("assistant")[1]["messages"][-1]["content"]
