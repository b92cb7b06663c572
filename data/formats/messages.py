"""Conversations of turns, read into records and written as JSON lines of `messages` or as ShareGPT's `conversations`.

Calls and results of tools belong to the message that made them, else to its side's next one. Instructions stand beside the
messages, under `asides` of the conversation's `extra`, where further keys of the source are too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

from ...errors import DataError, at
from ..files.json import STRICT, Broken, dumps, elements, write_json, write_lines
from ..identity import conversation_id, digest
from ..records import (
    Attempt,
    Conversation,
    Json,
    Message,
    Role,
    Timing,
    ToolCall,
    Unsaid,
    as_list,
    as_object,
    is_object,
)
from .source import ConversationStream, Format, Source
from .turns import NOTHING, SIDES, Call, Result, Turn, as_messages, instruction_of, is_turn, role_of, turns_of

KIND = "messages"
"""`kind` of the scenario of a conversation of which only the messages are known."""
NO_RESULT = "no result came"
NEEDS = "needs a 'role' (user, assistant, system or tool) and a text as 'content'"

LABELS = "labels"
"""Key of a line or a message whose object holds annotations by name."""
KNOWN_LABELS = ("hallucination", "intent", "rating", "satisfaction", "strategy")
"""Keys that are annotations outside `labels` too. No other key is: most are names, ids, times or settings."""
YES_OR_NO = ("label", "kto_tag")
"""Keys that are annotations where they are true or false: whether an answer is wanted."""

ASIDES = "asides"
"""Key of a conversation's `extra` for its instructions: the text as `system`, and under `at` how many messages are before."""
_RESERVED = (
    ASIDES,
    *"path variant file article paragraph stored behaviours by_path label_keys user_folder".split(),
)
"""Keys of `extra` that mean something in every conversation: those of a source go under `row`."""
_PUBLISHED = ("file", "article", "paragraph")
"""Keys of `extra` under which readers of published data keep the differences of their source."""


class Line(NamedTuple):
    """A conversation of a source, as its reader found it."""

    place: str
    """Where it stands in the file."""
    turns: list[Turn]
    further: Mapping[str, Any]
    """Its further keys, `id`, `system` and annotations among them."""
    raw: Any = None
    """The value that it was read from, whose digest names it where it has no id; without one the turns do."""
    others: int = 0
    """How many messages of other branches the source has beside the turns."""


# --- Reading


