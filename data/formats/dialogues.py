"""Conversations of turns: how a dialogue format reads them with their calls of tools, and writes them again.

A format says how it writes (`DialogueForm`), and gives each turn beside its form of OpenAI, from which it is read. A patch
holds the differences between a source and what we would write: made in reading, applied in writing.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ..attachments import parts_of
from ..files.json_files import dumps, is_too_deep
from ..files.json_values import as_value
from ..identity import conversation_id, digest
from ..records import Attempt, Conversation, Json, Message, Part, ToolCall, Unsaid, as_list, as_object, is_object
from .turns import SPEAKERS, SYSTEM, TOOLS, call_of, result_of, role_of, text_of

NO_RESULT = "no result came"

LABELS = "labels"
"""Key of a line or a message whose object holds annotations by name."""

KNOWN_LABELS = ("hallucination", "intent", "rating", "satisfaction", "strategy")
"""Keys that are annotations outside `labels` too. No other key is: most are names, ids, times or settings."""

YES_OR_NO = ("label", "kto_tag")
"""Keys that are annotations where they are true or false: whether an answer is wanted, in data for KTO."""

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
    turn: Callable[[Message], dict[str, Any]]
    """A message as a turn."""
    system: Callable[[str], dict[str, Any]]
    """The text of a system message as a turn."""
    tools: Callable[[Message, int], list[dict[str, Any]]] | None = None
    """The turns before a message with its tool calls, numbered from the given number; None if the format has no tool
    calls."""

    def message(
        self, message: Message, turn: Mapping[str, Any], before: Sequence[Mapping[str, Any]] | None = None
    ) -> Message:
        """The message, with the further content of its turn in `extra` and its annotations in `labels`.

        `before`: the turns with its tool calls, as the source has them; None if they are those that we would write.
        """
        own = difference(turn, self.turn(message)) | ({} if before is None else {BEFORE: list(before)})
        update = {"extra": {self.kind: own}, "labels": declared_labels(turn)}
        return message.model_copy(update=update) if own else message

    def with_turns_before(self, message: Message) -> Message:
        """The message whose calls the source holds elsewhere: no turn for them is written before it."""
        patch = {BEFORE: [], **as_object(message.extra.get(self.kind))}
        return message.model_copy(update={"extra": {**message.extra, self.kind: patch}})

    def aside(self, position: int, turn: Mapping[str, Any], system: str | None = None) -> dict[str, Any]:
        """A turn of neither side with its position in the list, from 0.

        `system`: its text, if it is an instruction.
        """
        return {"at": position, self.kind: dict(turn)} | ({} if system is None else {"system": system})

    def written(self, conversation: Conversation) -> dict[str, Any]:
        """The conversation as an object of this format.

        One that was read in this format is restored exactly. Asides of another format are left out, except system
        messages.
        """
        turns: list[Any] = []
        calls = 0
        for message in conversation.messages:
            if message.stored:
                if self.tools is not None and message.role == "assistant":
                    before = as_object(message.extra.get(self.kind)).get(BEFORE)
                    turns += before if isinstance(before, list) else self.tools(message, calls + 1)
                    calls += len(message.tool_calls)
                turns.append(patched(self.turn(message), as_object(message.extra.get(self.kind))))
        for aside in asides(conversation):
            if isinstance(own := aside.get(self.kind), dict):
                turns.insert(aside["at"], own)
            elif isinstance(text := aside.get("system"), str) and aside.get(BESIDE) != self.kind:
                turns.insert(aside["at"], self.system(text))
        derived = {"id": conversation.id, self.turns: turns}
        return patched(derived, as_object(conversation.extra.get(self.kind)))


@dataclass
class _Tools:
    """The calls and results that were read, until the message comes for which they were made."""

    turns: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """Position and content of each turn of tools."""
    calls: list[ToolCall] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    """The id of each call; None once its result was read."""
    by_message: bool = False
    """Whether a message with words made the calls: they are its own, and not those of the next one."""

    def called(self, turn: Mapping[str, Any]) -> None:
        """Read the calls of an assistant's turn, and results that stand beside them, as a server's tools have them."""
        for call in _calls(turn):
            function = call.get("function", call.get("custom", call)) if is_object(call) else None
            if not is_object(function) or not isinstance(name := function.get("name"), str):
                continue
            written = next((function[key] for key in ("arguments", "args", "input") if key in function), None)
            try:
                self.calls.append(ToolCall(name=name, arguments=_arguments(written), error=NO_RESULT))
            except ValidationError:  # deeper than a record can hold
                continue
            own = call.get("id") if call is not function else None
            self.ids.append(own if isinstance(own, str) else name)
        self.answered(turn)

    def answered(self, turn: Mapping[str, Any]) -> None:
        """Read the results among the blocks of a turn."""
        for result in _results(turn):
            self.result(result)

    def result(self, turn: Mapping[str, Any]) -> None:
        """The result belongs to the first call of its id or name that has none; without both, to the first."""
        own = next((turn[key] for key in ("tool_call_id", "name") if isinstance(turn.get(key), str)), None)
        number = next((at for at, name in enumerate(self.ids) if name is not None and own in (None, name)), None)
        if number is None:
            return
        self.ids[number] = None
        content: Any = turn.get("content")
        update: dict[str, Any] = {"error": None, "result": as_value(content)}
        if parts := parts_of(content):
            texts = [block["text"] for block in content if is_object(block) and isinstance(block.get("text"), str)]
            update |= {"parts": parts, "result": as_value("".join(texts)) if texts else None}
        elif turn.get("status") == "error":
            update = {"error": content if isinstance(content, str) else dumps(content), "result": None}
        self.calls[number] = self.calls[number].model_copy(update=update)

    def draft(self, text: str = "", earlier: Sequence[ToolCall] = ()) -> Attempt:
        """A draft without a verdict, with the calls that were read after the earlier ones."""
        return Attempt(text=text, verdict="unjudged", tool_calls=(*earlier, *self.calls))

    def given_to(self, message: Message) -> Message:
        """The message with the calls that were read."""
        attempts = (self.draft(message.text, message.tool_calls),)
        return message.model_copy(update={"attempts": attempts}) if self.calls else message


def _calls(turn: Mapping[str, Any]) -> list[Any]:
    listed, one = turn.get("tool_calls"), turn.get("function_call")
    if isinstance(listed, list):
        return listed
    return [{"function": one}] if one else [call for block in as_list(turn.get("content")) if (call := call_of(block))]


def _results(turn: Mapping[str, Any]) -> list[Any]:
    return [result for block in as_list(turn.get("content")) if (result := result_of(block))]


def called(turn: Mapping[str, Any]) -> str:
    """The names and ids of the calls of a turn, as one text; empty without a call."""
    tools = _Tools()
    tools.called(turn)
    return dumps([[call.name, name] for call, name in zip(tools.calls, tools.ids, strict=True)]) if tools.calls else ""


def _arguments(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        try:
            value = json.loads(written) if written.strip() else {}
        except (ValueError, RecursionError):
            return {"value": written}
        if is_too_deep(value):
            return {"value": written}
        written = value
    return dict(written) if is_object(written) else {} if written is None else {"value": written}


@dataclass
class TurnReading:
    """The messages of one conversation, turn by turn."""

    form: DialogueForm
    messages: list[Message] = field(default_factory=list[Message])
    unsaid: list[Unsaid] = field(default_factory=list[Unsaid])
    asides: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tools: _Tools = field(default_factory=_Tools)

    def read(
        self, position: int, turn: Mapping[str, Any], plain: Mapping[str, Any], marked: tuple[Part, ...] = ()
    ) -> bool:
        """Read a turn; False if it is neither a message nor an instruction nor a turn of tools.

        `turn`: as its source has it. `plain`: the same in OpenAI's form. `marked`: its images and the like that its line
        lists (`messages.parts_at_marks`).
        """
        role, content = role_of(plain.get("role")), plain.get("content")
        text = text_of(content)
        parts = (parts_of(content) or marked) if text is not None else ()
        answers = role == "user" and bool(_results(plain))
        of_tools = answers or (role == "assistant" and bool(_calls(plain)))
        if role in TOOLS or (of_tools and not text and not parts):
            if role == "assistant" and self.tools.by_message:
                self._close()
                self.tools = _Tools()
            self.tools.turns.append((position, dict(turn)))
            if role in TOOLS and not _results(plain):
                self.tools.result(plain)
            elif role == "assistant":
                self.tools.called(plain)
            else:
                self.tools.answered(plain)
        elif role in SYSTEM and text is not None:
            self.asides.append(self.form.aside(position, turn, text))
        elif role in ("user", "assistant") and text is not None:
            self._message(Message(role=SPEAKERS[role], text=text, parts=parts), turn, plain)
        else:
            return False
        return True

    def end(self) -> None:
        """Keep what no message follows."""
        self._close()
        self.asides.sort(key=lambda aside: int(aside["at"]))

    def _message(self, message: Message, turn: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
        if message.role == "user":
            self.tools.answered(plain)
        if message.role == "user" or self.tools.by_message or not self.tools.calls:
            self._close()
            self.messages.append(self.form.message(message, turn))
        else:
            earlier = sum(len(message.tool_calls) for message in self.messages if message.role == "assistant")
            message = self.tools.given_to(message)
            own = [turn for _, turn in self.tools.turns]
            generated = None if self.form.tools is None else self.form.tools(message, earlier + 1)
            self.messages.append(self.form.message(message, turn, None if own == generated else own))
        self.tools = _Tools(by_message=message.role == "assistant" and bool(_calls(plain)))
        if self.tools.by_message:
            self.tools.called(plain)

    def _close(self) -> None:
        """Keep the turns of tools that no message follows apart; their calls are those of the message that made them.

        Without such a message they are a turn of the assistant without one.
        """
        self.asides += [self.form.aside(position, turn) for position, turn in self.tools.turns]
        if self.tools.calls and self.messages and self.messages[-1].role == "assistant":
            self.messages[-1] = self.form.with_turns_before(self.tools.given_to(self.messages[-1]))
        elif self.tools.calls:
            draft = self.tools.draft()
            self.unsaid.append(Unsaid(role="assistant", after=len(self.messages), attempts=(draft,)))


@dataclass(frozen=True)
class DialogueReading:
    """Builds the conversations of one file, and gives equal ones different ids."""

    form: DialogueForm
    seen: Counter[str] = field(default_factory=Counter)
    """How often each object occurred, by digest."""

    def conversation(self, value: Mapping[str, Any], read: TurnReading) -> Conversation:
        """The conversation of an object of the file, whose turns were read."""
        read.end()
        form, key = self.form, digest(value)
        ordinal = self.seen[key]
        self.seen[key] += 1
        scenario: Json = {"kind": form.kind, "digest": key}
        own_id = value.get("id")
        name = own_id if isinstance(own_id, str) and own_id else conversation_id(form.kind, scenario, ordinal)
        patch = difference({**value, form.turns: None}, {"id": name, form.turns: None})
        extra: dict[str, Any] = {ASIDES: read.asides} if read.asides else {}
        return Conversation(
            id=name,
            scenario=scenario,
            ordinal=ordinal,
            messages=tuple(read.messages),
            unsaid=tuple(read.unsaid),
            labels=declared_labels(value),
            extra=extra | ({form.kind: patch} if patch else {}),
        )


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
    """Whether two values are the same JSON.

    1, 1.0 and true differ, and so do objects with another order of keys.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)
