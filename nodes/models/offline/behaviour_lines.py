"""The behaviours of a rule-based user, as its system prompt lists them."""

import re

from ....data.behaviours import BEHAVIOURS, UserMoment, behaved
from ....data.text.languages import language_of
from ...goodbyes import Ending
from ...messages.building import unfenced
from .prompt_parser import GOAL_MARKS, ParsedPrompt
from .recllmsim_speakers import QUOTED
from .word_weights import READ, short

_LINE = re.compile(r"^- (\w+):", re.MULTILINE)
_WORD = re.compile(r"\bkestrel-[0-9a-f]{4}\b")


def as_prompted(text: str, prompt: ParsedPrompt, draw: int) -> str:
    """The message with the behaviours of the prompt; the same one without any."""
    names = [name for name in _LINE.findall(prompt.behaviour) if name in BEHAVIOURS]
    if not names:
        return text
    marked = "".join((prompt.marked_any(GOAL_MARKS) or [prompt.marked("title")])[:1])
    goal = short(" ".join(unfenced(marked[:READ]).split()), 60)
    turns = [("user" if is_own else "assistant", line) for is_own, line in prompt.turns]
    word = _WORD.search(prompt.behaviour)
    leaves = text in QUOTED.findall(prompt.note) or Ending(may_give_up=True).reason(text) is not None
    moment = UserMoment(turns, goal, language_of(goal or text) or "en", draw, word.group() if word else "", ends=leaves)
    return behaved(text, names, moment)
