"""Images, recordings and videos that a row lists apart, given to the messages whose text marks their places.

`images`, `videos` and `audios` beside `<image>`, `<video>` and `<audio>` in the texts, as data sets of LLaMA-Factory
and ms-swift have them. Also a single `image`, as LLaVA's has.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ..attachments import part_of
from ..records import Part, is_object

_KEYS = {"image": ("images", "image"), "video": ("videos", "video"), "audio": ("audios", "audio")}


def parts_at_marks(row: Mapping[str, Any], texts: Sequence[str]) -> tuple[list[tuple[Part, ...]], set[str]]:
    """The parts of each text, and the keys of the row that they come from.

    A list whose entries are not as many as the marks has none.
    """
    parts: list[list[Part]] = [[] for _ in texts]
    keys: set[str] = set()
    for kind, key in ((kind, key) for kind, of_kind in _KEYS.items() for key in of_kind):
        mark, listed = f"<{kind}>", row.get(key)
        listed = listed if isinstance(listed, list) else [listed] if isinstance(listed, str) and listed else []
        read = [part for entry in listed if (part := _part(kind, entry)) is not None]
        fits = len(read) == len(listed) == sum(text.count(mark) for text in texts)
        if not read or not fits or keys & {*_KEYS[kind]}:
            continue
        keys.add(key)
        left = iter(read)
        for text, own in zip(texts, parts, strict=True):
            own += [next(left) for _ in range(text.count(mark))]
    return [tuple(own) for own in parts], keys


def _part(kind: str, entry: Any) -> Part | None:
    """A path, an address or inline content; or an object of `bytes` (also in base64) and `path`, as `datasets` has."""
    if isinstance(entry, str):
        return part_of({"type": kind, "url": entry}) if entry else None
    if not is_object(entry):
        return None
    content, name = entry.get("bytes"), entry.get("path") or entry.get("url")
    if isinstance(content, bytes | str):
        block = {"type": kind, "data": content if isinstance(content, str) else base64.b64encode(content).decode()}
        return part_of(block | ({"name": name} if isinstance(name, str) else {}))
    return part_of({"type": kind, "url": name}) if content is None and isinstance(name, str) else None
