"""Which conversations of two sources are compared: in one language, about common tasks, of a part of the people."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...data import domains
from ...data.identity import digest
from ...data.records import Conversation
from ...data.text.languages import Language
from .report import Part, SideSummary
from .speech import Speech, languages_of, named, speaker, speeches
from .words import seems_foreign

NAMES = {"zh": "Chinese", "en": "English"}
ALL = "all"
"""The task of conversations of which no task is told."""


@dataclass(frozen=True)
class Matched:
    """The speeches of both sides (and of the published simulated users), and what a reader must know of the choice."""

    language: Language | None
    """None where the sources have no language in common: then only what needs no words is compared."""
    sim: tuple[Speech, ...]
    human: tuple[Speech, ...]
    published: tuple[Speech, ...] | None
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def part_of(user: str) -> Part:
    """The part that a user belongs to for good: by the digest of their name, half tune and half test."""
    return "tune" if int(digest("part", user)[:8], 16) % 2 == 0 else "test"


def matched(
    sim: Sequence[Conversation],
    human: Sequence[Conversation],
    published: Sequence[Conversation] | None,
    language: Language | None,
    part: Part,
) -> Matched:
    """What of the sources can be compared; never an error, what is left out is noted."""
    notes = []
    if part != "all":
        whole = len(human)
        human = [one for one in human if part_of(speaker(one)) == part]
        notes.append(f"People: the part {part!r} of the users, {len(human)} of {whole} conversations.")
    chosen, told = _language(sim, human, language)
    notes += told
    sides = {"Simulated": list(sim), "People": list(human), "Published": list(published or ())}
    found: dict[str, list[Speech]] = {}
    for name, given in sides.items():
        found[name] = speeches(given, chosen)
        if missing := len(given) - len(found[name]):
            known = f" that is to be had in {NAMES[chosen]}" if chosen else ""
            notes.append(f"{name}: {missing} of {len(given)} conversations have no text of the user{known}: left out.")
        translated = sum(speech.translated for speech in found[name])
        if translated and chosen:
            notes.append(
                f"{name}: {translated} of {len(found[name])} are compared in a translation into {NAMES[chosen]} "
                "that lies beside them in the data; measures that do not survive one are set apart."
            )
        if foreign := sum(seems_foreign("\n".join(speech.user), speech.language) for speech in found[name]):
            read = (
                f": words are read as {NAMES[chosen]} ones, so measures of words say nothing of them" if chosen else ""
            )
            notes.append(
                f"{name}: {foreign} of {len(found[name])} conversations seem to be in neither English nor Chinese{read}."
            )
        notes += _told_of(name, given)
        if not given and (name != "Published" or published is not None):
            notes.append(f"{name}: no conversation was given.")
    if shared := len(_said(found["Simulated"]) & _said(found["People"])):
        notes.append(
            f"Both sides hold the same {'conversation' if shared == 1 else f'{shared} conversations'}: is this intended? "
            "A model that has seen one of them takes its twin for the other side, so the AUC is too low."
        )
    tasks, told = _tasks(found)
    return Matched(
        chosen,
        tuple(found["Simulated"]),
        tuple(found["People"]),
        tuple(found["Published"]) if published is not None else None,
        tasks,
        (*notes, *told),
    )


def _said(side: Sequence[Speech]) -> set[tuple[tuple[str, str], ...]]:
    """What is said in each conversation, by both."""
    return {tuple((message.role, message.text) for message in speech.conversation.messages) for speech in side}


def _told_of(name: str, given: Sequence[Conversation]) -> list[str]:
    """What a reader must know of who speaks: users that nobody names, and conversations that are of the other side."""
    notes = []
    if nameless := sum(not named(one) for one in given):
        notes.append(
            f"{name}: {nameless} of {len(given)} conversations do not tell who speaks: those about an equal scenario "
            "count as one user's, any other as a user's of its own. Where one speaks in several, name them (`user`), "
            "or intervals are too narrow."
        )
    people = name == "People"
    if other := sum(domains.of(each).simulated(each) is people for each in given):
        who = "simulated users" if people else "people"
        notes.append(
            f"{name}: {other} of {len(given)} conversations are of {who}, as the data tells: is this intended?"
        )
    return notes


def _language(
    sim: Sequence[Conversation], human: Sequence[Conversation], wanted: Language | None
) -> tuple[Language | None, list[str]]:
    nothing: list[str] = []
    if wanted is not None:
        return wanted, nothing
    one, two = languages_of(sim), languages_of(human)
    common: list[Language] = [language for language in two if language in one]
    if common:
        return common[0], nothing
    if not one or not two:
        known: list[Language] = [*two, *one, "en"]
        return known[0], nothing
    apart = [
        f"The languages do not meet: the simulated users speak {NAMES[one[0]]}, people {NAMES[two[0]]}, and no "
        "translation lies beside either. Only what needs no words is compared."
    ]
    return None, apart


def _tasks(found: dict[str, list[Speech]]) -> tuple[tuple[str, ...], list[str]]:
    """Common tasks; takes the others out of the sides. Where a side tells none, all count as one task."""
    counts = {name: Counter(speech.task for speech in side) for name, side in found.items()}
    one, two = counts["Simulated"], counts["People"]
    if not one or not two:
        return (), []
    if "" in one or "" in two:
        notes = []
        if set(one) | set(two) != {""}:
            notes.append("Tasks: not every conversation tells its task; all are compared as one task.")
        for name, side in found.items():
            found[name] = [replace(speech, task=ALL) for speech in side]
        return (ALL,), notes
    common = sorted(set(one) & set(two))
    notes = [
        f"Task {task!r}: {counts[name][task]} conversations of {who} only: not compared."
        for name, who in (("Simulated", "simulated users"), ("People", "people"), ("Published", "the published ones"))
        for task in sorted(set(counts[name]) - set(common))
    ]
    if not common:
        notes.append("Tasks: the two sides have none in common, so nothing is compared.")
    for name, side in found.items():
        found[name] = [speech for speech in side if speech.task in common]
    return tuple(common), notes


def summary(given: Sequence[Conversation], compared: Sequence[Speech]) -> SideSummary:
    """What a side consists of."""
    said = [[one.id, [(message.role, message.text) for message in one.messages]] for one in given]
    return SideSummary(
        conversations=len(given),
        compared=len(compared),
        users=len({speech.cluster for speech in compared}),
        tasks=dict(sorted(Counter(speech.task for speech in compared).items())),
        translated=sum(speech.translated for speech in compared),
        digest=digest(said)[:16],
    )
