"""People's reasons in a side-by-side study, as conversations to label, and their answers with the labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...data.files.journals import WRITER
from ...data.files.json import dumps, write_text
from ...data.files.paths import content
from ...data.labels.answers import WHOLE, WHY, LabelAnswer, standing
from ...data.labels.definition import LabelDefinition
from ...data.labels.side_by_side import STUDY, is_asked
from ...data.loading import Loaded, load
from ...data.records import Conversation, Message
from ...data.rules import plain_words
from ...errors import DataError, SettingError
from .answers import MOST_BYTES, answers_in

ANSWERS = "answers"
"""Kind of a loaded folder of answers."""
UNIT = "reason"


def loaded_for(source: Path, labels: Sequence[LabelDefinition]) -> Loaded:
    """The data for these labels: the conversations of a data set, or the reasons in the answers to a study.

    SettingError for labels of both kinds at once; DataError for a source that has nothing of the kind.
    """
    of_reasons = [label.name for label in labels if label.unit == UNIT]
    if not of_reasons:
        return load(source)
    if others := [label.name for label in labels if label.unit != UNIT]:
        raise SettingError(
            f"--labels: {of_reasons[0]} is about the answers to a study and {others[0]} about conversations: give one of "
            "them, with its own source"
        )
    reasons = [
        one for path in _files(source) for answer in _standing(path).values() if (one := _reason(path.stem, answer))
    ]
    if not reasons:
        raise DataError(
            f"{source}: holds no answers to a side-by-side study with a reason: give the folder of `duologue label --study`"
        )
    return Loaded(source, ANSWERS, tuple(reasons))


def write_answers(
    loaded: Loaded, out: Path, new_labels: Mapping[str, Mapping[int, Mapping[str, Mapping[str, Any]]]]
) -> list[str]:
    """Write each person's file anew, with the labels in the value of their answer.

    Every other line stays as it is. Each file is there whole or not at all. Gives no line: nothing is left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    for path in _files(loaded.path):
        standing_answers = _standing(path)
        lines = content(path, MOST_BYTES).decode("utf-8", "replace").split("\n")[:-1]
        for number, answer in enumerate(answers_in(path)):
            keys = new_labels.get(_name(path.stem, answer), {}).get(WHOLE, {}).get("labels", {})
            if keys and standing_answers.get(answer.key) == answer:
                value = {name: entry for name, entry in {**answer.value, **keys}.items() if entry is not None}
                lines[number] = dumps(answer.model_copy(update={"value": value}).plain())
        write_text(out / path.name, "".join(f"{line}\n" for line in lines))
    return []


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder of answers: give that of `duologue label --study`")
    return [path for path in sorted(folder.glob("*.jsonl")) if WRITER.fullmatch(path.stem)]


def _standing(path: Path) -> dict[Any, LabelAnswer]:
    return {key: answer for key, answer in standing(answers_in(path)).items() if answer.label == STUDY}


def _name(by: str, answer: LabelAnswer) -> str:
    return f"{by}/{answer.conversation}"


def _reason(by: str, answer: LabelAnswer) -> Conversation | None:
    """A person's reason as a conversation of one message; None where no word was written."""
    text = answer.value.get(WHY)
    if not isinstance(text, str) or not plain_words(text):
        return None
    labels = {name: value for name, value in answer.value.items() if not is_asked(name)}
    messages = (Message(role="user", text=text),)
    return Conversation(
        id=_name(by, answer), scenario={"kind": STUDY, "user": by, WHY: text}, messages=messages, labels=labels
    )
