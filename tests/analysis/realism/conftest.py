"""Small conversations, written out, and the people of the open data."""

from collections.abc import Callable

import pytest

from duologue.data import Conversation, Message, load
from duologue.data.identity import digest

Talk = Callable[..., Conversation]


@pytest.fixture
def talk() -> Talk:
    """A conversation of these messages, the user's first, as somebody's own data has it."""

    def conversation(*texts, user="a", task=None, labels=None, id=None, **extra):
        roles = ("user", "assistant")
        messages = tuple(Message(role=roles[n % 2], text=text, labels=labels or {}) for n, text in enumerate(texts))
        more = {"user": user, **({"task": task} if task else {}), **extra}
        name = id or f"{user}-{digest(texts)[:12]}"
        return Conversation(id=name, scenario={"kind": "messages", "digest": name}, messages=messages, extra=more)

    return conversation


@pytest.fixture
def side(talk: Talk):
    """Conversations of some users, polite or not."""
    words = ("a train to Rome in May", "a hotel near the sea", "one good museum", "a quiet walk by night", "cheap food")

    def conversations(count, polite, users=8, **extra):
        return [
            talk(
                f"{'Hello! ' if polite else ''}I want {words[n % 5]} {n}",
                "Sure.",
                f"{'Thank you so much! And ' if polite else ''}what about {words[(n + 2) % 5]}?",
                "Yes.",
                user=f"u{n % users}",
                id=f"{polite}-{n}",
                **extra,
            )
            for n in range(count)
        ]

    return conversations


@pytest.fixture
def two_sides(side):
    return side(24, True), side(24, False)


@pytest.fixture(scope="session")
def open_people(open_data):
    """The people of the second study."""
    return load(open_data / "recllmsim/human_exp_V2").conversations
