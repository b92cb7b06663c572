"""What is said of a file that is not read."""

from typing import Any

from ..records import is_object

UNKNOWN = "is not in a known format"
"""What the error of a file without a known form says."""
MOST_KEYS = 6
"""Most keys of a file that a refusal names."""
LINE = '{"conversation_id": "1", "role": "user", "content": "Hello"}'
"""The smallest line of a log that is read."""


def unknown(first: Any) -> str:
    """What is said of a file that no form fits, given its first value."""
    role = first.get("role") if is_object(first) else None
    if isinstance(role, str) and "content" in first:
        return f"the form fits, but not the role {role!r}: write user or assistant, as in {LINE} (docs/start/log_formats.md)"
    keys = [" ".join(str(key).split())[:40] for key in first] if is_object(first) else []
    more = ", ..." if len(keys) > MOST_KEYS else ""
    begins = f" (it begins with {', '.join(keys[:MOST_KEYS])}{more})" if keys else ""
    return (
        f"{UNKNOWN}{begins}; the smallest line that is read is {LINE} (docs/start/log_formats.md); "
        "`duologue check --form` lists what was looked for, --log-format MODULE:NAME reads a form of your own"
    )
