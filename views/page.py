"""A page as an object: a notebook shows it, and it can be written to a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.files.json import write_text
from ..data.loading import Loaded
from ..data.records import Conversation
from ..errors import DataError
from .conversation import conversation_page, notebook_html
from .notebook import list_html
from .run import write_run


@dataclass(frozen=True, repr=False)
class HtmlPage:
    """A page of one conversation, or of several with a list and their figures."""

    title: str
    conversations: Sequence[Conversation]
    alone: bool = False
    """Whether it shows a single conversation, not a list that has only one."""

    @classmethod
    def of(cls, shown: Conversation | Sequence[Conversation], title: str) -> "HtmlPage":
        """The page of a conversation or of several; DataError for none."""
        if isinstance(shown, Conversation):
            return cls(title, (shown,), alone=True)
        if not shown:
            raise DataError(f"{title}: holds no conversation")
        return cls(title, shown if isinstance(shown, Loaded) else tuple(shown))

    def write(self, path: str | Path) -> Path:
        """Write the page as a file that needs no network, and return the file to open.

        For more than a thousand conversations it writes a folder of pages.
        """
        target = Path(path)
        if not self.alone:
            manifest = self.conversations.manifest if isinstance(self.conversations, Loaded) else None
            return write_run(self.conversations, target, self.title, manifest=manifest)
        write_text(target, conversation_page(self.conversations[0]))
        return target

    def _repr_html_(self) -> str:
        if self.alone:
            return notebook_html(self.conversations[0])
        return list_html(self.conversations) or ""

    def __repr__(self) -> str:
        count = len(self.conversations)
        return f"<Page {self.title}: {count} conversation{'' if count == 1 else 's'}; .write(FILE.html) saves it>"
