"""What notebooks show as HTML, and graphs as pictures: after any `import duologue`, or `%load_ext duologue` where IPython began later.

Casts and realism reports are registered by the names of their classes, so that their modules are not imported before they
are needed.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.files.json import write_text
from ..data.loading import Loaded
from ..data.records import Conversation
from ..data.summaries import count, outline
from .conversation import conversation_html, conversation_page
from .graph import compiled_figure, graph_html
from .pages import in_notebook, plural, render
from .run import run_page, summary_html
from .settings import facts, places, provenance_html, rows

UNFOLDING = 20
"""Most conversations that a notebook's cell shows; a page shows more."""


def register(shell: Any) -> None:
    """Let the shell show conversations, lists of them, casts, tables and realism reports as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type(Conversation, notebook_html)
    formatter.for_type(Loaded, loaded_html)
    formatter.for_type(list, list_html)
    formatter.for_type(tuple, list_html)
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


def notebook_html(conversation: Conversation) -> str:
    """The conversation with its own style, for a cell's output."""
    return in_notebook(conversation_html(conversation) + provenance_html(conversation))


def list_html(values: Sequence[Any]) -> str | None:
    """A list of conversations; None for any other list, which is then shown as usual."""
    if not values or not all(isinstance(value, Conversation) for value in values):
        return None
    return _shown(f"{len(values)} conversations", values, facts(values))


def loaded_html(loaded: Loaded) -> str:
    """The conversations loaded from a path, with the notes of the reader."""
    details = [*facts(loaded.conversations, loaded.manifest), *(("note", note) for note in loaded.notes)]
    return _shown(loaded.path.name, loaded, details)


def cast_html(cast: Any) -> str:
    """A cast's places, each with its node, the node's model and its settings."""
    html = render(
        "cast.html",
        name=cast.name,
        limits=[(name, text) for name, text in rows(cast.limits.plain()) if text != "none"],
        places=places(cast.describe()),
        words=cast.words,
        reasons=cast.own_reasons,
    )
    return in_notebook(html)


def compiled_text(graph: Any) -> dict[str, str]:
    """A compiled graph as text in Mermaid's notation."""
    return {"text/plain": graph.get_graph().draw_mermaid()}


def compiled_svg(graph: Any) -> str:
    """A compiled graph as a picture."""
    return compiled_figure(graph).svg


def table_html(table: Any) -> str:
    """A table of results, with its title and notes."""
    return render("table.html", table=table)


def table_text(shown: Any, printer: Any, cycle: bool) -> None:
    """A table of results as Markdown."""
    printer.text(shown.to_markdown().rstrip())


def realism_html(shown: Any) -> str:
    """A realism report."""
    from .realism import report_html

    return in_notebook(report_html(shown))


def _shown(title: str, conversations: Sequence[Conversation], details: Sequence[tuple[str, str]]) -> str:
    first = conversations[:UNFOLDING]
    html = render(
        "notebook_list.html",
        title=title,
        summary=summary_html(count(conversations), details),
        graph=graph_html(conversations),
        rows=[(outline(one), conversation_html(one)) for one in first],
        more=len(conversations) - len(first),
    )
    return in_notebook(html)


@dataclass(frozen=True, repr=False)
class HtmlPage:
    """A page of one conversation, or of several with a list and their figures; a notebook shows it."""

    title: str
    shown: Conversation | Sequence[Conversation]

    def html(self) -> str:
        """The page as HTML; it needs no network."""
        if isinstance(self.shown, Conversation):
            return conversation_page(self.shown)
        manifest = self.shown.manifest if isinstance(self.shown, Loaded) else None
        return run_page(self.shown, self.title, manifest=manifest)

    def write(self, path: str | Path) -> Path:
        """Write the page, and return its path."""
        write_text(Path(path), self.html())
        return Path(path)

    @property
    def count(self) -> int:
        """Of its conversations."""
        return 1 if isinstance(self.shown, Conversation) else len(self.shown)

    def _repr_html_(self) -> str:
        if isinstance(self.shown, Conversation):
            return notebook_html(self.shown)
        return list_html(self.shown) or ""

    def __repr__(self) -> str:
        return f"<Page {self.title}: {plural(self.count, 'conversation')}; .write(FILE.html) saves it>"
