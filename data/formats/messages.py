"""Conversations as JSON lines of `messages` with `role` and `content`, and as ShareGPT's `conversations`.

A `DialogueForm` says how a format reads and writes a turn. A patch holds the differences between a source and what we would
write: made in reading, applied in writing, so that what was read is written again as it was.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...errors import DataError, at
from ..attachments import content_of, parts_of
from ..files.json import STRICT, Broken, as_value, dumps, elements, is_too_deep, write_json, write_lines
from ..identity import conversation_id, digest
from ..records import Attempt, Conversation, Json, Message, ToolCall, Unsaid, as_list, as_object, is_object
from .source import Format, Source
from .turns import (  # fmt: skip
    SHAREGPT_CALL,
    SHAREGPT_RESULTS,
    SIDES,
    SPEAKERS,
    SYSTEM,
    TOOLS,
    call_of,
    function_call,
    is_turn,
    result_of,
    role_of,
    sharegpt_turn,
    text_of,
    worded_content,
)
from .unsupported import losses

NO_RESULT = "no result came"

LABELS = "labels"
"""Key of a line or a message whose object holds annotations by name."""
KNOWN_LABELS = ("hallucination", "intent", "rating", "satisfaction", "strategy")
"""Keys that are annotations outside `labels` too. No other key is: most are names, ids, times or settings."""
YES_OR_NO = ("label", "kto_tag")
"""Keys that are annotations where they are true or false: whether an answer is wanted."""

ASIDES = "asides"
"""Key of a conversation's `extra` for turns that are not messages, such as instructions and results of tools."""
BESIDE = "beside"
"""Key of an aside that stands beside the turns of its source, for the format that has it there."""
BEFORE = "before"
"""Key of a message's patch for the turns with its tool calls, where the source has others than we would write."""


@dataclass(frozen=True)
class DialogueForm:
    """A format in which a conversation is an object with an id and a list of turns."""

    kind: str
    """`kind` of the scenarios of conversations in this format, and its key in every `extra`."""
    turns: str
    """The key of the list of turns."""
    plain: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    """A turn of the source in OpenAI's form; None if it is none."""
    turn: Callable[[Message], dict[str, Any]]
    """A message as a turn."""
    system: Callable[[str], dict[str, Any]]
    """The text of a system message as a turn."""
    tools: Callable[[Message, int], list[dict[str, Any]]]
    """The turns before a message with its tool calls, numbered from the given number."""
    needs: str
    """What a turn needs, in words."""

    def written(self, conversation: Conversation) -> dict[str, Any]:
        """The conversation as an object of this format; one that was read in this format is restored exactly.

        Asides of another format are left out, except system messages.
        """
        turns: list[Any] = []
        calls = 0
        for message in conversation.messages:
            if message.stored:
                patch = as_object(message.extra.get(self.kind))
                if message.role == "assistant":
                    before = patch.get(BEFORE)
                    turns += before if isinstance(before, list) else self.tools(message, calls + 1)
                    calls += len(message.tool_calls)
                turns.append(patched(self.turn(message), patch))
        for aside in asides(conversation):
            if isinstance(own := aside.get(self.kind), dict):
                turns.insert(aside["at"], own)
            elif isinstance(text := aside.get("system"), str) and aside.get(BESIDE) != self.kind:
                turns.insert(aside["at"], self.system(text))
        derived = {"id": conversation.id, self.turns: turns}
        return patched(derived, as_object(conversation.extra.get(self.kind)))


# --- Reading


