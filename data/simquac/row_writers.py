"""Rows as Hugging Face's `datasets` has them: of SQuAD 2 a question each, of QuAC a conversation each.

The columns are those of `squad_v2` and `quac` there; QuAC's labels of a turn (followup, yesno) are null where the data
has none. `datasets.Features.from_dict` makes the exact types of `SQUAD_V2_FEATURES` and `QUAC_FEATURES`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files.json_files import write_lines
from ..formats.unsupported import LeftOut
from ..grounding import MARKER
from ..records import Conversation, Span
from .dataset import paragraph_of
from .topics import ENDING, Topic

LABELS: Mapping[str, tuple[str, ...]] = {"followup": ("y", "n", "m"), "yesno": ("y", "n", "x")}
"""A QuAC teacher's labels of a turn: whether to ask on (yes, no, maybe), and the kind of answer (yes, no, neither)."""


def _list(feature: Mapping[str, Any]) -> dict[str, Any]:
    return {"feature": dict(feature), "_type": "List"}


_TEXT, _NUMBER = ({"dtype": kind, "_type": "Value"} for kind in ("string", "int32"))
SQUAD_V2_FEATURES: dict[str, Any] = {
    **dict.fromkeys(("id", "title", "context", "question"), _TEXT),
    "answers": {"text": _list(_TEXT), "answer_start": _list(_NUMBER)},
}
"""Columns of SQuAD 2."""
QUAC_FEATURES: dict[str, Any] = {
    **dict.fromkeys(("dialogue_id", "wikipedia_page_title", "background", "section_title", "context"), _TEXT),
    **dict.fromkeys(("turn_ids", "questions"), _list(_TEXT)),
    **{f"{name}s": _list({"names": list(names), "_type": "ClassLabel"}) for name, names in LABELS.items()},
    "answers": {"texts": _list(_list(_TEXT)), "answer_starts": _list(_list(_NUMBER))},
    "orig_answers": {"texts": _list(_TEXT), "answer_starts": _list(_NUMBER)},
}
"""Columns of QuAC. `answers` has a list of references for each question, `orig_answers` one answer."""


def write_squad_v2(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a row for each question, as JSON lines; gives a line for each thing that rows cannot hold.

    The context is the section, without CANNOTANSWER. A question has no answer where at least half of its references
    refuse, else those that do not are its answers. An id that occurs twice gets a number.
    """
    left_out, lost = LeftOut(), Counter[str]()
    write_lines(path, _squad_v2(conversations, left_out, lost))
    if lost["which questions are one conversation"] < 2:
        del lost["which questions are one conversation"]
    return _loss_lines(left_out, lost)


def write_quac(conversations: Iterable[Conversation], path: str | Path) -> list[str]:
    """Write a row for each conversation, as JSON lines; gives a line for each thing that rows cannot hold."""
    left_out, lost = LeftOut(), Counter[str]()
    write_lines(path, (_quac(conversation, lost) for conversation in _talks(conversations, left_out)))
    return _loss_lines(left_out, lost)


def _loss_lines(left_out: LeftOut, lost: Counter[str]) -> list[str]:
    left_out.begin_with(f"{what}, of {count} conversation{'s' if count > 1 else ''}" for what, count in lost.items())
    return left_out


@dataclass(frozen=True)
class _Turn:
    """A question with its answers, as the rows have them."""

    id: Any
    question: str
    labels: Mapping[str, str]
    listed: Sequence[Span]
    """The references, or the spans of one answer."""
    original: Span
    names_original: bool
    """Whether the source marks the original answer, so that the listed ones are references."""

    @property
    def references(self) -> Sequence[Span]:
        """Every answer once: the original one may not be listed."""
        return self.listed if self.original in self.listed else (self.original, *self.listed)


@dataclass(frozen=True)
class _Talk:
    """A conversation with the fields of its file's paragraph."""

    name: str
    topic: Topic
    context: str
    turns: Sequence[_Turn]


def _talks(conversations: Iterable[Conversation], left_out: LeftOut) -> Iterator[_Talk]:
    first = 1
    for conversation in conversations:
        paragraph = paragraph_of(conversation, first, left_out)
        topic, name, qas = Topic.of(conversation), paragraph.get("id"), paragraph.get("qas", [])
        first += len(qas)
        context = str(paragraph.get("context", topic.section + ENDING))
        turns = [_turn(qa, max(0, len(context) - len(MARKER))) for qa in qas]
        yield _Talk(name if isinstance(name, str) else conversation.id, topic, context, turns)


def _turn(qa: Mapping[str, Any], marker: int) -> _Turn:
    listed, named = qa.get("answers"), _answer(qa.get("orig_answer"))
    answers = [answer for value in listed if (answer := _answer(value))] if isinstance(listed, list) else []
    answers = answers or [named or Span(text=MARKER, start=marker)]
    labels = {label: qa[label] for label, names in LABELS.items() if qa.get(label) in names}
    return _Turn(qa.get("id"), str(qa.get("question")), labels, answers, named or answers[0], named is not None)


def _answer(value: Any) -> Span | None:
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("text"), str)
        or type(value.get("answer_start")) is not int
    ):
        return None
    return Span(text=value["text"], start=value["answer_start"])


