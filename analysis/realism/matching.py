"""Which conversations of two sources are compared: in one language, about common tasks, of a part of the people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...data import domains
from ...data.identity import digest
from ...data.people import named_user, of_part
from ...data.records import Conversation
from ...data.text.languages import Language, written_language
from ..over_users.folds import joined
from .measures.transcripts import MOST, UserTranscript, languages_of, transcripts_of
from .report import SideSummary, UserPartName

NAMES = {"zh": "Chinese", "en": "English"}
ALL = "all"
"""The task of all conversations where a side does not name tasks."""
RETRIEVAL_BASED = "Made from people"
"""The side of users made from people."""


@dataclass(frozen=True)
class MatchedConversations:
    """The conversations of each side that are compared, with notes on how they were chosen."""

    language: Language | None
    """None where the sources have no language in common: then only what needs no words is compared."""
    sim: tuple[UserTranscript, ...]
    human: tuple[UserTranscript, ...]
    beside: dict[str, tuple[UserTranscript, ...]]
    """The `published` users and those `made` from people, as far as they were given."""
    references: dict[str, tuple[UserTranscript, ...]]
    """Further references by name; one without a comparable conversation is not there."""
    tasks: tuple[str, ...]
    by_assistant: bool
    """Whether conversations are compared only with those of the same assistant."""
    notes: tuple[str, ...]


def matched(
    sim: Sequence[Conversation],
    human: Sequence[Conversation],
    published: Sequence[Conversation] | None,
    language: Language | None,
    part: UserPartName,
    references: Mapping[str, Sequence[Conversation]] = MappingProxyType({}),
    retrieval_based: Sequence[Conversation] | None = None,
) -> MatchedConversations:
    """The parts of the sources that can be compared; the rest is left out with a note, without an error."""
    notes = []
    if part != "all":
        total = len(human)
        human = [conversation for conversation in human if of_part(conversation, part)]
        notes.append(f"People: the part {part!r} of the users, {len(human)} of {total} conversations.")
        if nameless := sum(not named_user(conversation) for conversation in human):
            notes.append(
                f"People: {nameless} of these name no user, so which part they are in rests on their scenario: in another "
                "form of the same data it may be the other part."
            )
    chosen, language_notes = _language(sim, human, language)
    notes += language_notes
    named = {f"Reference {name!r}": list(conversations) for name, conversations in references.items()}
    sides = {
        "Simulated": list(sim),
        "People": list(human),
        "Published": list(published or ()),
        RETRIEVAL_BASED: list(retrieval_based or ()),
        **named,
    }
    transcripts: dict[str, list[UserTranscript]] = {}
    for name, conversations in sides.items():
        readable, copies = _copies_as_one_user(transcripts_of(conversations, chosen))
        readable = transcripts[name] = _in_order(readable)
        if copies:
            notes.append(
                f"{name}: {copies} of {len(readable)} conversations name no user and are word for word copies of others: "
                "equal ones count as one user's."
            )
        if missing := len(conversations) - len(readable):
            in_language = f" that is to be had in {NAMES[chosen]}" if chosen else ""
            notes.append(
                f"{name}: {missing} of {len(conversations)} conversations have no text of the user{in_language}: left out."
            )
        translated = sum(transcript.translated for transcript in readable)
        if translated and chosen:
            notes.append(
                f"{name}: {translated} of {len(readable)} are compared in a translation into {NAMES[chosen]} "
                "that lies beside them in the data; measures that do not survive one are set apart."
            )
        if foreign := sum(written_language("\n".join(transcript.texts)) == "other" for transcript in readable):
            consequence = (
                f": words are read as {NAMES[chosen]} ones, so measures of words do not hold for them" if chosen else ""
            )
            notes.append(
                f"{name}: {foreign} of {len(readable)} conversations seem to be in neither English nor "
                f"Chinese{consequence}."
            )
        if long := sum(len(text) == MOST for one in readable for text in (*one.texts, *one.replies_before)):
            notes.append(f"{name}: messages of {MOST:,} characters or more, {long} of them: only so many are measured.")
        notes += _notes_on_users(name, conversations)
        optional_groups = {"Published": published, RETRIEVAL_BASED: retrieval_based}
        if not conversations and optional_groups.get(name, ()) is not None:
            notes.append(f"{name}: no conversation was given.")
    notes += _shared_notes(transcripts)
    compared, tasks, task_notes = _of_common_tasks(transcripts)
    compared, by_assistant, assistant_notes = _of_common_assistants(compared)
    return MatchedConversations(
        chosen,
        tuple(compared["Simulated"]),
        tuple(compared["People"]),
        {
            name: tuple(compared[side])
            for name, side, source in (
                ("published", "Published", published),
                ("made", RETRIEVAL_BASED, retrieval_based),
            )
            if source is not None
        },
        {name: tuple(compared[key]) for name, key in zip(references, named, strict=True) if compared[key]},
        tasks,
        by_assistant,
        (*notes, *task_notes, *assistant_notes),
    )


def _copies_as_one_user(transcripts: Sequence[UserTranscript]) -> tuple[list[UserTranscript], int]:
    """The transcripts with one user for equal dialogues that name none, and the number of those beyond the first."""
    nameless = [transcript for transcript in transcripts if not named_user(transcript.conversation)]
    nameless.sort(key=lambda transcript: transcript.cluster)  # which one names all copies, whatever the order of lines
    first: dict[object, str] = {}
    pairs = [(transcript.cluster, first.setdefault(transcript.dialogue, transcript.cluster)) for transcript in nameless]
    if len(first) == len(nameless):
        return list(transcripts), 0
    user = joined((min(pair), max(pair)) for pair in sorted(pairs))
    own = {transcript.cluster for transcript in nameless}
    one_user = [
        replace(transcript, cluster=user[transcript.cluster]) if transcript.cluster in own else transcript
        for transcript in transcripts
    ]
    return one_user, len(nameless) - len(first)


def _in_order(transcripts: Sequence[UserTranscript]) -> list[UserTranscript]:
    """Sorted by what they hold: random draws number the users, and must not depend on the order of lines."""
    places = [(one.cluster, one.task, digest(one.dialogue), one.conversation.id) for one in transcripts]
    often = Counter(places)
    # The whole record takes long to write down, and only decides between those that are otherwise alike.
    wholes = [
        digest(one.conversation.plain()) if often[place] > 1 else ""
        for one, place in zip(transcripts, places, strict=True)
    ]
    order = sorted(range(len(places)), key=lambda number: (places[number], wholes[number]))
    return [transcripts[number] for number in order]


def _shared_notes(transcripts: Mapping[str, Sequence[UserTranscript]]) -> list[str]:
    """Notes on conversations that stand on both sides, and on references that hold those of a side."""
    dialogues = {name: {transcript.dialogue for transcript in side} for name, side in transcripts.items()}
    sides = [dialogues["Simulated"], dialogues["People"]]
    notes = [
        f"{name}: {len(dialogues[name] & side)} of its {len(dialogues[name])} conversations are also those of {who}, "
        "so the two are hardly different samples."
        for name in dialogues
        if name.startswith("Reference")
        for who, side in zip(("the simulated users", "the people"), sides, strict=True)
        if dialogues[name] & side
    ]
    shared = len(sides[0] & sides[1])
    if shared and sides[0] == sides[1]:
        notes.append(
            "The conversations of the two sides are the same: a comparison of them with themselves finds nothing."
        )
    elif shared:
        notes.append(
            f"Both groups hold the same conversations, {shared} of {len(sides[0])} simulated and {len(sides[1])} of people: "
            "the measured differences are smaller for it. Leave them out of one group."
        )
    return notes


def _notes_on_users(name: str, conversations: Sequence[Conversation]) -> list[str]:
    """Notes on users without a name, and on conversations that seem to belong to the other side."""
    notes = []
    if nameless := sum(not named_user(conversation) for conversation in conversations):
        notes.append(
            f"{name}: {nameless} of {len(conversations)} conversations do not name their user: those about an equal scenario "
            "count as one user's, any other as a user's of its own. Name users of several (the key 'user'), or intervals are "
            "too narrow."
        )
    people = name == "People" or name.startswith("Reference")
    if misplaced := sum(domains.of(conversation).simulated(conversation) is people for conversation in conversations):
        who = "simulated users" if people else "people"
        notes.append(
            f"{name}: {misplaced} of {len(conversations)} conversations are of {who} by the data's own labels: check that this is "
            "intended."
        )
    return notes


def _language(
    sim: Sequence[Conversation], human: Sequence[Conversation], chosen: Language | None
) -> tuple[Language | None, list[str]]:
    """The language of the comparison: the chosen one, else a common one; with a note if there is none."""
    if chosen is not None:
        return chosen, []
    of_sim, of_human = languages_of(sim), languages_of(human)
    common: list[Language] = [language for language in of_human if language in of_sim]
    if common:
        return common[0], []
    if not of_sim or not of_human:
        of_either: list[Language] = [*of_human, *of_sim, "en"]
        return of_either[0], []
    note = (
        f"The languages differ: the simulated users write {NAMES[of_sim[0]]}, people {NAMES[of_human[0]]}, and "
        "neither has a translation. Only measures without words are compared."
    )
    return None, [note]


def _of_common_tasks(
    transcripts: dict[str, list[UserTranscript]],
) -> tuple[dict[str, list[UserTranscript]], tuple[str, ...], list[str]]:
    """The sides without the tasks that only one of them has; the common tasks; and notes.

    Where a conversation of either side names no task, all conversations count as one task.
    """
    counts = {name: Counter(transcript.task for transcript in side) for name, side in transcripts.items()}
    of_sim, of_human = counts["Simulated"], counts["People"]
    if not of_sim or not of_human:
        return transcripts, (), []
    if "" in of_sim or "" in of_human:
        notes = []
        if set(of_sim) | set(of_human) != {""}:
            notes.append("Tasks: some conversations have no task; all are compared as one task.")
        as_one = {name: [replace(transcript, task=ALL) for transcript in side] for name, side in transcripts.items()}
        return as_one, (ALL,), notes
    common = sorted(set(of_sim) & set(of_human))
    notes = [
        f"Task {task!r}: {counts[name][task]} conversations of {who} only: not compared."
        for name, who in (("Simulated", "simulated users"), ("People", "people"), ("Published", "the published ones"))
        for task in sorted(set(counts[name]) - set(common))
    ]
    notes += [
        f"{name}: none of its conversations is about a task that both sides have: not compared."
        for name, side in transcripts.items()
        if name.startswith(("Reference", RETRIEVAL_BASED)) and side and not set(counts[name]) & set(common)
    ]
    if not common:
        notes.append("Tasks: the two sides have none in common, so nothing is compared.")
    in_common_tasks = {
        name: [transcript for transcript in side if transcript.task in common] for name, side in transcripts.items()
    }
    return in_common_tasks, tuple(common), notes


def _of_common_assistants(
    sides: dict[str, list[UserTranscript]],
) -> tuple[dict[str, list[UserTranscript]], bool, list[str]]:
    """The sides; whether conversations are to be compared with those of the same assistant only; and notes.

    They are where all conversations of simulated users and of people name the assistant, and several are named; then
    those with an assistant that only one side has are left out. A user's messages depend on the assistant.
    """
    named = {name: {transcript.assistant for transcript in side} for name, side in sides.items() if side}
    sim, human = (named.get(name, set()) for name in ("Simulated", "People"))
    if not sim or not human or (sim == human and len(sim) == 1) or set().union(*named.values()) == {""}:
        return sides, False, []
    common = sim & human
    if "" in sim | human or not common:
        return (
            sides,
            False,
            [
                "Who answered: the sides may have talked to different assistants, whose effect is not removed: length, turns and "
                "other reactions to answers may differ only by it."
            ],
        )
    in_common = {name: [one for one in side if one.assistant in common] for name, side in sides.items()}
    left_out = sum(len(side) - len(in_common[name]) for name, side in sides.items())
    note = f"Who answered: conversations are compared with those of the same assistant ({', '.join(sorted(common))})"
    return in_common, True, [f"{note}; {left_out} with others are left out." if left_out else f"{note}."]


def summary(conversations: Sequence[Conversation], compared: Sequence[UserTranscript]) -> SideSummary:
    """What a side consists of."""
    dialogues = sorted(
        [conversation.id, [[message.role, message.text] for message in conversation.messages]]
        for conversation in conversations
    )
    return SideSummary(
        conversations=len(conversations),
        compared=len(compared),
        users=len({transcript.cluster for transcript in compared}),
        tasks=dict(sorted(Counter(transcript.task for transcript in compared).items())),
        translated=sum(transcript.translated for transcript in compared),
        assistants=dict(sorted(Counter(one.assistant for one in compared if one.assistant).items())),
        digest=digest(dialogues)[:16],
    )
