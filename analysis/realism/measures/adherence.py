"""Whether users fall out of their role, by the rules of `data.checks.user_turns`."""

from ....data.checks.user_turns import is_plan, leaked_prompt, leaked_role
from ..speech import Speech
from .measure import Measure, mean_of_messages


def _slips(speech: Speech, number: int) -> float:
    # A translator may drop the label of a speaker.
    texts = (speech.user[number], speech.original[number])
    return any(leaked_role(text) or leaked_prompt(text) for text in texts)


def _plans(speech: Speech, number: int) -> float:
    return is_plan(speech.user[number], speech.before[number])


MEASURES = (
    Measure(
        name="role slips",
        family="role adherence",
        unit="share of messages",
        definition="Share of messages that speak for another side, show instructions or reasoning, or own to be a "
        "model; the original and its translation are both read.",
        source="ours: the rules by which drafts are rejected",
        direction="users fall out of their role",
        of=mean_of_messages(_slips),
        of_text=_slips,
    ),
    Measure(
        name="plans of their own",
        family="role adherence",
        unit="share of messages",
        definition="Share of messages with a plan of three or more items that answers nothing the assistant asked.",
        source="ours: the rules by which drafts are counted",
        direction="users do the assistant's work",
        of=mean_of_messages(_plans),
        of_text=_plans,
    ),
)
