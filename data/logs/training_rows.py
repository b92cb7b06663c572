"""Rows of data for fine-tuning and preferences: a question and its answer, or the answers that were chosen and rejected.

Columns: Alpaca's `instruction`, `input` and `output`. `system`, `history`, `query` and `response` of ms-swift.
`prompt`, `completion`, `chosen`, `rejected` and `label` of TRL. `kto_tag` and ShareGPT's `conversations` beside
`chosen` and `rejected` of LLaMA-Factory. Texts that begin with `Human:` as in Anthropic's HH-RLHF.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..files.broken_lines import readable
from ..files.json_values import elements
from ..formats import messages, sharegpt
from ..formats.detection import Contents, Format, Source
from ..formats.message_parts import with_ids
from ..formats.turns import role_of, turns_of
from ..records import is_object
from .key_names import ANSWERS, BY_ROLE, INPUTS, SPEAKERS
from .logged_lines import IDS, identifier
from .times import oldest_first

_LISTS = ("messages", "conversations", "conversation", "turns", "choices", "对话", "消息")
_OTHERS = (
    "messages",
    "response",
    "completion",
    "output",
    "preferred_output",
    "choices",
    "conversations",
    "rejected_output",
)
"""Keys by which a line of messages would be taken for another form: what a row has under them goes under `row`."""

_SYSTEMS = ("system", "system_prompt")
_REJECTED = ("rejected", "rejected_response", "rejected_messages")
_TRANSCRIPT = re.compile(r"\n\n(Human|Assistant): ?")


def read(path: str | Path) -> Contents:
    """A conversation for each row, or for the rows that name the same one.

    DataError for a row without a question.
    """
    return of_rows(path, elements(path))


def of_rows(path: str | Path, rows: Iterable[tuple[str, Any]]) -> Contents:
    """The conversations of rows, each with its place in the file; rejected answers are kept and counted in a note."""
    groups: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    rejected = empty = 0
    for place, row in rows:
        value: dict[str, Any] = {}
        with readable(place):
            if not is_row(row):
                raise DataError(f"{at(path, place)}: {_problem(row)}")
            try:
                value = value_of(row)
            except ValueError as error:
                raise DataError(f"{at(path, place)}: {error}") from None
        if not value:
            continue
        if not value["messages"]:
            empty += 1
            continue
        rejected += any(row.get(key) for key in _REJECTED)
        name = "" if row.get(_history_key(row)) else identifier(row)
        if name:
            value = {key: inner for key, inner in value.items() if key not in IDS or str(inner) != name}
            if own := {"id": value.pop("id")} if "id" in value else {}:  # of the row: it is its first message's
                value["messages"] = [value["messages"][0] | own, *value["messages"][1:]]
        value = ({"id": name} if name else {}) | value
        groups.setdefault(name or f"\0{place}", (place, []))[1].append(value)
    values = [(place, _joined(oldest_first(listed))) for place, listed in groups.values()]
    notes = (
        [f"{rejected} rejected answer{'s are' if rejected > 1 else ' is'} kept beside the chosen"] if rejected else []
    )
    notes += [f"{empty} row{'s' if empty > 1 else ''} without a text left out"] if empty else []
    return Contents(tuple(messages.of_values(path, values)), tuple(notes))


def is_row(value: Any) -> bool:
    """Whether an object has a question and an answer, and no list of messages with its answers inside."""
    if not isinstance(value, Mapping):
        return False
    return _columns(value) is not None or _is_transcript(value)


def _columns(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The column of the question and that of the answer."""
    listed = any(isinstance(row.get(key), list) for key in _LISTS)
    for question, answers in ANSWERS.items():
        if question not in row or (listed and question not in _LISTS) or not _is_words(row[question]):
            continue
        if question == BY_ROLE and any(key in row for key in SPEAKERS):
            continue
        for answer in answers:
            if answer in row and (row[answer] is None or _is_words(row[answer])):
                return question, answer
    whole = row.get("chosen") if "rejected" in row and not listed else None
    return ("", "chosen") if isinstance(whole, list) and _begins(_turns(whole)) else None


def _is_words(value: Any) -> bool:
    return isinstance(value, str) or bool(_turns(value))


def _is_transcript(row: Mapping[str, Any]) -> bool:
    return all(isinstance(row.get(key), str) and _TRANSCRIPT.match(row[key]) for key in ("chosen", "rejected"))


def _problem(row: Any) -> str:
    answers = dict.fromkeys(answer for listed in ANSWERS.values() for answer in listed)
    seen = ", ".join(list(row)[:12]) if isinstance(row, Mapping) else f"a {type(row).__name__}"
    return (
        "is not a question with its answer, as the first row is: give texts or messages as "
        f"{', '.join(key for key in ANSWERS if key not in _LISTS)} and {', '.join(answers)}; it has {seen}"
    )


