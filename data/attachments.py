"""Parts of messages that are not text: read from every common form of content blocks, bounded, and written again.

The forms are those of OpenAI (chat completions and responses), Anthropic, Gemini, LangChain and Hugging Face.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .records import Part, PartType, as_object, is_object

MOST_INLINE = 256 * 1024
"""Most bytes of a part's content that a record of a simulation holds; of a larger one it holds digest and size."""

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
_DATA = "base64 data file_data result".split()
_NAMES = "name filename title file_name file_filename".split()
_MIMES = "mime_type media_type mimeType mediaType".split()
_FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_LONGEST = 200
"""Most characters of a name in words that stand for a part."""


def part_of(block: Any) -> Part | None:
    """The part of a content block; None for a block of text, reasoning or tools, and for other values."""
    if not is_object(block):
        return None
    kind = block.get("type")
    if kind in ("uri", "blob"):  # of OpenTelemetry
        key, value = ("url", block.get("uri")) if kind == "uri" else ("base64", block.get("content"))
        kind, block = str(block.get("modality") or "media"), {**block, key: value, "uri": None, "content": None}
    if not isinstance(kind, str):
        kind = "media" if any(is_object(block.get(key)) for key in _OF_GEMINI) else "other"
    if kind in _TEXTUAL or not _OF_TOOLS.isdisjoint(block) or (kind == "other" and block.keys() == {"text"}):
        return None
    fields = _flat(block)
    mime = _first(fields, _MIMES) or _FORMATS.get(str(fields.get("format")))
    part_type = _type_of(mime) if kind == "media" else _TYPES.get(kind)
    if part_type is None:
        if (words := _first(block, (kind, "text"))) is not None:  # such as those of a block of the type `refusal`
            return Part(type="other", name=kind, text=words)
        content = json.dumps(block, sort_keys=True, default=str).encode("utf-8", "replace")
        return Part(type="other", name=kind, **_digest(content))
    url, text = _first(fields, _URLS), _first(fields, ("text", "transcript"))
    if fields.get("source_type") == "text" or as_object(block.get("source")).get("type") == "text":
        text = text or _first(fields, ("data",))
    elif url is None and (data := _first(fields, _DATA)) is not None:
        url = data if data[:5].lower() == "data:" else _data_url(data, mime)
    if url is not None and url[:5].lower() == "data:":
        mime = mime or url[5:].partition(",")[0].partition(";")[0].lower() or None
    size = fields.get("size")
    return Part(
        type=part_type,
        url=url,
        file_id=_first(fields, ("file_id", "id") if fields.get("source_type") == "id" else ("file_id",)),
        mime_type=None if mime == "application/octet-stream" and url else mime,
        name=_first(fields, _NAMES),
        text=text,
        digest=_first(fields, ("digest",)),
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
    )


def parts_of(content: Any) -> tuple[Part, ...]:
    """The parts of a content, in order; none of a plain text."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        return ()
    return tuple(part for block in content if (part := part_of(block)) is not None)


def block_of(part: Part) -> dict[str, Any]:
    """The part as a content block in OpenAI's form, with further keys where that cannot hold it; `part_of` restores it."""
    block: dict[str, Any] = {"type": part.type}
    data = part.url.partition(",")[2] if part.inline and part.url else ""
    sound = {mime: name for name, mime in _FORMATS.items()}.get(part.mime_type or "")
    if part.type == "image" and part.url is not None:
        block = {"type": "image_url", "image_url": {"url": part.url}}
    elif part.type == "audio" and data and sound:
        block = {"type": "input_audio", "input_audio": {"data": data, "format": sound}}
    elif part.type == "file" and (part.inline or part.file_id):
        fields = {"filename": part.name, "file_data": part.url if part.inline else None, "file_id": part.file_id}
        block = {"type": "file", "file": {key: value for key, value in fields.items() if value is not None}}
    read = part_of(block)
    had = read.plain() if read is not None else {}
    return block | {key: value for key, value in part.plain().items() if key != "type" and had.get(key) != value}


