"""Records that show themselves in notebooks: by importing `duologue.views`, or `%load_ext duologue.views`."""

import sys
from typing import Any

from ..data.records import Conversation
from .conversation import notebook_html


def register(shell: Any) -> None:
    """Let the shell show conversations as HTML."""
    shell.display_formatter.formatters["text/html"].for_type(Conversation, notebook_html)


def register_here() -> None:
    """Register where this process is a notebook's; elsewhere do nothing."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is not None:
            register(shell)
