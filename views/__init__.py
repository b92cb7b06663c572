"""Conversations, runs and executed graphs as self-contained HTML pages and in notebooks.

Every text is escaped.
"""

from typing import Any

from .against import against_page
from .conversation import conversation_html, conversation_page
from .figures import SvgFigure, forest_plot
from .graph.drawing import graph_figure, graph_html
from .notebook import register, register_here
from .page import HtmlPage
from .pages import is_page, is_page_of
from .parts import with_images
from .run import index_of, run_page, write_run

__all__ = [
    "HtmlPage",
    "SvgFigure",
    "against_page",
    "conversation_html",
    "conversation_page",
    "forest_plot",
    "graph_figure",
    "graph_html",
    "index_of",
    "is_page",
    "is_page_of",
    "load_ipython_extension",
    "run_page",
    "with_images",
    "write_run",
]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext duologue.views`."""
    register(shell)


register_here()
