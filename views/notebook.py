"""What notebooks show as HTML, and graphs as pictures: after any `import duologue`, or `%load_ext duologue` where IPython began later.

Casts, runs and realism reports are registered by the names of their classes, so that their modules are not imported
before they are needed.
"""

import sys
from collections.abc import Sequence
from typing import Any

from ..analysis.labels.reliability import Trusts
from ..data.loading import Loaded, load
from ..data.records import Conversation
from ..data.summaries import Counts, count
from .conversation import notebook_html, shown_html
from .figures import standalone
from .graph.drawing import compiled_html as drawn_graph
from .graph.drawing import graph_html
from .labels.tables import LEGEND
from .pages import in_notebook, render
from .run import summary_html
from .settings import facts, places, rows
from .shown_conversation import ShownConversation

UNFOLDING = 20
"""Most conversations that a notebook's cell shows; a page shows all."""


def register(shell: Any) -> None:
    """Let the shell show conversations, lists of them, runs, casts and realism reports as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(Conversation, notebook_html)
    formatter.for_type(Loaded, loaded_html)
    formatter.for_type(list, list_html)
    formatter.for_type(tuple, list_html)
    formatter.for_type_by_name("duologue.runs.folder.summary", "Summary", run_html)
    formatter.for_type_by_name("duologue.graphs.casts.cast", "Cast", cast_html)
    formatter.for_type_by_name("duologue.analysis.tables", "Table", table_html)
    formatter.for_type_by_name("duologue.analysis.realism.report", "RealismReport", realism_html)
    plain = shell.display_formatter.formatters["text/plain"]
    plain.for_type_by_name("duologue.analysis.tables", "Table", table_text)
    compiled = ("langgraph.graph.state", "CompiledStateGraph")
    shell.display_formatter.formatters["image/svg+xml"].for_type_by_name(*compiled, compiled_svg)
    # LangGraph's own form asks a public web service for a picture: offline the cell would fail.
    shell.display_formatter.mimebundle_formatter.for_type_by_name(*compiled, compiled_text)


def register_here() -> None:
    """Register if this process runs IPython; else do nothing."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is not None:
            register(shell)


def list_html(values: Sequence[Any]) -> str | None:
    """A list of conversations; None for any other list, which is then shown as usual."""
    if not values or not all(isinstance(value, Conversation) for value in values):
        return None
    return _shown(f"{len(values)} conversations", values, facts(values))


def loaded_html(loaded: Loaded) -> str:
    """The conversations loaded from a path, with the notes of the reader."""
    details = [*facts(loaded.conversations, loaded.manifest), *(("note", note) for note in loaded.notes)]
    return _shown(loaded.path.name, loaded, details)


def run_html(summary: Any) -> str:
    """A run's summary, with its conversations if the folder still exists."""
    details = [("conversations", summary.status_line), ("run", str(summary.path))]
    details += [("failed", f"{name}: {reason}") for name, reason in list(summary.failed.items())[:5]]
    try:
        loaded = load(summary.path)
    except (ValueError, OSError):
        return _shown(summary.path.name, (), details, summary.counts)
    return _shown(summary.path.name, loaded, [*details, *facts(loaded.conversations, loaded.manifest)])


def cast_html(cast: Any) -> str:
    """A cast's places, each with its node, the node's model and its settings."""
    return _styled(
        "cast.html",
        name=cast.name,
        limits=[(name, text) for name, text in rows(cast.limits.plain()) if text != "none"],
        places=places(cast.describe()),
        words=cast.words,
        reasons=cast.own_reasons,
    )


def compiled_text(graph: Any) -> dict[str, str]:
    """A compiled graph as text in Mermaid's notation."""
    return {"text/plain": graph.get_graph().draw_mermaid()}


def compiled_svg(graph: Any) -> str:
    """A compiled graph as a picture."""
    title = f"Graph: {graph.name}"
    return standalone([drawn_graph(graph.get_graph(), title)], "graph", title).svg


def table_html(table: Any) -> str:
    """A table of results, with its title and notes."""
    return render("table.html", table=table)


def table_text(shown: Any, printer: Any, cycle: bool) -> None:
    """A table of results as Markdown."""
    printer.text(shown.to_markdown().rstrip())


def realism_html(shown: Any) -> str:
    """A realism report."""
    from .realism import notebook_html

    return notebook_html(shown)


def _shown(
    title: str,
    conversations: Sequence[Conversation],
    details: Sequence[tuple[str, str]],
    counts: Counts | None = None,
) -> str:
    trusts = Trusts.of(conversations)
    first = [ShownConversation(conversation, trusts, legend=False) for conversation in conversations[:UNFOLDING]]
    return _styled(
        "notebook_list.html",
        title=title,
        summary=summary_html([("", counts or count(conversations))], details),
        graph=graph_html(conversations),
        legend=LEGEND if any(shown.has_trust for shown in first) else "",
        rows=[(shown.outline, shown_html(shown)) for shown in first],
        more=len(conversations) - len(first),
    )


def _styled(template: str, **values: Any) -> str:
    return in_notebook(render(template, **values))
