"""Graphs as a LangGraph server shows and runs them: forms as input, limits and the cast's settings as context."""

import os
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from duologue import data, graphs
from duologue.data.input_forms import Form
from duologue.data.recllmsim import shipped_profiles, shipped_tasks
from duologue.errors import DataError, DuologueError, SettingError
from duologue.graphs import agent_test, recllmsim, record, simquac
from duologue.graphs.serving.contexts import context_of
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError

SERVED = {"simquac": simquac.graph, "recllmsim": recllmsim.graph, "agent_test": agent_test.graph}
TOPIC = {
    "title": "The pier",
    "background": "A pier with a light.",
    "header": "Keepers",
    "section": "Three keepers lived there. The last left in 1968.",
}
every_graph = pytest.mark.parametrize("graph", SERVED.values(), ids=SERVED)


@every_graph
@pytest.mark.parametrize("schema", ["get_input_jsonschema", "get_output_jsonschema", "get_context_jsonschema"])
def test_every_schema_of_a_served_graph_can_be_made(graph, schema):
    assert getattr(graph, schema)()["properties"]
    assert getattr(graphs.conversation(simquac.cast()), schema)()["properties"]


@every_graph
def test_the_input_is_a_form_whose_every_field_says_what_it_is_and_what_to_write(graph):
    fields = graph.get_input_jsonschema()["properties"]
    assert list(fields)[-1] == "messages"
    for name, field in fields.items():
        assert field["title"], name
        assert field["description"], name
        assert "default" in field or "examples" in field, name


@every_graph
def test_the_context_offers_limits_and_the_plain_settings_of_the_cast_each_with_a_description(graph):
    fields = graph.get_context_jsonschema()["properties"]
    assert {"max_turns", "max_tokens", "question_attempts", "answer_attempts", "seed"} <= set(fields)
    assert {"user", "assistant", "prompts"} <= set(fields)
    assert not {"stop", "limits"} & set(fields)
    for name, field in fields.items():
        assert field["title"], name
        assert field["description"], name
        assert "default" in field, name
    assert "openai:gpt-4.1-mini" in fields["user"]["examples"]
    assert "MODULE:NAME" not in fields["user"]["description"]


def test_settings_of_one_cast_alone_are_in_its_context():
    assert recllmsim.graph.get_context_jsonschema()["properties"]["language"]
    assert "language" not in simquac.graph.get_context_jsonschema()["properties"]


async def test_a_form_gives_the_conversation_that_its_scenario_gives():
    limits = Limits(max_turns=2)
    by_scenario = record(await simquac.graph.ainvoke(simquac.scenario(TOPIC), context=limits))
    by_form = record(await simquac.graph.ainvoke(TOPIC, context=limits))
    assert by_form.without_timing() == by_scenario.without_timing()


async def test_an_empty_form_of_a_task_is_the_first_shipped_one_and_one_of_ones_own_needs_a_context():
    final_state = await recllmsim.graph.ainvoke({"language": "zh"}, context={"max_turns": 1})
    assert final_state["scenario"]["task_context"] == shipped_tasks("zh")["旅行规划"][0]
    assert final_state["scenario"]["preference"] == shipped_profiles("zh").texts[0]
    with pytest.raises(DataError, match="'task_context' is empty, and 'taxes' is not a shipped task"):
        await recllmsim.graph.ainvoke({"task": "taxes"})


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "I need a present."}],
        [{"type": "human", "content": [{"type": "text", "text": "I need a present."}]}],
        [HumanMessage("I need a present.")],
        [("user", "I need a present.")],
    ],
)
async def test_messages_alone_are_answered_in_whatever_form_they_come(messages):
    conversation = record(await agent_test.graph.ainvoke({"messages": messages}, context={"max_turns": 1}))
    assert [(message.role, bool(message.attempts)) for message in conversation.messages] == [
        ("user", False),
        ("assistant", True),
    ]
    assert conversation.messages[0].text == "I need a present."
    assert conversation.scenario == {"first_message": "I need a present."}
    assert data.domains.of(conversation).title(conversation.scenario) == "I need a present."


