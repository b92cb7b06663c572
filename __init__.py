"""Duologue: simulated conversations between a user and an assistant, as LangGraph graphs.

Example::

    import duologue
    from duologue import data, graphs

    topics = data.simquac.read_topics("topics.jsonl")
    conversations = duologue.simulate(graphs.simquac.cast(), graphs.simquac.scenarios(topics))
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__: str
if TYPE_CHECKING:
    from . import analysis as analysis
    from . import cli as cli
    from . import data as data
    from . import errors as errors
    from . import graphs as graphs
    from . import hosts as hosts
    from . import nodes as nodes
    from . import prompts as prompts
    from . import runs as runs
    from . import studies as studies
    from . import views as views
    from .data import Conversation as Conversation
    from .data import check as check
    from .data import domains as domains
    from .data import frame as frame
    from .data import load as load
    from .data import save as save
    from .graphs import Cast as Cast
    from .graphs import casts as casts
    from .hosts import user as user
    from .nodes import Limits as Limits
    from .runs import aannotate as aannotate
    from .runs import annotate as annotate
    from .runs import asimulate as asimulate
    from .runs import simulate as simulate
    from .studies.agent_tests import atest as atest
    from .studies.agent_tests import test as test
    from .studies.comparison import compare as compare
    from .studies.labels import agreement as agreement
    from .studies.pages import show as show
    from .studies.prediction import next_turn as next_turn
    from .studies.validation import validity as validity
    from .studies.watching import watch as watch

_HOMES = {
    "Cast": "graphs",
    "Conversation": "data",
    "Limits": "nodes",
    "agreement": "studies.labels",
    "aannotate": "runs",
    "annotate": "runs",
    "asimulate": "runs",
    "atest": "studies.agent_tests",
    "casts": "graphs",
    "check": "data",
    "compare": "studies.comparison",
    "domains": "data",
    "frame": "data",
    "load": "data",
    "next_turn": "studies.prediction",
    "save": "data",
    "show": "studies.pages",
    "simulate": "runs",
    "test": "studies.agent_tests",
    "user": "hosts",
    "validity": "studies.validation",
    "watch": "studies.watching",
}
"""Names that `duologue` offers itself, each with the subpackage that it comes from."""
_ROOMS = ("analysis", "cli", "data", "errors", "graphs", "hosts", "nodes", "prompts", "runs", "studies", "views")

__all__ = ["__version__", *_ROOMS, *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .data.identity import VERSION

        return VERSION
    # LangGraph takes a second to import: `duologue.data` and the command's help need not wait for it.
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext duologue`, where `import duologue` came before IPython began; otherwise nothing is needed."""
    from .views import load_ipython_extension

    load_ipython_extension(shell)


def _show_in_notebooks() -> None:
    """Let conversations, runs, casts and tables show themselves as HTML, where this process is a notebook's."""
    if "IPython" in sys.modules:
        import_module(".views", __name__)


_show_in_notebooks()
