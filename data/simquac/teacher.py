"""Teacher topics, SimQuAC's `teacher_sim_topics.txt`: people's questions with the answers of QuAC and of a model.

A topic begins with `<Topic: --->` and four lines (title, background, header, section). A question begins with
`<QS:--->`, followed by the question, `QUAC: ...`, `GPT4: ...` and a line for each further span.
"""

import re
from pathlib import Path

from ...errors import DataError, at
from ..files.json_files import read_text
from ..grounding import ground
from ..identity import named
from ..records import Conversation, Message
from .topics import Topic

START = "<Topic:"
"""First characters of a file of teacher topics."""

_TOPIC = re.compile(r"^<Topic:[^>\n]*>[ \t]*\n", re.MULTILINE)
_QUESTION = re.compile(r"^<QS:[^>\n]*>[ \t]*\n", re.MULTILINE)


def is_teacher(text: str) -> bool:
    """Whether the text is a file of teacher topics."""
    return text.lstrip().startswith(START)


def read(path: str | Path) -> list[Conversation]:
    """One conversation for each topic: people's questions, and the model's answers with their spans.

    QuAC's own answer is the answer's label `quac`; an empty answer counts as a refusal.
    """
    text = read_text(path).replace("\r\n", "\n")
    blocks = _TOPIC.split(text)
    if len(blocks) < 2 or blocks[0].strip():
        raise DataError(f"{at(path)}: does not begin with {START!r}: this is not a file of teacher topics")
    conversations = []
    for number, block in enumerate(blocks[1:], start=1):
        head, *questions = _QUESTION.split(block)
        lines = head.rstrip("\n").split("\n")
        if len(lines) < 4:
            raise DataError(
                f"{at(path, f'topic {number}')}: has {len(lines)} lines before its first question, not 4: mend the block"
            )
        topic = Topic(title=lines[0], background=lines[1], header=lines[2], section="\n".join(lines[3:]))
        messages = [
            message
            for position, question in enumerate(questions, start=1)
            for message in _pair(question, topic.section, f"{at(path, f'topic {number}, question {position}')}")
        ]
        conversations.append(Conversation(id="", scenario=topic.scenario(), messages=tuple(messages)))
    return named(conversations)


def _pair(block: str, section: str, where: str) -> tuple[Message, Message]:
    lines = block.rstrip("\n").split("\n")
    if len(lines) < 3 or not lines[1].startswith("QUAC:") or not lines[2].startswith("GPT4:"):
        raise DataError(f"{where}: needs a question, then 'QUAC: ...' and 'GPT4: ...': mend the block")
    answer = "\n".join([lines[2].removeprefix("GPT4:").strip(), *lines[3:]]).strip()
    grounding = ground(answer, section)
    return (
        Message(role="user", text=lines[0]),
        Message(
            role="assistant",
            text=answer,
            spans=grounding.spans,
            labels={"quac": lines[1].removeprefix("QUAC:").strip()},
        ),
    )
