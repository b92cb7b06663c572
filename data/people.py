"""People in stored conversations: who they are, their split into development and test users, pairs by topic, and when they write."""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from . import domains
from .domains import declared_topic
from .identity import digest, ordinals
from .records import Conversation, Message, Record, as_object

STORED = "stored"
"""Key of a conversation's `extra` for the stored conversation whose scenario it has: its `id`, the digest of its
`scenario`, and, where the source has them, the `path` of its file and its `user`."""
UserPart: TypeAlias = Literal["tune", "test", "all"]
"""Part of the people: to tune a simulator on, to test it on, or all."""

MOST_DRAWN = 4_000
"""Conversations of a source that are taken at most, unless another number is given: more than were published.

`compare` takes about a gigabyte of memory for two such sources.
"""


def named_user(conversation: Conversation) -> str:
    """Name of the user or of the profile in the source; empty where it has none."""
    return domains.of(conversation).user(conversation)


def user_of(conversation: Conversation) -> str:
    """Name of the user; where the source has none, conversations about an equal scenario are the same user's."""
    return named_user(conversation) or digest(conversation.scenario)[:16]


def part_of(user: str) -> UserPart:
    """The part that a user is in for good, by the digest of their name: about half are in each."""
    return "tune" if int(digest("part", user)[:8], 16) % 2 == 0 else "test"


def of_part(conversation: Conversation, part: UserPart) -> bool:
    """Whether the conversation's user is in the part.

    A conversation that was simulated on a person's scenario belongs to that person's part.
    """
    if part == "all":
        return True
    return part_of(whose(conversation)) == part


def with_user(conversation: Conversation) -> Conversation:
    """The conversation for a general format, with its user's name as `user` of its line.

    So its user, and with it the half, is the same when the file is read. One that was read in this format stays as it is.
    """
    name = _named_in_store(conversation) or named_user(conversation)
    return conversation.model_copy(update={"extra": {**conversation.extra, "user": name}}) if name else conversation


def whose(conversation: Conversation) -> str:
    """Whose scenario it is: what was simulated on a person's scenario is that person's, all else its user's."""
    return _named_in_store(conversation) or user_of(conversation)


def _named_in_store(conversation: Conversation) -> str:
    """Name of the user on whose scenario it was simulated; empty if it was on nobody's."""
    name = as_object(conversation.extra.get(STORED)).get("user")
    return name if isinstance(name, str) else ""


class DrawnUsers(NamedTuple):
    """Conversations of drawn users."""

    conversations: tuple[Conversation, ...]
    users: int
    of_users: int
    """The users of the whole source."""


def drawn_users(conversations: Sequence[Conversation], most: int, seed: int) -> DrawnUsers:
    """The conversations of users drawn by the seed, at most so many.

    Users are in the order of a digest, so those of one name are drawn from every source.
    """
    counts = Counter(map(user_of, conversations))
    users: set[str] = set()
    count = 0
    for user in sorted(counts, key=lambda user: digest("drawn users", seed, user)):
        if users and count + counts[user] > most:
            break
        users.add(user)
        count += counts[user]
    of_users = (conversation for conversation in conversations if user_of(conversation) in users)
    drawn = tuple(islice(of_users, most))  # a single user may have more
    return DrawnUsers(drawn, len(users), len(counts))


@dataclass(frozen=True)
class Pairing:
    """Pairs in the order of the first set, and the conversations of each set without a partner."""

    pairs: tuple[tuple[Conversation, Conversation], ...]
    only_first: tuple[Conversation, ...]
    only_second: tuple[Conversation, ...]


def topic_key(conversation: Conversation) -> str | None:
    """A key that is equal for conversations about the same topic; None if the topic is unknown.

    It is their domain's; where the domain has none, that of the `topic` which their line names.
    """
    declared = declared_topic(conversation)
    if declared and isinstance(conversation.scenario.get("digest"), str):
        return declared  # what was made of a line's scenario is about the same as the line
    return domains.topic_of(conversation.scenario) or declared


def paired(first: Sequence[Conversation], second: Sequence[Conversation]) -> Pairing:
    """Pair each conversation of the first set with the next unpaired one of the second about the same topic.

    A conversation that was simulated on the scenario of a stored one is paired with that one. A further one on the same
    scenario has no partner. If several people talk about a topic, conversations of the same person are paired first.
    """
    partners: dict[int, int] = {}
    stored = [identity_of(one) for one in second]
    origins = [origin_of(one) for one in first]
    _match(partners, origins, stored)
    _match(partners, [identity_of(one) for one in first], [origin_of(one) for one in second])
    there = set(stored)
    topics = [None if origin in there else topic_key(one) for one, origin in zip(first, origins, strict=True)]
    others = [topic_key(one) for one in second]
    _match(partners, _with_persons(topics, first), _with_persons(others, second))
    _match(partners, topics, others)
    taken = set(partners.values())
    return Pairing(
        tuple((one, second[partners[number]]) for number, one in enumerate(first) if number in partners),
        tuple(one for number, one in enumerate(first) if number not in partners),
        tuple(one for place, one in enumerate(second) if place not in taken),
    )


