"""The planned conversations of a test: those that were not begun have a row and a test case too."""

from collections.abc import Iterable
from typing import NamedTuple

from ...data.records import Conversation
from ..outcomes import planned_key, scenario_key, title_of


class PlannedConversation(NamedTuple):
    """A conversation that was to be held."""

    id: str
    scenario: str
    """Equal for conversations about the same scenario, as of `scenario_key`."""
    title: str

    @classmethod
    def of(cls, conversation: Conversation, begun: str = "") -> "PlannedConversation":
        """The plan of a conversation; `begun`: the digest of its opening messages."""
        return cls(conversation.id, planned_key(conversation, begun), title_of(conversation))


class CaseNames:
    """The names of conversations as test cases: the number of the scenario, its title, and the repeat.

    They are those of the plan, so that a name is the same in every run. Equal scenarios that are given twice are repeats
    of one. A conversation that is not in the plan is numbered after it.
    """

    def __init__(self, plan: Iterable[PlannedConversation] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._repeats: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self.open: dict[str, PlannedConversation] = {}
        """Planned conversations, by id, whose name was not asked for."""
        for one in plan:
            self._names[one.id] = self._next(one.scenario, one.title)
            self.open[one.id] = one

    def name(self, conversation: Conversation) -> str:
        """The name of a conversation."""
        self.open.pop(conversation.id, None)
        return self._names.get(conversation.id) or self._next(scenario_key(conversation), title_of(conversation))

    def of_plan(self, name: str) -> str:
        """The name of a planned conversation by its id."""
        return self._names[name]

    def _next(self, scenario: str, title: str) -> str:
        number = self._numbers.setdefault(scenario, len(self._numbers) + 1)
        self._repeats[scenario] = repeat = self._repeats.get(scenario, 0) + 1
        return f"{number}. {title} [repeat {repeat}]"
