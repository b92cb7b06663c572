"""Lines of a scenario file from the cases of a design, with what each covers."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..behaviours.kinds import KEY, PLAIN
from ..records import as_list, as_object
from ..text.languages import Language
from .behaviours import GROUPS
from .case_space import KIND, MISSING, RULE, TOOL, DesignedCase
from .sentences import facts_of, goal_of, in_words, title_of

COVERS, PROOF, DIFFICULTY = "covers", "proof", "difficulty"
"""Keys of a scenario for what it covers, how it was proven, and how difficult it is."""

OF, VALUES = "of", "values"
"""Keys of `covers` for the argument that is not valid, and for the values without which the case does not come up."""
POSSIBLE, REFUSE, UNDECIDED = "possible", "must be refused", "not decided"
"""Verdicts of the oracle."""


def line_of(
    case: DesignedCase, language: Language, dimensions: Mapping[str, Sequence[str]], number: int
) -> dict[str, Any]:
    """The scenario of a case, without `success` and proof; its number begins its title."""
    facts = facts_of(case, language) + facts_of_row(case.row, dimensions, language)
    factors = (TOOL, KIND, RULE, *(name for name in sorted(case.row) if name not in (TOOL, KIND, RULE)))
    covers: dict[str, Any] = {name: case.row[name] for name in factors if name in case.row}
    covers |= {OF: case.argument.name} if case.argument is not None else {}
    covers[VALUES] = _values_in_play(case, language)
    return {
        "title": f"{number}. {title_of(case, language)}",
        "goal": goal_of(case, language),
        "facts": facts,
        **case.example.scenario,
        **({KEY: names} if (names := behaviours_of(case.row)) else {}),
        COVERS: covers,
        **({"rule": case.rule.text} if case.rule is not None else {}),
    }


def facts_of_row(row: Mapping[str, str], dimensions: Mapping[str, Sequence[str]], language: Language) -> list[str]:
    """A fact for each dimension of a row."""
    form = "{name}是{level}。" if language == "zh" else "The {name} is {level}."
    return [form.format(name=name.replace("_", " "), level=row[name]) for name in dimensions if name in row]


def behaviours_of(row: Mapping[str, str]) -> list[str]:
    """The behaviours of a row's user, in the order of their groups."""
    return [row[group] for group in GROUPS if row.get(group, PLAIN) != PLAIN]


def row_of(scenario: Mapping[str, Any]) -> dict[str, str]:
    """The row of a scenario, by its key `covers`; empty without one."""
    covers = scenario.get(COVERS)
    if not isinstance(covers, Mapping):
        return {}
    return {str(name): level for name, level in covers.items() if name not in (OF, VALUES) and isinstance(level, str)}


def values_of(scenario: Mapping[str, Any]) -> list[str]:
    """The values without which the case of a scenario does not come up."""
    return [str(value) for value in as_list(as_object(scenario.get(COVERS)).get(VALUES))]


def _values_in_play(case: DesignedCase, language: Language) -> list[str]:
    """The values of the call.

    Where one argument is not valid, only its own; where it is missing, none.
    """
    if case.argument is None:
        return [in_words(value, language) for value in case.arguments.values()]
    return [] if case.kind == MISSING else [in_words(case.arguments[case.argument.name], language)]


def proof_line(proof: Mapping[str, Any]) -> str:
    """The oracle's verdict about a scenario in words.

    >>> proof_line({"verdict": "possible", "calls": 2})
    'possible in 2 calls'
    """
    if proof["verdict"] == POSSIBLE:
        return f"possible in {proof['calls']} call{'s' * (proof['calls'] != 1)}"
    verdict = "impossible: must be refused" if proof["verdict"] == REFUSE else UNDECIDED
    return f"{verdict} ({proof['because']})"