def content_of(text: str, parts: Sequence[Part]) -> Any:
    """The content of a message in OpenAI's form: its text, or a list of the text and each part."""
    if not parts:
        return text
    return [*([{"type": "text", "text": text}] if text else []), *map(block_of, parts)]


def bytes_of(part: Part, most: int | None = None) -> bytes | None:
    """The inline content; None if it is missing, not base64, or larger than `most` bytes."""
    if not part.inline or part.url is None:
        return None
    head, _, data = part.url.partition(",")
    if not head.lower().endswith(";base64") or (most is not None and len(data) // 4 * 3 > most + 3):
        return None
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if most is None or len(content) <= most else None


def raster_type(content: bytes) -> str | None:
    """The MIME type of a PNG, JPEG, GIF or WebP image, by its first bytes; None for anything else."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC.items() if content.startswith(magic)), None)


def bounded(turn: Mapping[str, Any], most: int = MOST_INLINE) -> dict[str, Any]:
    """A plain message, draft or tool call with digest and size in place of the content of larger parts."""
    new = dict(turn)
    if turn.get("parts"):
        new["parts"] = [_bounded(Part.model_validate(part), most).plain() for part in turn["parts"]]
    for key in ("attempts", "tool_calls"):
        if turn.get(key):
            new[key] = [bounded(inner, most) for inner in turn[key]]
    return new


def _bounded(part: Part, most: int) -> Part:
    if part.text is not None and len(words := part.text.encode("utf-8", "replace")) > most:
        part = part.model_copy(update={"text": None, **_digest(words)})
    if not part.inline or part.url is None or len(part.url) <= most:
        return part
    content = bytes_of(part)
    if content is None:  # no base64: the URL as it is written
        content = part.url.encode("utf-8", "replace")
    return part if len(content) <= most else part.model_copy(update={"url": None, **_digest(content)})


def _digest(content: bytes) -> dict[str, Any]:
    return {"digest": hashlib.sha256(content).hexdigest(), "size": len(content)}


def reference(part: Part) -> str:
    """The part in a line of text, inline content by its size: `image: sky.png (image/png)`."""
    size = part.size if part.size is not None else len(bytes_of(part) or b"") or None
    details = [part.mime_type, f"{size:,} bytes" if size else None, "content not kept" if part.left_out else None]
    shown = ", ".join(filter(None, details))
    return " ".join(f"{_called(part)}{f' ({shown})' if shown else ''}".split())


def stand_in(part: Part) -> str:
    """The words that stand for a part where only text can be sent: `[image: sky.png]`."""
    return f"[{' '.join(_called(part).split())[: len(part.type) + 2 + _LONGEST]}]"


def _called(part: Part) -> str:
    name = part.name or (None if part.inline else part.url) or part.file_id
    return f"{part.type}: {name}" if name else part.type


def _flat(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """The block with the keys of the object that holds its content; its own keys go first."""
    fields: dict[str, Any] = {}
    for holder in _HOLDERS:
        if is_object(inner := block.get(holder)):
            fields |= inner
    if is_object(extras := block.get("extras")):
        fields |= {key: value for key, value in extras.items() if key in _NAMES}
    fields.pop("type", None)
    return {**fields, **{key: value for key, value in block.items() if not is_object(value)}} if fields else block


def _first(fields: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    text = next((value for key in keys if isinstance(value := fields.get(key), str) and value), None)
    # Half a surrogate pair cannot be written to a file.
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def _data_url(data: str, mime: str | None) -> str:
    if mime is None:
        try:
            mime = raster_type(base64.b64decode(data[:64]))
        except (binascii.Error, ValueError):
            mime = None
    return f"data:{mime or 'application/octet-stream'};base64,{data}"


def _type_of(mime: str | None) -> PartType:
    family = _TYPES.get((mime or "").partition("/")[0])
    return family if family in ("image", "audio", "video") else "file"
