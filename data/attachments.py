"""Parts of messages that are not text: a note of each, read from every common form of content blocks, and written again.

The forms are those of OpenAI (chat completions and responses), Anthropic, Gemini, LangChain and Hugging Face. Content
itself, as base64 or a data URL, is not kept: of it the note has the type and the size.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .records import Part, PartType, as_object, is_object

_TYPES: Mapping[str, PartType] = {
    **dict.fromkeys("image image_url input_image output_image image_file image_generation_call".split(), "image"),
    **dict.fromkeys("audio audio_url input_audio output_audio".split(), "audio"),
    **dict.fromkeys("video video_url input_video".split(), "video"),
    **dict.fromkeys("file input_file file_url document text-plain".split(), "file"),
    "other": "other",
}
_TEXTUAL = frozenset(
    "text input_text output_text reasoning thinking redacted_thinking tool_use tool_call tool_call_chunk mcp_tool_use "
    "mcp_tool_result invalid_tool_call function_call tool_result server_tool_call server_tool_call_chunk "
    "server_tool_result server_tool_use".split()
)
"""Blocks that are text, reasoning, or tool calls and their results, which are read elsewhere."""
_OF_TOOLS = frozenset("toolUse toolResult reasoningContent tool_call tool_call_result".split())
"""Keys of such a block without a type."""

_OF_GEMINI = ("inline_data", "inlineData", "file_data", "fileData")
_HOLDERS = (*"source image_url input_audio file audio image video video_url audio_url image_file".split(), *_OF_GEMINI)
_URLS = "url file_url file_uri fileUri image_url audio_url video_url image audio video path".split()
_DATA = "base64 data file_data result content".split()
_NAMES = "name filename title file_name file_filename file_id".split()
_MIMES = "mime_type media_type mimeType mediaType".split()
_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_LONGEST = 200
"""Most characters of a name in words that stand for a part."""


def part_of(block: Any) -> Part | None:
    """The note of a content block; None for a block of text, reasoning or tools, and for other values."""
    if not is_object(block):
        return None
    kind = block.get("type")
    if kind in ("uri", "blob"):  # of OpenTelemetry
        kind, block = str(block.get("modality") or "media"), {**block, "url": block.get("uri")}
    if not isinstance(kind, str):
        kind = "media" if any(is_object(block.get(key)) for key in _OF_GEMINI) else "other"
    if kind in _TEXTUAL or not _OF_TOOLS.isdisjoint(block) or (kind == "other" and block.keys() == {"text"}):
        return None
    fields = _flat(block)
    mime = _first(fields, _MIMES) or _FORMATS.get(str(fields.get("format")))
    part_type = _type_of(mime) if kind == "media" else _TYPES.get(kind)
    if part_type is None:
        words = _first(block, (kind, "text"))  # such as those of a block of the type `refusal`
        size = None if words is not None else len(json.dumps(block, sort_keys=True, default=str))
        return Part(type="other", name=kind, text=words, size=size)
    url, text, size = _first(fields, _URLS), _first(fields, ("text", "transcript")), fields.get("size")
    data = _first(fields, _DATA) if url is None else url if url[:5].lower() == "data:" else None
    if data is not None and data[:5].lower() == "data:":
        mime, url = mime or data[5:].partition(",")[0].partition(";")[0].lower() or None, None
    if data is not None and "text" in (fields.get("source_type"), as_object(block.get("source")).get("type")):
        text = text or data
    elif data is not None:  # base64, perhaps in a data URL
        size = len(data.rpartition(",")[2].rstrip("=")) * 3 // 4
    return Part(
        type=part_type,
        name=_first(fields, _NAMES),
        mime_type=mime,
        url=url,
        text=text,
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
    )


def parts_of(content: Any) -> tuple[Part, ...]:
    """The parts of a content, in order; none of a plain text."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return ()
    return tuple(part for block in content if (part := part_of(block)) is not None)


def content_of(text: str, parts: Sequence[Part]) -> Any:
    """The content of a message in OpenAI's form: its text, or a list of the text and each part."""
    if not parts:
        return text
    return [*([{"type": "text", "text": text}] if text else []), *map(_block_of, parts)]


def _block_of(part: Part) -> dict[str, Any]:
    """The part as a content block, from which `part_of` gives it again."""
    fields = part.plain()
    if part.type != "image" or part.url is None:
        return fields
    return {"type": "image_url", "image_url": {"url": fields.pop("url")}} | {
        key: fields[key] for key in fields if key != "type"
    }


def reference(part: Part) -> str:
    """The part in a line of text: `image: sky.png (image/png, 28 bytes)`."""
    shown = ", ".join(filter(None, (part.mime_type, f"{part.size:,} bytes" if part.size else None)))
    return " ".join(f"{_called(part)}{f' ({shown})' if shown else ''}".split())


def stand_in(part: Part) -> str:
    """The words that stand for a part where only text can be sent: `[image: sky.png]`."""
    return f"[{' '.join(_called(part).split())[: len(part.type) + 2 + _LONGEST]}]"


def _called(part: Part) -> str:
    name = part.name or part.url
    return f"{part.type}: {name}" if name else part.type


def _flat(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """The block with the keys of the object that holds its content; its own keys go first."""
    fields: dict[str, Any] = {}
    for holder in (*_HOLDERS, "extras"):
        if is_object(inner := block.get(holder)):
            fields |= inner
    return {**fields, **{key: value for key, value in block.items() if not is_object(value)}} if fields else block


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    text = next((value for key in keys if isinstance(value := fields.get(key), str) and value), None)
    # Half a surrogate pair cannot be written to a file.
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def _type_of(mime: str | None) -> PartType:
    family = _TYPES.get((mime or "").partition("/")[0])
    return family if family in ("image", "audio", "video") else "file"
