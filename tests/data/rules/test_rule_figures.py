"""How often findings are false and slips are found, as the docs have it: by labelled findings and by our own texts."""

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from duologue.data import Conversation
from duologue.data.checks import RULES, check
from tests.data.rules import ordinary, plants

DOCS = " ".join((Path(__file__).parents[3] / "docs/start/logs.md").read_text("utf-8").split())
LABELS = Path(__file__).parents[1] / "fixtures/labelled_findings.jsonl"
ROWS = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
ERRORS = ("role-slip", "prompt-shown")


def right(part: str, version: str, rules: tuple[str, ...]) -> str:
    """True findings of a version of the rules, of how many."""
    rows = [row for row in ROWS if row["part"] == part and row["rule"] in rules and row.get(version)]
    return f"{sum(row['true'] for row in rows)} of {len(rows)}"


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("`role-slip`, `prompt-shown`", ERRORS),
        ("all errors, including `empty`", (*ERRORS, "empty")),
        ("warnings except `repeated`", ("assistant-like-user", "error-reply", "thank-you-loop")),
    ],
)
def test_true_findings_among_those_of_strangers_logs_are_those_of_the_docs(name, rules):
    first, now = (right("untouched", version, rules) for version in ("first", "now"))
    assert f"| {name} | {first} | {now} |" in DOCS


def test_true_findings_in_the_logs_in_view_and_among_repeats_are_those_of_the_docs():
    assert f"| true `role-slip` and `prompt-shown` | {right('looked at', 'now', ERRORS)} |" in DOCS
    assert f"| `repeated` | | {right('untouched', 'now', ('repeated',))} |" in DOCS


@pytest.mark.parametrize(
    ("part", "what", "is_error"),
    [
        ("untouched, later", "warnings", False),
        ("looked at, later", "warnings", False),
        ("looked at, later", "errors", True),
    ],
)
def test_true_findings_of_the_later_sample_and_of_all_labels_are_those_of_the_docs(part, what, is_error):
    rules = tuple({row["rule"] for row in ROWS if (RULES[row["rule"]].level == "error") == is_error})
    assert f"| {what} | {right(part, 'now', rules)} |" in DOCS
    rows = [row for row in ROWS if row["rule"] in rules and row["now"]]
    assert f"{sum(row['true'] for row in rows)} of {len(rows)} {'errors' if is_error else 'warnings'}" in DOCS


def flagged(number: int) -> Counter[str]:
    """Conversations of our own with a finding, by its level."""
    counts: Counter[str] = Counter()
    for conversation in ordinary.conversations(number):
        counts["all"] += 1
        counts.update({finding.level for finding in check(conversation)})
    return counts


@pytest.mark.parametrize("number", [0, 1])
def test_of_the_ordinary_conversations_that_the_rules_were_changed_for_none_has_an_error_or_a_warning(number):
    counts = flagged(number)
    assert counts["all"] == 540
    assert not counts["error"] + counts["warning"]


def test_the_findings_in_ordinary_conversations_that_no_rule_was_changed_for_are_those_of_the_docs():
    counts = flagged(2)
    for level in ("error", "warning"):
        assert re.search(
            rf"\| conversations with an? {level} \| {counts[level]} of {counts['all']} \|",
            DOCS,
        )


def found(conversation: Conversation) -> list[tuple[str, int]]:
    return [(finding.rule, finding.message) for finding in check(conversation)]


@pytest.mark.heavy
def test_slips_that_are_put_into_ordinary_conversations_are_found_as_often_as_the_docs_say():
    drawn = [next(islice(ordinary.conversations(number), 12 * form, None)) for number in (0, 1) for form in range(40)]
    counts = plants.recall(drawn, found)
    assert set(counts) - {"leak"} <= set(RULES)
    hits, total = (sum(column) for column in zip(*counts.values(), strict=True))
    assert f"{hits} of {total} slips" in DOCS


def test_the_labels_have_ids_rules_and_reasons_and_no_texts():
    assert all(row["rule"] in RULES and row["reason"] and row["id"] for row in ROWS)
    assert not any(re.search(r"[\"“]", row["reason"]) for row in ROWS)