def iterate(
    path: str | Path, values: Iterable[tuple[str, Any]], broken: Broken = STRICT, form: DialogueForm | None = None
) -> Iterator[Conversation]:
    """The conversations of objects of a form, each with its place in the file; without a form, of `messages`.

    Further keys of a line or a message are stored; annotations (`labels`, `KNOWN_LABELS`) are their labels too. Names of
    roles are those of `turns.role_of`. The texts of a content in parts are joined; images, recordings and files are the
    message's `parts`.

    Calls and results of tools belong to the message that made them, else to the assistant's next one. Those that no
    message follows are stored as asides with their positions, as are instructions. Calls that no message of the assistant
    made are a turn without a message. DataError for any other role, and for a message without a text.
    """
    form = form or FORM
    seen: Counter[str] = Counter()
    for place, value in values:
        with broken.reading(place):
            turns = value.get(form.turns) if isinstance(value, dict) else None
            if not isinstance(turns, list):
                raise DataError(f"{at(path, place)}: has no list {form.turns!r}: write one conversation a line")
            yield _conversation(path, place, form, value, turns, seen)


def of_values(path: str | Path, values: Iterable[tuple[str, Any]]) -> list[Conversation]:
    """As `iterate`, of lines of messages, at once."""
    return list(iterate(path, values))


def numbered(path: str | Path, values: Iterable[dict[str, Any]]) -> Iterator[Conversation]:
    """The conversations of objects with `messages`, whose places are their numbers."""
    return iterate(path, ((f"conversation {number}", value) for number, value in enumerate(values, start=1)))


def _conversation(
    path: str | Path, place: str, form: DialogueForm, value: Mapping[str, Any], turns: list[Any], seen: Counter[str]
) -> Conversation:
    reading = _Reading(form)
    plain = [form.plain(turn) if is_object(turn) else None for turn in turns]
    if form is FORM and (system := text_of(value.get("system") or value.get("system_prompt"))):
        # As Anthropic's API takes it; the line keeps its key.
        reading.asides.append({"at": 0, "system": system, BESIDE: form.kind})
    for position, (turn, of_turn) in enumerate(zip(turns, plain, strict=True)):
        if of_turn is None or not reading.read(position, turn, of_turn):
            raise DataError(f"{at(path, place, f'message {position}')}: {form.needs}")
    reading.end()
    key = digest(value)
    ordinal = seen[key]
    seen[key] += 1
    scenario: Json = {"kind": form.kind, "digest": key}
    own_id = value.get("id")
    name = own_id if isinstance(own_id, str) and own_id else conversation_id(form.kind, scenario, ordinal)
    patch = difference({**value, form.turns: None}, {"id": name, form.turns: None})
    extra: dict[str, Any] = {ASIDES: reading.asides} if reading.asides else {}
    return Conversation(
        id=name,
        scenario=scenario,
        ordinal=ordinal,
        messages=tuple(reading.messages),
        unsaid=tuple(reading.unsaid),
        labels=declared_labels(value),
        extra=extra | ({form.kind: patch} if patch else {}),
    )


