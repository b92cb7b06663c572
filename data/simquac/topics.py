"""Topics of teacher-student conversations: a section of a document, its title, header and background.

They stand in JSON lines, or in the text files of the published script: blocks of four lines (title, background, header,
section) with `<Topic: --->` before or between them. In `teacher_sim_topics.txt` people's questions follow: each begins
with `<QS:--->`, then the question, `QUAC: ...`, `GPT4: ...` and a line for each further span.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from ...errors import DataError, at, first_invalid
from ..files.json import read_lines, read_text
from ..formats.source import Contents, Source
from ..grounding import ground
from ..identity import named
from ..records import Conversation, Json, Label, Message, Record

KIND = "simquac"
"""`kind` of a scenario that is a topic."""

ENDING = " CANNOTANSWER"
"""The end of every context in the data set's files."""

FIELDS = ("title", "background", "header", "section")

_TOPIC = re.compile(r"^<Topic:[^>\n]*>[ \t]*\n?", re.MULTILINE)
_QUESTION = re.compile(r"^<QS:[^>\n]*>[ \t]*\n", re.MULTILINE)

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


def checked(topics: Iterable[tuple[str, Topic]], path: str | Path) -> list[Topic]:
    """The topics, if all of them can be simulated; else DataError.

    Each comes with its position in the file.
    """
    valid = []
    for where, topic in topics:
        if problem := problem_of(topic):
            raise DataError(f"{at(path, where)}: {problem}")
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


def is_topic_file(source: Source) -> bool:
    """Whether a file is a text of the published script's form."""
    begin = source.begin.decode("utf-8-sig", "replace").strip().rstrip("\ufffd")  # it may be cut within a character
    if begin[:1] in ("{", "[", "") or {"\0", "\ufffd"} & set(begin):
        return False
    return _TOPIC.search(begin) is not None or _TOPIC.search(source.text) is not None


def read_topic_file(path: str | Path) -> list[Conversation]:
    """One conversation for each topic of the published script's files; without a message if it has no questions.

    The answers are the model's, with their spans. QuAC's own answer is the answer's label `quac`; an empty answer counts
    as a refusal.
    """
    blocks = [block for block in _TOPIC.split(read_text(path).replace("\r\n", "\n")) if block.strip()]
    if not blocks:
        raise DataError(f"{at(path)}: holds no topic: write <Topic: ---> and four lines for each")
    conversations = []
    for number, block in enumerate(blocks, start=1):
        head, *questions = _QUESTION.split(block)
        lines = head.rstrip("\n").split("\n")
        if len(lines) < 4:
            raise DataError(
                f"{at(path, f'topic {number}')}: has {len(lines)} lines before its first question, not 4: mend the block"
            )
        section = "\n".join(lines[3:]).removesuffix(ENDING)
        topic = Topic(title=lines[0], background=lines[1], header=lines[2], section=section)
        messages = [
            message
            for position, question in enumerate(questions, start=1)
            for message in _pair(question, section, f"{at(path, f'topic {number}, question {position}')}")
        ]
        conversations.append(Conversation(id="", scenario=topic.scenario(), messages=tuple(messages)))
    return named(conversations)


def _pair(block: str, section: str, where: str) -> tuple[Message, Message]:
    lines = block.rstrip("\n").split("\n")
    if len(lines) < 3 or not lines[1].startswith("QUAC:") or not lines[2].startswith("GPT4:"):
        raise DataError(f"{where}: needs a question, then 'QUAC: ...' and 'GPT4: ...': mend the block")
    answer = "\n".join([lines[2].removeprefix("GPT4:").strip(), *lines[3:]]).strip()
    labels = {"quac": Label(value=lines[1].removeprefix("QUAC:").strip())}
    spans = ground(answer, section).spans
    return Message(role="user", text=lines[0]), Message(role="assistant", text=answer, spans=spans, labels=labels)
