"""Which conversations are compared: in one language, about common tasks, of a part of the people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...data import domains
from ...data.identity import digest
from ...data.people import UserPart, named_user, of_part
from ...data.records import Conversation
from ...data.text.languages import Language, written_language
from .transcripts import MOST, UserTranscript, languages_of, transcripts_of

NAMES = {"zh": "Chinese", "en": "English"}
ALL = "all"
"""The task of all conversations where a side does not name tasks."""
SIMULATED, PEOPLE = "Simulated", "People"
OTHERS = 5
"""Conversations of other users with which one is compared, on either side: so few that a task's users have them."""


@dataclass(frozen=True)
class Matched:
    """The conversations of each side that are compared, with notes on how they were chosen."""

    language: Language | None
    """None where the sources have no language in common: then only what needs no words is compared."""
    sides: dict[str, list[UserTranscript]]
    """Those of the simulated users, of people, and of each reference by its name."""
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def matched(
    sim: Sequence[Conversation],
    people: Sequence[Conversation],
    references: Mapping[str, Sequence[Conversation]],
    language: Language | None,
    part: UserPart,
) -> Matched:
    """The parts of the sources that can be compared; the rest is left out with a note, without an error."""
    notes = []
    if part != "all":
        chosen = [conversation for conversation in people if of_part(conversation, part)]
        notes.append(f"{PEOPLE}: the part {part!r} of the users, {len(chosen)} of {len(people)} conversations.")
        people = chosen
    spoken, language_notes = _language(sim, people, language)
    notes += language_notes
    sides = {}
    for name, conversations in {SIMULATED: sim, PEOPLE: people, **references}.items():
        # Halves are drawn by the number of a user, which must not depend on the order of lines.
        readable = transcripts_of(conversations, spoken)
        sides[name] = sorted(readable, key=lambda one: (one.user, one.task, one.conversation.id, digest(one.texts)))
        notes += _notes_on(name, conversations, sides[name], spoken)
    if shared := {one.dialogue for one in sides[SIMULATED]} & {one.dialogue for one in sides[PEOPLE]}:
        notes.append(
            f"{len(shared)} conversations are on both sides: differences are smaller for it. Leave them out of one side."
        )
    notes += _of_common_tasks(sides) + _of_common_assistants(sides)
    for side in sides.values():
        _set_others(side)
    tasks = {one.task for one in sides[SIMULATED]} & {one.task for one in sides[PEOPLE]}
    return Matched(spoken, sides, tuple(sorted(tasks)), tuple(notes))


def _language(
    sim: Sequence[Conversation], people: Sequence[Conversation], chosen: Language | None
) -> tuple[Language | None, list[str]]:
    """The language of the comparison: the chosen one, else a common one; with a note if there is none."""
    if chosen is not None:
        return chosen, []
    of_sim, of_people = languages_of(sim), languages_of(people)
    common: list[Language] = [language for language in of_people if language in of_sim]
    if common or not of_sim or not of_people:
        of_either: list[Language] = [*common, *of_people, *of_sim, "en"]
        return of_either[0], []
    note = (
        f"The languages differ: the simulated users write {NAMES[of_sim[0]]}, people {NAMES[of_people[0]]}, and "
        "neither has a translation. Only measures without words are compared."
    )
    return None, [note]


def _notes_on(
    name: str, given: Sequence[Conversation], readable: Sequence[UserTranscript], language: Language | None
) -> list[str]:
    """What a reader must know of a side."""
    notes = []
    if not given:
        notes.append(f"{name}: no conversation was given.")
    if missing := len(given) - len(readable):
        where = f" in {NAMES[language]}" if language else ""
        notes.append(f"{name}: {missing} of {len(given)} conversations have no text of the user{where}: left out.")
    translated = sum(one.translated for one in readable)
    if translated and language:
        notes.append(
            f"{name}: {translated} of {len(readable)} are compared in a translation into {NAMES[language]} that lies "
            "beside them in the data."
        )
    if foreign := sum(written_language("\n".join(one.texts)) == "other" for one in readable):
        notes.append(
            f"{name}: {foreign} of {len(readable)} conversations seem to be in neither English nor Chinese: measures "
            "of words do not hold for them."
        )
    if long := sum(len(text) == MOST for one in readable for text in (*one.texts, *one.replies_before)):
        notes.append(f"{name}: {long} messages have {MOST:,} characters or more: only so many are measured.")
    if nameless := sum(not named_user(conversation) for conversation in given):
        notes.append(
            f"{name}: {nameless} of {len(given)} conversations do not name their user: those about an equal scenario "
            "count as one user's. Name users of several (the key 'user'), or intervals are too narrow."
        )
    if misplaced := sum(domains.of(one).simulated(one) is (name != SIMULATED) for one in given):
        who = "people" if name == SIMULATED else "simulated users"
        notes.append(f"{name}: {misplaced} of {len(given)} conversations are of {who} by the data's own labels.")
    return notes


