"""The call journal of a run: a file of JSON lines with every reply of a model, as it came.

The first line says what the file is. A line with `message` holds one message that was sent, once for each conversation;
a line with `sent` holds a call: its key, to whom it went, the digests of what was sent, and the reply or the fault.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..data.formats.jsonfiles import dumps, parsed
from ..data.formats.regular_files import check
from ..errors import DataError, DuologueError, at
from ..nodes.calls.faults import Fault
from ..nodes.calls.kept import CallKey, Reply, Sent
from .journal import Appended

CALLS = "calls.jsonl"
"""Name of the journal in a run folder."""
HEAD = {"calls": 1}
"""The first line: the version of the form."""
_LONGEST_HEAD = 1_000
_SHOWN = 60


class ReplayError(DuologueError, LookupError):
    """A call that a recorded file does not hold: which one is nearest, and where they differ."""


@dataclass(frozen=True)
class _Line:
    """Where a call stands in the file, and the digest of what was sent."""

    offset: int
    length: int
    digest: str


@dataclass
class CallFile:
    """A file of calls, read to answer calls that were made before, and written with those that are made now.

    Only the position of each kept reply is held in memory.
    """

    path: Path
    writes: bool = True
    """Whether new calls are written. A file that is only read must hold every call."""
    unused: dict[CallKey, str] = field(default_factory=dict)
    """Kept replies that were not used because something else is sent now: by their key, the first difference."""
    torn: int = 0
    """Bytes of a line that was cut off in writing, and lines that cannot be read, which are asked again."""
    skip: frozenset[str] = frozenset()
    """Conversations that are simulated anew: their kept replies are not used."""
    _lines: dict[CallKey, _Line] = field(default_factory=dict, repr=False)
    _known: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """Digests of the messages that the file has, by conversation."""
    _file: Appended | None = field(default=None, repr=False)
    _unsynced: bool = field(default=False, repr=False)

    @classmethod
    def recording(cls, path: str | Path, *, done: frozenset[str] | set[str] = frozenset()) -> "CallFile":
        """A file to write to, and to answer from what it has; `done`: conversations that will not be asked for again.

        RunError if it cannot be written, or another process writes it; DataError if it is another file.
        """
        made = cls(Path(path))
        file = Appended(made.path, alone_in=made.path)
        try:
            made.torn = file.cut_torn_line()
            if file.size:
                made._read(done)
            else:
                file.append(dumps(HEAD) + "\n")
        except BaseException:
            file.close()
            raise
        made._file = file
        return made

    @classmethod
    def replaying(cls, path: str | Path) -> "CallFile":
        """A file that holds every call of a run: no other is made. DataError if it cannot be read."""
        made = cls(Path(path), writes=False)
        made._read(frozenset())
        return made

    def find(self, key: CallKey, asked: Sent) -> Reply | None:
        """The kept reply of this call, if the same was sent. ReplayError if the file must hold it and does not."""
        line = None if key.conversation in self.skip else self._lines.get(key)
        if line is not None and line.digest == asked.digest:
            call = self._call(line)
            return Reply(call["reply"], call.get("retried") or {})
        if line is not None and self.writes:
            self.unused[key] = self._difference(line, asked)
        if not self.writes:
            raise ReplayError(self._missing(key, asked))
        return None

    def keep(self, key: CallKey, asked: Sent, reply: Reply) -> None:
        """Append a reply; it outlives this process at once, and the machine's failure after `sync`."""
        self._append(key, asked, {"reply": reply.value} | ({"retried": dict(reply.retried)} if reply.retried else {}))

    def keep_fault(self, key: CallKey, asked: Sent, fault: Fault) -> None:
        """Append what an endpoint did in place of a reply."""
        self._append(key, asked, {"fault": {"name": fault.name, "whose": fault.whose, "detail": fault.detail}})

    def forget(self, conversation: str) -> None:
        """A conversation is over: what is known of its messages is not needed any more."""
        self._known.pop(conversation, None)

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        if self._file is not None and self._unsynced:
            self._unsynced = False
            self._file.sync()

    def close(self) -> None:
        """Close the file and let others write it."""
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Close and remove the file: every conversation is finished."""
        self.close()
        self.path.unlink(missing_ok=True)

    @property
    def paid(self) -> Iterator[tuple[str, str | None, dict[str, int]]]:
        """Role, model and usage, by the names of `data.Usage`, of each kept reply of a model."""
        for key, line in self._lines.items():
            reply = self._call(line)["reply"]
            usage = reply.get("usage_metadata")
            if isinstance(usage, dict):
                metadata = reply.get("response_metadata") or {}
                cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
                counted = {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"], "calls": 1}
                model = metadata.get("model_name") or metadata.get("model")
                yield key.role, model, counted | ({"cached_tokens": cached} if cached else {})

    def _append(self, key: CallKey, asked: Sent, outcome: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        known = self._known.setdefault(key.conversation, set())
        lines = []
        for message_digest, message in zip(asked.digests, asked.messages, strict=True):
            if message_digest not in known:
                known.add(message_digest)
                lines.append({"conversation": key.conversation, "message": message_digest, "value": message})
        call = {**key._asdict(), "to": dict(asked.to), "digest": asked.digest, "sent": list(asked.digests), **outcome}
        self._file.append("".join(dumps(line) + "\n" for line in (*lines, call)), sync=False)
        self._unsynced = True

    def _read(self, done: frozenset[str] | set[str]) -> None:
        """Note where each call stands, without those of the conversations that are done."""
        check(self.path)
        try:
            with self.path.open("rb") as file:
                self._check_head(file.readline(_LONGEST_HEAD))
                offset = file.tell()
                for number, line in enumerate(file, start=2):
                    if line.endswith(b"\n"):
                        self._note(line, offset, number, done)
                    offset += len(line)
        except OSError as error:
            raise DataError(f"{at(self.path)}: cannot be read ({error.strerror}): check the path") from None

    def _check_head(self, line: bytes) -> None:
        try:
            head = parsed(line.decode("utf-8"), self.path, 1)
        except (UnicodeDecodeError, DataError):
            head = None
        if not isinstance(head, dict) or "calls" not in head:
            raise DataError(f"{at(self.path)}: is no file of recorded calls: give one that --record wrote")
        if head["calls"] != HEAD["calls"]:
            raise DataError(f"{at(self.path)}: holds calls in the form {head['calls']!r}: update duologue")

    def _note(self, line: bytes, offset: int, number: int, done: frozenset[str] | set[str]) -> None:
        try:
            value = parsed(line.decode("utf-8"), self.path, number)
            conversation = value["conversation"]
            if conversation in done:
                return
            if "message" in value:
                self._known.setdefault(conversation, set()).add(value["message"])
            elif isinstance(value.get("reply"), dict):
                key = CallKey(*(value[name] for name in CallKey._fields))
                self._lines[key] = _Line(offset, len(line), value["digest"])
        except (UnicodeDecodeError, DataError, KeyError, TypeError):
            self.torn += len(line)  # asked again

    def _call(self, line: _Line) -> dict[str, Any]:
        with self.path.open("rb") as file:
            file.seek(line.offset)
            call: dict[str, Any] = parsed(file.read(line.length).decode("utf-8"), self.path)
        return call

    def _messages(self, conversation: str) -> dict[str, Any]:
        """The messages of a conversation by their digests."""
        found: dict[str, Any] = {}
        with self.path.open("rb") as file:
            for line in file:
                if b'"message"' in line and line.endswith(b"\n"):
                    value = parsed(line.decode("utf-8"), self.path)
                    if value.get("conversation") == conversation and "message" in value:
                        found[value["message"]] = value["value"]
        return found

    def _missing(self, key: CallKey, asked: Sent) -> str:
        """What to say of a call that is not there: the nearest one, and the first difference."""
        name = f"{self.path}: has no call of {_named(key)}"
        nearest = min(self._lines, key=lambda other: _distance(key, other), default=None)
        if nearest is None:
            return f"{name}; it holds no call at all: record the run again"
        if nearest != key:
            return (
                f"{name}; the nearest is {_named(nearest)}: record the run again, or replay the run that was recorded"
            )
        return f"{name} with what is sent now: {self._difference(self._lines[key], asked)}: record the run again"

    def _difference(self, line: _Line, asked: Sent) -> str:
        """The first difference between what was sent then and what is sent now."""
        call = self._call(line)
        to, now = dict(call.get("to") or {}), dict(asked.to)
        for name in [*to, *(name for name in now if name not in to)]:
            if to.get(name) != now.get(name):
                return f"{name} was {_short(to.get(name))}, now it is {_short(now.get(name))}"
        sent = list(call.get("sent") or [])
        for number, message in enumerate(asked.messages):
            if number >= len(sent):
                return f"message {number + 1} is new: {_short(message)}"
            if sent[number] != asked.digests[number]:
                was = self._messages(call["conversation"]).get(sent[number])
                return f"message {number + 1} ({message.get('type')}) {_where(was, message)}"
        return f"{len(sent)} messages were sent, now {len(asked.messages)}"


def _distance(wanted: CallKey, other: CallKey) -> tuple[Any, ...]:
    """How far another call is from the wanted one: another conversation is further than another turn."""
    return (
        wanted.conversation != other.conversation,
        wanted.subject != other.subject,
        wanted.role != other.role,
        abs(wanted.turn - other.turn),
        abs(wanted.attempt - other.attempt),
        wanted.vote != other.vote,
        other,
    )


def _named(key: CallKey) -> str:
    vote = f", vote {key.vote}" if key.vote else ""
    return f"{key.role} in turn {key.turn + 1}, attempt {key.attempt}{vote} of conversation {key.conversation}"


def _where(was: Any, now: Mapping[str, Any]) -> str:
    """Where two messages differ: the texts around the first character that does."""
    before, after = (str(one.get("content")) if isinstance(one, Mapping) else "" for one in (was, now))
    if before == after:
        return f"was {_short(was)}, now it is {_short(now)}"
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    at_character = sum(1 for _ in same)
    start = max(0, at_character - 20)
    shown = (text[start : start + _SHOWN] for text in (before, after))
    then, here = (f"{'…' if start else ''}{text}" for text in shown)
    return f"differs at character {at_character + 1}: was {then!r}, now {here!r}"


def _short(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "…"