def _squad_v2(conversations: Iterable[Conversation], left_out: LeftOut, lost: Counter[str]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for talk in _talks(conversations, left_out):
        losses = {
            "titles and backgrounds of sections": bool(talk.topic.header or talk.topic.background),
            "which questions are one conversation": bool(talk.turns),
            "a teacher's labels of turns (followup, yesno)": any(turn.labels for turn in talk.turns),
            "ids that are numbers or occur twice": False,
            "references that the others outvote": False,
        }
        for turn in talk.turns:
            spans = [answer for answer in turn.references if answer.text != MARKER]
            answers = spans if 2 * len(spans) > len(turn.references) else []
            name = _unused(str(turn.id), seen)
            losses["ids that are numbers or occur twice"] |= name != turn.id
            losses["references that the others outvote"] |= 0 < len(spans) < len(turn.references)
            yield {
                "id": name,
                "title": talk.topic.title,
                "context": talk.topic.section,
                "question": turn.question,
                "answers": {
                    "text": [answer.text for answer in answers],
                    "answer_start": [answer.start for answer in answers],
                },
            }
        lost.update(what for what, is_lost in losses.items() if is_lost)


def _unused(name: str, seen: set[str]) -> str:
    """The name, with a number behind it if it was used."""
    unused, number = name, 1
    while unused in seen:
        number += 1
        unused = f"{name}-{number}"
    seen.add(unused)
    return unused


def _quac(talk: _Talk, lost: Counter[str]) -> dict[str, Any]:
    turns = talk.turns
    has_references = any(turn.labels or turn.original != turn.listed[0] for turn in turns)
    if not has_references and any(turn.names_original and len(turn.references) > 1 for turn in turns):
        lost["that an answer is a reference of its own and no further span"] += 1
    if any(not isinstance(turn.id, str) for turn in turns):
        lost["that ids of questions are numbers"] += 1
    return {
        "dialogue_id": talk.name,
        "wikipedia_page_title": talk.topic.title,
        "background": talk.topic.background,
        "section_title": talk.topic.header,
        "context": talk.context,
        "turn_ids": [str(turn.id) for turn in turns],
        "questions": [turn.question for turn in turns],
        **{f"{label}s": [turn.labels.get(label) for turn in turns] for label in LABELS},
        "answers": {
            "texts": [[answer.text for answer in turn.listed] for turn in turns],
            "answer_starts": [[answer.start for answer in turn.listed] for turn in turns],
        },
        "orig_answers": {
            "texts": [turn.original.text for turn in turns],
            "answer_starts": [turn.original.start for turn in turns],
        },
    }
