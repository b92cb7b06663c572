"""The graph that ran, drawn."""

from .drawing import Drawable, DrawnEdge, DrawnNode, LangGraphEdge, compiled_html, drawn, graph_figure, graph_html

__all__ = [
    "Drawable",
    "DrawnEdge",
    "DrawnNode",
    "LangGraphEdge",
    "compiled_html",
    "drawn",
    "graph_figure",
    "graph_html",
]
