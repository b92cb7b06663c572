"""How far a judge of success can be trusted: its agreement with people's labels of some conversations; and its opinion on
whose fault a failure is where structure does not say so.

The file of labels has a line for each labelled conversation, `{"conversation": ID, "value": true}`, as the labelling page
writes it (`labels.jsonl`); 30 are enough for a first look. Beside the judged share stands the rectified one: the judge's
share less the share by which it is above people where both labelled.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import eq
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from ..analysis.faults import Whose
from ..analysis.outcomes import content_key, outcome
from ..analysis.testing.success import JudgeCheck
from ..data.files.json import read_lines
from ..data.labels.table import LABELS
from ..data.records import Conversation, is_object
from ..errors import DataError, at
from ..nodes.judges import judged
from ..nodes.scorers import Score, run_scorer
from ..nodes.state import ended_state
from ..runs.ask import ask_all
from ..runs.settings import RunSettings

_WORDS = {
    "yes": True,
    "no": False,
    "true": True,
    "false": False,
    "success": True,
    "failure": False,
    "是": True,
    "否": False,
}


def people_say(path: str | Path) -> dict[str, bool]:
    """What most people say of each conversation, by its id, a tie left out; DataError names the line of another value."""
    path = Path(path)
    file = path / LABELS if path.is_dir() else path
    votes: dict[str, list[bool]] = defaultdict(list)
    for line, row in read_lines(file):
        values = row.get("votes") or [row.get("value")]
        if not isinstance(row.get("conversation"), str):
            raise DataError(f"{at(file, f'line {line}')}: names no 'conversation': give its id")
        for value in values:
            votes[row["conversation"]].append(_truth(value, at(file, f"line {line}")))
    return {name: 2 * sum(given) > len(given) for name, given in votes.items() if 2 * sum(given) != len(given)}


def judge_check(conversations: Iterable[Conversation], people: Mapping[str, bool]) -> JudgeCheck:
    """The agreement of the scores of success with people, and the rectified share; DataError where they share no conversation."""
    from ..analysis.labels.agreement import cohen_kappa  # on use: it needs the extra `stats`
    from ..analysis.labels.combining import rectified_mean

    scored = [(one, result.success) for one in conversations if (result := outcome(one)).success is not None]
    by_judge = [bool(success) for _, success in scored]
    own = [people.get(one.id) for one, _ in scored]
    if not any(value is not None for value in own):
        raise DataError("labels: no labelled conversation is one of this test: name them by their ids")
    users = [content_key(one) for one, _ in scored]
    both = [(value, *other) for value, *other in zip(own, by_judge, users, strict=True) if value is not None]
    labels, scores, whose = zip(*both, strict=True)
    return JudgeCheck(
        labelled=len(both),
        agreed=sum(map(eq, labels, scores)),
        kappa=cohen_kappa(labels, scores, users=whose),
        judged=sum(by_judge) / len(by_judge),
        rectified=rectified_mean(
            [None if value is None else float(value) for value in own],
            [*map(float, by_judge)],
            users=users,
            scale=(0, 1),
        ),
    )


def _truth(value: Any, where: str) -> bool:
    """A label as true or false: plain, a word for it, or an object with one such value."""
    if is_object(value) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _WORDS:
        return _WORDS[value.strip().casefold()]
    raise DataError(f"{where}: the label is {value!r}: expected true or false, or yes or no")


FAULT = (
    "The conversation failed. Whose fault is that: the user's (it says something else than the scenario, keeps back what it "
    "knows, or leaves early), the assistant's (it does something else than the user asked, or nothing), or is it undecided?"
)


async def judged_faults(
    model: str | BaseChatModel, conversations: Iterable[Conversation], settings: RunSettings
) -> dict[str, tuple[Whose, str]]:
    """Whose fault each undecided failure is by a judge's opinion, with its name and reason, by the conversation's id.

    A failure of which the judge gives no answer stays undecided.
    """
    scorer = judged(model, FAULT, labels=("user", "assistant", "undecided"))

    async def ask(talk: Conversation) -> Score | None:
        return await run_scorer("fault", scorer, ended_state(talk))

    open_ones = {one.id: one for one in conversations if outcome(one).fault == "undecided"}
    answers, _ = await ask_all(open_ones, ask, settings)
    of = model if isinstance(model, str) else type(model).__name__
    sure: dict[str, Whose] = {"user": "user", "assistant": "assistant"}
    return {
        name: (sure[str(score.value)], f"by the judge {of}: {score.reason}")
        for name, score in answers.items()
        if score is not None and score.value in sure
    }
