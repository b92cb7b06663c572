"""Duologue: simulated conversations between a user and an assistant, as LangGraph graphs.

import duologue
from duologue import data, graphs, nodes

topics = data.simquac.read_topics("topics.jsonl")
conversations = duologue.simulate(graphs.simquac.cast(), graphs.simquac.scenarios(topics))
"""

from typing import TYPE_CHECKING, Any

__version__: str
if TYPE_CHECKING:
    from .runs import asimulate as asimulate
    from .runs import simulate as simulate

__all__ = ["__version__", "asimulate", "simulate"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .data.identity import VERSION

        return VERSION
    # LangGraph takes a second to import: `duologue.data` alone, and the command's help, need not wait for it.
    if name in ("simulate", "asimulate"):
        from . import runs

        return getattr(runs, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
