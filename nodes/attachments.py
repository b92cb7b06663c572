"""Parts of messages that are not text, between chat models and the state: read from replies, and sent on.

A speaker can get an image by its address. Words stand in the place of anything else, and of a role's own parts:
`[image: sky.png]`.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from ..data.attachments import parts_of, stand_in
from ..data.records import Part


def parts_in(message: BaseMessage) -> list[dict[str, Any]]:
    """The parts of a reply, each the plain form of a `data.Part`."""
    if isinstance(message.content, str):
        return []
    blocks: list[Any] = [
        block.get("value") if block["type"] == "non_standard" else block for block in message.content_blocks
    ]
    return [part.plain() for part in parts_of(blocks)]


def why_empty(draft: Mapping[str, Any]) -> str | None:
    """The reason to reject a draft without text and media: `empty` or `only_tool_calls`; else None."""
    has_media = any(part.get("type") != "other" for part in draft.get("parts") or ())
    if draft["text"].strip() or has_media:
        return None
    return "only_tool_calls" if draft.get("tool_calls") else "empty"


def with_stand_ins(message: Mapping[str, Any]) -> str:
    """A message's text, with words in place of its parts."""
    stand_ins = [stand_in(part) for part in _parts(message)]
    return "\n".join(filter(None, [message["text"], *stand_ins]))


def sendable(message: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The parts of a message as standard content blocks of LangChain, and the words for those that cannot be sent."""
    blocks = [(part, _standard_block(part)) for part in _parts(message)]
    return [block for _, block in blocks if block], [stand_in(part) for part, block in blocks if not block]


def _standard_block(part: Part) -> dict[str, Any] | None:
    if part.type != "image" or not (part.url or "").lower().startswith(("http://", "https://")):
        return None
    return {"type": "image", "url": part.url} | ({"mime_type": part.mime_type} if part.mime_type else {})


def _parts(message: Mapping[str, Any]) -> list[Part]:
    return [Part.model_validate(part) for part in message.get("parts") or ()]