@dataclass
class _Reading:
    """One conversation, turn by turn; what tools did waits for the message for which it was made."""

    form: DialogueForm
    messages: list[Message] = field(default_factory=list[Message])
    unsaid: list[Unsaid] = field(default_factory=list[Unsaid])
    asides: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    waiting: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Position and content of each turn of tools."""
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    ids: list[str | None] = field(default_factory=list[str | None])
    """The id of each call; None once its result was read."""
    by_message: bool = False
    """Whether a message with words made the calls: they are its own, and not those of the next one."""

    def read(self, position: int, turn: Mapping[str, Any], plain: Mapping[str, Any]) -> bool:
        """Read a turn; False if it is neither a message nor an instruction nor a turn of tools.

        `turn`: as its source has it. `plain`: the same in OpenAI's form.
        """
        role, content = role_of(plain.get("role")), plain.get("content")
        text = text_of(content)
        parts = parts_of(content) if text is not None else ()
        results = _results(plain)
        of_tools = (role == "user" and bool(results)) or (role == "assistant" and bool(_calls(plain)))
        if role in TOOLS or (of_tools and not text and not parts):
            if role == "assistant" and self.by_message:
                self._close()
            self.waiting.append((position, dict(turn)))
            if role in TOOLS and not results:
                self._answered([plain])
            else:
                self._called(plain, results) if role == "assistant" else self._answered(results)
        elif role in SYSTEM and text is not None:
            self.asides.append({"at": position, self.form.kind: dict(turn), "system": text})
        elif role in SPEAKERS and text is not None:
            self._said(Message(role=SPEAKERS[str(role)], text=text, parts=parts), turn, plain, results)
        else:
            return False
        return True

    def end(self) -> None:
        """Keep what no message follows."""
        self._close()
        self.asides.sort(key=lambda aside: int(aside["at"]))

    def _said(
        self, message: Message, turn: Mapping[str, Any], plain: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
    ) -> None:
        form = self.form
        if message.role == "user":
            self._answered(results)
        before: list[dict[str, Any]] | None = None
        if message.role == "user" or self.by_message or not self.calls:
            self._close()
        else:
            earlier = sum(len(message.tool_calls) for message in self.messages if message.role == "assistant")
            message = self._with_calls(message)
            own = [turn for _, turn in self.waiting]
            before = None if own == form.tools(message, earlier + 1) else own
        patch = difference(turn, form.turn(message)) | ({} if before is None else {BEFORE: before})
        if patch:
            message = message.model_copy(update={"extra": {form.kind: patch}, "labels": declared_labels(turn)})
        self.messages.append(message)
        self._forget()
        self.by_message = message.role == "assistant" and bool(_calls(plain))
        if self.by_message:
            self._called(plain, results)

    def _called(self, turn: Mapping[str, Any], results: Iterable[Mapping[str, Any]]) -> None:
        """The calls of an assistant's turn, and results that stand beside them, as a server's tools have them."""
        for name, call in calls_in(turn):
            self.ids.append(name)
            self.calls.append(call)
        self._answered(results)

    def _answered(self, results: Iterable[Mapping[str, Any]]) -> None:
        """A result belongs to the first call of its id or name that has none; without both, to the first."""
        for turn in results:
            own = next((turn[key] for key in ("tool_call_id", "name") if isinstance(turn.get(key), str)), None)
            number = next((n for n, name in enumerate(self.ids) if name is not None and own in (None, name)), None)
            if number is not None:
                self.ids[number] = None
                self.calls[number] = self.calls[number].model_copy(update=_outcome(turn))

    def _with_calls(self, message: Message) -> Message:
        drafted = Attempt(text=message.text, verdict="unjudged", tool_calls=(*message.tool_calls, *self.calls))
        return message.model_copy(update={"attempts": (drafted,)})

    def _close(self) -> None:
        """Keep the turns of tools that no message follows apart; their calls are those of the message that made them.

        Without such a message they are a turn of the assistant without one.
        """
        self.asides += [{"at": position, self.form.kind: turn} for position, turn in self.waiting]
        if self.calls and self.messages and self.messages[-1].role == "assistant":
            message = self._with_calls(self.messages[-1])
            patch = {BEFORE: [], **as_object(message.extra.get(self.form.kind))}
            self.messages[-1] = message.model_copy(update={"extra": {**message.extra, self.form.kind: patch}})
        elif self.calls:
            draft = Attempt(text="", verdict="unjudged", tool_calls=tuple(self.calls))
            self.unsaid.append(Unsaid(role="assistant", after=len(self.messages), attempts=(draft,)))
        self._forget()

    def _forget(self) -> None:
        self.waiting, self.calls, self.ids, self.by_message = [], [], [], False


def _calls(turn: Mapping[str, Any]) -> list[Any]:
    listed, one = turn.get("tool_calls"), turn.get("function_call")
    if isinstance(listed, list):
        return listed
    return [{"function": one}] if one else [call for block in as_list(turn.get("content")) if (call := call_of(block))]


def _results(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [result for block in as_list(turn.get("content")) if (result := result_of(block))]


def calls_in(turn: Mapping[str, Any]) -> list[tuple[str, ToolCall]]:
    """The calls of a turn, each with its id, or its name without one."""
    found: list[tuple[str, ToolCall]] = []
    for call in _calls(turn):
        function = call.get("function", call.get("custom", call)) if is_object(call) else None
        if not is_object(function) or not isinstance(name := function.get("name"), str):
            continue
        written = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
        own = call.get("id") if call is not function else None
        try:
            one = ToolCall(name=name, arguments=_arguments(written), error=NO_RESULT)
        except ValidationError:  # deeper than a record can hold
            continue
        found.append((own if isinstance(own, str) else name, one))
    return found


def _arguments(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        try:
            value = json.loads(written) if written.strip() else {}
        except (ValueError, RecursionError):
            return {"value": written}
        written = {"value": written} if is_too_deep(value) else value
    return dict(written) if is_object(written) else {} if written is None else {"value": written}


def _outcome(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a call by the turn with its result."""
    content: Any = turn.get("content")
    if parts := parts_of(content):
        texts = [block["text"] for block in content if is_object(block) and isinstance(block.get("text"), str)]
        return {"error": None, "parts": parts, "result": as_value("".join(texts)) if texts else None}
    if turn.get("status") == "error":
        return {"error": content if isinstance(content, str) else dumps(content), "result": None}
    return {"error": None, "result": as_value(content)}


