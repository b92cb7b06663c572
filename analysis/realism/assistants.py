"""Who answered: users of one assistant are compared with users of the same one, where both sides tell who it was.

What a user says depends on whom they talk to: people of the newer RecLLMSim study, in the same task, write fewer or
shorter messages to some models than to others. A difference between sides that talked to different assistants may be
that of the assistants.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from .measures import Measure
from .measures.transcripts import UserTranscript
from .rows import statistics_of
from .samples import Sample
from .two_samples import Draws

FEWEST_USERS = 8
"""Users of an assistant, and of another in the same task, for an effect between the two."""

_MOST_NAMED = 4

Sides = Mapping[str, Sequence[UserTranscript]]


def by_who_answered(sides: Sides) -> tuple[dict[str, list[UserTranscript]], bool, list[str]]:
    """The sides; whether conversations are to be compared with those of the same assistant only; and notes.

    Where all conversations of simulated users and people name the assistant, those of the same one are compared, and
    those of one that the other side has not are left out. Otherwise the note says what is not adjusted.
    """
    kept = {name: list(side) for name, side in sides.items()}
    sim, human = (Counter(transcript.assistant for transcript in kept[name]) for name in ("Simulated", "People"))
    if not sim or not human or (len(sim) == len(human) == 1 and sim.keys() == human.keys() != {""}):
        return kept, False, []
    if "" in sim or "" in human:
        return (
            kept,
            False,
            [
                f"Who answered: {_named('simulated users', sim)}; {_named('people', human)}. The difference that the assistant "
                "makes is not taken out, so length, turns and whatever else an answer provokes may differ by that alone."
            ],
        )
    common = sorted(sim.keys() & human.keys())
    if not common:
        return (
            kept,
            False,
            [
                f"Who answered: {_named('simulated users', sim)}; {_named('people', human)}. No assistant is common to both, "
                "so what differs by the assistant cannot be told from what differs by the user."
            ],
        )
    notes = [f"Who answered: conversations are compared with those of the same assistant ({_listed(common)})."]
    for name, who in (("Simulated", "simulated users"), ("People", "people")):
        if left_out := sum(transcript.assistant not in common for transcript in kept[name]):
            others = sorted({transcript.assistant for transcript in kept[name]} - set(common))
            notes.append(f"Who answered: {left_out} conversations of {who} with {_listed(others)} only: not compared.")
    for name, side in kept.items():
        chosen = [transcript for transcript in side if transcript.assistant in common]
        if name in ("Simulated", "People") or len(chosen) == len(side):
            kept[name] = chosen
        elif side:
            notes.append(f"{name}: not all of its conversations name one of these assistants: it is left out.")
            kept[name] = []
    return kept, True, notes


def _named(who: str, counts: Mapping[str, int]) -> str:
    """Whom a side talked to, in words."""
    names = sorted(name for name in counts if name)
    if not names:
        return f"{who} do not tell whom they talked to"
    unnamed = f" and others in {counts['']} conversations" if counts.get("") else ""
    return f"{who} talked to {_listed(names)}{unnamed}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def effects_of_assistants(side: Sample, measures: Sequence[Measure], draws: Draws) -> list[float | None]:
    """For each measure the largest size of the effect between two assistants of one side, within tasks.

    None where fewer than two assistants have eight users or more, and for measures among others.
    """
    by_name = {
        name: side.where([transcript.assistant == name for transcript in side.transcripts])
        for name in sorted({transcript.assistant for transcript in side.transcripts} - {""})
    }
    enough = {
        name: replace(part, further_strata=())
        for name, part in by_name.items()
        if len({transcript.cluster for transcript in part.transcripts}) >= FEWEST_USERS
    }
    alone = [column for column, measure in enumerate(measures) if not measure.pairwise]
    largest = np.full(len(measures), np.nan)
    for one, another in combinations([part.columns(alone) for part in enough.values()], 2):
        effect = statistics_of(one, another, [measures[column] for column in alone], draws).effect
        largest[alone] = np.fmax(largest[alone], np.abs(effect))
    return [None if np.isnan(size) else float(size) for size in largest]
