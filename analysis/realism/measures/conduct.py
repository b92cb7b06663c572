"""Whether users keep to their role, by the rules of `data.rules.guards`, and how they end."""

from functools import partial

from ....data.rules.guards import is_plan, leaked_prompt, leaked_role
from ....data.text.lexicons import says
from .measure import Measure
from .transcripts import UserTranscript


def _slips(transcript: UserTranscript, number: int) -> float:
    # A translator may drop the label of a speaker.
    texts = {transcript.texts[number], transcript.originals[number]}
    return any(leaked_role(text) or leaked_prompt(text) for text in texts)


_ending = partial(
    Measure,
    family="ending",
    unit="share of conversations",
    source="closings after Schegloff and Sacks 1973; lexicon ours",
    keyboard="Hardly: words have to be typed, and no keyboard adds them. Who is tired of typing may leave without them.",
    shows="last",
)

MEASURES = (
    Measure(
        name="role slips",
        family="role adherence",
        unit="share of messages",
        definition="Share of messages that speak for another side, show instructions or reasoning, or own to be a "
        "model; the original and its translation are both read.",
        source="ours: the rules by which drafts are rejected",
        direction="users fall out of their role",
        keyboard="No: nobody's keyboard writes a label, an instruction or a model's mark. Quoted and pasted text is"
        " left out.",
        of_text=_slips,
    ),
    Measure(
        name="plans of their own",
        family="role adherence",
        unit="share of messages",
        definition="Share of messages with a plan of three or more items that answers nothing the assistant asked.",
        source="ours: the rules by which drafts are counted",
        direction="users do the assistant's work",
        keyboard="Hardly: lists need line breaks, which are harder to type where Enter sends the message, and may be "
        "pasted. Items of a schedule count without a bullet too.",
        of_text=lambda transcript, number: is_plan(transcript.texts[number], transcript.replies_before[number]),
    ),
    _ending(
        name="closing phrase",
        definition="Whether the user's last message says goodbye or that nothing is open.",
        direction="conversations are closed in words",
        of_conversation=lambda transcript: says(transcript.texts[-1], "closing", transcript.language),
    ),
    _ending(
        name="thanks at the end",
        definition="Whether the user's last message thanks.",
        direction="users end with thanks",
        of_conversation=lambda transcript: says(transcript.texts[-1], "thanks", transcript.language),
    ),
)
