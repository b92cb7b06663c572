"""One message of the task-oriented talk, by either side, with the misbehaviour that is due."""

from . import task_assistant, task_user
from .hearing import Side, Talk
from .voices import phrases, spoken


def task_oriented(side: Side, talk: Talk, draw: int, misbehaviour: str) -> str:
    """The message of a side; `misbehaviour`: one of the side's own, or empty."""
    if misbehaviour == "empty":
        return ""
    if misbehaviour == "repeat":
        return talk.own[draw % len(talk.own)]
    user = side == "task_user"
    text = task_user.message(talk, draw) if user else task_assistant.answer(talk, draw)
    words = phrases(spoken(talk.task + talk.profile if user else " ".join(talk.others)))
    if misbehaviour == "reasoning":
        return f"<think>{words['thinking']}</think>\n{text}"
    if misbehaviour in ("role_leak", "prompt_leak"):
        return str(words[misbehaviour][draw % len(words[misbehaviour])].replace("{m}", text))
    return text
