"""Data sets of dialogues with a layout of their own: MultiWOZ 2.1, DialogStudio, ABCD and CoQA."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ..attempts import as_object, is_object

RESERVED = (
    "id", "messages", "role", "content", "parts", "tool_calls", "function_call", "tool_call_id", "system", "choices",
    "response", "completion", "output", "preferred_output", "chosen", "conversations",
)  # fmt: skip
"""Keys that mean something in a line of messages, or in one of its messages: others' keys of that name go under another."""


class SpokenTurn(NamedTuple):
    """A turn of a dialogue as its source has it."""

    speaker: str
    text: str | None
    """None for a turn that is only calls: its further keys are those of the last result."""
    further: dict[str, Any]
    calls: tuple[tuple[str, Any, Any], ...] = ()
    """Name, arguments and result of the calls that come before the text."""


DialogueTurns: TypeAlias = tuple[list[SpokenTurn], set[str]]
"""The turns, and the keys of the dialogue that they come from."""

_USER, _SYSTEM = "user utterance", "system response"


def _is_multiwoz(value: Mapping[str, Any]) -> bool:
    log = value.get("log")
    turns = log[:2] if isinstance(log, list) else []
    alternating = all(
        is_object(turn) and "text" in turn and "speaker" not in turn and "metadata" in turn for turn in turns
    )
    return is_object(value.get("goal")) and bool(turns) and alternating


def _of_multiwoz(value: Mapping[str, Any]) -> DialogueTurns:
    """The user begins and both alternate; only the system's turns have `metadata`, the state of the dialogue."""
    turns = []
    for number, turn in enumerate(value["log"]):
        text = as_object(turn).get("text")
        if not isinstance(text, str):
            raise ValueError(f"log[{number}]: has no 'text': mend the file there")
        if number % 2 == 0 and turn.get("metadata"):
            raise ValueError(f"log[{number}]: a user's turn has a state in 'metadata': the two sides do not alternate")
        further = {key: inner for key, inner in turn.items() if key != "text"}
        turns.append(SpokenTurn("assistant" if number % 2 else "user", text, further))
    return turns, {"log"}


def _is_dialogstudio(value: Mapping[str, Any]) -> bool:
    log = value.get("log")
    return isinstance(log, list) and bool(log) and is_object(log[0]) and {_USER, _SYSTEM} <= log[0].keys()


def _of_dialogstudio(value: Mapping[str, Any]) -> DialogueTurns:
    """A turn has both sides; an empty text stands where one of them was silent."""
    turns = []
    for number, turn in enumerate(value["log"]):
        if not is_object(turn) or not all(isinstance(turn.get(key), str) for key in (_USER, _SYSTEM)):
            raise ValueError(f"log[{number}]: needs texts as {_USER!r} and {_SYSTEM!r}: mend the file there")
        system = {key: inner for key, inner in turn.items() if key == "original system side information"}
        user = {key: inner for key, inner in turn.items() if key not in (_USER, _SYSTEM, *system)}
        if turn[_USER]:
            turns.append(SpokenTurn("user", turn[_USER], user))
        if turn[_SYSTEM] or not turn[_USER]:
            turns.append(SpokenTurn("assistant", turn[_SYSTEM], system if turn[_USER] else {**user, **system}))
    return turns, {"log"}


def _is_abcd(value: Mapping[str, Any]) -> bool:
    listed = value.get("original")
    return isinstance(listed, list) and bool(listed) and all(map(_is_pair, listed[:3]))


def _is_pair(turn: Any) -> bool:
    return isinstance(turn, list) and len(turn) == 2 and all(isinstance(text, str) for text in turn)


def _of_abcd(value: Mapping[str, Any]) -> DialogueTurns:
    """Pairs of a speaker and a text; an action is a call of the agent.

    The button and its values stand in `targets`.
    """
    original, delexed = value["original"], value.get("delexed")
    beside = delexed if isinstance(delexed, list) and len(delexed) == len(original) else [None] * len(original)
    turns = []
    for number, (turn, labels) in enumerate(zip(original, beside, strict=True)):
        if not _is_pair(turn):
            raise ValueError(f"original[{number}]: is not a pair of a role and a text: mend the file there")
        speaker, text = turn
        further = {} if labels is None else {"delexed": labels}
        if speaker != "action":
            turns.append(SpokenTurn(speaker, text, {"speaker": speaker, **further}))
            continue
        targets = as_object(labels).get("targets")
        button, values = targets[2:4] if isinstance(targets, list) and len(targets) > 3 else (None, None)
        if isinstance(button, str):
            turns.append(SpokenTurn("agent", None, further, ((button, {"values": values}, text),)))
        else:
            turns.append(SpokenTurn("tool", text, further))
    return turns, {"original", *(["delexed"] if delexed is beside else [])}


def _is_coqa(value: Mapping[str, Any]) -> bool:
    questions = value.get("questions")
    return isinstance(value.get("story"), str) and isinstance(questions, list) and "answers" in value


def _of_coqa(value: Mapping[str, Any]) -> DialogueTurns:
    """Questions about a story and their answers, as in its own files or in the rows of `datasets`."""
    questions, answers = value["questions"], value["answers"]
    if is_object(answers):  # an object of lists
        lists = {key: inner for key, inner in answers.items() if isinstance(inner, list)}
        answers = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    if not isinstance(answers, list) or len(answers) != len(questions):
        raise ValueError("'questions' and 'answers' are not as many: mend the file there")
    turns = []
    for number, pair in enumerate(zip(questions, answers, strict=True)):
        for speaker, side in zip(("user", "assistant"), pair, strict=True):
            fields = side if is_object(side) else {"input_text": side}
            text: object = fields.get("input_text")
            if not isinstance(text, str):
                raise ValueError(f"turn {number}: has no 'input_text': mend the file there")
            further = {key: inner for key, inner in fields.items() if key != "input_text"}
            turns.append(SpokenTurn(speaker, text, further))
    return turns, {"questions", "answers"}


LAYOUTS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], DialogueTurns]], ...] = (
    (_is_multiwoz, _of_multiwoz),
    (_is_dialogstudio, _of_dialogstudio),
    (_is_abcd, _of_abcd),
    (_is_coqa, _of_coqa),
)
"""Of each layout, whether an object has it, and the turns; ValueError for one that is broken."""
