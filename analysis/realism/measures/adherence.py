"""Whether users fall out of their role: they speak for the other side, or of themselves as a machine."""

import re

from ..speech import Speech
from .measure import Measure, mean_of_messages

_SLIP = re.compile(
    r"^\s*[\[【(<]?\s*(?:system|assistant|ai|chatbot|bot|user|human|系统|助手|助理|用户|人类)\s*[\]】)>]?\s*[:：]"
    r"|\bas an? (?:ai|language model|assistant)\b|作为(?:一个|一名)?(?:ai|人工智能|语言模型|助手)"
    r"|how (?:can|may) i (?:help|assist) you|我(?:可以|能)(?:怎么|如何|怎样)帮(?:助)?(?:你|您)"
    r"|you're (?:very |most )?welcome[!.]|不(?:用|必)(?:客气|谢)|不客气",
    re.IGNORECASE | re.MULTILINE,
)


def _slips(speech: Speech, number: int) -> float:
    # A translator may drop a label, or answer thanks in other words.
    return any(_SLIP.search(text) for text in (speech.user[number], speech.original[number]))


MEASURES = (
    Measure(
        name="role slips",
        family="role adherence",
        unit="share of messages",
        definition="Share of messages that speak as the assistant would: a label of a speaker, an offer to help, "
        "an answer to thanks, or oneself as a machine.",
        source="ours",
        direction="users fall out of their role",
        of=mean_of_messages(_slips),
        of_text=_slips,
    ),
)
