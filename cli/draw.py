"""`duologue draw`: a graph as mermaid text."""

from typing import Annotated

import typer

from ..errors import SettingError
from .options import completions
from .options.shared import cast_named, json_of
from .streams import print_json, put


def draw_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="GRAPH",
            autocompletion=completions.graphs,
            help="The name of a cast (such as simquac), MODULE:FUNCTION of your own cast, or profiles, the graph that makes user profiles.",
        ),
    ] = None,
    cast: Annotated[str | None, cast_named(" in place of GRAPH.")] = None,
    as_json: Annotated[bool, json_of("nodes, edges and mermaid text")] = False,
) -> int:
    """Print the graph of a cast as mermaid text.

    Many tools draw mermaid text.
    """
    from .. import graphs

    chosen = cast or name
    if chosen is None or (cast and name):
        raise SettingError("give one graph: duologue draw CAST (or --cast CAST), or duologue draw profiles")
    profiles = cast is None and chosen == graphs.profiles.NAME
    graph = graphs.profiles.graph if profiles else graphs.conversation(graphs.casts.find(chosen)())
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
        put(graphs.mermaid(graph), end="")
    return 0
