"""Parts of messages that are not text, between chat models and the state: read from replies, and sent on.

A speaker can get a standard content block of LangChain: an address, inline content, or a provider's file. Words stand
in the place of a path, of content that a record left out, and of a role's own parts: `[image: sky.png]`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, convert_to_openai_messages

from ...data.attachments import block_of, part_of, parts_of, stand_in
from ...data.records import Part, is_object

_INPUTS = {"image": "image_inputs", "audio": "audio_inputs", "video": "video_inputs", "file": "pdf_inputs"}
"""Keys of a model's profile for the types of input that it takes."""


def parts_in(message: BaseMessage) -> list[dict[str, Any]]:
    """The parts of a reply, each the plain form of a `data.Part`."""
    if isinstance(message.content, str) and "audio" not in message.additional_kwargs:
        return []
    blocks: list[Any] = [
        block.get("value") if block["type"] == "non_standard" else block for block in message.content_blocks
    ]
    read = [part.plain() for part in parts_of(blocks)]
    spoken = message.additional_kwargs.get("audio")  # OpenAI's spoken replies
    if is_object(spoken) and not any(part["type"] == "audio" for part in read):
        form = {key: spoken[key] for key in ("data", "transcript") if key in spoken}
        if (part := part_of({"type": "audio", "mime_type": "audio/wav", **form})) is not None:
            read.append(part.plain())
    return read


def why_empty(draft: Mapping[str, Any]) -> str | None:
    """The reason to reject a draft without text and media: `empty` or `only_tool_calls`; else None."""
    has_media = any(part.get("type") != "other" for part in draft.get("parts") or ())
    if draft["text"].strip() or has_media:
        return None
    return "only_tool_calls" if draft.get("tool_calls") else "empty"


def worded(message: Mapping[str, Any]) -> str:
    """A message's text, with words in place of its parts."""
    stand_ins = [stand_in(part) for part in _parts(message)]
    return "\n".join(filter(None, [message["text"], *stand_ins]))


def sendable(message: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The parts of a message as content blocks, and the words for those that cannot be sent."""
    blocks: list[dict[str, Any]] = []
    stand_ins: list[str] = []
    for part in _parts(message):
        if (block := _standard_block(part)) is None:
            stand_ins.append(stand_in(part))
        else:
            blocks.append(block)
    return blocks, stand_ins


def _standard_block(part: Part) -> dict[str, Any] | None:
    if part.type == "other":
        return None
    block: dict[str, Any] = {"type": part.type}
    head, _, data = (part.url or "").partition(",")
    if part.inline and head.lower().endswith(";base64"):
        block |= {"base64": data, "mime_type": part.mime_type or "application/octet-stream"}
    elif part.url is not None and part.url.lower().startswith(("http://", "https://", "gs://")):
        block |= {"url": part.url} | ({"mime_type": part.mime_type} if part.mime_type else {})
    elif part.file_id is not None:
        block["file_id"] = part.file_id
    else:
        return None
    if part.type == "file" and "file_id" not in block:
        block["extras"] = {"filename": part.name or "file"}  # OpenAI wants a name
    return block


def for_model(model: BaseChatModel, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with words in place of the parts that the model does not take.

    Its `profile` (LangChain's `ModelProfile`) may list the types that it takes. Without such an entry it gets images, and
    recordings and files with their content; not video, nor an address of a recording or a file.
    """
    return [_for_model(model, message) for message in messages]


def _for_model(model: BaseChatModel, message: BaseMessage) -> BaseMessage:
    if isinstance(message.content, str):
        return message
    content: list[Any] = []
    for block in message.content:
        part = part_of(block)
        content.append(block if part is None or _takes(model, part) else {"type": "text", "text": stand_in(part)})
    if all(is_object(block) and block.get("type") == "text" for block in content):
        return message.model_copy(update={"content": "\n\n".join(str(block["text"]) for block in content)})
    return message.model_copy(update={"content": content})


def _takes(model: BaseChatModel, part: Part) -> bool:
    profile: Mapping[str, Any] = model.profile or {}
    accepted = profile.get(_INPUTS.get(part.type, ""))
    if isinstance(accepted, bool):
        return accepted
    if part.type == "image":
        return part.file_id is None
    return part.type != "video" and (part.inline or (part.type == "file" and part.file_id is not None))


def openai_messages(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """The messages in OpenAI's form; a part outside this form is a block with the keys of `data.Part`."""
    converted: list[dict[str, Any]] = []
    for message in messages:
        content, is_plain = message.content, isinstance(message.content, str) or not parts_of(message.content)
        form: Any = convert_to_openai_messages(message if is_plain else message.model_copy(update={"content": ""}))
        if not is_plain:
            blocks = [block if (part := part_of(block)) is None else block_of(part) for block in content]
            form = {**form, "content": blocks}
        converted.append(dict(form))
    return converted


def _parts(message: Mapping[str, Any]) -> list[Part]:
    return [Part.model_validate(part) for part in message.get("parts") or ()]
