"""A cast's conversation as a compiled graph, which draws itself without a network."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Any, TypeAlias, cast

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from ...data.records import Conversation, Role
from ...data.summaries.executed_graph import SPEAKERS
from ...nodes.contract import ContractError, Node
from ...nodes.limits import Limits
from ...nodes.speakers.repeated_calls import brought_to
from ...nodes.state import PLACES, NodePlace, State
from ...nodes.worlds import Context, World, living
from ..casts.cast import Cast
from .conversation_graph import Step, topology
from .recording import record
from .run_graph import FOLLOW, Follow, RunGraph, in_stretches
from .steps import step

Compiled: TypeAlias = CompiledStateGraph[State, Limits, State, State]


class ConversationGraph(Compiled):
    """A compiled conversation, which draws itself in a notebook without a network.

    It makes records of its own states.
    """

    def __init__(
        self,
        *,
        cast_name: str,
        world: World | None = None,
        limits: Limits | None = None,
        run_graph: RunGraph | None = None,
        speakers: Mapping[Role, Node] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(**attributes)  # LangGraph copies a graph by its attributes, for example in `with_config`
        self.cast_name = cast_name
        self.world = world
        self.limits = limits
        self.run_graph = run_graph
        self.speakers = speakers or {}

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """As of any compiled graph; the world of the conversation lives as long as the stream.

        WorldError if it cannot be set up or torn down.
        """
        if self.world is None:
            async for part in super().astream(input, config, context=context, **options):
                yield part
            return
        limits = Limits(**context) if isinstance(context, dict) else context or self.limits or Limits()
        async with living(self.world, _scenario(input)) as world:
            live = Context.of(limits, world)
            await brought_to(cast(State, input), live, self.speakers)
            stream = cast(AsyncGenerator[Any, None], super().astream(input, config, context=live, **options))
            async with aclosing(stream) as parts:
                async for part in parts:
                    yield part

    async def follow(self, scenario: State, limits: Limits, follow: Follow, *, steps: int) -> None:
        """Simulate a conversation in at most so many steps, and call `follow` with each of its states.

        Several places are one step of LangGraph (`stretches`), unless the run is traced.
        """
        if self.run_graph is None or AsyncCallbackManager.configure().handlers:
            stream = self.astream(scenario, {"recursion_limit": steps}, context=limits, stream_mode="values")
            async with aclosing(cast(AsyncGenerator[Any, None], stream)) as states:
                async for state in states:
                    follow(state)
            return
        limits = limits.or_else(self.limits or Limits())
        async with AsyncExitStack() as stack:
            if self.world is not None:
                world = await stack.enter_async_context(living(self.world, _scenario(scenario)))
                limits = Context.of(limits, world)
                await brought_to(scenario, limits, self.speakers)
            follow(scenario)
            FOLLOW.set(follow)  # of this conversation's own task; nothing is to be put back
            steps_taken = self.run_graph.astream(
                {"conversation": scenario},
                {"recursion_limit": steps // 3},  # a stretch has three places at least, but for the closing one
                context=limits,
                stream_mode=(),  # nothing: `follow` gets a state as soon as it is there
            )
            async for _ in steps_taken:
                pass

    def record(self, state: State | Mapping[str, Any]) -> Conversation:
        """The conversation of any state of this graph: initial, intermediate or final."""
        return record(state, self.cast_name)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # LangGraph's own asks a public web service for a picture: offline the cell would fail. The drawing is `views`'.
        return {"text/plain": self.get_graph().draw_mermaid()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cast_name})"


def _scenario(graph_input: Any) -> Mapping[str, Any]:
    """The scenario of a conversation with a world.

    ContractError without one: a world cannot be set up again in the middle of a conversation.
    """
    scenario: Any = graph_input.get("scenario") if isinstance(graph_input, Mapping) else None
    if isinstance(scenario, Mapping):
        return scenario
    raise ContractError(
        "a conversation with a world begins with a scenario and cannot go on from a checkpoint, "
        "which does not hold what its tools did: simulate it anew"
    )


def conversation(cast: Cast, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> ConversationGraph:
    """The cast's conversation as a compiled graph: `await graph.ainvoke(scenario, context=Limits())`."""
    name = f"{cast.name} conversation"
    steps: dict[NodePlace, Step] = {place: step(place, cast) for place in PLACES}
    graph = topology(steps.__getitem__)
    return ConversationGraph(
        cast_name=cast.name,
        world=cast.world,
        limits=cast.limits,
        run_graph=in_stretches(graph, steps, name),
        speakers={role: getattr(cast, place) for place, role in SPEAKERS.items()},
        **vars(graph.compile(checkpointer=checkpointer, name=name)),
    )


def fuse(limits: Limits) -> int:
    """Most steps that a conversation within these limits can take: LangGraph's recursion limit for it.

    Only a guard against a stop criterion that never stops: what ends a conversation are the limits.
    """
    per_turn = 3 * limits.question_attempts + 3 * limits.answer_attempts + 1
    return per_turn * (limits.max_turns or 1_000) + 10
