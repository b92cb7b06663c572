"""The forms of a node: what LangGraph takes as a node can stand at every place of a cast."""

import threading
from functools import partial

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from duologue import graphs, nodes, prompts
from duologue.graphs import Cast
from duologue.nodes import Limits
from duologue.nodes.contract import ContractError
from duologue.nodes.state import PLACES, prompt
from duologue.testing import scripted_model

SCENARIO = {"scenario": {"kind": "talk"}}


async def said(turns=1, **parts):
    cast = Cast(**({"name": "talk", "user_simulator": lambda state: "Who?", "assistant": lambda state: "Ada."} | parts))
    state = await graphs.conversation(cast).ainvoke(SCENARIO, context=Limits(max_turns=turns, seed=7))
    return graphs.record(state)


def texts(conversation):
    return [(message.role, message.text) for message in conversation.messages]


async def with_runtime(state, runtime):
    return {"drafts": [{"text": f"seed {runtime.context.seed}"}]}


def with_config(state, config):
    return f"node {config['metadata']['langgraph_node']}"


def with_writer(state, writer):
    writer("one")
    return AIMessage("written")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (lambda state: "plain", "plain"),
        (with_runtime, "seed 7"),
        (with_config, "node assistant"),
        (with_writer, "written"),
        (RunnableLambda(lambda state: AIMessage("from a Runnable")), "from a Runnable"),
        (lambda state: {"messages": [AIMessage("in a list")]}, "in a list"),
        (lambda state: Command(update={"drafts": [{"text": "by command"}]}), "by command"),
    ],
)
async def test_a_speaker_is_any_node_and_answers_a_text_a_message_or_drafts(node, text):
    assert texts(await said(assistant=node)) == [("user", "Who?"), ("assistant", text)]


async def test_a_user_answers_a_message_of_either_kind():
    for message in (HumanMessage("Where?"), AIMessage("Where?")):
        assert texts(await said(user_simulator=lambda state, message=message: message))[0] == ("user", "Where?")


async def test_a_node_that_is_not_async_blocks_no_other_conversation():
    threads = []

    def judge(state):
        threads.append(threading.current_thread())
        return {"verdicts": [{"accepted": True}]}

    await said(answer_validator=judge)
    assert threads
    assert threads[0] is not threading.main_thread()


class Judged(TypedDict):
    drafts: list[dict]
    verdicts: list[dict]


async def test_a_compiled_graph_is_a_validator_and_joined_with_another_one():
    def judge(state: Judged):
        return {"verdicts": [{"accepted": "!" not in draft["text"], "reason": "loud"} for draft in state["drafts"]]}

    graph = StateGraph(Judged).add_node("judge", judge).add_edge(START, "judge").add_edge("judge", END).compile()
    for validator in (graph, nodes.every(nodes.not_empty, graph)):
        conversation = await said(
            answer_validator=validator, assistant=lambda state: "Ada" + "!" * (not nodes.rejected(state))
        )
        assert [attempt.verdict for attempt in conversation.messages[1].attempts] == ["rejected", "accepted"]


async def test_a_selector_and_a_recorder_of_one_line():
    conversation = await said(
        user_prompt_selector=lambda state: {"prompt": prompt("mine", "Be short.")},
        turn_recorder=lambda state: {"labels": {"turns": state["turn"]}},
        closing=lambda state: None,
    )
    assert conversation.messages[0].prompt.name == "mine"
    assert conversation.labels == {"turns": 0}


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"assistant": lambda state: 7}, "assistant: the function answered with int"),
        ({"assistant": lambda state: {"draft": "x"}}, "got the key 'draft'"),
        ({"answer_validator": lambda state: Command(goto="assistant")}, "answer_validator: goto=.*after="),
        ({"answer_validator": lambda state, limits: None}, r"with the parameters \(state, limits\)"),
        ({"answer_validator": lambda: None}, "expected a node"),
    ],
)
async def test_what_is_no_node_or_no_answer_is_named(part, problem):
    with pytest.raises(ContractError, match=problem):
        await said(**part)


def _answered(chosen, state):
    return chosen


async def test_a_selector_is_a_function_that_answers_a_page_a_text_or_messages():
    pages = prompts.shipped("simquac")
    page = next(name for name in pages.pages if not pages[name].gaps)
    for chosen, name, text in (
        (page, page, pages[page].fill()),
        ("Be short.", "own", "Be short."),
        (HumanMessage("Be short."), "own", "Be short."),
        ([("user", "Be short."), ("user", "Be kind.")], "own", "Be short.\n\nBe kind."),
    ):
        conversation = await said(user_prompt_selector=nodes.selector(partial(_answered, chosen), pages))
        assert (conversation.messages[0].prompt.name, conversation.messages[0].prompt.digest) != ("", "")
        assert conversation.messages[0].prompt.text == text
        assert conversation.messages[0].prompt.name == name
    assert (await said(user_prompt_selector=nodes.selector(lambda state: None))).messages[0].prompt is None


async def test_a_cast_of_a_name_a_user_and_an_assistant_is_a_cast():
    cast = Cast(
        name="hotel", user="offline", assistant=lambda messages: f"Room {len(messages)} is yours. Anything else?"
    )
    graph = graphs.conversation(cast)
    state = await graph.ainvoke({"scenario": {"goal": "Book a room for two.", "facts": "Two nights."}})
    conversation = graphs.record(state)
    assert len(conversation.messages) > 2
    assert "room for two" in conversation.messages[0].text
    assert cast.replace(assistant=lambda messages: "No.").user_simulator is cast.user_simulator
    with pytest.raises(ContractError, match="give user= and assistant="):
        Cast(name="hotel", assistant="offline")


@pytest.mark.parametrize("place", PLACES)
async def test_a_command_to_the_end_ends_the_conversation_at_every_place(place):
    conversation = await said(3, **{place: lambda state: Command(update=ENDING.get(place, {}), goto=END)})
    assert conversation.stop == ("max_turns" if place == "closing" else "user_ended")
    assert len(conversation.messages) == {"closing": 6, "turn_recorder": 2, "answer_validator": 2}.get(
        place, 0 if place.startswith("user") else 1
    )


ENDING = {place: {"verdicts": [{"accepted": True}]} for place in ("question_validator", "answer_validator")}


async def test_a_user_of_a_function_or_a_model_is_told_its_part_or_what_its_side_sees():
    heard = []

    def hears(messages):
        heard.append(messages[0]["content"])
        return "Where?"

    model = scripted_model("Where?", by_call=True)
    for part in (nodes.user(hears), nodes.user(hears, "Be rude."), nodes.user(model, "Be rude.")):
        assert (await said(user_simulator=part)).messages[0].text == "Where?"
    assert heard[0] != heard[1] == "Be rude."
    assert "Be rude." in model.texts[0]
