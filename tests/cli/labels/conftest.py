"""Conversations to label, and answers of two people."""

import pytest

from duologue import data
from duologue.data import Conversation, Message
from duologue.data.labels.answers import Item
from duologue.runs.labels.answers import AnswerFiles
from tests.cli.labels.labelling import PAGE, VALUE


@pytest.fixture
def source(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tone.md").write_text(PAGE)
    messages = (Message(role="user", text="<b>hi</b>"), Message(role="assistant", text="hello"))
    conversations = [Conversation(id=f"{n}abc", scenario={"kind": "x"}, messages=messages) for n in range(2)]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    return "talks.jsonl", "--labels", "tone", "--labels-dir", "pages"


@pytest.fixture
def labelled(source):
    for person in ("ann", "ben"):
        with AnswerFiles("answers", person) as answers:
            for number in range(2):
                item = Item(label="tone", conversation=f"{number}abc", message=0)
                answers.put(item.answered(VALUE, person))
    return source
