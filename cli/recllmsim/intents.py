"""`duologue recllmsim intents`: the intents of users' messages, predicted from words."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ...data import DataError
from ...data.text.languages import Language
from ...errors import at
from ...studies.sources import MOST_DRAWN
from ..options.sections import BOUNDS
from ..options.shared import Draw, Seeds, Trees, language_of, option, seed_of
from ..output.tables import PRINTED, TableOutput, read_drawn
from ..streams import say, stderr
from .text_models import MODELS, Models, SplitOption, label_trust


def intents_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Conversations whose users' messages have an intent.")],
    group: Annotated[
        Literal["people", "simulated"], option("Predict intents of people, or of simulated users.")
    ] = "people",
    language: Annotated[Language, language_of("the messages that are read.")] = "zh",
    split: SplitOption = "users",
    model: Models = None,
    seeds: Seeds = 1,
    trees: Trees = 100,
    draw: Draw = MOST_DRAWN,
    seed: Annotated[int, seed_of("the users that are drawn", BOUNDS)] = 0,
    output: TableOutput = PRINTED,
) -> int:
    """Predict intents of messages from words.

    Uses the words of a user's message, and of the conversation up to it.
    """
    from ...analysis.recllmsim.identification import intent_turns, measure_intents

    output.check()
    loaded = read_drawn(source, draw, seed)
    say(*loaded.notes)
    with stderr.status("cuts texts into words"):
        turns, several = intent_turns(loaded.conversations, group, language)
    if not turns:
        other = "people" if group == "simulated" else "simulated"
        raise DataError(
            f"{at(source)}: no message of {'simulated users' if group == 'simulated' else 'people'} in {language} has exactly "
            f"one intent: give conversations such as people's first study of RecLLMSim, --group {other}, or another "
            "--language"
        )
    trust = label_trust(loaded, "intent", group)
    with stderr.status("begins") as status:
        report = measure_intents(
            turns,
            model or MODELS,
            split=split,
            several=several,
            trees=trees,
            seeds=seeds,
            trust=trust,
            watch=status.update,
        )
    output.show(report)
    return 1 if loaded.broken else 0
