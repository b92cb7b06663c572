"""The score of an assistant with seeded faults in a free conversation: its last reply keeps every wish."""

from ...data.rules.user_notices import words_in
from ...data.text.text_values import written_values
from ..scorers.scores import Score
from ..scorers.success import KEY
from ..state import State, history

SHARE = 0.5
"""Minimum share of a wish's words that the last reply has to contain."""


def heeded(state: State) -> Score | None:
    """Whether the last reply keeps each of the user's turns before it: all its values, and half of its words.

    None for a scenario with a `success` of its own. It is written for the assistants with seeded faults, which plan by
    restating: an assistant that answers in other words would fail it.
    """
    if KEY in state["scenario"]:
        return None
    messages = history(state)
    last = max((number for number, message in enumerate(messages) if message["role"] == "assistant"), default=None)
    if last is None:
        return Score(False, "the assistant wrote nothing")
    held_words, held_values = words_in(messages[last]["text"]), written_values(messages[last]["text"])
    for message in messages[:last]:
        if message["role"] != "user":
            continue
        words, values = words_in(message["text"]), written_values(message["text"])
        if lacking := sorted(values - held_values):
            return Score(False, f"the last reply lacks {lacking[0]!r}")
        if len(words & held_words) < SHARE * len(words):
            return Score(False, f"the last reply is not about {' '.join(message['text'].split())[:60]!r}")
    return Score(True, "the last reply keeps every wish")
