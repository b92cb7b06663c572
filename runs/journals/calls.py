"""The call journal of a run: a file of JSON lines with every reply of a model, as it came.

The first line names the kind of the file. A line with `message` holds one message that was sent, once for each
conversation. A line with `sent` holds a call: its key, recipient, digests of the messages, and the reply.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from ...data.files.json import dumps, parsed
from ...data.files.paths import check
from ...errors import DataError, at
from ...nodes.calls.spending import PriceQuery, Spending
from ...nodes.calls.store import CallKey, SentRequest, StoredReply
from .call_differences import HEAD, ReplayError, check_call, check_head, difference, distance, named
from .journal import AppendedFile

CALLS = "calls.jsonl"
"""Name of the journal in a run folder."""
_LONGEST_HEAD = 1_000


class ReplyCost(NamedTuple):
    """What a kept reply has taken."""

    role: str
    model: str | None
    usage: Mapping[str, int]
    """By the names of `data.Usage`; without tokens if the endpoint reported none."""
    sent: Sequence[str] = ()
    """The texts that were sent, where tokens are to be counted by characters."""
    reply: str = ""

    @classmethod
    def of(cls, role: str, call: Mapping[str, Any], messages: Callable[[], Mapping[str, Any]]) -> "ReplyCost":
        """What a model's reply in a call journal has taken; `messages`: those of its conversation, by digest."""
        reply = call["reply"]
        usage, metadata = reply.get("usage_metadata") or {}, reply.get("response_metadata") or {}
        counted = {name: usage.get(name, 0) for name in ("input_tokens", "output_tokens")} | {"calls": 1}
        if cached := (usage.get("input_token_details") or {}).get("cache_read"):
            counted["cached_tokens"] = cached
        sent = {} if usage else messages()
        texts = [] if usage else [str(sent.get(digest, {}).get("content", "")) for digest in call.get("sent", [])]
        model = metadata.get("model_name") or metadata.get("model")
        return cls(role, model, counted, texts, str(reply.get("content", "")))


def count(spending: Spending, paid: ReplyCost, query: PriceQuery | None) -> None:
    """Count a reply that was paid before; `query`: the model that was called."""
    spending.add(paid.model, paid.usage, role=paid.role, query=query, sent=paid.sent, reply=paid.reply)


def _reply_of(line: Mapping[str, Any]) -> StoredReply:
    return StoredReply(line["reply"], line.get("retried") or {}, line.get("shared") is True)


@dataclass(frozen=True)
class _Line:
    """Where a call stands in the file, and the digest of what was sent."""

    offset: int
    length: int
    digest: str
    before: "_Line | None" = None
    """An earlier call with the same key, such as one of another judge of the same draft."""

    def all(self) -> Iterator["_Line"]:
        """The calls with this key, the last one first."""
        line: _Line | None = self
        while line is not None:
            yield line
            line = line.before


