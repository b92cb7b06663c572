"""Conversations as JSON lines of `messages` with `role` and `content`, as chat models are trained on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import DataError, at
from ..attachments import content_of, parts_of
from ..attempts import Part
from ..files.json_files import write_lines
from ..files.json_values import elements
from ..records import Conversation, Message, Unsaid
from .detection import Contents, Format, Source
from .dialogues import BESIDE, DialogueForm, DialogueReading
from .media_marks import parts_at_marks
from .other_requests import OtherRequests
from .tool_messages import ToolTurns, calls_tools, has_results, tool_turns, verbatim
from .turns import SPEAKERS, SYSTEM, TOOLS, role_of
from .unsupported import BeyondWords

__all__ = ["FORM", "FORMAT", "SYSTEM", "TOOLS", "of_values", "read", "write"]

FORM = DialogueForm(
    kind="messages",
    turns="messages",
    turn=lambda message: {"role": message.role, "content": content_of(message.text, message.parts)},
    system=lambda text: {"role": "system", "content": text},
    tools=tool_turns,
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, and tool calls.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold
    and that was therefore left out.
    """
    beyond = BeyondWords(own_key=FORM.kind, tools=True, parts=True)

    def written() -> Iterator[dict[str, Any]]:
        for conversation in conversations:
            beyond.note(conversation)
            yield FORM.written(conversation)

    write_lines(path, written())
    return beyond.lines()


def read(path: str | Path) -> list[Conversation]:
    """The conversations of a file of message lines, or of a JSON list of them.

    Further keys of a line or a message are stored; annotations (`labels`, `satisfaction` and the other `KNOWN_LABELS`
    of `dialogues`) are their labels too.

    If a content has several parts, their texts are joined, and images, recordings and files are the message's `parts`, as
    are those that the line lists and the text marks (`media_marks`).
    Calls and results of tools (`tool`, `function`, blocks of Anthropic and Bedrock) are those of the message that made
    them, else of the assistant's next one. Instructions (`system`, `developer`, or a text or parts at the line's key
    `system`), and calls and results that no message follows, are kept as asides with their positions; such calls that no
    message of the assistant made are a turn without a message too. Other names of the sides are read too
    (`turns.SPEAKERS`). DataError for any other role, and for a message without a text.
    """
    return of_values(path, elements(path))


def contents(path: str | Path) -> Contents:
    """As `read`; lines that are surely requests of another kind, such as embeddings, are left out and counted."""
    others = OtherRequests()
    conversations = tuple(of_values(path, others.without(elements(path))))
    return Contents(conversations, others.notes())


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> list[Conversation]:
    """The conversations of objects with `messages`, each with its place in the file; see `read`."""
    reading, conversations = DialogueReading(FORM), []
    for line, value in values:
        turns = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(turns, list):
            raise DataError(f"{at(path, line)}: has no list 'messages': write one conversation a line")
        messages: list[Message] = []
        marked = _at_marks(value, turns)
        unsaid: list[Unsaid] = []
        system = _text(value.get("system"))  # as Anthropic's API takes it; the line keeps its key
        asides: list[dict[str, Any]] = [{"at": 0, "system": system, BESIDE: FORM.kind}] if system else []
        tools = ToolTurns()
        for position, turn in enumerate(turns):
            role = role_of(turn.get("role")) if isinstance(turn, dict) else None
            text = _text(turn.get("content")) if isinstance(turn, dict) else None
            parts = (parts_of(turn.get("content")) or marked[position]) if text is not None else ()
            silent = not text and not parts
            of_tools = (role == "assistant" and calls_tools(turn)) or (role == "user" and has_results(turn))
            if role in TOOLS or (silent and of_tools):
                if role == "assistant" and tools.by_message:
                    _close(tools, messages, unsaid, asides)
                    tools = ToolTurns()
                tools.read(position, turn)
            elif role in SYSTEM and text is not None:
                asides.append(FORM.aside(position, turn, text))
            elif role in ("user", "assistant") and text is not None:
                message = Message(role=SPEAKERS[role], text=text, parts=parts)
                if role == "user":
                    tools.answered(turn)
                if role == "user" or tools.by_message or not tools.calls:
                    _close(tools, messages, unsaid, asides)
                    messages.append(FORM.message(message, turn))
                else:
                    earlier = sum(len(message.tool_calls) for message in messages if message.role == "assistant")
                    message = tools.given_to(message)
                    own, generated = verbatim(tools.turns), tool_turns(message, earlier + 1)
                    messages.append(FORM.message(message, turn, None if own == generated else own))
                tools = ToolTurns(by_message=role == "assistant" and calls_tools(turn))
                if tools.by_message:
                    tools.called(turn)
            else:
                raise DataError(
                    f"{at(path, line, f'message {position}')}: "
                    "needs a 'role' (user, assistant, system or tool) and a text as 'content'"
                )
        _close(tools, messages, unsaid, asides)
        asides.sort(key=lambda aside: int(aside["at"]))
        conversations.append(reading.conversation(value, messages, asides, unsaid))
    return conversations


def _recognised(source: Source) -> bool:
    return isinstance(source.first, dict) and FORM.turns in source.first


FORMAT = Format(FORM.kind, "JSON lines of messages", _recognised, contents, write, sign="a list under `messages`")


def _text(content: Any) -> str | None:
    """The text of a content, which may have several parts (texts, images, files); None if it is invalid."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [
        part if isinstance(part, str) else part.get("text", "") for part in content if isinstance(part, str | dict)
    ]
    worded = [part for part in content if not isinstance(part, dict) or str(part.get("type", "")).endswith("text")]
    whole = len(texts) == len(content) and all(isinstance(text, str) for text in texts)
    return "".join(texts) if whole and all(isinstance(part, str) or "text" in part for part in worded) else None


def _at_marks(line: Mapping[str, Any], turns: Sequence[Any]) -> list[tuple[Part, ...]]:
    """The images and the like of each turn that the line lists and the turn's text marks."""
    contents = [turn.get("content") if isinstance(turn, dict) else None for turn in turns]
    return parts_at_marks(line, [content if isinstance(content, str) else "" for content in contents])[0]


def _close(tools: ToolTurns, messages: list[Message], unsaid: list[Unsaid], asides: list[dict[str, Any]]) -> None:
    """Keep the turns of tools that no message follows apart; their calls are those of the message that made them.

    Without such a message they are a turn of the assistant without one.
    """
    asides += [FORM.aside(position, turn) for position, turn in tools.turns]
    if tools.calls and messages and messages[-1].role == "assistant":
        messages[-1] = FORM.with_turns_before(tools.given_to(messages[-1]))
    elif tools.calls:
        unsaid.append(Unsaid(role="assistant", after=len(messages), attempts=(tools.draft(),)))
