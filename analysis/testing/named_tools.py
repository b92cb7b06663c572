"""Tools that the `success` of scenarios names and no conversation called: a misspelt name passes or fails in silence."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from ...data.records import INTERRUPT, Attempt, Conversation
from ...data.scenarios import tools_in_success


class NamedTools:
    """Collects the tools that conversations called, and those that their scenarios name."""

    def __init__(self) -> None:
        self._called: set[str] = set()
        self._unsent: set[str] = set()
        self._answered = False
        self._required: set[str] = set()
        self._forbidden: set[str] = set()

    def add(self, conversation: Conversation) -> None:
        """Take in a conversation that began."""
        for path, name in tools_in_success(conversation.scenario.get("success")):
            negated = path.endswith("tool_not_called") != (path.count(".not") % 2 == 1)
            (self._forbidden if negated else self._required).add(name)
        self._answered |= any(True for _ in conversation.attempts("assistant"))
        for turns, names in ((conversation.messages, self._called), (conversation.unsaid, self._unsent)):
            names |= _names(attempt for turn in turns if turn.role == "assistant" for attempt in turn.attempts)

    def lines(self) -> Iterator[str]:
        """A line for each of these names; none where the agent neither answered nor called a tool.

        A tool that must not be called is named only where the name of a called one is like it.
        """
        unsent = self._unsent - self._called
        called = sorted(self._called | unsent)
        shown = ", ".join(f"{name} (in a draft that was not sent)" if name in unsent else name for name in called)
        unlike = {name for name in self._forbidden - self._required if not get_close_matches(name, called)}
        for name in sorted((self._required | self._forbidden).difference(called, unlike)) if self._answered else ():
            yield f"`success` names the tool {name}, which no conversation called; tools called: {shown or 'none'}"


def _names(attempts: Iterable[Attempt]) -> set[str]:
    """The tools that drafts called; of an approval only the tool that waited for it."""
    return {call.name for attempt in attempts for call in attempt.tool_calls} - {INTERRUPT}