# --- What a source has beside the messages


def declared_labels(source: Mapping[str, Any]) -> Json:
    """The annotations of a line or a message: what `labels` holds, and the known ones beside it; `labels` goes first."""
    beside = {name: source[name] for name in KNOWN_LABELS if source.get(name) is not None}
    beside |= {name: source[name] for name in YES_OR_NO if isinstance(source.get(name), bool)}
    return {**beside, **as_object(source.get(LABELS))}


def asides(conversation: Conversation) -> list[dict[str, Any]]:
    """The turns of the source that are not messages, in order."""
    turns = conversation.extra.get(ASIDES)
    return [turn for turn in as_list(turns) if isinstance(turn, dict) and isinstance(turn.get("at"), int)]


def further(conversation: Conversation) -> dict[str, Any]:
    """Further keys and values of the source beside the messages, in any format."""
    merged: dict[str, Any] = {}
    for patch in conversation.extra.values():
        merged |= as_object(as_object(patch).get("values"))
    return merged | conversation.extra


def difference(original: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that turns the derived object into the original; empty if they are equal, including key order.

    `values`: the original's values of keys that are missing or different in the derived object.
    `order`: the original's keys, if they or their order differ.
    """
    values = {key: value for key, value in original.items() if key not in derived or not _same(derived[key], value)}
    patch: dict[str, Any] = {}
    if values:
        patch["values"] = values
    if list(original) != list(derived):
        patch["order"] = list(original)
    return patch


def patched(derived: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The original object, from the derived object and its patch."""
    merged = dict(derived) | dict(patch.get("values", {}))
    return {key: merged[key] for key in patch.get("order", merged)}


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true differ, and so do objects with another order of keys."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)


# --- Messages


def tool_turns(message: Message, first: int) -> list[dict[str, Any]]:
    """The tool calls of an assistant's message: one turn with all calls, then one for each result.

    None for a user: the form has no tool calls of users. An error is written as the result. `first`: the number of the
    first call.
    """
    calls = [(f"call_{number}", call) for number, call in enumerate(message.tool_calls, start=first)]
    if not calls or message.role != "assistant":
        return []
    functions = [function_call(call.name, call.arguments, name) for name, call in calls]
    results = [{"role": "tool", "tool_call_id": name, "content": _content(call)} for name, call in calls]
    return [{"role": message.role, "content": None, "tool_calls": functions}, *results]


def _content(call: ToolCall) -> Any:
    if call.error is not None:
        return call.error
    if call.parts and call.result is None:
        return content_of("", call.parts)
    return content_of(call.result if isinstance(call.result, str) else dumps(call.result), call.parts)


FORM = DialogueForm(
    kind="messages",
    turns="messages",
    plain=lambda turn: {**turn, "content": worded_content(turn)},
    turn=lambda message: {"role": message.role, "content": content_of(message.text, message.parts)},
    system=lambda text: {"role": "system", "content": text},
    tools=tool_turns,
    needs="needs a 'role' (user, assistant, system or tool) and a text as 'content'",
)


def write(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write one conversation a line: id, messages, their images and files, and tool calls.

    Conversations read in this format are restored. Returns a line for each kind of content that the format cannot hold.
    """
    lost: Counter[str] = Counter()
    write_lines(path, map(FORM.written, losses(conversations, lost, own_key=FORM.kind, parts=True)))
    return _lines(lost)


def read(path: str | Path, broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of a file of message lines, or of a JSON list of them, one at a time (`iterate`)."""
    yield from iterate(path, elements(path, broken), broken)


def _lines(lost: Counter[str]) -> list[str]:
    return [f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in lost.items()]


RESPONSES = ("response", "completion", "output", "preferred_output", "response_body")
"""Keys of a line's response to its messages."""
_OTHERS = (
    *RESPONSES,
    *"choices chosen run_type attributes traceId eval simulations traj mapping chat_messages".split(),
)
"""Keys of other forms, whose lines may have messages too."""


def _is_messages(source: Source) -> bool:
    first = as_object(source.first)
    turns = first.get(FORM.turns)
    if not isinstance(turns, list) or not all(map(is_object, turns)) or any(first.get(key) for key in _OTHERS):
        return False
    if turns and role_of(turns[-1].get("role")) == "user" and any(first.get(key) for key in ("reply", "answer")):
        return False  # a request with its response
    calls = [call for turn in turns for call in as_list(turn.get("tool_calls"))]
    if any("requestor" in as_object(call) for call in calls) or any(turn.get("type") == "chat" for turn in turns):
        return False  # of tau2, of LangChain
    return not turns or any(map(is_turn, turns[:3])) or turns[0].get("role") not in (None, *SIDES)


FORMAT = Format(
    FORM.kind, "JSON lines of messages", _is_messages, read, write, sign="a list under `messages`", skips=True
)


# --- ShareGPT


def _sharegpt_tools(message: Message, _: int) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for call in message.tool_calls if message.role == "assistant" else ():
        result = call.result if call.error is None else call.error
        turns.append({"from": SHAREGPT_CALL, "value": dumps({"name": call.name, "arguments": call.arguments})})
        turns.append({"from": SHAREGPT_RESULTS[0], "value": result if isinstance(result, str) else dumps(result)})
    return turns


SHAREGPT_FORM = DialogueForm(
    kind="sharegpt",
    turns="conversations",
    plain=sharegpt_turn,
    turn=lambda message: {"from": {"user": "human", "assistant": "gpt"}[message.role], "value": message.text},
    system=lambda text: {"from": "system", "value": text},
    tools=_sharegpt_tools,
    needs="needs 'from' (human, gpt, system or a tool) and a text as 'value'",
)


def write_sharegpt(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write ShareGPT as JSON lines if the name ends with `.jsonl`, else as a list; as `write`."""
    form, lost = SHAREGPT_FORM, Counter[str]()
    written = map(form.written, losses(conversations, lost, own_key=form.kind, parts=False))
    if Path(path).suffix == ".jsonl":
        write_lines(path, written)
    else:
        write_json(path, list(written), end="\n")
    return _lines(lost)


def read_sharegpt(path: str | Path, broken: Broken = STRICT) -> Iterator[Conversation]:
    """The conversations of a ShareGPT file, one at a time (`iterate`)."""
    yield from iterate(path, elements(path, broken), broken, SHAREGPT_FORM)


SHAREGPT = Format(
    SHAREGPT_FORM.kind,
    "ShareGPT JSON",
    lambda source: isinstance(as_object(source.first).get(SHAREGPT_FORM.turns), list) and "chosen" not in source.first,
    read_sharegpt,
    write_sharegpt,
    sign="`conversations` of `from` and `value`",
    skips=True,
)
