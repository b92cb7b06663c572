"""What shows itself in notebooks: by importing `duologue.views`, or `%load_ext duologue.views`.

Casts, runs and realism reports are known here by the names of their classes alone: nothing is imported for them
before there is one to show.
"""

import sys
from collections.abc import Sequence
from typing import Any

from ..data.counts import count
from ..data.loading import Loaded, load
from ..data.outlines import outline
from ..data.records import Conversation
from .conversation import conversation_html, notebook_html
from .graph import graph_html
from .pages import render, source
from .run import facts, summary_html

UNFOLDING = 20
"""Most conversations of a list that unfold in a cell; a page has no such bound."""


def register(shell: Any) -> None:
    """Let the shell show conversations, lists of them, runs, casts and realism reports as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(Conversation, notebook_html)
    formatter.for_type(Loaded, loaded_html)
    formatter.for_type(list, list_html)
    formatter.for_type(tuple, list_html)
    formatter.for_type_by_name("duologue.runs.simulation", "Summary", run_html)
    formatter.for_type_by_name("duologue.graphs.cast", "Cast", cast_html)
    formatter.for_type_by_name("duologue.analysis.tables", "Table", table_html)
    formatter.for_type_by_name("duologue.analysis.tables", "Rows", rows_html)
    formatter.for_type_by_name("duologue.analysis.realism.report", "Report", realism_html)
    formatter.for_type_by_name("duologue.analysis.realism.card", "RealismCard", realism_html)


def register_here() -> None:
    """Register where this process is a notebook's; elsewhere do nothing."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is not None:
            register(shell)


def list_html(values: Sequence[Any]) -> str | None:
    """Conversations in a list; None for a list of anything else, which shows as it did before."""
    if not values or not all(isinstance(value, Conversation) for value in values):
        return None
    return _shown(f"{len(values)} conversations", values, facts(values))


def loaded_html(loaded: Loaded) -> str:
    """What was loaded from a path."""
    told = [*facts(loaded.conversations, loaded.manifest), *(("note", note) for note in loaded.notes)]
    return _shown(loaded.path.name, loaded.conversations, told)


def run_html(summary: Any) -> str:
    """A run's summary, with its conversations where its folder is still there."""
    told = [("finished", f"{summary.finished} of {summary.planned}"), ("run", str(summary.path))]
    told += [("failed", f"{name}: {reason}") for name, reason in list(summary.failed.items())[:5]]
    try:
        loaded = load(summary.path)
    except (ValueError, OSError):
        return _styled(
            "notebook_list.html",
            title=summary.path.name,
            about=summary_html([("", summary.counts)], told),
            graph="",
            rows=[],
            more=0,
        )
    return _shown(summary.path.name, loaded.conversations, [*told, *facts(loaded.conversations, loaded.manifest)])


def cast_html(cast: Any) -> str:
    """A cast's places, each with its node, the model that speaks there and the node's settings."""
    rows = []
    for place, node in cast.describe().items():
        others = {key: value for key, value in node.settings.items() if key != "model"}
        rows.append((place, node.name, node.label if "model" in node.settings else "", others))
    rows += [(name, text, "", {}) for name, text in cast.words.items()]
    rows += [(f"stop: {reason}", "", "", {"fault": fault}) for reason, fault in cast.own_reasons.items()]
    return _styled("cast.html", name=cast.name, limits=cast.limits.plain(), rows=rows)


def table_html(table: Any) -> str:
    """A table of results, with its title and notes."""
    return render("table.html", table=table)


def rows_html(rows: Any) -> str:
    """Rows of results as a table."""
    return table_html(rows.table())


def realism_html(shown: Any) -> str:
    """A realism report or its card."""
    from .realism import notebook_html

    return notebook_html(shown)


def _shown(title: str, conversations: Sequence[Conversation], told: Sequence[tuple[str, str]]) -> str:
    first = conversations[:UNFOLDING]
    return _styled(
        "notebook_list.html",
        title=title,
        about=summary_html([("", count(conversations))], told),
        graph=graph_html(conversations),
        rows=[(outline(each), conversation_html(each)) for each in first],
        more=len(conversations) - len(first),
    )


def _styled(template: str, **values: Any) -> str:
    return f"<style>{source('style.css')}</style>{render(template, **values)}"
