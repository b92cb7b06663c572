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
from duologue.nodes import Limits
from duologue.nodes.state import prompt
from duologue.testing import scripted_model
from tests.graphs.played import SCENARIO, talk


async def said(**parts):
    cast = talk(**({"user_simulator": lambda state: "Who?", "assistant": lambda state: "Ada."} | parts))
    return graphs.record(await graphs.conversation(cast).ainvoke(SCENARIO, context=Limits(max_turns=1, seed=7)))


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
    assert conversation.labels["turns"].value == 0


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
