"""Topics of teacher-student conversations: a section of a document, its title, header and background."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from ...errors import DataError, at, first_invalid
from ..files.json_files import read_lines
from ..formats.detection import Contents, Source
from ..records import Conversation, Json, Record

KIND = "simquac"
"""`kind` of a scenario that is a topic."""

MAX_BYTES = 1_000_000
"""Default limit for a topic's text, in bytes of UTF-8."""

ENDING = " CANNOTANSWER"
"""The end of every context in the data set's files."""

FIELDS = ("title", "background", "header", "section")

_DIALOGUE_KEYS = "messages mapping conversations conversation turns history data role request response inputs".split()
"""Keys of a line that holds messages."""


class Topic(Record):
    """Title t, background b, section header h and section s ("Let the LLMs Talk", section 2.1)."""

    title: str
    background: str = ""
    header: str
    section: str
    """The text that only the teacher sees, without the data set's end marker."""
    id: str | None = None
    """The source's id of the topic. It becomes a label of the record and does not affect the simulation."""
    extra: Json = Field(default_factory=dict)
    """Further keys of the source."""

    def scenario(self) -> dict[str, Any]:
        """The topic as a scenario's plain JSON, without the source's id and further keys."""
        return {"kind": KIND} | {field: getattr(self, field) for field in FIELDS}

    @classmethod
    def of(cls, source: "Conversation | Mapping[str, Any]") -> Self:
        """The topic of a conversation or a scenario; DataError if it is not a topic."""
        scenario = source.scenario if isinstance(source, Conversation) else source
        if scenario.get("kind") != KIND:
            raise DataError(f"the scenario is of kind {scenario.get('kind')!r}, a topic is {KIND!r}")
        missing = [field for field in FIELDS if not isinstance(scenario.get(field), str)]
        if missing:
            raise DataError(f"the scenario of kind {KIND!r} has no text {missing[0]!r}: is this a record?")
        return cls.model_validate({field: scenario[field] for field in FIELDS})


def problem_of(topic: Topic) -> str:
    """Why a topic cannot be simulated and what to do; empty if it can."""
    for field in ("title", "header", "section"):
        if not getattr(topic, field).strip():
            return f"the {field} is empty: fill it or leave the topic out"
    try:
        for field in FIELDS:
            getattr(topic, field).encode("utf-8")
    except UnicodeEncodeError:
        return "holds half of a surrogate pair: mend the text"
    return ""


def checked(topics: Iterable[tuple[str, Topic]], path: str | Path, max_bytes: int = MAX_BYTES) -> list[Topic]:
    """The topics, if all of them can be simulated; else DataError.

    Each comes with its position in the file.
    """
    valid = []
    for where, topic in topics:
        if problem := problem_of(topic):
            raise DataError(f"{at(path, where)}: {problem}")
        size = sum(len(getattr(topic, field).encode("utf-8")) for field in FIELDS)
        if size > max_bytes:
            raise DataError(
                f"{at(path, where)}: has {size:,} bytes, the bound is {max_bytes:,}: shorten the section or raise the bound"
            )
        valid.append(topic)
    if not valid:
        raise DataError(f"{at(path)}: holds no topic: give a file with at least one")
    return valid


def read_topic_lines(path: str | Path) -> list[tuple[str, Topic]]:
    """Topics from JSON lines with `title`, `background`, `header`, `section` and optionally `id`."""
    topics = []
    for number, value in read_lines(path):
        where = f"line {number}"
        if not isinstance(value, dict):
            raise DataError(f"{at(path, where)}: is not an object: write one topic a line")
        fields = {key: value[key] for key in (*FIELDS, "id") if key in value}
        if isinstance(fields.get("id"), int):
            fields["id"] = str(fields["id"])
        extra = {key: value[key] for key in value if key not in fields}
        if "background" not in fields:
            raise DataError(
                f"{at(path, where)}: 'background' is missing: a topic has {', '.join(FIELDS)} (it may be empty)"
            )
        if isinstance(fields.get("section"), str):
            fields["section"] = fields["section"].removesuffix(ENDING)
        try:
            topics.append((where, Topic(**fields, extra=extra)))
        except ValidationError as error:
            first = first_invalid(error)
            problem = "is missing" if first.type == "missing" else "must be a text"
            raise DataError(f"{at(path, where)}: {first.path!r} {problem}: a topic has {', '.join(FIELDS)}") from None
    return topics


def are_topics(source: Source) -> bool:
    """Whether a file holds topics as JSON lines, without conversations."""
    return sum(map(source.has, FIELDS)) > 1 and not any(map(source.has, _DIALOGUE_KEYS))


def no_conversations(path: Path) -> Contents:
    """Raises DataError: a file of topics has no conversations."""
    raise DataError(f"{at(path)}: holds topics and no conversation: simulate them first")