async def test_a_test_of_an_agent_goes_on_after_the_messages_with_the_users_goal():
    messages = [HumanMessage("Hello."), AIMessage("What can I do?")]
    form = {"goal": "change a booking to the third of May", "facts": "The code is QX4821.", "persona": " "}
    conversation = record(await agent_test.graph.ainvoke({"messages": messages, **form}, context={"max_turns": 3}))
    assert conversation.scenario == {"goal": form["goal"], "facts": form["facts"]}
    assert [message.text for message in conversation.messages[:2]] == ["Hello.", "What can I do?"]
    assert "QX4821" in conversation.messages[2].text
    assert len(conversation.exchanges) == 3
    assert conversation.labels["scores"]["success"]["value"] is False


@pytest.mark.parametrize("form", [{}, {"goal": " ", "facts": "a"}, {"messages": [("assistant", "Hello?")]}])
async def test_a_form_in_which_nobody_wants_anything_is_refused_in_one_line(form):
    with pytest.raises(DataError, match="the input's 'goal' is empty, and it has no message of the user") as error:
        await agent_test.graph.ainvoke(form)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"title": "a"}, "'section': Field required"),
        ({**TOPIC, "tittle": "a"}, "'tittle': Extra inputs"),
        ({**TOPIC, "section": ""}, "'section': String should have at least 1"),
        ({**TOPIC, "messages": [{"role": "system", "content": "x"}]}, r"'messages.0.role': Input should be"),
        ({**TOPIC, "messages": "hello"}, "'messages': Input should be"),
    ],
)
async def test_a_wrong_form_is_refused_by_the_name_of_its_field(form, problem):
    with pytest.raises(DataError, match=problem):
        await simquac.graph.ainvoke(form)


async def test_the_context_chooses_speakers_and_settings_and_the_record_says_so():
    chosen = {"max_turns": 1, "user": "offline?two_questions=1", "one_question": True, "question_attempts": 2}
    conversation = record(await simquac.graph.ainvoke(TOPIC, context=chosen))
    assert conversation.stop == "user_rejected"
    assert conversation.provenance.nodes["user_simulator"].flat()["model"]["arguments"] == {"two_questions": 1}
    assert conversation.provenance.limits == Limits(max_turns=1, question_attempts=2).plain()
    again = record(await simquac.graph.ainvoke(TOPIC, context={"max_turns": 1}))
    assert again.stop == "max_turns"


async def test_limits_in_code_and_no_context_at_all_are_accepted_too():
    assert (await simquac.graph.ainvoke(simquac.scenario(TOPIC), context=Limits(max_turns=1)))["turn"] == 1
    assert (await simquac.graph.ainvoke(simquac.scenario(TOPIC)))["turn"] == simquac.TURNS


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"user": "os:system"}, "names code, which a run on a server cannot choose"),
        ({"assistant": "replay:/etc/passwd"}, "lies outside the server's working folder"),
        ({"user": "people:/etc/passwd?part=tune"}, "lies outside the server's working folder"),
        ({"prompts": "../.."}, "lies outside the server's working folder"),
        ({"turns": 2}, "the context has no 'turns', only max_turns"),
        ({"max_turns": "two"}, "max_turns must be a whole number"),
        ({"question_words": "many"}, "simquac: question_words: Input should be a valid integer"),
        ({"user": "gpt"}, "model 'gpt' is unknown"),
    ],
)
async def test_a_context_that_cannot_be_used_is_refused_in_one_line(context, problem):
    with pytest.raises(DuologueError, match=problem):
        await simquac.graph.ainvoke(TOPIC, context=context)


async def test_pages_in_the_working_folder_can_be_chosen(tmp_path, monkeypatch):
    (tmp_path / "mine/user").mkdir(parents=True)
    (tmp_path / "mine/user/system.md").write_text("You want something. Write it.")
    monkeypatch.chdir(tmp_path)
    final_state = await agent_test.graph.ainvoke({"goal": "a"}, context={"max_turns": 1, "prompts": "mine"})
    before = await agent_test.graph.ainvoke({"goal": "a"}, context={"max_turns": 1})
    assert final_state["provenance"]["prompts"] != before["provenance"]["prompts"]
    with pytest.raises(SettingError, match="outside"):
        await agent_test.graph.ainvoke({"goal": "a"}, context={"prompts": os.fspath(tmp_path.parent)})


