"""Courtesies by small lexicons of our own, in English and Chinese (`lexicons.json`)."""

from collections.abc import Callable

from ..speech import Speech
from ..words import begins_with, says
from .measure import Measure, each, mean_of_messages


def _says(entry: str) -> Callable[[Speech, int], float]:
    def of(speech: Speech, number: int) -> float:
        return says(speech.user[number], entry, speech.language)

    return of


def _exclaims(speech: Speech, number: int) -> float:
    return "!" in speech.user[number] or "！" in speech.user[number]


def _greets(speech: Speech) -> float:
    return begins_with(speech.user[0], "greeting", speech.language)


def _share(
    name: str, of: Callable[[Speech, int], float], what: str, direction: str, survives: bool = True, source: str = ""
) -> Measure:
    return Measure(
        name=name,
        family="politeness",
        unit="share of messages",
        definition=f"Share of the user's messages {what}.",
        source=source or "ours, after the strategies of Danescu-Niculescu-Mizil et al. 2013",
        direction=direction,
        of=mean_of_messages(of),
        of_text=of,
        survives_translation=survives,
    )


MEASURES = (
    _share("thanks", _says("thanks"), "that thank", "users thank more"),
    _share("please", _says("please"), "with please or a polite can you", "users ask more politely", survives=False),
    _share("apology", _says("apology"), "that apologize", "users apologize more"),
    _share("hedges", _says("hedges"), "with a hedge such as maybe or I think", "users commit less", survives=False),
    _share("exclamation", _exclaims, "with an exclamation mark", "users are more excited", source="ours"),
    _share("praise", _says("praise"), "with a word of praise", "users praise more", survives=False, source="ours"),
    Measure(
        name="greeting",
        family="politeness",
        unit="share of conversations",
        definition="Whether the user's first message begins with a greeting.",
        source="ours, after the strategies of Danescu-Niculescu-Mizil et al. 2013",
        direction="users greet more",
        of=each(_greets),
        shows="first",
    ),
)
