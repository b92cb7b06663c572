"""What a teacher-student conversation is about: a section of a document, and what the student knows."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from ...errors import DataError, at
from ..formats.detection import Contents, Source
from ..formats.jsonfiles import read_lines
from ..records import Conversation, Json, Record

KIND = "simquac"
"""`kind` of a scenario that is a topic."""

MAX_BYTES = 1_000_000
"""Most bytes of a topic's text in UTF-8, unless another bound is asked for."""

ENDING = " CANNOTANSWER"
"""What stands behind every context of the data set."""

FIELDS = ("title", "background", "header", "section")


class Topic(Record):
    """Title t, background b, section header h and section s ("Let the LLMs Talk", section 2.1)."""

    title: str
    background: str = ""
    header: str
    section: str
    """The text that only the teacher sees, without the data set's end marker."""
    id: str | None = None
    """The source's own name for it: a label of the record, and nothing to the simulation."""
    extra: Json = Field(default_factory=dict)
    """Further keys of the source."""

    def scenario(self) -> dict[str, Any]:
        """The topic as a scenario's plain JSON: what is simulated, and nothing else of the source."""
        return {"kind": KIND} | {field: getattr(self, field) for field in FIELDS}

    @classmethod
    def of(cls, source: "Conversation | Mapping[str, Any]") -> Self:
        """The topic of a conversation, or of a scenario; ValueError if it is about something else."""
        scenario = source.scenario if isinstance(source, Conversation) else source
        if scenario.get("kind") != KIND:
            raise DataError(f"the scenario is of kind {scenario.get('kind')!r}, a topic is {KIND!r}")
        missing = [field for field in FIELDS if not isinstance(scenario.get(field), str)]
        if missing:
            raise DataError(f"the scenario of kind {KIND!r} has no text {missing[0]!r}: is this a record?")
        return cls.model_validate({field: scenario[field] for field in FIELDS})


def checked(topics: Iterable[tuple[str, Topic]], path: str | Path, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """The topics, each with the place where it stands, if all can be simulated; else DataError."""
    good = []
    for place, topic in topics:
        for field in ("title", "header", "section"):
            if not getattr(topic, field).strip():
                raise DataError(f"{at(path, place)}: the {field} is empty: fill it or leave the topic out")
        try:
            size = sum(len(getattr(topic, field).encode("utf-8")) for field in FIELDS)
        except UnicodeEncodeError:
            raise DataError(f"{at(path, place)}: holds half of a surrogate pair: mend the text") from None
        if size > max_bytes:
            raise DataError(
                f"{at(path, place)}: has {size:,} bytes, the bound is {max_bytes:,}: shorten the section or raise the bound"
            )
        good.append(topic)
    if not good:
        raise DataError(f"{at(path)}: holds no topic: give a file with at least one")
    return good


def read_topic_lines(path: str | Path) -> list[tuple[str, Topic]]:
    """Topics from JSON lines with `title, background, header, section` and, if wanted, `id`."""
    topics = []
    for number, value in read_lines(path):
        place = f"line {number}"
        if not isinstance(value, dict):
            raise DataError(f"{at(path, place)}: is not an object: write one topic a line")
        known = {key: value[key] for key in (*FIELDS, "id") if key in value}
        if isinstance(known.get("id"), int):
            known["id"] = str(known["id"])
        extra = {key: value[key] for key in value if key not in known}
        if "background" not in known:
            raise DataError(
                f"{at(path, place)}: 'background' is missing: a topic has {', '.join(FIELDS)} (it may be empty)"
            )
        if isinstance(known.get("section"), str):
            known["section"] = known["section"].removesuffix(ENDING)
        try:
            topics.append((place, Topic(**known, extra=extra)))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            what = "is missing" if first["type"] == "missing" else "must be a text"
            raise DataError(f"{at(path, place)}: {key!r} {what}: a topic has {', '.join(FIELDS)}") from None
    return topics


def are_topics(source: Source) -> bool:
    """Whether a file holds topics as JSON lines, and no conversation about them."""
    spoken = ("messages", "conversations", "history", "data")
    return any(map(source.has, ("section", "header", "title"))) and not any(map(source.has, spoken))


def no_conversations(path: Path) -> Contents:
    """DataError: topics can be simulated, and nothing was said yet."""
    raise DataError(f"{at(path)}: holds topics and no conversation: simulate them first")
