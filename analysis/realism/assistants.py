"""Comparison of users who talked to the same assistant, where both sides name the assistant.

A user's messages depend on the assistant. In the same task, people of `human_exp_V2` write fewer or shorter messages to
some models than to others. A difference between sides that talked to different assistants may be that of the
assistants.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..over_users.estimate import FEWEST_USERS
from .measures import Measure
from .measures.transcripts import UserTranscript
from .records import AssistantRow
from .rows import finite, part_numbers
from .statistics.cells import quantile, rank_scores
from .statistics.samples import MeasuredUsers, generator, joined
from .statistics.shuffling import CONFIDENCE, Differences, permuted
from .statistics.two_samples import Draws, TwoSamples

_MOST_NAMED = 4
RETRIEVAL_BASED = "Made from people"
"""The side of users made from people."""

Sides = Mapping[str, Sequence[UserTranscript]]


def by_who_answered(sides: Sides) -> tuple[dict[str, list[UserTranscript]], bool, list[str]]:
    """The sides; whether conversations are to be compared with those of the same assistant only; and notes.

    Where all conversations of simulated users and people name the assistant, those of the same one are compared. Those
    of an assistant that the other side lacks are left out, of further sides too. Otherwise the note lists what is not
    adjusted.
    """
    groups = {name: list(side) for name, side in sides.items()}
    counts = {name: Counter(transcript.assistant for transcript in side) for name, side in groups.items() if side}
    if "Simulated" not in counts or "People" not in counts:
        return groups, False, []
    sim, human = counts["Simulated"], counts["People"]
    named = {assistant for of_side in counts.values() for assistant in of_side}
    if len(named) == 1 and named != {""}:
        return groups, False, []
    whom = "; ".join(_named(_who(name), of_side) for name, of_side in counts.items())
    common = sorted(sim.keys() & human.keys())
    why = ""
    if "" in sim or "" in human or (len(sim) == 1 and sim.keys() == human.keys()):
        why = (
            "The effect of the assistant is not removed, so length, turns and other reactions to answers may differ "
            "only by it."
        )
    elif not common:
        why = (
            "No assistant is common to both simulated users and people, so effects of the assistant and of the "
            "user cannot be separated."
        )
    if why:
        return groups, False, [f"Who answered: {whom}. {why}"]
    notes = [f"Who answered: conversations are compared with those of the same assistant ({_listed(common)}): {whom}."]
    for name, of_side in counts.items():
        if others := sorted(of_side.keys() - set(common)):
            left_out = sum(of_side[assistant] for assistant in others)
            notes.append(
                f"Who answered: {left_out} of {of_side.total()} conversations of {_who(name)} are with "
                f"{_listed([assistant or 'one that is not named' for assistant in others])}: not compared."
            )
            groups[name] = [transcript for transcript in groups[name] if transcript.assistant in common]
    pairs = [{(one.task, one.assistant) for one in groups[name]} for name in ("Simulated", "People")]
    if not pairs[0] & pairs[1]:
        notes.append(
            "Who answered: no task and assistant in common, as both sides talked to the same assistants about different "
            "tasks only: nothing is compared."
        )
    return groups, True, notes


def _who(name: str) -> str:
    words = {
        "Simulated": "simulated users",
        "People": "people",
        "Published": "the published ones",
        RETRIEVAL_BASED: "users made from people",
    }
    return words.get(name, name[:1].lower() + name[1:])


def _named(who: str, counts: Mapping[str, int]) -> str:
    names = sorted(name for name in counts if name)
    if not names:
        return f"{who} do not name the assistant"
    unnamed = f" and others in {counts['']} conversations" if counts.get("") else ""
    return f"{who} talked to {_listed(names)}{unnamed}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def effects_of_assistants(
    side: MeasuredUsers, measures: Sequence[Measure], draws: Draws
) -> tuple[list[float | None], list[float | None]]:
    """For each measure the largest size of the effect between two assistants of one side, within tasks.

    The second list has what one in 20 shufflings exceeds, as a maximum lies above 0 by mere chance. The users of each
    pair are shuffled between its two assistants. None where fewer than two assistants have eight users or more, and for
    measures among others.
    """
    by_name = {
        name: _with(side, name) for name in sorted({transcript.assistant for transcript in side.transcripts} - {""})
    }
    enough = {
        name: replace(part, further_strata=()) for name, part in by_name.items() if len(part.clusters) >= FEWEST_USERS
    }
    alone = [column for column, measure in enumerate(measures) if not measure.pairwise]
    largest, chance = np.full((2, len(measures)), np.nan)
    shuffled = np.full((draws.shufflings // 4, len(alone)), np.nan)
    for pair, (one, another) in enumerate(combinations([part.columns(alone) for part in enough.values()], 2)):
        cells = joined(one, another)
        differences = Differences(cells, rank_scores(cells))
        largest[alone] = np.fmax(largest[alone], np.abs(differences.of(cells.labelling)[0][0]))
        labellings = permuted(cells.sides, len(shuffled), generator(draws.seed, "assistants", pair))
        shuffled = np.fmax(shuffled, np.abs(differences.of(labellings)[0]))
    chance[alone] = quantile(shuffled, CONFIDENCE)
    return [finite(size) for size in largest], [finite(size) for size in chance]


def assistant_rows(
    sim: MeasuredUsers, human: MeasuredUsers, measures: Sequence[Measure], both: TwoSamples
) -> list[tuple[AssistantRow, ...]]:
    """For each measure a row per assistant with which eight people or more talked; p is not adjusted yet.

    `both`: the statistics of the two sides. Conversations may be compared only with those of the same assistant. A row
    then has both sides' conversations with it, and needs as many simulated users. Otherwise it has all simulated users
    and the people that talked to it, if the people talked to several. Tasks are strata as ever. Measures among others
    have none, since the others are of all assistants.
    """
    within = bool(human.further_strata)
    parts: dict[str, TwoSamples] = {}
    draws = replace(both.draws, shufflings=both.draws.shufflings // 2)
    for name in sorted({transcript.assistant for transcript in human.transcripts} - {""}):
        of_human = _with(human, name)
        of_sim = _with(sim, name) if within else sim
        if min(len(of_human.clusters), len(of_sim.clusters)) >= FEWEST_USERS:
            parts[name] = replace(both, cells=joined(of_sim, of_human), draws=draws)
    if not within and len({transcript.assistant for transcript in human.transcripts}) < 2:
        parts = {}
    return [
        ()
        if measure.pairwise
        else tuple(AssistantRow(assistant=name, **part_numbers(part, column)) for name, part in parts.items())
        for column, measure in enumerate(measures)
    ]


def _with(side: MeasuredUsers, name: str) -> MeasuredUsers:
    return side.where([transcript.assistant == name for transcript in side.transcripts])
