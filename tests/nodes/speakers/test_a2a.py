"""An agent that speaks A2A, on a server of the SDK over loopback: one context for a conversation, and its ends by name."""

import asyncio
import contextlib
import threading

import pytest

import duologue
from duologue.errors import MissingExtraError, SettingError
from duologue.graphs import agent_test
from duologue.nodes.speakers import remote
from duologue.views.live.doors import listening

pytest.importorskip("a2a")

import uvicorn
from a2a.helpers.proto_helpers import new_data_message, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

pytestmark = pytest.mark.heavy  # the SDK is among what `make test-all` installs
GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}


class Clerk(AgentExecutor):
    """Asks for the code, then books; it remembers a context's messages, and `way` says how it answers."""

    def __init__(self, way):
        self.way, self.heard, self.tasks, self.empty = way, {}, [], set()

    async def execute(self, context, queue):
        heard = self.heard.setdefault(context.context_id, [])
        heard.append(context.get_user_input())
        self.tasks.append(context.task_id)
        done = any("QX4821" in text for text in heard)
        text = "Done: it is booked on 2026-05-03." if done else "Which is the booking code?"
        if len(self.tasks) - 1 in self.empty:
            text = ""
        if self.way == "message":
            await queue.enqueue_event(new_text_message(text, context_id=context.context_id))
            return
        if self.way == "data":
            await queue.enqueue_event(new_data_message({"answer": text}, context_id=context.context_id))
            return
        if context.current_task is None:
            await queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        await updater.start_work()
        own = updater.new_agent_message([new_text_part(text)])
        if self.way == "crash":
            raise ValueError("out of order")
        if self.way == "failed":
            await updater.failed(updater.new_agent_message([new_text_part("The desk is closed.")]))
        elif done:
            await updater.add_artifact([new_text_part(text)], name="answer")
            await updater.complete()
        elif self.way == "input":
            await updater.requires_input(own)
        else:
            await updater.complete(own)

    async def cancel(self, context, queue):
        raise NotImplementedError


@contextlib.contextmanager
def running(routes):
    """A server in a thread: its address, and its routes, which may grow before the first request."""
    opened, port = listening(9801, 200)
    app = Starlette(routes=routes)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}", app.router.routes
    finally:
        server.should_exit = True
        thread.join()


def names_of(url, version):
    """A card by the names of 0.3."""
    return {
        "name": "clerk", "description": "Moves flights.", "version": "1", "protocolVersion": version, "url": url,
        "preferredTransport": "JSONRPC", "skills": [], "capabilities": {"streaming": True},
        "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
    }  # fmt: skip


@pytest.fixture
def serve():
    """A function that serves an agent of the SDK; gives the agent and its address."""
    with contextlib.ExitStack() as ends:

        def served(way="message", old_names=False, elsewhere=None):
            url, routes = ends.enter_context(running([]))
            where = elsewhere(url.rpartition(":")[2]) if elsewhere else f"{url}/rpc"
            card = AgentCard(
                name="clerk", description="Moves flights.", version="1", default_input_modes=["text"],
                default_output_modes=["text"], capabilities=AgentCapabilities(streaming=way != "plain"),
                skills=[AgentSkill(id="m", name="move", description="Moves a flight.", tags=["flight"])],
                supported_interfaces=[AgentInterface(url=where, protocol_binding="JSONRPC", protocol_version="1.0")],
            )  # fmt: skip
            agent = Clerk(way)
            handler = DefaultRequestHandler(agent, InMemoryTaskStore(), card)
            routes += create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=old_names)
            if old_names:
                shown = names_of(where, "0.3.0")
                routes.append(Route("/.well-known/agent-card.json", lambda request: JSONResponse(shown)))
            else:
                routes += create_agent_card_routes(card)
            return agent, url

        yield served


def talk(url, **limits):
    cast = agent_test.cast(assistant=f"a2a:{url}")
    chosen = duologue.Limits(**{"max_turns": 10, **limits})
    [conversation] = duologue.simulate(cast, agent_test.scenarios([GOAL]), limits=chosen)
    return conversation


@pytest.mark.parametrize("way", ["message", "task", "plain", "input"])
@pytest.mark.parametrize("old_names", [False, True])
def test_a_conversation_is_one_context_in_which_only_new_messages_are_sent(serve, way, old_names):
    agent, url = serve(way, old_names)
    conversation = talk(url)
    assert conversation.stop == "user_ended"
    own = [message.text for message in conversation.messages if message.role == "assistant"]
    assert own == ["Which is the booking code?", "Done: it is booked on 2026-05-03."]
    [heard] = agent.heard.values()
    assert heard == [message.text for message in conversation.messages if message.role == "user"][:2]
    assert (agent.tasks[0] == agent.tasks[1]) == (way == "input")  # only a task that asks for input goes on


def test_conversations_have_contexts_of_their_own_and_the_record_its_address(serve):
    agent, url = serve()
    conversations = duologue.simulate(agent_test.cast(assistant=f"a2a:{url}"), agent_test.scenarios([GOAL]), repeats=3)
    assert len(agent.heard) == 3
    assert conversations[0].provenance.nodes["assistant"].settings["url"] == url


