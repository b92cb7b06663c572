"""Replies of models, kept in a file of SQLite: the same question about the same turn is asked once, also after a kill."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self, TypeAlias
from weakref import WeakValueDictionary

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...data.identity import call_seed, digest
from ...data.text.words import tokens_about
from ...errors import DataError, DuologueError, at
from ..replies import writable
from ..settings.redaction import known_secrets, without, without_known_secrets

TABLE = """
CREATE TABLE IF NOT EXISTS reply (
    conversation TEXT, role TEXT, turn INT, attempt INT, vote INT, version TEXT, sent TEXT,
    recipient TEXT, tokens INT, reply TEXT, retried TEXT, paid_by TEXT,
    PRIMARY KEY (conversation, role, turn, attempt, vote, version, sent)
) WITHOUT ROWID;
"""
AGAINST = "against"
"""Name of the version with which an agent is compared; the agent itself has no name."""
SAME_CALL = "(conversation, role, turn, attempt, vote, version) = (?, ?, ?, ?, ?, ?)"


Place: TypeAlias = tuple[str, str, int, int, int, str]
"""By what a kept reply is found: conversation, role, turn, attempt, vote, and of the agent's calls the version."""


@dataclass(frozen=True)
class Call:
    """Identifies a request, from which the seed of each attempt is derived."""

    seed: int  # seed of the run
    conversation: str  # id of the conversation, or another name of what the call is about
    role: str  # the respondent
    turn: int = 0
    vote: int = 0  # distinguishes several requests of the same turn
    repeats: int = field(default=0, compare=False)  # how often the same words were rejected before it

    def seed_of(self, attempt: int) -> int:
        """The seed of an attempt, counted from 1; 0 is for random choices before the first."""
        return call_seed(self.seed, self.conversation, self.role, self.turn, attempt, self.vote)

    def place(self, attempt: int, version: str = "") -> Place:
        """Where the reply to an attempt is kept: what a user replied to one version is its reply to every version."""
        own = "" if is_of_user(self.role) else version
        return self.conversation, self.role, self.turn, attempt, self.vote, own


def is_of_user(role: str) -> bool:
    """Whether calls of a role are the user's, or of a model that judges its drafts."""
    return role == "user" or role.startswith("user judge ")


@dataclass(frozen=True)
class SentRequest:
    """What a call sends: to whom, with which arguments, as plain JSON without secrets, and a digest of each message."""

    to: Mapping[str, Any]
    messages: tuple[str, ...] = ()
    tokens: int = 0
    """Of the messages, by their characters."""

    @classmethod
    def of(cls, to: Mapping[str, Any], messages: Sequence[BaseMessage]) -> "SentRequest":
        """What is sent with these messages of LangChain."""
        secrets = known_secrets()
        told = [_told(message, secrets) for message in messages]
        return cls(without(dict(to), secrets), tuple(name for name, _ in told), sum(tokens for _, tokens in told))

    @cached_property
    def digest(self) -> str:
        """The digest of everything that is sent."""
        return digest(dict(self.to), list(self.messages))[:32]


def _told(message: BaseMessage, secrets: tuple[str, ...]) -> tuple[str, int]:
    """The digest of a message without secrets, and its tokens by its characters."""
    more = message.name or message.model_extra or getattr(message, "tool_calls", None)
    if type(message) in (HumanMessage, AIMessage, SystemMessage) and isinstance(message.content, str) and not more:
        return _told_text(message.type, message.content, secrets)
    plain = {"type": message.type, "content": _as_json(message.content)}
    for name in ("tool_calls", "tool_call_id", "name"):
        if value := getattr(message, name, None):
            plain[name] = _as_json(value)
    return digest(without(plain, secrets))[:16], tokens_about(str(message.content))


@lru_cache(maxsize=4096)  # each call sends again what was said before it
def _told_text(kind: str, text: str, secrets: tuple[str, ...]) -> tuple[str, int]:
    return digest(without({"type": kind, "content": writable(text)}, secrets))[:16], tokens_about(text)


@dataclass(frozen=True)
class StoredReply:
    """A reply as it came, as plain JSON."""

    value: Mapping[str, Any]  # the fields of an `AIMessage`; of an agent, its update of the state
    retried: Mapping[str, int] = field(default_factory=dict)  # how often the call was made again before it, by fault
    message: AIMessage | None = field(default=None, compare=False, repr=False)
    """The model's message, where it has just come."""
    shared: bool = False  # whether another version of the conversation got it and paid for it


