"""Conversations, runs and executed graphs as self-contained HTML pages and in notebooks.

Every text is escaped.
"""

from typing import Any

from .conversation import conversation_html, conversation_page
from .figures import SvgFigure, forest_plot
from .graph import graph_figure, graph_html
from .notebook import HtmlPage, register, register_here
from .pages import is_page
from .pairs import pairs_page
from .run import run_page

__all__ = [
    "HtmlPage",
    "SvgFigure",
    "conversation_html",
    "conversation_page",
    "forest_plot",
    "graph_figure",
    "graph_html",
    "is_page",
    "load_ipython_extension",
    "pairs_page",
    "run_page",
]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext duologue.views`."""
    register(shell)


register_here()
