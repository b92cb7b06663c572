"""Requests of chat completions with their responses, and single messages.

Shapes:

- The request and response of OpenAI's Chat Completions API (`messages`, `choices`, `usage`), stored together in a line
  or as `request` and `response`.
- Those of Anthropic's Messages API and of Bedrock's Converse API.
- Input and output lines of OpenAI's Batch API (`custom_id`, `body`, `response.body`).
- Its lines for preference fine-tuning (`input`, `preferred_output`).
- Lists under `conversation` or `conversations` with `role` and `content`, as data sets of chats have them.
- Single messages with `role`, `content` and the id of their conversation.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..formats import messages
from ..formats.detection import Contents
from ..formats.other_requests import OtherForms
from ..formats.turns import role_of, turns_of
from ..records import Conversation, as_list, as_object
from .calls import LoggedCall, left_out, together, with_conversations
from .key_names import CONVERSATIONS, SPEAKERS, TEXTS, first_of
from .key_names import LISTS as DIALOGUE_LISTS
from .logged_lines import IDS, LISTS, LoggedLine, unread_notes, usage_of
from .times import oldest_first


def of_calls(path: str | Path, calls: Iterable[LoggedCall | None], nothing: str, others: OtherForms) -> Contents:
    """The conversations of traced calls; DataError with the line `nothing` if none of them holds messages.

    Notes count the `others` and the calls of which no conversation has the messages.
    """
    with_turns = [call for call in calls if call is not None and call.turns]
    if not with_turns:
        raise DataError(f"{at(path)}: {nothing}")
    values = list(together(with_conversations(with_turns)))
    left = left_out(with_turns, values)
    lines = (f"{left} call{'s' * (left > 1)} of a trace with messages of their own left out",) if left else ()
    unread = unread_notes(call.unread for call in with_turns)
    return Contents(tuple(numbered(path, values)), (*others.notes(), *lines, *unread))


def numbered(path: str | Path, values: Iterable[dict[str, Any]]) -> Iterator[Conversation]:
    """The conversations of objects with `messages`, whose places are their numbers."""
    placed = ((f"conversation {number}", value) for number, value in enumerate(values, start=1))
    return messages.iterate(path, placed)


def is_turn(value: Any) -> bool:
    """Whether a value is a single message."""
    return (
        isinstance(value, Mapping)
        and role_of(value.get("role")) is not None
        and "stop_reason" not in value  # a response of Anthropic's Messages API
        and ("content" in value or "tool_calls" in value)
        and not any(isinstance(value.get(key), list) for key in LISTS)
    )


def turn_of(value: Any) -> Mapping[str, Any] | None:
    """A single message of any known keys (`key_names`) as a turn with `role` and `content`; None for others.

    The name of its conversation is under `conversation_id`.
    """
    if is_turn(value) or not isinstance(value, Mapping):
        return value if is_turn(value) else None
    speaker = next((key for key in SPEAKERS if role_of(value.get(key)) is not None), "")
    text = next((key for key in TEXTS if isinstance(value.get(key), str)), "")
    if (
        not speaker
        or not text
        or (speaker, text) == ("role", "content")
        or any(isinstance(value.get(key), list) for key in (*LISTS, *DIALOGUE_LISTS))
    ):
        return None
    names = {key.casefold(): key for key, inner in value.items() if isinstance(inner, str | int)}
    name = names.get(first_of(CONVERSATIONS, names), "")
    turn = {"role": value[speaker], "content": value[text]} | ({IDS[0]: value[name]} if name else {})
    return turn | {key: inner for key, inner in value.items() if key not in (speaker, text, name)}


def of_group(name: str, turns: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The conversation of single messages with its name, which may be empty.

    Those that stand from the newest to the oldest, as a database may give them, are turned round.
    """
    own = [{key: inner for key, inner in turn.items() if key not in IDS} for turn in turns]
    return ({"id": name} if name else {}) | {"messages": oldest_first(own)}


def call_of(line: LoggedLine) -> LoggedCall | None:
    """The request and the response of a line; None if it has neither.

    A text by itself is not a request, and a text is a response only to messages.
    """
    turns = _messages(line.value) or _messages(line.request) or turns_of(line.value.get("input"))
    instructions = _instructions(line.value) or _instructions(line.request)
    if turns and instructions:
        turns = [{"role": "system", "content": instructions}, *turns]
    answered = _answers(line.response) if turns or not isinstance(line.response, str) else []
    if not turns and answered:
        texts = (line.value.get("input"), *map(_prompt, (line.value, line.request)))
        turns = [{"role": "user", "content": text} for text in texts if isinstance(text, str) and text][:1]
    if not turns and not answered:
        return None
    response = as_object(line.response)
    choices = ("choices after the first",) * (len(as_list(response.get("choices"))) > 1)
    return LoggedCall(
        turns + answered,
        conversation=line.conversation,
        usage=usage_of(response),
        more={key: inner for key, inner in line.more.items() if not (key == "system" and turns and instructions)},
        own=line.own,
        sent=len(turns),
        unread={**line.unread, "response": (*line.unread["response"], *choices)},
    )


def _prompt(request: Mapping[str, Any]) -> Any:
    """The text of a request to the older completions; of several the first, whose reply is read."""
    prompt = request.get("prompt")
    return prompt[0] if isinstance(prompt, list) and prompt else prompt


def _instructions(holder: Mapping[str, Any]) -> str:
    """The text under `system`, where Anthropic's and Bedrock's APIs take it; empty without one."""
    system = holder.get("system")
    blocks = [{"text": system}] if isinstance(system, str) else as_list(system)
    texts = [as_object(block).get("text") for block in blocks]
    return "".join(text for text in texts if isinstance(text, str))


def _messages(holder: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed: list[Any] = next((holder[key] for key in LISTS if isinstance(holder.get(key), list)), [])
    return [dict(turn) if is_turn(turn) else inner for turn in listed for inner in (turns_of(turn) or [turn])]


def _answers(response: Any) -> list[dict[str, Any]]:
    """The turns of a response; of several choices the first."""
    if isinstance(response, str):
        return [{"role": "assistant", "content": response}]
    if isinstance(response, list):
        return turns_of(response) or [
            turn for inner in response if isinstance(inner, Mapping) for turn in _answers(inner)
        ]
    if not isinstance(response, Mapping):
        return []
    choices = response.get("choices")
    if not isinstance(choices, list):
        own = turns_of(response) or turns_of(response.get("message") or response.get("messages"))
        turns = own or turns_of(as_object(response.get("output")).get("message"))
        if turns and not own and (reason := response.get("stopReason")):
            turns[-1]["finish_reason"] = reason
        return turns
    choice = choices[0] if choices and isinstance(choices[0], Mapping) else {}
    message = as_object(choice.get("message"))
    turns = turns_of(message) or _plain_answer(choice.get("text"))
    if len(turns) == 1:  # such as `reasoning_content` and `annotations`
        turns[0] |= {key: inner for key, inner in message.items() if key not in turns[0] and inner is not None}
    if turns and choice.get("finish_reason"):
        turns[-1]["finish_reason"] = choice["finish_reason"]
    return turns


def _plain_answer(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else []
