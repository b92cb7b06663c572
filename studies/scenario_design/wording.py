"""Designed scenarios in the words of a model: what was accepted, and how much was rejected."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...runs.asking.scenario_wording import WordedScenario, wordings

__all__ = ["WORDING", "WordedScenario", "worded", "wording_lines", "wordings"]

WORDING = "wording"
"""Key of a scenario for the model that worded it, its attempts, and why replies were rejected."""


def worded(
    scenarios: Sequence[Mapping[str, Any]], answers: Sequence[WordedScenario], model: str
) -> list[dict[str, Any]]:
    """The scenarios in the words of the model; one without an accepted wording keeps its own."""
    return [_worded(dict(one), answer, model) for one, answer in zip(scenarios, answers, strict=True)]


def _worded(scenario: dict[str, Any], answer: WordedScenario, model: str) -> dict[str, Any]:
    rejected = Counter(attempt.reason for attempt in answer.attempts if attempt.verdict == "rejected")
    note: dict[str, Any] = {"model": model, "attempts": len(answer.attempts)}
    note |= {"rejected": dict(rejected)} if rejected else {}
    if answer.error:
        return scenario | {WORDING: note | {"error": answer.error}}
    words: dict[str, Any] = {"goal": answer.goal, "facts": list(answer.facts)}
    return scenario | words | ({"persona": answer.persona} if answer.persona else {}) | {WORDING: note}


def wording_lines(answers: Sequence[WordedScenario]) -> list[str]:
    """How many wordings were accepted, and how many replies were rejected, by reason."""
    failed = [answer for answer in answers if answer.error]
    rejected = Counter(
        str(attempt.reason) for answer in answers for attempt in answer.attempts if attempt.verdict == "rejected"
    )
    reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
    line = f"{len(answers) - len(failed)} of {len(answers)} scenarios are in the model's words"
    lines = [line + (f"; rejected replies: {reasons}" if reasons else "")]
    return lines + ([f"the others keep their own words, the first because {failed[0].error}"] if failed else [])