def conversations(path: str | Path, lines: Iterable[Line], broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of lines; further keys are kept in `extra`, and annotations are their labels too.

    DataError for a turn of an unknown role, and for a message without a text.
    """
    seen: Counter[str] = Counter()
    for line in lines:
        with broken.reading(line.place):
            yield _conversation(path, line, seen)


def talks_of(
    path: str | Path,
    values: Iterable[tuple[str, Any]],
    broken: Broken,
    lines_of: Callable[[str | Path, str, Any], Iterable[Line]],
) -> ConversationStream:
    """The conversations of values, each with its place in the file; notes count what is left out.

    `lines_of`: the conversations of a path, a place in it and its value; DataError for a value of another form.
    """
    empty = others = 0

    def lines() -> Iterator[Line]:
        nonlocal empty, others
        for place, value in values:
            found: list[Line] = []
            with broken.reading(place):
                found += lines_of(path, place, value)
            for line in found:
                empty += not line.turns
                others += line.others if line.turns else 0
            yield from (line for line in found if line.turns)

    yield from conversations(path, lines(), broken)
    counts = (
        (others, "message", "of other branches (edited or asked for again)"),
        (empty, "conversation", "without a message"),
    )
    return tuple(f"{count} {noun}{'' if count == 1 else 's'} {what} left out" for count, noun, what in counts if count)


def _conversation(path: str | Path, line: Line, seen: Counter[str]) -> Conversation:
    further = {key: value for key, value in line.further.items() if value not in NOTHING}
    key = next((key for key in ("system", "system_prompt") if instruction_of(further.get(key))), "")
    turns = [Turn("system", instruction_of(further.pop(key)))] if key else []
    for number, turn in enumerate(line.turns):
        if turn.role not in ("user", "assistant", "system", "tool") or (turn.text is None and turn.role != "tool"):
            raise DataError(f"{at(path, line.place, f'message {number}')}: {NEEDS}")
        turns.append(turn)
    slots, instructions = _slots(turns)
    said, unsaid = list[_Slot](), list[Unsaid]()
    for slot in slots:
        if slot.turn is not None:
            said.append(slot)
        elif said and said[-1].role == slot.role:
            said[-1].add(slot.calls, slot.results, slot.reasoning)
        elif slot.drafts:
            unsaid.append(Unsaid(role=slot.role, after=len(said), attempts=slot.drafts))
    named = line.raw if line.raw is not None else {**further, "messages": list(as_messages(line.turns))}
    key, own = digest(named), further.pop("id", None)
    ordinal = seen[key]
    seen[key] += 1
    scenario: Json = {"kind": KIND, "digest": key}
    is_name = isinstance(own, str | int) and not isinstance(own, bool)
    extra = {key: value for key, value in further.items() if key not in _RESERVED}
    extra |= {"row": apart} if (apart := {key: further[key] for key in _RESERVED if key in further}) else {}
    return Conversation(
        id=str(own) if is_name else conversation_id(KIND, scenario, ordinal),
        scenario=scenario,
        ordinal=ordinal,
        messages=tuple(slot.message for slot in said),
        unsaid=tuple(unsaid),
        labels=declared_labels(further),
        extra=extra | ({ASIDES: instructions} if instructions else {}),
    )


@dataclass
class _Slot:
    """A message as it is read; without a turn, what was called before the message of its side comes."""

    role: Role
    turn: Turn | None = None
    calls: list[Call] = field(default_factory=list[Call])
    results: list[Result | None] = field(default_factory=list[Result | None])
    """The result of each call; None until it comes."""
    reasoning: str = ""
    further: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, calls: Sequence[Call], results: Sequence[Result | None], reasoning: str) -> None:
        self.calls += calls
        self.results += results
        self.reasoning = "\n\n".join(filter(None, (self.reasoning, reasoning)))

    def fill(self, results: Iterable[Result]) -> None:
        """A result belongs to the first call of its id or name that has none; without both, to the first."""
        for result in results:
            open_calls = (n for n, call in enumerate(self.calls) if self.results[n] is None and _fits(result, call))
            if (number := next(open_calls, None)) is not None:
                self.results[number] = result

    @property
    def drafts(self) -> tuple[Attempt, ...]:
        """The draft that holds calls and reasoning; none without either."""
        if not self.calls and not self.reasoning:
            return ()
        text = (self.turn.text if self.turn is not None else None) or ""
        calls = tuple(_called(call, result) for call, result in zip(self.calls, self.results, strict=True))
        return (Attempt(text=text, verdict="unjudged", tool_calls=calls, reasoning=self.reasoning or None),)

    @property
    def message(self) -> Message:
        turn = self.turn or Turn(self.role)
        further = {key: value for key, value in self.further.items() if value not in NOTHING}
        labels = declared_labels(further)
        return Message(
            role=self.role, text=turn.text or "", parts=turn.parts, labels=labels, extra=further, attempts=self.drafts
        )


def _slots(turns: Iterable[Turn]) -> tuple[list[_Slot], list[dict[str, Any]]]:
    """The messages of both sides with what stands between them; and the instructions, as `asides` gives them."""
    slots: list[_Slot] = []
    instructions: list[dict[str, Any]] = []
    for turn in turns:
        last = slots[-1] if slots else None
        if turn.role == "system":
            name = {"name": turn.further["name"]} if "name" in turn.further else {}
            instructions.append({"at": sum(slot.turn is not None for slot in slots), "system": turn.text, **name})
            continue
        if turn.role != "assistant" and last is not None:
            last.fill(turn.results)
        if turn.role == "assistant" or (turn.role == "user" and (turn.said or turn.calls)):
            role = cast(Role, turn.role)
            if last is None or last.turn is not None or last.role != role:
                slots.append(last := _Slot(role))
            last.add(turn.calls, [None] * len(turn.calls), turn.reasoning)
            last.further |= turn.further
            last.turn = turn if turn.said else None
            if role == "assistant":
                last.fill(turn.results)
    return slots, instructions


def _fits(result: Result, call: Call) -> bool:
    if result.id:
        return result.id == (call.id or call.name)
    return result.name in ("", call.name)


def _called(call: Call, result: Result | None) -> ToolCall:
    made = ToolCall(name=call.name, arguments=call.arguments, error=NO_RESULT)
    if result is None:
        return made
    if result.failed:
        error = result.value if isinstance(result.value, str) else dumps(result.value)
        return made.model_copy(update={"error": error, "parts": result.parts})
    return made.model_copy(update={"error": None, "result": result.value, "parts": result.parts})


def declared_labels(source: Mapping[str, Any]) -> Json:
    """The annotations of a line or a message: what `labels` holds, and the known ones beside it; `labels` goes first."""
    beside = {name: source[name] for name in KNOWN_LABELS if source.get(name) is not None}
    beside |= {name: source[name] for name in YES_OR_NO if isinstance(source.get(name), bool)}
    return {**beside, **as_object(source.get(LABELS))}


def asides(conversation: Conversation) -> list[dict[str, Any]]:
    """The instructions of the source, in order: the text under `system`, and under `at` how many messages are before."""
    turns = as_list(conversation.extra.get(ASIDES))
    return [turn for turn in turns if isinstance(turn, dict) and isinstance(turn.get("at"), int)]


def further(conversation: Conversation) -> dict[str, Any]:
    """Further keys and values of the source beside the messages, in any format."""
    merged: dict[str, Any] = {}
    for key in _PUBLISHED:
        merged |= as_object(as_object(conversation.extra.get(key)).get("values"))
    return {**merged, **as_object(conversation.extra.get("row")), **conversation.extra}


# --- Writing


def turns_in(conversation: Conversation) -> Iterator[Turn]:
    """The turns of a conversation: its instructions at their places, and each stored message after its calls of tools.

    Calls of users are left out, as OpenAI's form has none.
    """
    instructions = {at: list(group) for at, group in groupby(asides(conversation), key=lambda aside: aside["at"])}
    calls = 0
    for number, message in enumerate((*conversation.messages, None)):
        for aside in instructions.get(number, ()):
            named = {"name": aside["name"]} if "name" in aside else {}
            yield Turn("system", str(aside.get("system") or ""), further=named)
        if message is not None and message.stored:
            if message.role == "assistant" and message.tool_calls:
                yield _of_calls(message, calls + 1)
                calls += len(message.tool_calls)
            beside = {key: value for key, value in message.extra.items() if _is_plain(conversation)}
            if _is_plain(conversation) and message.labels != declared_labels(message.extra):
                beside[LABELS] = message.labels
            yield Turn(message.role, message.text, message.parts, further=beside)


def tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The calls of an assistant's message in OpenAI's form, and then their results; an error is written as the result.

    `first`: the number of the first call.
    """
    return list(as_messages([_of_calls(message, first)])) if message.tool_calls and message.role == "assistant" else []


def _of_calls(message: Message, first: int) -> Turn:
    turn = Turn("assistant")
    for number, call in enumerate(message.tool_calls, first):
        value = call.result if call.error is None else call.error
        turn.calls.append(Call(call.name, call.arguments, f"call_{number}"))
        parts = call.parts if call.error is None else ()
        turn.results.append(Result(value, f"call_{number}", call.name, parts, failed=call.error is not None))
    return turn


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, tool calls, and further keys of its source.

    Returns a line for each kind of content that the format cannot hold.
    """
    lost: Counter[str] = Counter()
    write_lines(path, (_line(one, lost, "messages", as_messages, parts=True) for one in conversations))
    return _told(lost)


def write_sharegpt(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write ShareGPT as JSON lines if the name ends with `.jsonl`, else as a list; as `write`."""
    lost: Counter[str] = Counter()
    lines = (_line(one, lost, "conversations", _as_sharegpt, parts=False) for one in conversations)
    if Path(path).suffix == ".jsonl":
        write_lines(path, lines)
    else:
        write_json(path, list(lines), end="\n")
    return _told(lost)


def _line(
    conversation: Conversation,
    lost: Counter[str],
    key: str,
    form: Callable[[Iterable[Turn]], Iterable[dict[str, Any]]],
    *,
    parts: bool,
) -> dict[str, Any]:
    lost.update(dict.fromkeys(_losses(conversation, parts=parts), 1))
    line: dict[str, Any] = {"id": conversation.id, key: list(form(turns_in(conversation)))}
    names = conversation.extra if _is_plain(conversation) else ("user",)  # by which people's halves are told
    line |= {
        name: conversation.extra[name]
        for name in names
        if name in conversation.extra and name not in (*line, *_RESERVED)
    }
    if conversation.labels != declared_labels(line):
        line[LABELS] = conversation.labels
    return line


def _as_sharegpt(turns: Iterable[Turn]) -> Iterator[dict[str, Any]]:
    names = {"user": "human", "assistant": "gpt"}
    for turn in turns:
        for call, result in zip(turn.calls, turn.results, strict=True):
            yield {"from": "function_call", "value": dumps({"name": call.name, "arguments": call.arguments})}
            text = result.value if isinstance(result.value, str) else dumps(result.value)
            yield {"from": "observation", "value": text}
        if not turn.calls:
            yield {"from": names.get(turn.role, turn.role), "value": turn.text, **turn.further}


def _is_plain(conversation: Conversation) -> bool:
    """Whether only the messages of a conversation are known: what is beside them are keys of its source."""
    return conversation.scenario.keys() == {"kind", "digest"}


def _losses(conversation: Conversation, *, parts: bool) -> list[str]:
    stored = [message for message in conversation.messages if message.stored]
    calls = [call for message in stored if message.role == "assistant" for call in message.tool_calls]
    drafts = list(conversation.attempts())
    standing = [draft for draft in drafts if draft.verdict != "rejected"]
    shown = {"number", "text", "verdict", "tool_calls"}
    media = [*(one.parts for one in stored), *(call.parts for call in calls)]
    beside = {key for extra in (conversation.extra, *(one.extra for one in stored)) for key in extra}
    kinds = {
        "what it is about (the scenario)": conversation.scenario.keys() - {"kind", "digest"},
        "turns without a stored message": len(stored) < len(conversation.messages) or conversation.unsaid,
        "labels": not _is_plain(conversation) and any(message.labels for message in stored),
        "spans": any(message.spans for message in stored),
        "calls and results of a user's tools": any(one.role == "user" and one.tool_calls for one in stored),
        "that a tool failed (errors of tools are written as results)": any(call.error is not None for call in calls),
        "that results of tools are numbers, true, false or null": any(
            call.error is None and not isinstance(call.result, str | dict | list) and not (parts and call.parts)
            for call in calls
        ),
        "images, files and other parts of messages": any(call.parts and call.error is not None for call in calls)
        or (not parts and any(media)),
        "rejected drafts": len(standing) < len(drafts),
        "prompts, reasoning, tokens and notes of drafts": conversation.memory
        or any(draft.plain().keys() - shown for draft in standing),
        "why it ended (stop, failure)": conversation.stop is not None or conversation.failure is not None,
        "how it was made (provenance, times)": conversation.provenance is not None
        or conversation.edges
        or conversation.timing != Timing(),
        "further keys of the source": not _is_plain(conversation) and beside - {ASIDES, "path", "variant"},
    }
    return [kind for kind, is_lost in kinds.items() if is_lost]


def _told(lost: Counter[str]) -> list[str]:
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in lost.items()]


