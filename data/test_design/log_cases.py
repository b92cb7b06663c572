"""Goals and facts of people's conversations as the cases of a design, near-equal ones once."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..identity import digest
from ..records import as_list
from ..rules.user_notices import words_in
from ..scenarios import LogScenario, stated_in
from ..text.languages import Language, language_of
from .covering_arrays import ArrayRow, Exclusion

TASK, FACTS = "task", "facts"
"""Names of the factors of a design from logs: what the conversation is about, and how many facts its user states."""
AMOUNTS = ("none", "one or two", "more")
"""Levels of the factor of facts."""
MOST_TASKS = 20
"""Most tasks that are a factor: more of them, or only one, give no factor."""
MOST_LOGS = 2_000
"""Most conversations that are taken: each is compared with the ones before."""
MOST_FACTS = 8
LONGEST = 180
"""Longest goal, in characters: whole sentences of the first message."""
ALIKE = 0.6
"""Least share of common words, 0 to 1, with which two conversations have near-equal goals and facts."""

_VALUE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_FIGURES = "一二三四五六七八九十"
_NUMERAL = re.compile(r"(?<![一二三四五六七八九十百千第])([二三四五六七八九十])(个月|个人|天|周|日|人|道|年|小时)")
"""A numeral of one character and its measure."""
_SENTENCE = re.compile(r".+?(?:[.!?。！？](?!\d)|$)", re.DOTALL)


@dataclass(frozen=True)
class LogCase:
    """The goal and the facts of a person's conversation."""

    id: str
    goal: str
    facts: tuple[str, ...]
    task: str = ""

    @property
    def amount(self) -> str:
        """How many facts there are, as a level."""
        return AMOUNTS[0] if not self.facts else AMOUNTS[1] if len(self.facts) <= _FEW else AMOUNTS[2]

    @property
    def values(self) -> list[str]:
        """The numbers of the goal, each once; of a Chinese numeral with its measure also the figure."""
        numerals = _NUMERAL.findall(self.goal)
        figures = [f"{_FIGURES.index(numeral) + 1}{measure}" for numeral, measure in numerals if measure]
        words = [numeral + measure for numeral, measure in numerals if measure]
        return list(dict.fromkeys([*_VALUE.findall(self.goal), *words, *figures]))


_FEW = 2


@dataclass(frozen=True)
class LogCases:
    """The cases of a source, with what was left out."""

    cases: tuple[LogCase, ...]
    conversations: int
    near_equal: int

    @classmethod
    def of(cls, entries: Iterable[LogScenario]) -> "LogCases":
        """The cases of stored conversations; one whose goal and facts are nearly those of an earlier one is left out."""
        cases: list[LogCase] = []
        words: list[frozenset[str]] = []
        read = near_equal = 0
        for entry in entries:
            if read >= MOST_LOGS:
                break
            read += 1
            if (case := _case(entry)) is None:
                continue
            own = words_in("\n".join([case.goal, *case.facts]))
            if any(len(own & other) >= ALIKE * len(own | other) for other in words):
                near_equal += 1
                continue
            cases.append(case)
            words.append(own)
        return cls(tuple(cases), read, near_equal)


@dataclass(frozen=True)
class LogSpace:
    """Which cases of logs have which levels."""

    cases: Sequence[LogCase]
    taken: Counter[str] = field(default_factory=Counter, compare=False)
    """How often each case was taken, by its id."""

    @property
    def language(self) -> Language:
        """The language of most goals."""
        return language_of("\n".join(case.goal for case in self.cases)) or "en"

    def factors(self) -> dict[str, tuple[str, ...]]:
        """Tasks, if they are a few, and amounts of facts."""
        tasks = tuple(dict.fromkeys(case.task for case in self.cases))
        amounts = tuple(amount for amount in AMOUNTS if any(case.amount == amount for case in self.cases))
        return ({TASK: tasks} if 1 < len(tasks) <= MOST_TASKS and all(tasks) else {}) | {FACTS: amounts}

    def exclusion(self) -> Exclusion:
        """The constraint on task and amount of facts together."""
        names = tuple(self.factors())
        return Exclusion(names, lambda row: "" if self._fitting(row) else "no conversation of the logs has both")

    def case(self, row: ArrayRow, seed: int) -> LogCase:
        """The case of a row that was taken least, of those whose goal names a number, if any does."""
        case = min(self._fitting(row), key=lambda one: (not one.values, self.taken[one.id], digest(seed, one.id)))
        self.taken[case.id] += 1
        return case

    def _fitting(self, row: Any) -> list[LogCase]:
        return [case for case in self.cases if row.get(TASK, case.task) == case.task and row.get(FACTS) == case.amount]


def _case(entry: LogScenario) -> LogCase | None:
    """The case of a stored conversation; None without words of a user."""
    conversation, scenario = entry.conversation, entry.scenario
    if conversation is None or not isinstance(scenario, dict):
        return None
    first = next((one.text for one in conversation.messages if one.role == "user" and one.stored), "")
    goal = _shortened(str(scenario.get("goal") or first))
    if not goal:
        return None
    own = [str(fact) for fact in as_list(scenario.get("facts"))] or stated_in(conversation, 1)
    facts = [fact for text in own if (fact := _shortened(text)) and fact != goal]
    return LogCase(conversation.id, goal, tuple(dict.fromkeys(facts))[:MOST_FACTS], str(scenario.get("task") or ""))


def _shortened(text: str) -> str:
    """Whole sentences of a text up to the longest goal, on one line; the begin of one that is longer."""
    text = " ".join(text.split())
    shortened = ""
    for sentence in _SENTENCE.findall(text):
        if len(shortened) + len(sentence) > LONGEST:
            break
        shortened += sentence
    return (shortened or text[:LONGEST]).strip()