class ReplayError(DuologueError, LookupError):
    """A call that a frozen file does not hold."""

    record_line = property(str)


class RepliesError(DuologueError, RuntimeError):
    """Replies cannot be written, as on a full disk: nothing more may be paid for."""

    exit_code = 1


class Replies:
    """Kept replies: a call that was made before is answered from them, and a new reply is written at once.

    `path`: the file; None: in memory, for the versions of one run. `frozen`: it is only read, and a call that it does not
    hold is an error. `own`: it is the run folder's own file, so that a damaged one is set aside. `beside`: the file of
    another run, whose users' replies are taken too. A reply outlives a killed process. DataError for a file that is
    something else, and stays as it is, or not there while it is frozen.
    """

    def __init__(
        self, path: str | Path | None, *, frozen: bool = False, own: bool = False, beside: Path | None = None
    ) -> None:
        self.path, self.frozen = None if path is None else Path(path), frozen
        self.replayed = 0  # calls that were answered from the file
        self._under_way: WeakValueDictionary[tuple[Any, ...], asyncio.Lock] = WeakValueDictionary()
        self._file = self._opened(own)
        self._beside = None if beside is None else Replies(beside, frozen=True)

    def _opened(self, own: bool) -> sqlite3.Connection:
        if self.path is None:
            return _connected(":memory:")
        if self.frozen:
            if not self.path.is_file():
                raise DataError(f"{at(self.path)}: is not there: give the replies.sqlite of a run")
            # Only a file that is being written, or was by a process that was killed, has a log beside it.
            closed = not self.path.with_name(f"{self.path.name}-wal").exists()
            mode = "immutable=1" if closed else "mode=ro"
        try:
            if self.frozen:
                file = _connected(f"{self.path.absolute().as_uri()}?{mode}", tables=False)
                file.execute("SELECT 1 FROM reply LIMIT 1").fetchone()
                return file
            return _connected(self.path.absolute().as_uri())
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not self.frozen:
                raise RepliesError(f"{self.path}: cannot be written ({error}): choose another place") from None
            if own:
                return self._set_aside(error)
            raise DataError(f"{at(self.path)}: holds no replies ({error}): give the replies.sqlite of a run") from None

    def _set_aside(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Begin a new file in place of a damaged one."""
        assert self.path is not None
        aside = self.path.with_name(f"{self.path.name}.damaged")
        self.path.replace(aside)
        for name in ("-wal", "-shm"):
            self.path.with_name(self.path.name + name).unlink(missing_ok=True)
        line = "%s: is damaged (%s) and set aside as %s: the replies in it are asked for again"
        logging.getLogger(__name__).warning(line, self.path, error, aside.name)
        return _connected(self.path.absolute().as_uri())

    async def once(
        self, place: Place, version: str, sent: SentRequest, ask: Callable[[], Awaitable[StoredReply]]
    ) -> StoredReply:
        """The reply that is kept for this call, if the same was sent; else what `ask` gives, which is kept.

        `version`: of the agent that pays for it. An equal call under way is waited for. ReplayError if it must be kept and
        is not.
        """
        lock = self._under_way.setdefault((*place, sent.digest), asyncio.Lock())
        async with lock:
            if (reply := self._find(place, version, sent)) is None:
                reply = await ask()
                if not reply.value.get("failed"):  # an agent whose own code failed is asked again
                    self.keep(place, version, sent, reply)
            return reply

    def _find(self, place: Place, version: str, sent: SentRequest) -> StoredReply | None:
        """The kept reply; None if there is none, or ReplayError if there must be one."""
        if row := self._row(place, sent):
            self.replayed += 1
            return _reply(row, shared=row[2] != version)
        if self._beside is not None and is_of_user(place[1]) and (row := self._beside._row(place, sent)):
            self.keep(place, AGAINST, sent, reply := _reply(row, shared=True))
            return reply
        if self.frozen:
            raise ReplayError(self._missing(place))
        return None

    def _row(self, place: Place, sent: SentRequest) -> Any:
        query = f"SELECT reply, retried, paid_by FROM reply WHERE {SAME_CALL} AND sent = ?"
        with self._usable("read"):
            row = self._file.execute(query, (*place, sent.digest)).fetchone()
        with suppress(ValueError):  # of a damaged row the reply is asked for again
            return row and (json.loads(row[0]), json.loads(row[1]), row[2])
        return None

    def keep(self, place: Place, version: str, sent: SentRequest, reply: StoredReply) -> None:
        """Write a reply; RepliesError if the disk does not take it."""
        if self.frozen:
            return
        to, told, retried = (json.dumps(dict(one), ensure_ascii=False) for one in (sent.to, reply.value, reply.retried))
        values = (*place, sent.digest, to, sent.tokens, told, retried, version)
        with self._usable("written"), self._file:  # one transaction
            self._file.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    @contextmanager
    def _usable(self, what: str) -> Iterator[None]:
        """Inside, what the disk does not do ends the run; a file that has become damaged is set aside the next time."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise RepliesError(f"{self.path}: cannot be {what} ({error}): make room, then call it again") from None

    def forget_turn(self, conversation: str, role: str, version: str = "") -> None:
        """Forget what a role replied last in a conversation: nothing in it could be said."""
        key = (conversation, role, "" if is_of_user(role) else version)
        of_role = "(conversation, role, version) = (?, ?, ?)"
        with self._file:
            self._file.execute(
                f"DELETE FROM reply WHERE {of_role} AND turn = (SELECT max(turn) FROM reply WHERE {of_role})", key * 2
            )

    def paid(self) -> Iterator[tuple[Mapping[str, Any], int, Mapping[str, Any]]]:
        """Every kept reply: its recipient, about how many tokens were sent, and the reply."""
        with closing(self._file.cursor()) as rows:
            for to, tokens, reply in rows.execute("SELECT recipient, tokens, reply FROM reply"):
                with suppress(ValueError):  # a damaged row is no kept reply
                    yield json.loads(to), tokens, json.loads(reply)

    def count(self) -> int:
        """The number of kept replies."""
        return int(self._file.execute("SELECT count(*) FROM reply").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._beside is not None:
            self._beside.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _missing(self, place: Place) -> str:
        """The line about a call that is not there."""
        conversation, role, turn, attempt, vote, version = place
        name = f"{role}{f' (version {version})' if version else ''} in turn {turn + 1}, attempt {attempt}"
        name += f"{f', vote {vote}' if vote else ''} of {conversation}"
        if self._file.execute(f"SELECT 1 FROM reply WHERE {SAME_CALL}", place).fetchone():
            return (
                f"{self.path}: has the call of {name} with other content: give the same models, prompts and scenarios"
            )
        return f"{self.path}: has no call of {name}: give the replies of this run"


def merge(part: Path, whole: Path) -> None:
    """Copy the replies of a file into another, which is made if it is not there."""
    if not part.is_file():
        return
    with closing(_connected(whole.absolute().as_uri())) as file:
        file.execute("ATTACH ? AS part", (part.absolute().as_uri(),))
        with file:
            file.execute("INSERT OR IGNORE INTO reply SELECT * FROM part.reply")


def _reply(row: Any, *, shared: bool) -> StoredReply:
    value, retried, _ = row
    if not shared:
        return StoredReply(value, retried)
    drafts = [{**draft, "shared": True} for draft in value.get("drafts", ())]  # of a user that is an agent
    return StoredReply({**value, "drafts": drafts} if drafts else value, shared=True)


def _connected(place: str, *, tables: bool = True) -> sqlite3.Connection:
    # Who waits for a loop may be in another thread than it: SQLite itself lets one at a time in.
    file = sqlite3.connect(place, uri=True, check_same_thread=False)
    try:
        if tables:
            names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            if names and "reply" not in names:
                raise sqlite3.DatabaseError(f"it has the tables {', '.join(names)}")
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            if wrong := [row[0] for row in file.execute("PRAGMA quick_check(1)") if row[0] != "ok"]:
                raise sqlite3.DatabaseError(wrong[0])
            file.execute(TABLE)
    except BaseException:
        file.close()
        raise
    return file


def plain_reply(message: AIMessage) -> dict[str, Any]:
    """A model's message as plain JSON, without its random id, its headers and what is at its default."""
    dumped = message.model_dump(exclude={"id"}, exclude_defaults=True)
    metadata = {key: value for key, value in dumped.pop("response_metadata", {}).items() if key != "headers"}
    return dict(without_known_secrets(_as_json(dumped | ({"response_metadata": metadata} if metadata else {}))))


def message_of(reply: StoredReply) -> AIMessage:
    """The model's message of a reply."""
    return reply.message or AIMessage.model_validate({"content": "", **reply.value})


def _as_json(value: Any) -> Any:
    """The value as plain JSON; other parts of it, such as an object of a client, as text."""
    return json.loads(writable(json.dumps(value, ensure_ascii=False, default=str)))
