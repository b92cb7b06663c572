"""Tools of the agent whose calls ended in an error: information, since a scenario may want a tool to fail."""

from collections import Counter
from collections.abc import Iterator

from ...data.records import Conversation
from ..outcomes import Outcome

MOST = 10
"""Most tools that are named, those with the most conversations: a model may call tools that do not exist."""


class ToolErrors:
    """Collects the tools that conversations called, and those whose calls ended in an error."""

    def __init__(self) -> None:
        self._called, self._failed = Counter[str](), Counter[str]()
        self._first: dict[str, str] = {}

    def add(self, conversation: Conversation, result: Outcome) -> None:
        """Take in a conversation that began, with its outcome."""
        self._called.update({call.name for draft in conversation.attempts("assistant") for call in draft.tool_calls})
        self._failed.update(result.tool_errors.keys())
        for name, error in result.tool_errors.items():
            self._first.setdefault(name, f"first in {result.id}: {error}")

    def lines(self) -> Iterator[str]:
        """A line for each tool, with its first error."""
        for name, count in self._failed.most_common(MOST):
            called = self._called[name]
            those = "conversation that called it" if called == 1 else "conversations that called it"
            yield f"calls of {name or 'a tool without a name'} ended in an error in {count} of {called} {those}, {self._first[name]}"
        if len(self._failed) > MOST:
            yield f"calls of {len(self._failed) - MOST} more tools ended in an error"
