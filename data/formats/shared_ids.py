"""Different conversations of a source with one id: each gets its own, in any order of lines."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..identity import digest
from ..records import Conversation, as_object

LENGTH = 12
"""Hexadecimal digits of the digest after a shared id: 48 bits, enough for a million conversations of one id."""

_OF_LOGS = {"kind", "digest"}
"""Keys of the scenario of a conversation that a dialogue format read."""


def separate(conversations: Sequence[Conversation]) -> tuple[Sequence[Conversation], tuple[str, ...]]:
    """The conversations, and a note if some got another id.

    Conversations that share an id and differ in content get a digest of the content after it. Copies stay copies: equal
    content keeps an equal id. A line's own id stays in its further keys, so that it is written again.
    """
    often = Counter(conversation.id for conversation in conversations)
    shared = [conversation for conversation in conversations if often[conversation.id] > 1]
    if not shared:
        return conversations, ()
    contents: dict[str, dict[int, str]] = {}
    for number, conversation in enumerate(conversations):
        if often[conversation.id] > 1:
            contents.setdefault(conversation.id, {})[number] = _content(conversation)
    names = {
        number: f"{name}-{own[:LENGTH]}"
        for name, digests in contents.items()
        if len(set(digests.values())) > 1
        for number, own in digests.items()
    }
    if not names:
        return conversations, ()
    ids = {conversations[number].id for number in names}
    note = (
        f"{len(names)} conversations share {len(ids)} id{'s' * (len(ids) > 1)} and differ: a digest of the content "
        f"follows the id, such as {min(names.values())}"
    )
    own = (
        _renamed(conversation, names[number]) if number in names else conversation
        for number, conversation in enumerate(conversations)
    )
    return tuple(own), (note,)


def with_id(conversations: Iterable[Conversation], name: str) -> list[Conversation]:
    """The conversations with this id; else those whose id begins so, as a shared one does."""
    matching = [conversation for conversation in conversations if conversation.id.startswith(name)]
    return [conversation for conversation in matching if conversation.id == name] or matching


def _content(conversation: Conversation) -> str:
    """Digest of everything but the id and the number among equal conversations."""
    plain = conversation.plain()
    return digest({key: value for key, value in plain.items() if key not in ("id", "ordinal", "repeat")})


def _renamed(conversation: Conversation, name: str) -> Conversation:
    update: dict[str, Any] = {"id": name}
    scenario = conversation.scenario
    if scenario.keys() == _OF_LOGS:  # its format writes an id, which is to be the source's again
        form = str(scenario["kind"])
        patch = as_object(conversation.extra.get(form))
        values = {"id": conversation.id, **as_object(patch.get("values"))}
        update["extra"] = {**conversation.extra, form: {**patch, "values": values}}
    return conversation.model_copy(update=update)
