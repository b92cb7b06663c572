"""Tools that the `success` of scenarios names and no conversation called: a misspelt name passes or fails in silence."""

from collections.abc import Iterator
from difflib import get_close_matches

from ...data.records import Conversation
from ...data.scenarios import tools_in_success


class NamedTools:
    """Collects the tools that conversations called, and those that their scenarios name."""

    def __init__(self) -> None:
        self._called: set[str] = set()
        self._required: set[str] = set()
        self._forbidden: set[str] = set()

    def add(self, conversation: Conversation) -> None:
        """Take in a conversation that began."""
        for path, name in tools_in_success(conversation.scenario.get("success")):
            negated = path.endswith("tool_not_called") != (path.count(".not") % 2 == 1)
            (self._forbidden if negated else self._required).add(name)
        for attempt in conversation.attempts("assistant"):
            self._called |= {call.name for call in attempt.tool_calls}

    def lines(self) -> Iterator[str]:
        """A line for each of these names.

        A tool that must not be called is named only where the name of a called one is like it.
        """
        called = sorted(self._called)
        unlike = {name for name in self._forbidden - self._required if not get_close_matches(name, called)}
        for name in sorted((self._required | self._forbidden) - self._called - unlike):
            yield f"`success` names the tool {name}, which no conversation called; tools called: {', '.join(called) or 'none'}"
