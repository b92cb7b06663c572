"""Images and other parts of messages on a page.

An image whose content is in the record is drawn; every other part is a line of text.

Only PNG, JPEG, GIF and WebP are drawn, as their first bytes tell and not as their record says: never SVG, never HTML.
A page asks nothing of a network: what has an address is a link.
"""

import base64
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ..data.attachments import bytes_of, raster_type, reference
from ..data.records import Attempt, Conversation, Message, Part, ToolCall
from .pages import render

MOST_SHOWN = 1024 * 1024
"""Most bytes of an image that a page holds."""
MOST_TOGETHER = 4 * 1024 * 1024
"""Most bytes of all images of one conversation; further ones are named."""
UNFOLDED = 128 * 1024
"""Most bytes of an image that is shown at once; a larger one is folded."""
AT_ONCE = 3
"""Most images of one message that are shown at once; further ones are folded."""


@dataclass
class Gallery:
    """The images of one conversation, up to a number of bytes in total."""

    left: int = MOST_TOGETHER

    def html(self, parts: Sequence[Part]) -> Markup:
        """The parts of a message, a draft or a tool's result; nothing for none."""
        if not parts:
            return Markup()
        shown: list[tuple[str, str, str, bool]] = []
        drawn = 0
        for part in parts:
            content = image_of(part)
            if content is not None and len(content) <= self.left:
                self.left -= len(content)
                drawn += 1
                folded = len(content) > UNFOLDED or drawn > AT_ONCE
                shown.append((reference(part), _source(content), "", folded))
            else:
                shown.append((reference(part), "", _link(part), False))
        words = [part.text for part in parts if part.text]
        return Markup(render("parts.html", shown=shown, words=words))


def image_of(part: Part) -> bytes | None:
    """The bytes of an image that a page draws; None for any other part."""
    content = bytes_of(part, MOST_SHOWN) if part.type == "image" else None
    return content if content is not None and raster_type(content) else None


def has_images(conversation: Conversation) -> bool:
    """Whether the conversation's page draws an image."""
    return any(image_of(part) is not None for part in _parts(conversation))


def with_images(conversation: Conversation, root: Path | None) -> Conversation:
    """The conversation with the small images that lie in a folder in place of their paths.

    A path that leads out of the folder, also by a link, is not followed; a file that is not an image is left as it is.
    """
    if root is None or not any(part.type == "image" and part.url and not part.inline for part in _parts(conversation)):
        return conversation
    root = root.resolve()

    def loaded(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        return tuple(_loaded(part, root) for part in parts)

    def of_call(call: ToolCall) -> ToolCall:
        return call.model_copy(update={"parts": loaded(call.parts)}) if call.parts else call

    def of_attempt(attempt: Attempt) -> Attempt:
        calls = tuple(map(of_call, attempt.tool_calls))
        return attempt.model_copy(update={"parts": loaded(attempt.parts), "tool_calls": calls})

    def of_message(message: Message) -> Message:
        drafts = tuple(map(of_attempt, message.attempts))
        return message.model_copy(update={"parts": loaded(message.parts), "attempts": drafts})

    return conversation.model_copy(update={"messages": tuple(map(of_message, conversation.messages))})


def _loaded(part: Part, root: Path) -> Part:
    """The part with its file's content, if that is a small image in the folder."""
    if part.type != "image" or part.url is None or ":" in part.url or part.url.startswith(("/", "\\")):
        return part
    try:
        path = (root / part.url).resolve()
        about = path.stat()
        if not path.is_relative_to(root) or not stat.S_ISREG(about.st_mode) or about.st_size > MOST_SHOWN:
            return part
        content = path.read_bytes()
    except (OSError, ValueError, RuntimeError):  # no such file, or a name that the system does not allow
        return part
    if raster_type(content) is None:
        return part
    return part.model_copy(update={"url": _source(content), "name": part.name or part.url})


def _parts(conversation: Conversation) -> Iterator[Part]:
    """Every part of the messages, drafts and tools' results."""
    for message in conversation.messages:
        yield from message.parts
    for attempt in conversation.attempts():
        yield from attempt.parts
        for call in attempt.tool_calls:
            yield from call.parts


def _source(content: bytes) -> str:
    return f"data:{raster_type(content)};base64,{base64.b64encode(content).decode('ascii')}"


def _link(part: Part) -> str:
    """The address of a part that a reader may open; empty if it has none on the web."""
    url = part.url or ""
    return url if url.lower().startswith(("https://", "http://")) else ""