def test_a_retry_begins_a_new_context_at_the_first_turn_and_has_the_repair_line_in_a_later_one(serve):
    agent, url = serve()
    agent.empty = {0, 2}
    conversation = talk(url)
    first, second = agent.heard.values()
    opening, answer = (message.text for message in conversation.messages[::2][:2])
    assert first == [opening]
    assert second[1] == answer
    for retried, text in ((second[0], opening), (second[2], answer)):
        assert retried.startswith(f"{text}\n\n<note>")
    assert [len(message.rejected) for message in conversation.messages] == [0, 1, 0, 1, 0]


def test_a_task_that_is_under_way_is_asked_for_until_it_is_over(monkeypatch):
    monkeypatch.setattr(remote, "POLL", 0.01)
    asked = []

    async def answer(request):
        body = await request.json()
        asked.append(body["method"])
        under_way = "TASK_STATE_SUBMITTED" if len(asked) < 3 else "TASK_STATE_WORKING"
        state = under_way if len(asked) < 4 else "TASK_STATE_COMPLETED"
        message = {"role": "ROLE_AGENT", "messageId": "1", "parts": [{"text": "Done: it is booked on 2026-05-03."}]}
        task = {"id": "t", "contextId": "c", "status": {"state": state, "message": message}}
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": {"task": task} if len(asked) == 1 else task})

    with running([Route("/rpc", answer, methods=["POST"])]) as (url, routes):
        routes.append(
            Route("/.well-known/agent-card.json", lambda request: JSONResponse(names_of(f"{url}/rpc", "1.0")))
        )
        conversation = talk(url, max_turns=1)
    assert asked == ["SendMessage", *["GetTask"] * 3]
    assert conversation.messages[1].text == "Done: it is booked on 2026-05-03."


def test_a_response_without_a_result_is_a_failure_in_one_line():
    async def answer(request):
        return JSONResponse({"jsonrpc": "2.0", "id": (await request.json())["id"], "result": None})

    with running([Route("/rpc", answer, methods=["POST"])]) as (url, routes):
        routes.append(Route("/.well-known/agent-card.json", lambda request: JSONResponse(names_of("/rpc", "1.0"))))
        failure = talk(url, max_turns=1).failure
    assert "the agent's response has no result" in failure.error


def test_a_task_says_its_status_and_artifacts_each_text_once_else_its_last_message():
    status = {"state": "TASK_STATE_COMPLETED", "message": {"parts": [{"text": "Done."}]}}
    artifacts = [{"parts": [{"text": "Done."}]}, {"parts": [{"url": "http://h/a.png"}, {"text": "Seat 12A."}]}]
    own = [{"role": "ROLE_AGENT", "parts": [{"text": text}]} for text in ("Well.", "It is booked.")]
    history = [*own, {"role": "ROLE_USER", "parts": [{"text": "Thanks."}]}]
    both = {"status": status, "artifacts": artifacts, "history": history}
    assert remote._task_text(ParseDict(both, Task())) == "Done.\n\n[http://h/a.png]\nSeat 12A."
    assert remote._task_text(ParseDict({"history": history}, Task())) == "It is booked."


def test_data_is_an_answer_as_json(serve):
    _, url = serve("data")
    assert talk(url).messages[1].text == '{"answer": "Which is the booking code?"}'


@pytest.mark.parametrize(("way", "line"), [("failed", "ended as failed: The desk is closed."), ("crash", "")])
def test_a_task_that_fails_ends_the_conversation_as_a_failure_of_the_agent(serve, way, line):
    _, url = serve(way)
    conversation = talk(url)
    assert conversation.stop == "model_failed"
    assert line in conversation.failure.error
    assert duologue.test(f"a2a:{url}", [GOAL]).failures[0].fault == "assistant"


def test_an_answer_that_takes_too_long_ends_it(serve):
    agent, url = serve()

    async def never(context, queue):
        await asyncio.sleep(3600)

    agent.execute = never
    assert talk(url, turn_timeout=0.5).stop == "agent_timeout"


def test_a_card_that_leads_to_another_host_is_not_followed(serve):
    _, url = serve(elsewhere=lambda port: "http://elsewhere.example/rpc")
    conversation = talk(url)
    assert "its card leads to elsewhere.example: give the address of that host" in conversation.failure.error


@pytest.mark.parametrize("where", ["/rpc", "http://localhost:{}/rpc"])
def test_a_card_may_have_a_relative_address_and_another_name_of_this_machine(serve, where):
    _, url = serve(elsewhere=lambda port: where.format(port))
    assert talk(url, max_turns=1).messages[1].text == "Which is the booking code?"


def test_an_address_where_nobody_is_is_a_failure_in_one_line(serve):
    failure = talk("http://127.0.0.1:9").failure
    assert failure.node == "assistant"
    assert "agent-card.json" in failure.error


@pytest.mark.parametrize(
    ("side", "spec", "line"),
    [
        ("assistant", "a2a:host", "is not an address of an A2A agent: write a2a:http://HOST:PORT"),
        ("assistant", "a2a:http://me:secret4711@host", "give the address without credentials"),
        ("assistant", "a2a:http://host?graph=x", "an A2A agent has no arguments"),
        ("user", "a2a:http://host", "so it plays the assistant only"),
    ],
)
def test_a_wrong_address_is_one_line(side, spec, line):
    with pytest.raises(SettingError, match=line) as error:
        agent_test.cast(**{side: spec})
    assert "secret" not in str(error.value)


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "a2a", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[a2a\]"):
        agent_test.cast(assistant="a2a:http://host")
