"""Checks of a goal and facts that a model has worded: nothing is lost, invented or given away."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..records import as_list, as_object
from ..rules.user_notices import words_in
from ..text.languages import Language, language_of

WordingFault: TypeAlias = Literal[
    "lost_value", "invented_value", "lost_fact", "tool_name", "gives_answer", "other_language", "near_double"
]
"""Why a wording is rejected."""
ALIKE = 0.9
"""Least share of common words, 0 to 1, with which two goals are near-doubles."""

_VALUE = re.compile(r"[A-Za-z]*\d[\w./:-]*\w|\d")
"""A word with a digit: a code, a date, a number."""


@dataclass(frozen=True)
class WordingChecks:
    """What a wording of a scenario has to keep."""

    language: Language
    values: frozenset[str]
    """The values of goal and facts, all of which the wording names, and no others."""
    facts: int
    tools: tuple[str, ...] = ()
    answers: frozenset[str] = frozenset()
    """Values of results, which only the agent finds."""

    @classmethod
    def of(cls, scenario: Mapping[str, Any], language: Language, tools: Sequence[str] = ()) -> "WordingChecks":
        """The checks for a designed scenario."""
        facts = [str(fact) for fact in as_list(scenario.get("facts"))]
        whole = "\n".join([str(scenario.get("goal", "")), *facts])
        success = as_object(scenario.get("success"))
        results = {str(text) for text in as_list(as_object(success.get("text_contains")).get("any"))}
        names = tuple(name for name in tools if "_" in name or re.search(r"[a-z][A-Z]", name))
        answers = frozenset(text for text in results if _VALUE.search(text) and text not in whole)
        return cls(language, frozenset(_VALUE.findall(whole)), len(facts), names, answers)

    def fault(self, goal: str, facts: Sequence[str], others: Sequence[str] = ()) -> tuple[WordingFault, str] | None:
        """The first fault of a wording, with the words that show it; `others`: goals that were accepted before."""
        whole = "\n".join([goal, *facts])
        present = frozenset(_VALUE.findall(whole))
        if lost := sorted(value for value in self.values if value not in whole):
            return "lost_value", lost[0]
        if len(facts) != self.facts:
            return "lost_fact", f"{len(facts)} / {self.facts}"
        if answers := sorted(text for text in self.answers if text in whole):
            return "gives_answer", answers[0]
        if invented := sorted(value for value in present if not self._is_own(value)):
            return "invented_value", invented[0]
        if named := [name for name in self.tools if name.casefold() in whole.casefold()]:
            return "tool_name", named[0]
        if language_of(goal) != self.language:
            return "other_language", str(language_of(goal) or "-")
        own = words_in(goal)
        for other in others:
            words = words_in(other)
            if len(own & words) >= ALIKE * len(own | words):
                return "near_double", other
        return None

    def _is_own(self, value: str) -> bool:
        """Whether a value is one of the scenario, or a part of one that is long enough to be meant."""
        return value in self.values or (len(value) >= _PART and any(value in own for own in self.values))


_PART = 4
"""Fewest characters of a part of a value, such as a date without its year."""
