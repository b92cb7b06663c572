"""Short conversations for tests."""

from hypothesis import strategies as st

from duologue.data import Attempt, Conversation, Message

roles = st.sampled_from(["user", "assistant"])


def message_of(role: str, text: str = "", *drafts: Attempt) -> Message:
    return Message(role=role, text=text, attempts=drafts)


def talk(*roles: str) -> Conversation:
    return Conversation(id="a", scenario={}, messages=tuple(message_of(role, str(n)) for n, role in enumerate(roles)))