@dataclass
class CallFile:
    """A file of calls: it answers earlier calls and records new ones, with only positions in memory."""

    path: Path
    writes: bool = True
    """Whether new calls are written. A file that is only read must hold every call."""
    unused: dict[CallKey, str] = field(default_factory=dict)
    """Kept replies that were not used because something else is sent now; with the first of them what differs."""
    torn: int = 0
    """Bytes of a line that was cut off in writing, and lines that cannot be read, which are asked again."""
    copy: "CallFile | None" = None
    """A second file, which gets all that this one gets, and each reply that it is asked for."""
    _lines: dict[CallKey, _Line] = field(default_factory=dict, repr=False)
    _shared: dict[str, dict[tuple[CallKey, str], _Line]] = field(default_factory=dict, repr=False)
    """By conversation the replies that another version of it got and paid for, by call and digest of what was sent."""
    _over: set[str] = field(default_factory=set, repr=False)
    """Conversations that will not be asked for again."""
    _stored_messages: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """Digests of the messages that the file has, by conversation."""
    _anew: dict[str, int] = field(default_factory=dict, repr=False)
    """Conversations that are simulated anew, with where that began."""
    _file: AppendedFile | None = field(default=None, repr=False)
    _unsynced: bool = field(default=False, repr=False)

    @classmethod
    def recording(cls, path: str | Path, *, done: frozenset[str] | set[str] = frozenset()) -> "CallFile":
        """A file to write to, and to answer from.

        `done`: conversations that will not be asked for again. RunError if it cannot be written, or another process writes
        it; DataError if it is another file.
        """
        call_file = cls(Path(path), _over=set(done))
        if call_file.path.exists():
            check(call_file.path)
        file = AppendedFile(call_file.path, alone_in=call_file.path)
        try:
            call_file.torn = file.cut_torn_line()
            if file.size:
                call_file._read()
            else:
                file.append(dumps(HEAD) + "\n")
        except BaseException:
            file.close()
            raise
        call_file._file = file
        return call_file

    @classmethod
    def replaying(cls, path: str | Path) -> "CallFile":
        """A file that holds every call of a run: no other is made; DataError if it cannot be read."""
        call_file = cls.read(path)
        if not call_file._lines:
            raise DataError(f"{at(path)}: holds no reply: record the run again")
        return call_file

    @classmethod
    def read(cls, path: str | Path) -> "CallFile":
        """A file of an earlier run, which is only read; DataError if it cannot be."""
        call_file = cls(Path(path), writes=False)
        call_file._read()
        return call_file

    def find(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The stored reply, if the same was sent; ReplayError if the file must hold it and does not."""
        if (reply := self.look_up(key, sent)) is not None:
            if self.copy is not None and self.copy.find(key, sent) is None:
                self.copy.keep(key, sent, reply)
            return reply
        if self.copy is not None and (copied_reply := self.copy.find(key, sent)):
            return copied_reply
        if (lines := self._since(key, self._lines.get(key))) and self.writes and key not in self.unused:
            self.unused[key] = "" if self.unused else self._difference(lines[0], sent)  # which reads the whole file
        if not self.writes:
            raise ReplayError(self._missing(key, sent))
        return None

    def look_up(self, key: CallKey, sent: SentRequest) -> StoredReply | None:
        """The stored reply, if the same was sent."""
        shared = self._shared.get(key.conversation, {}).get((key, sent.digest))
        lines = [*self._since(key, self._lines.get(key)), *self._since(key, shared)]
        same = next((line for line in lines if line.digest == sent.digest), None)
        return None if same is None else _reply_of(self._call(same))

    def _since(self, key: CallKey, last: _Line | None) -> list[_Line]:
        """A line and those before it, since the conversation was begun anew."""
        begun = self._anew.get(key.conversation, 0)
        return [] if last is None else [line for line in last.all() if line.offset >= begun]

    def keep(self, key: CallKey, sent: SentRequest, reply: StoredReply) -> None:
        """Append a reply; it outlives this process at once. One of another version can be found at once."""
        if reply.shared and key.conversation in self._over:
            return
        more = {"retried": dict(reply.retried), "shared": reply.shared}
        more = {name: value for name, value in more.items() if value}
        self._append(key, sent, {"reply": reply.value} | more)

    def begin_anew(self, conversations: Iterable[str]) -> None:
        """Do not use the earlier replies of these conversations; those begun anew before go on."""
        for conversation in sorted(set(conversations) - self._anew.keys()):
            if self._file is not None:
                self._anew[conversation] = self._file.size
                self._file.append(dumps({"conversation": conversation, "anew": True}) + "\n", sync=False)
        if self.copy is not None:
            self.copy.begin_anew(conversations)

    def ask_again(self, conversation: str, role: str) -> None:
        """Do not use the replies to the last turn of a role, which were without text and failed the conversation."""
        keys = [key for key in self._sides[conversation, role] if key in self._lines]
        last = max((key.turn for key in keys), default=0)
        for key in [key for key in keys if key.turn == last]:
            del self._lines[key]

    @cached_property
    def _sides(self) -> dict[tuple[str, str], list[CallKey]]:
        sides = defaultdict[tuple[str, str], list[CallKey]](list)
        for key in self._lines:
            sides[key.conversation, key.role].append(key)
        return sides

    def forget(self, conversation: str) -> None:
        """A conversation is over: the digests of its messages are not needed any more."""
        self._stored_messages.pop(conversation, None)
        self._shared.pop(conversation, None)
        self._over.add(conversation)
        if self._file is not None and self._anew.pop(conversation, None) is not None:
            self._file.append(dumps({"conversation": conversation, "anew": False}) + "\n", sync=False)
        if self.copy is not None:
            self.copy.forget(conversation)

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        if self._file is not None and self._unsynced:
            self._unsynced = False
            self._file.sync()
        if self.copy is not None:
            self.copy.sync()

    def close(self) -> None:
        """Close the file and let others write it."""
        file, self._file = self._file, None
        try:
            if file is not None and self._unsynced:
                file.sync()
        finally:
            if file is not None:
                file.close()
            if self.copy is not None:
                self.copy.close()

    def drop(self) -> None:
        """Close and remove the file: every conversation is finished."""
        self._unsynced = False
        self.close()
        self.path.unlink(missing_ok=True)

    @property
    def paid(self) -> Iterator[ReplyCost]:
        """The usage of each stored reply of a model."""
        for key, line in ((key, line) for key, last in self._lines.items() for line in last.all()):
            call = self._call(line)
            if "drafts" not in call["reply"]:  # else it is an agent's
                yield ReplyCost.of(key.role, call, partial(self._messages, key.conversation))

    def _append(self, key: CallKey, sent: SentRequest, outcome: Mapping[str, Any]) -> None:
        if self.copy is not None:
            self.copy._append(key, sent, outcome)
        if self._file is None:
            return
        stored_digests = self._stored_messages.setdefault(key.conversation, set())
        lines = []
        for number, message in enumerate(sent.digests):
            if message not in stored_digests:
                stored_digests.add(message)
                lines.append({"conversation": key.conversation, "message": message, "value": sent.messages[number]})
        content = {"to": dict(sent.to), "digest": sent.digest, "sent": list(sent.digests)}
        call = {**key._asdict(), **content, **outcome}
        self._file.append("".join(dumps(line) + "\n" for line in (*lines, call)), sync=False)
        self._unsynced = True
        if call.get("shared"):
            length = len(dumps(call).encode()) + 1
            self._note_shared(key, _Line(self._file.size - length, length, sent.digest))

    def _note_shared(self, key: CallKey, line: _Line) -> None:
        self._shared.setdefault(key.conversation, {})[key, line.digest] = line

    def _read(self) -> None:
        """Note where each call stands, without those of the conversations that are over."""
        check(self.path)
        try:
            with self.path.open("rb") as file:
                check_head(file.readline(_LONGEST_HEAD), self.path)
                offset = file.tell()
                for number, line in enumerate(file, start=2):
                    if line.endswith(b"\n"):
                        self._note(line, offset, number)
                    offset += len(line)
        except OSError as error:
            raise DataError(f"{at(self.path)}: cannot be read ({error.strerror}): check the path") from None

    def _note(self, line: bytes, offset: int, number: int) -> None:
        try:
            value = parsed(line.decode("utf-8"), self.path, number)
            conversation = value["conversation"]
            if conversation in self._over:
                return
            if "anew" in value:
                self._anew |= {conversation: offset} if value["anew"] else {}
                if not value["anew"]:
                    self._anew.pop(conversation, None)
            elif "message" in value:
                self._stored_messages.setdefault(conversation, set()).add(value["message"])
            elif "reply" in value:
                key = CallKey(*(value[name] for name in CallKey._fields))
                check_call(key, value)
                if value.get("shared"):
                    self._note_shared(key, _Line(offset, len(line), value["digest"]))
                else:
                    self._lines[key] = _Line(offset, len(line), value["digest"], self._lines.get(key))
        except (UnicodeDecodeError, DataError, KeyError, TypeError):
            self.torn += len(line)  # asked again

    def _call(self, line: _Line) -> dict[str, Any]:
        with self.path.open("rb") as file:
            file.seek(line.offset)
            return dict(parsed(file.read(line.length).decode("utf-8"), self.path))

    def _messages(self, conversation: str) -> dict[str, Any]:
        """The messages of a conversation by their digests."""
        messages: dict[str, Any] = {}
        with self.path.open("rb") as file:
            for line in file:
                if b'"message"' in line and line.endswith(b"\n"):
                    value = parsed(line.decode("utf-8"), self.path)
                    if value.get("conversation") == conversation and "message" in value:
                        messages[value["message"]] = value["value"]
        return messages

    def _missing(self, key: CallKey, sent: SentRequest) -> str:
        """The message about a call that is not there: the nearest one, and the first difference."""
        name = f"{self.path}: has no call of {named(key)}"
        nearest = min(self._lines, key=lambda other: distance(key, other))
        if nearest != key:
            return f"{name}; the nearest is {named(nearest)}: record the run again, or replay the run that was recorded"
        return f"{name} with what is sent now: {self._difference(self._lines[key], sent)}: record the run again"

    def _difference(self, line: _Line, request: SentRequest) -> str:
        """The first difference between what was sent then and what is sent now."""
        call = self._call(line)
        return difference(call, request, partial(self._messages, call["conversation"]))