def _match(partners: dict[int, int], keys: Sequence[Hashable], others: Sequence[Hashable]) -> None:
    """Add for each number without a partner the next free place with an equal key that is not None."""
    taken = set(partners.values())
    free: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, key in enumerate(others):
        if key is not None and place not in taken:
            free[key].append(place)
    for number, key in enumerate(keys):
        if number not in partners and free.get(key):
            partners[number] = free[key].popleft()


def _with_persons(topics: Sequence[str | None], conversations: Sequence[Conversation]) -> list[Hashable]:
    """The topics with the person who asks, from the domain, else the user that the source names."""
    asking = (domains.profile_of(one.scenario) or named_user(one) or None for one in conversations)
    return [None if topic is None else (topic, who) for topic, who in zip(topics, asking, strict=True)]


def identity_of(conversation: Conversation) -> tuple[str, str]:
    """The identity that conversations on its scenario record: its id, and its scenario's digest."""
    return conversation.id, digest(conversation.scenario)


def origin_of(conversation: Conversation) -> tuple[str, str] | None:
    """Id of the stored conversation whose scenario it has, and the digest of that scenario; None if it has none."""
    stored = as_object(conversation.extra.get(STORED))
    if not isinstance(stored.get("id"), str) or not isinstance(stored.get("scenario"), str):
        return None
    return stored["id"], stored["scenario"]


# --- The moments at which a user writes or leaves

LEAVES = frozenset({"user_ended", "user_gave_up"})
"""Recorded stop reasons with which a user has left; a conversation that names no reason was left by its user too."""


@dataclass(frozen=True)
class Moment:
    """A place in a conversation at a user's turn, with the messages before it and the user's messages."""

    conversation: Conversation
    number: int
    """Place of the conversation in its source, from 0."""
    ordinal: int
    """Number of the conversation among those of the source about an equal scenario, from 0."""
    turn: int
    """How many turns the user has had, from 0."""
    begin: int
    """Number of messages before this turn."""
    end: int
    """Number of messages up to its end; as many where the user had left."""

    @property
    def before(self) -> tuple[Message, ...]:
        """All messages before this turn, perhaps none; the last one is the assistant's."""
        return self.conversation.messages[: self.begin]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The user's messages of this turn, one or several in a row; empty where the user had left."""
        return tuple(message for message in self.conversation.messages[self.begin : self.end] if message.stored)

    @property
    def key(self) -> str:
        """Names the moment in its source."""
        return f"{self.number}/{self.turn}"

    @property
    def ended(self) -> bool:
        """Whether the user had left."""
        return self.begin == self.end

    @cached_property
    def text(self) -> str:
        """The user's messages, a line for each; empty where the user had left."""
        return text_of(self.messages)


class NextTurn(Record):
    """A simulated user's turn at a moment: a text, or that it leaves, or the failure."""

    id: str
    """Id of the conversation that was simulated from the moment on."""
    key: str
    """The moment's."""
    text: str = ""
    """Its messages, a line for each; empty if it sends none. A goodbye is a text too."""
    stopped: bool | None = False
    """Whether it leaves, with a goodbye or without one; None for a user that cannot decide at a single moment."""
    stop: str | None = None
    """Why the simulation ended: `max_turns` after the one turn, or the reason that the record has."""
    rejected: int = 0
    """Drafts that its validator rejected before."""
    failure: str | None = None
    """Why it could not be asked, in one line; None if it was."""


def text_of(messages: Sequence[Message]) -> str:
    """The texts of messages, a line for each."""
    return "\n".join(message.text for message in messages)


def moments_of(conversations: Sequence[Conversation]) -> Iterator[Moment]:
    """The moments of all conversations of a source, in their order.

    Each turn of the user is one. So is the end, if the assistant's message is the last and the record names no other
    reason than that the user left. A goodbye that is not part of the published history belongs to the end.
    """
    numbers = ordinals(conversation.scenario for conversation in conversations)
    for number, (conversation, ordinal) in enumerate(zip(conversations, numbers, strict=True)):
        messages, count, turn = conversation.messages, 0, 0
        sides = [
            place for place, message in enumerate(messages) if message.name is None
        ]  # third ones are in no exchange
        for exchange in conversation.exchanges:
            end = count + len(exchange.user)
            stored = any(message.stored for message in exchange.user)
            if exchange.user and not stored:
                break  # the goodbye
            if stored:
                yield Moment(conversation, number, ordinal, turn, sides[count], sides[end - 1] + 1)
                turn += 1
            count = end + len(exchange.assistant)
        left = conversation.stop is None or conversation.stop in LEAVES
        if turn and messages[sides[count - 1]].role == "assistant" and left:
            begin = sides[count] if count < len(sides) else len(messages)
            yield Moment(conversation, number, ordinal, turn, begin, begin)