async def test_a_form_sent_to_a_thread_that_holds_a_conversation_begins_a_new_one():
    graph = simquac.graph.copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(TOPIC, config, context={"max_turns": 2})
    other = {**TOPIC, "title": "The mole"}
    second = record(await graph.ainvoke(other, config, context={"max_turns": 1}))
    assert (
        second.without_timing() == record(await simquac.graph.ainvoke(other, context={"max_turns": 1})).without_timing()
    )
    assert record((await graph.aget_state(config)).values) == second


class Hotel(Form):
    """A guest's wish."""

    wish: str = Field(description="What the guest wants.", examples=["a quiet room"])

    def scenario(self):
        return {"kind": "hotel", "goal": self.wish}


class HotelDomain(data.Domain):
    kind = "hotel"
    form = Hotel


def hotel(user: str = "offline", words: int = 20) -> graphs.Cast:
    """A guest and a clerk."""
    return agent_test.FACTORY(user=user).replace(name="hotel", greeting=f"At most {words} words, please.")


async def test_a_domain_of_ones_own_declares_its_form_and_a_functions_parameters_are_its_context(own_registry):
    graph = graphs.served(hotel)
    assert list(graph.get_input_jsonschema()["properties"]) == ["scenario", "messages"]
    data.domains.register(HotelDomain())
    assert list(graph.get_input_jsonschema()["properties"]) == ["wish", "messages"]
    context = graph.get_context_jsonschema()["properties"]
    assert context["words"] == {"default": 20, "description": "", "title": "Words", "type": "integer"}
    final_state = await graph.ainvoke({"wish": "a quiet room"}, context={"words": 5, "max_turns": 2})
    assert final_state["scenario"] == {"kind": "hotel", "goal": "a quiet room"}
    assert final_state["messages"][0]["text"] == "At most 5 words, please."


async def test_a_cast_made_by_hand_is_served_with_its_limits_alone():
    graph = graphs.served(simquac.cast().replace(fallback="No."))
    assert graph.choices.factory.name == "simquac"
    assert "user" not in graph.get_context_jsonschema()["properties"]
    assert (await graph.ainvoke(TOPIC, context={"max_turns": 1}))["stop"] == "max_turns"
    with pytest.raises(ContractError, match="no 'user'"):
        await graph.ainvoke(TOPIC, context={"user": "offline"})


async def test_what_closed_an_earlier_conversation_of_the_thread_is_not_counted_again():
    async def closing(state, runtime):
        return {"usage": {"input_tokens": 3, "output_tokens": 4, "calls": 1}}

    graph = graphs.served(simquac.cast().replace(closing=closing)).copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        conversation = record(await graph.ainvoke(TOPIC, config, context={"max_turns": 1}))
        assert conversation.closing_usage.tokens == 7


async def test_a_closing_node_with_a_usage_that_is_none_is_named():
    async def closing(state, runtime):
        return {"usage": {"tokens": 7}}

    with pytest.raises(ContractError, match=r"closing: expected 'usage' as of data\.Usage"):
        await graphs.conversation(simquac.cast().replace(closing=closing)).ainvoke(simquac.scenario(TOPIC))


@pytest.mark.parametrize(
    ("graph", "form", "english"),
    [
        (agent_test.graph, {"goal": "把我的航班改到五月三日"}, {"goal": "move my flight"}),
        (recllmsim.graph, {"language": "zh"}, {"language": "en"}),
    ],
)
async def test_a_form_in_chinese_gets_chinese_prompts_unless_the_context_says_otherwise(graph, form, english):
    def language(state):
        return state["provenance"]["nodes"]["user_prompt_selector"]["settings"]["language"]

    assert language(await graph.ainvoke(form, context={"max_turns": 1})) == "zh"
    assert language(await graph.ainvoke(form, context=Limits(max_turns=1))) == "zh"
    assert language(await graph.ainvoke(form, context={"max_turns": 1, "language": "en"})) == "en"
    assert language(await graph.ainvoke({**form, **english}, context={"max_turns": 1})) == "en"


def test_a_setting_of_any_type_is_shown_as_one_of_the_type_of_its_default():
    class Own(BaseModel):
        words: Any = Field("few", description="How many.")
        model: Any = Field(None, description="Which.")

    hints = get_type_hints(context_of("own", Own))
    assert (hints["words"], hints["model"]) == (str, str | None)