def value_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as a line of messages, with its further keys; ValueError for a history that is not one."""
    if (columns := _columns(row)) is None:
        question, answer, opening = "", "chosen", []
        closing = _of_transcript(row["chosen"])
    else:
        question, answer = columns
        opening, closing = _question(row, question) if question else [], _turns(row[answer], "assistant")
    past = _history_key(row)
    instruction = next((key for key in _SYSTEMS if row.get(key) is not None), _SYSTEMS[0])
    taken = {question, answer, instruction, past}
    if opening and (about := INPUTS.get(question)) and opening[-1].get(about) is not None:
        taken.add(about)
    if _begins(closing):  # the answer is the whole conversation
        if opening != closing[: len(opening)]:
            taken.discard(question)
        opening = []
    system = row.get(instruction)
    if system is not None and not isinstance(system, str):
        taken.discard(instruction)
    turns = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    turns += with_ids([*_history(row.get(past)), *opening, *closing])
    more = {key: value for key, value in row.items() if key not in taken}
    if others := {key: more.pop(key) for key in _OTHERS if key in more}:
        more["row"] = others
    return {**more, "messages": turns}


def line_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with a list of messages, of OpenAI's or ShareGPT's form, as a line of messages."""
    key = next((key for key in ("messages", "conversations", "conversation") if isinstance(row.get(key), list)), "")
    turns = with_ids(_turns(row[key])) if key else None
    further = {one: value for one, value in row.items() if one != key}
    return {**further, "messages": turns or row.get(key)}


def _question(row: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
    """The question, with the row's `input` if it is an instruction: the message keeps both."""
    about = INPUTS.get(column, "")
    more = row.get(about)
    if not isinstance(row[column], str) or not isinstance(more, str):
        return _turns(row[column])
    text = "\n\n".join(part for part in (row[column], more) if part)
    parts = {column: row[column], about: more} if more else {}
    return [{"role": "user", "content": text, **parts}] if text else []


def _history(history: Any) -> list[dict[str, Any]]:
    """The messages before the question: pairs of question and answer, or messages."""
    if history is None or history == "":
        return []
    if isinstance(history, list):
        if all(_is_pair(pair) for pair in history):
            return [turn for user, reply in history for turn in (*_turns(user), *_turns(reply, "assistant"))]
        if len(turns := _turns(history)) >= len(history):
            return turns
    raise ValueError("'history' is not a list of pairs of texts, or of messages: write [[question, answer], ...]")


def _history_key(row: Mapping[str, Any]) -> str:
    """The key of the messages before the question; a text under `chat_history` is a further key."""
    return "history" if row.get("history") or not isinstance(row.get("chat_history"), list) else "chat_history"


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str | None) for text in pair)


def _begins(turns: list[dict[str, Any]]) -> bool:
    """Whether the turns begin with the user's message."""
    return next((turn["role"] for turn in turns if turn["role"] not in messages.SYSTEM), "") == "user"


def _turns(value: Any, role: str = "user") -> list[dict[str, Any]]:
    """A text as a message of the role; messages of OpenAI's or ShareGPT's form; nothing for other values."""
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(map(is_object, listed)):
        return []
    turns = [turn for message in listed for turn in _of_message(message)]
    return turns if len(turns) >= len(listed) else []


def _of_message(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A message; the calls and results of ShareGPT as those of OpenAI's form."""
    if "from" not in message:
        role = role_of(message.get("role"))
        return [{**message, "role": role}] if role and "content" in message else turns_of(message)
    turn = sharegpt.plain_turn(message)
    further = {key: value for key, value in message.items() if key not in ("from", "value")}
    return [{**turn, **further}] if turn else []


def _of_transcript(text: str) -> list[dict[str, Any]]:
    """The turns of one text, each after a blank line and `Human:` or `Assistant:`."""
    _, *pieces = _TRANSCRIPT.split(text)
    names = {"Human": "user", "Assistant": "assistant"}
    return [{"role": names[name], "content": words} for name, words in zip(pieces[::2], pieces[1::2], strict=True)]


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of a conversation: the keys of a further one are those of its first message."""
    value, *others = rows
    for row in others:
        first, *rest = row.pop("messages") or [{}]
        own = {key: inner for key, inner in row.items() if key not in first and key != "id"}
        value["messages"] += [{**first, **own}, *rest]
    return value


def _recognised(source: Source) -> bool:
    return is_row(source.first)


FORMAT = Format(
    "rows",
    "rows of questions and answers for fine-tuning, or of chosen and rejected answers",
    _recognised,
    read,
    sign="`instruction`, `query`, `prompt`, `question` or `message` with `output`, `response`, `completion`, `answer`, "
    "`reply` or `chosen`",
)
