"""The config of LangGraph with which an agent is called: without what belongs to the conversation's own graph."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from ..calls.service import during


def own_recursion_limit() -> AbstractContextManager[RunnableConfig]:
    """Inside, a graph does not inherit the recursion limit of the conversation: that counts turns, not its steps."""
    inherited = var_child_runnable_config.get() or {}
    config = {name: value for name, value in inherited.items() if name != "recursion_limit"}
    return during(var_child_runnable_config, cast(RunnableConfig, config))


@contextmanager
def on_its_own() -> Iterator[dict[str, Any]]:
    """Inside, a graph is called on its own: neither as a part of the conversation's graph, nor with its checkpointer.

    Gives the caller's own `configurable` values, without LangGraph's.
    """
    inherited = var_child_runnable_config.get() or {}
    settings = {
        name: value
        for name, value in inherited.get("configurable", {}).items()
        if not name.startswith(("__", "checkpoint_")) and name != "thread_id"
    }
    with own_recursion_limit() as own, during(var_child_runnable_config, {**own, "configurable": settings}):
        yield settings
