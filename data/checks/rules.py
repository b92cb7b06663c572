"""A linter for simulated conversations: rules with an id, findings with a place and a reason."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...errors import DataError
from ..recllmsim.situations import KIND as TASKS
from ..records import Conversation, Record
from ..simquac.topics import KIND
from . import recllmsim, simquac
from .found import Found

Level: TypeAlias = Literal["error", "warning"]
"""`error`: the data set says what is not so, or was never meant to be in it. `warning`: worth a look."""


class Finding(Record):
    """One thing that a rule found."""

    rule: str
    level: Level
    conversation: str
    """Id of the conversation."""
    path: str = ""
    """Path of its file in the folder that was read, where each conversation has a file."""
    message: int
    """Number of the message in the conversation, from 0."""
    role: str
    reason: str
    """One line: what, and where in the message."""


@dataclass(frozen=True)
class Rule:
    """A rule: its level, what it is about in a line, and the function that finds it."""

    level: Level
    about: str
    find: Callable[[Conversation], Found]
    kind: str = KIND
    """Kind of scenario whose conversations it reads."""


RULES: Mapping[str, Rule] = {
    "span-not-slice": Rule("error", "a span that is not the section's text at its offset", simquac.span_not_slice),
    "span-case": Rule("error", "a span that differs from the section's text in case alone", simquac.span_case),
    "span-second-word": Rule(
        "warning", "a span that begins at the second word of a sentence", simquac.span_second_word
    ),
    "answer-ungrounded": Rule(
        "error", "an answer that is neither a refusal nor made of the section", simquac.answer_ungrounded
    ),
    "answer-empty": Rule("error", "an answer, or a span of one, without a letter or digit", simquac.answer_empty),
    "answer-long": Rule("warning", "an answer over the 40 tokens that teachers are asked for", simquac.answer_long),
    "question-empty": Rule("error", "a question without a letter or digit", simquac.question("empty")),
    "question-long": Rule("error", "a question over 25 words", simquac.question("too_long")),
    "question-lines": Rule("error", "a question of several lines", simquac.question("newline")),
    "question-list": Rule("error", "an enumeration in place of a question", simquac.question("enumeration")),
    "question-several": Rule("warning", "several questions in one", simquac.question("several_questions")),
    "question-again": Rule(
        "warning", "a question that was asked before in the conversation", simquac.question("asked_again")
    ),
    "leaked-instruction": Rule("error", "words of an instruction in what was said", simquac.leaked_instruction),
    "leaked-suffix": Rule("error", "a hint for the other side left in a question", simquac.leaked_suffix),
    "user-empty": Rule("error", "a user's message without a letter or digit", recllmsim.user_empty, TASKS),
    "user-role-leak": Rule("error", "a user that speaks for another side", recllmsim.user_role_leak, TASKS),
    "user-prompt-leak": Rule(
        "error", "a user that shows instructions, reasoning or a model", recllmsim.user_prompt_leak, TASKS
    ),
    "user-repeat": Rule("warning", "a user's message that was said before", recllmsim.user_repeat, TASKS),
    "user-plan": Rule("warning", "a user that does the assistant's work", recllmsim.user_plan, TASKS),
    "user-pastes-task": Rule(
        "warning", "a user's message that copies the task context", recllmsim.user_pastes_task, TASKS
    ),
    "assistant-first": Rule("warning", "an assistant that opens", recllmsim.assistant_first, TASKS),
    "same-side-again": Rule("warning", "two messages of one side in a row", recllmsim.same_side_again, TASKS),
    "user-last": Rule("warning", "a user's message without a reply at the end", recllmsim.user_last, TASKS),
    "error-reply": Rule("warning", "an error of the endpoint in place of a reply", recllmsim.error_reply, TASKS),
    "hallucination": Rule(
        "warning", "a reply that annotators call made up, or cannot judge", recllmsim.hallucination, TASKS
    ),
    "label-shape": Rule("warning", "an annotation in none of the published shapes", recllmsim.label_shape, TASKS),
}
"""Every rule by its id."""


def check(conversation: Conversation, rules: Collection[str] | None = None) -> list[Finding]:
    """What the rules (all, or those named) find in a conversation, message by message."""
    found = []
    for name in chosen(rules):
        rule = RULES[name]
        if conversation.scenario.get("kind") != rule.kind:
            continue
        for number, reason in rule.find(conversation):
            found.append(
                Finding(
                    rule=name,
                    level=rule.level,
                    conversation=conversation.id,
                    path=str(conversation.extra.get("path", "")),
                    message=number,
                    role=conversation.messages[number].role,
                    reason=" ".join(reason.split()),
                )
            )
    return sorted(found, key=lambda finding: finding.message)


def check_all(conversations: Iterable[Conversation], rules: Collection[str] | None = None) -> list[Finding]:
    """What the rules find in many conversations, in their order."""
    return [finding for conversation in conversations for finding in check(conversation, rules)]


def chosen(rules: Collection[str] | None) -> list[str]:
    """The named rules in the registry's order; DataError for a name that no rule has."""
    unknown = sorted(set(rules or ()) - set(RULES))
    if unknown:
        raise DataError(f"there is no rule {unknown[0]!r}, only {', '.join(RULES)}")
    return [name for name in RULES if rules is None or name in rules]