# --- The two formats

_LISTS = ("messages", "conversations")
_OTHERS = (
    *"response completion output preferred_output response_body choices chosen run_type attributes traceId eval".split(),
    *"simulations traj mapping chat_messages".split(),
)
"""Keys of other forms, whose lines may have messages too."""


def read(path: str | Path, broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of lines, or a list, of `messages` or `conversations`, one at a time."""
    return of_values(path, elements(path, broken), broken)


def of_values(path: str | Path, values: Iterable[tuple[str, Any]], broken: Broken = STRICT) -> Iterator[Conversation]:
    """As `read`, of values, each with its place in the file."""

    def lines() -> Iterator[Line]:
        for place, value in values:
            with broken.reading(place):
                yield _line_of(path, place, value)

    return conversations(path, lines(), broken)


def _line_of(path: str | Path, place: str, value: Any) -> Line:
    key = next((key for key in _LISTS if isinstance(as_object(value).get(key), list)), None)
    if key is None:
        raise DataError(f"{at(path, place)}: has no list 'messages': write one conversation a line")
    turns: list[Turn] = []
    for number, message in enumerate(value[key]):
        own = turns_of(message)
        if not own or not (is_object(message) or isinstance(message, list)):
            raise DataError(f"{at(path, place, f'message {number}')}: {NEEDS}")
        turns += own
    return Line(place, turns, {name: inner for name, inner in value.items() if name != key}, value)


def _is_messages(source: Source) -> bool:
    first = as_object(source.first)
    turns = first.get("messages")
    if not isinstance(turns, list) or not all(map(is_object, turns)) or any(first.get(key) for key in _OTHERS):
        return False
    if turns and role_of(turns[-1].get("role")) == "user" and any(first.get(key) for key in ("reply", "answer")):
        return False  # a request with its response
    calls = [call for turn in turns for call in as_list(turn.get("tool_calls"))]
    if any("requestor" in as_object(call) for call in calls) or any(turn.get("type") == "chat" for turn in turns):
        return False  # of tau2, of LangChain
    return not turns or any(map(is_turn, turns[:3])) or turns[0].get("role") not in (None, *SIDES)


def _is_sharegpt(source: Source) -> bool:
    first = as_object(source.first)
    return isinstance(first.get("conversations"), list) and "chosen" not in first


FORMAT = Format("messages", "JSON lines of messages", _is_messages, read, write)
SHAREGPT = Format("sharegpt", "ShareGPT JSON", _is_sharegpt, read, write_sharegpt)
