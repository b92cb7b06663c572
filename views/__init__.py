"""How it looks: a conversation as self-contained HTML, and in notebooks. Every text is escaped."""

from typing import Any

from .conversation import conversation_html, conversation_page
from .notebook import register, register_here

__all__ = ["conversation_html", "conversation_page", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext duologue.views`."""
    register(shell)


register_here()
