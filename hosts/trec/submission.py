"""The platform's copy of a run, which is judged, against what was sent."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...data.attempts import is_object
from ...data.files.json_files import parsed
from ...errors import DataError
from .journal import TrackStep, texts_sent

SUBMISSION = "submission.jsonl"


def problems_of(dump: str, steps: Sequence[TrackStep], run_id: str) -> Iterator[str]:
    """What is wrong with the copy, a line each: nothing in it, no JSON, another run, missing or empty messages."""
    lines = [line for line in dump.splitlines() if line.strip()]
    if not lines:
        yield "the platform's copy of the run is empty"
        return
    texts: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        try:
            value = parsed(line, SUBMISSION)
        except DataError:
            yield f"{SUBMISSION}: line {number}: is not JSON"
            continue
        if is_object(value) and str(value.get("run_id") or run_id) != run_id:
            yield f"{SUBMISSION}: line {number}: belongs to the run {value['run_id']!r}"
        texts.update(_texts(value))
    sent = Counter(texts_sent(steps))
    if missing := sum((sent - texts).values()):
        yield f"{missing} of {sum(sent.values())} messages of the user are not in the platform's copy"
    if empty := sum(not text.strip() for text in texts_sent(steps)):
        yield f"{empty} message{'s' * (empty > 1)} of the user {'have' if empty > 1 else 'has'} no text"


def _texts(value: Any) -> Iterator[str]:
    """Every value of a key `text`, at any depth."""
    if is_object(value):
        if isinstance(value.get("text"), str):
            yield str(value["text"])
        value = [item for item in value.values() if is_object(item) or isinstance(item, list)]
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
