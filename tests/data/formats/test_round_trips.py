"""Generated conversations go out and come back through every format that is written: each loss is named before."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message, domains, load
from duologue.data.formats.messages import asides
from duologue.data.records import Attempt
from duologue.data.scenarios import scenario_formats
from tests.data.generated import conversations

COUNT = 1_000

OTHERS = {
    "inspect": "logs by inspect_ai: tests/data/logs/test_inspect_logs.py",
    "simquac": "spans of a section: tests/data/simquac/test_simquac_files.py",
    "quac": "spans of a section: tests/data/simquac/test_rows.py",
    "squad_v2": "questions, which are not read as conversations",
    "recllmsim": "situations: tests/data/recllmsim/test_recllmsim_files.py",
}
"""Targets of `convert` that hold conversations of one domain, with where they are tested."""

FILES = {
    "sharegpt": "out.json",
    "parquet": "out.parquet",
}
"""Names of files, where they decide the layout."""


def stored(talk: Conversation) -> list[Message]:
    return [message for message in talk.messages if message.stored]


def drafts(talk: Conversation) -> list[Attempt]:
    return [draft for message in stored(talk) for draft in message.attempts]


def standing(message: Message) -> dict[str, Any]:
    """What is recorded of the draft that stands, beside its message, calls, reasoning and kept channels."""
    last = message.attempts[-1].plain() if message.attempts and message.attempts[-1].verdict != "rejected" else {}
    beside = ("number", "text", "verdict", "tool_calls", "reasoning", "kept")
    return {key: value for key, value in last.items() if key not in beside}


def calls(talk: Conversation, role: str) -> list[Any]:
    """Name, arguments and result of each call; of one that failed its error is the result, and a number is its text."""
    made = [call for message in stored(talk) if message.role == role for call in message.tool_calls]
    results = [call.error if call.error is not None else _worded(call.result) for call in made]
    return [(call.name, call.arguments, whole(result)) for call, result in zip(made, results, strict=True)]


def whole(text: Any) -> Any:
    """A text with question marks for halves of surrogate pairs, as UTF-8 has it."""
    return text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else text


def _worded(result: Any) -> Any:
    return result if isinstance(result, str | list | dict) else json.dumps(result)


def scalars(talk: Conversation) -> list[Any]:
    """Results that are neither texts nor objects nor lists, and whether parts stand in the place of one."""
    made = [call for message in stored(talk) if message.role == "assistant" for call in message.tool_calls]
    return [
        None if isinstance(call.result, str | list | dict) or call.error is not None else (call.result,)
        for call in made
    ]


HELD: dict[str, Callable[[Conversation], Any]] = {
    "what it is about (the scenario)": lambda talk: {key: value for key, value in talk.scenario.items() if key not in ("kind", "digest")},
    "its number among equal ones (ordinal, repeat)": lambda talk: talk.repeat,
    "labels": lambda talk: (talk.labels, [message.labels for message in stored(talk)]),
    "spans": lambda talk: [message.spans for message in stored(talk)],
    "translations": lambda talk: [message.extra.get("content_zh") for message in stored(talk)],
    "calls and results of tools": lambda talk: calls(talk, "assistant"),
    "calls and results of a user's tools": lambda talk: calls(talk, "user"),
    "that a tool failed (errors of tools are written as results)": lambda talk: [call.error for message in stored(talk) if message.role == "assistant" for call in message.tool_calls],
    "that results of tools are numbers, true, false or null (they are written as texts)": scalars,
    "rejected drafts": lambda talk: [draft for draft in talk.attempts() if draft.verdict == "rejected"],
    "reasoning of models": lambda talk: [draft.reasoning for draft in drafts(talk) if draft.reasoning],
    "what agents and sides kept": lambda talk: (talk.memory, [draft.kept for draft in drafts(talk) if draft.kept]),
    "prompts, tokens and notes of the drafts that stand": lambda talk: [standing(message) for message in stored(talk)],
    "turns without a message": lambda talk: talk.unsaid,
    "tokens of what closed it": lambda talk: talk.closing_usage,
    "why it ended (stop, failure)": lambda talk: (talk.stop, talk.failure),
    "how it was made (provenance)": lambda talk: talk.provenance,
    "times (timing)": lambda talk: talk.timing,
    "messages that are not stored": lambda talk: len(talk.messages) - len(stored(talk)),
    "extra": lambda talk: {key: talk.extra.get(key) for key in ("path", "odd")},
    "images, recordings, files and other parts of messages": lambda talk: [(message.parts, [call.parts for call in message.tool_calls if message.role == "assistant"]) for message in stored(talk)],
}  # fmt: skip
"""What a conversation holds of each kind of content that a format may lose, by the words with which it is named."""


def words(talk: Conversation) -> Any:
    """What no format may lose: the id, the words of both sides, and the instructions at their places."""
    instructions = [whole(aside["system"]) for aside in asides(talk) if "system" in aside]
    return talk.id, [(message.role, whole(message.text)) for message in stored(talk)], instructions


def named(lines: list[str]) -> Counter[str]:
    """The number of conversations by the kind of content that a writer says it leaves out."""
    read = [re.fullmatch(r"(.+?), of (\d+) conversations?", line) for line in lines]
    assert all(read), lines
    kinds = {match[1]: int(match[2]) for match in read if match}
    return Counter({_kind(words): count for words, count in kinds.items()})


def _kind(words: str) -> str:
    return "extra" if words.startswith("extra (") else words


def lost(before: Conversation, after: Conversation) -> Iterator[str]:
    """The kinds of content that the conversation has no more."""
    yield from (kind for kind, held in HELD.items() if held(before) != held(after))


def writers() -> list[str]:
    return [name for name in domains.targets() if name not in OTHERS and name not in scenario_formats()]


def test_every_format_that_is_written_is_tested_here_or_where_its_domain_is() -> None:
    assert set(domains.targets()) <= {*OTHERS, *writers(), *scenario_formats()}
    assert {"replay", "messages", "sharegpt"} <= set(writers())


@pytest.mark.heavy
@pytest.mark.parametrize("name", writers())
def test_every_loss_of_a_thousand_conversations_is_named_before_and_none_is_found_after(name: str) -> None:
    talks = list(conversations(COUNT))
    path = Path(FILES.get(name, "out.jsonl"))
    losses = named(domains.targets()[name](iter(talks), path))
    read = load(path)
    back = {talk.id: talk for talk in read}
    pairs = [(talk, back[talk.id]) for talk in talks]
    assert len(read) == len(pairs)
    assert not [before.id for before, after in pairs if words(before) != words(after)]
    found = Counter(kind for before, after in pairs for kind in lost(before, after))
    assert bool(found) == bool(losses)
    assert max(losses.values(), default=0) >= max(found.values(), default=0)
