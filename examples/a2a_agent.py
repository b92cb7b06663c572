"""An agent that speaks A2A under test: a graph that sends it each message, in one context a conversation.

Run with a2a-sdk 1.3.0 and its extra http-server on 2026-11-28: `python a2a_agent.py` asks an agent of rules here. For
yours, set URL and give `duologue test --assistant a2a_agent:graph`. It reads messages; a task has its text in artifacts.
"""

import httpx
from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.helpers.proto_helpers import get_message_text, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role, SendMessageRequest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from starlette.applications import Starlette

import duologue

URL, transport = "http://agent", None


class State(MessagesState):
    context: str  # in which the agent knows the conversation


async def ask(state):
    async with httpx.AsyncClient(transport=transport, timeout=None) as http:  # a turn has a limit of Duologue's
        card = await A2ACardResolver(http, URL).get_agent_card()
        client = await create_client(card, ClientConfig(httpx_client=http, streaming=False))
        text = state["messages"][-1].text
        message = new_text_message(text, context_id=state.get("context", ""), role=Role.ROLE_USER)
        [answer] = [part async for part in client.send_message(SendMessageRequest(message=message))]
    return {"messages": ("ai", get_message_text(answer.message)), "context": answer.message.context_id}


class Clerk(AgentExecutor):
    """An agent of rules."""

    async def execute(self, context, queue):
        text = "Done: it is moved." if "QX4821" in context.get_user_input() else "Which is the booking code?"
        await queue.enqueue_event(new_text_message(text, context_id=context.context_id))

    async def cancel(self, context, queue):
        raise NotImplementedError


graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(InMemorySaver())
if __name__ == "__main__":
    card = AgentCard(name="clerk", description="Moves flights.", version="1", capabilities=AgentCapabilities())
    card.default_input_modes[:] = card.default_output_modes[:] = ["text"]
    where = {"url": f"{URL}/rpc", "protocol_binding": "JSONRPC", "protocol_version": "1.0"}
    card.supported_interfaces.append(AgentInterface(**where))
    card.skills.append(AgentSkill(id="move", name="move", description="Moves a flight.", tags=["flight"]))
    rpc = create_jsonrpc_routes(DefaultRequestHandler(Clerk(), InMemoryTaskStore(), card), "/rpc")
    transport = httpx.ASGITransport(Starlette(routes=[*create_agent_card_routes(card), *rpc]))
    goal = {"goal": "move my flight", "facts": ["The code is QX4821."], "success": {"text_contains": "moved"}}
    print(duologue.test(graph, [goal], repeats=2))
