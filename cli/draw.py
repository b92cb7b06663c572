"""`duologue draw`: a graph as mermaid text."""

from typing import Annotated

import typer

from .output import print_json


def draw(
    name: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="The graph to draw: a cast's, by name or MODULE:FUNCTION, or profiles, the one that makes profiles.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the nodes, edges and mermaid text as JSON.")] = False,
) -> int:
    """Print the graph as mermaid text, for any tool that draws it."""
    from .. import graphs

    graph = graphs.profiles.graph if name == graphs.profiles.NAME else graphs.conversation(graphs.casts.find(name)())
    if as_json:
        drawn = graph.get_graph()
        print_json(
            {
                "nodes": list(drawn.nodes),
                "edges": [{"from": e.source, "to": e.target, "label": e.data} for e in drawn.edges],
                "mermaid": graphs.mermaid(graph),
            }
        )
    else:
        print(graphs.mermaid(graph), end="")
    return 0