def _of_common_tasks(sides: dict[str, list[UserTranscript]]) -> list[str]:
    """Keep the tasks that both sides have, with notes on the others.

    Where a conversation of either side names no task, all conversations count as one task.
    """
    counts = {name: Counter(one.task for one in sides[name]) for name in (SIMULATED, PEOPLE)}
    if not all(counts.values()):
        return []
    if any("" in of_side for of_side in counts.values()):
        for side in sides.values():
            for one in side:
                one.task = ALL
        named = set().union(*counts.values()) != {""}
        return ["Tasks: some conversations have no task; all are compared as one task."] if named else []
    common = counts[SIMULATED].keys() & counts[PEOPLE].keys()
    notes = [
        f"Task {task!r}: {number} conversations of {name.lower()} only: not compared."
        for name, of_side in counts.items()
        for task, number in sorted(of_side.items())
        if task not in common
    ]
    if not common:
        notes.append("Tasks: the two sides have none in common, so nothing is compared.")
    for name, side in sides.items():
        sides[name] = [one for one in side if one.task in common]
    return notes


def _of_common_assistants(sides: dict[str, list[UserTranscript]]) -> list[str]:
    """Compare conversations with those of the same assistant, where all name it; with notes.

    A user's messages depend on the assistant.
    """
    named = {name: {one.assistant for one in side} for name, side in sides.items() if side}
    sim, people = (named.get(name, set()) for name in (SIMULATED, PEOPLE))
    if not sim or not people or (sim == people and len(sim) == 1):
        return []
    common = sim & people
    if "" in sim | people or not common:
        return ["Who answered: the sides may have talked to different assistants, whose effect is not removed."]
    left_out = 0
    for name, side in sides.items():
        sides[name] = [one for one in side if one.assistant in common]
        left_out += len(side) - len(sides[name])
        for one in sides[name]:
            one.task = f"{one.task}, {one.assistant}"
    note = f"Who answered: compared with those of the same assistant ({', '.join(sorted(common))})"
    return [f"{note}; {left_out} with others are left out." if left_out else f"{note}."]


def _set_others(side: Sequence[UserTranscript]) -> None:
    """Give each conversation one of each of five other users of its task: the next ones, in the order of a digest.

    So many on both sides: the mean over few is coarser than that over many, and ranks would differ by that alone.
    """
    of_task: dict[str, dict[str, UserTranscript]] = {}
    for one in side:
        of_task.setdefault(one.task, {}).setdefault(one.user, one)
    circles = {
        task: sorted(of_user.values(), key=lambda one: digest("others", one.user)) for task, of_user in of_task.items()
    }
    places = {(task, one.user): place for task, circle in circles.items() for place, one in enumerate(circle)}
    for one in side:
        circle, place = circles[one.task], places[one.task, one.user]
        if len(circle) > OTHERS:
            one.others = tuple(circle[(place + step) % len(circle)] for step in range(1, OTHERS + 1))


def people_in(transcripts: Sequence[UserTranscript]) -> list[frozenset[str]]:
    """The people in each conversation: its user, the scenario's owner, and the authors of a retrieval-based user's words.

    A source that is not among the conversations is a person of its own.
    """
    speaker = {one.conversation.id: one.user for one in transcripts}
    return [
        frozenset((one.user, one.owner, *(speaker.get(source, f"conversation {source}") for source in one.sources)))
        for one in transcripts
    ]
