"""The request header with the id of the conversation, for routers that keep one on one server."""

import re
from contextvars import ContextVar
from urllib.parse import quote

SPEAKING: ContextVar[str] = ContextVar("duologue_conversation", default="")
"""Id of the conversation whose step is running."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OF_HTTP = frozenset(
    "accept accept-charset accept-encoding connection content-encoding content-length content-type cookie date expect "
    "forwarded host keep-alive origin referer set-cookie te trailer transfer-encoding upgrade user-agent via".split()
)
_OF_CREDENTIALS = ("auth", "key", "token", "secret", "password", "credential", "organization", "project")
_PLAIN = "!#$&'()*+,/:;=?@[]^`{|}"
"""Signs that a header may contain besides letters and digits. A percent sign is encoded, so that ids stay different."""


def checked(name: str) -> str:
    """The name of a header that may carry the id of a conversation; ValueError if it may not."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:40]!r} is not a header's name: write one such as X-Session-Id")
    lower = name.lower()
    if lower in _OF_HTTP or lower.startswith(("proxy-", "sec-", "x-stainless-")):
        raise ValueError(f"the header {name} has another meaning: choose one such as X-Session-Id")
    if word := next((word for word in _OF_CREDENTIALS if word in lower), None):
        raise ValueError(f"the header {name} may carry credentials ({word}): choose one such as X-Session-Id")
    return name


def header_of_conversation(name: str | None) -> dict[str, str]:
    """The header with the id of the conversation that is under way; none outside of conversations."""
    conversation = SPEAKING.get()
    return {name: quote(conversation, safe=_PLAIN)} if name and conversation else {}
