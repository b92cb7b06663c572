"""Bits of next messages under a language model: how near a simulated user is to people, without a judge and without a draw.

A message costs so many bits: the negative binary logarithm of the probability that the model gives it. It costs fewer where
the model knows the scenario and the conversation before it, if these say anything of the message; the difference is what
they explain. The same is measured of people's messages and of simulated users' at the same places. It needs the extras
`readers` and `stats`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import groupby, product
from os import cpu_count
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, TypeAlias

from ..data import domains
from ..data.files.json import dumps
from ..data.formats.messages import further
from ..data.identity import digest
from ..data.people import Moment, moments_of, named_user, user_of
from ..data.records import Conversation, Message
from ..data.scenarios import of_log
from ..errors import DataError, of_extra
from .estimates import by_group, mean, paired
from .language_model import OWN_LINE, Cost, Costs, LanguageModel
from .tables import Table, table_of

PERSON = "the person"
NOTHING, SCENARIO, HISTORY = "nothing", "the scenario", "and its history"
ANOTHER, OWN = "another history", "and own earlier messages"
BUILDS_ON = {NOTHING: "", SCENARIO: NOTHING, HISTORY: SCENARIO, ANOTHER: SCENARIO, OWN: HISTORY}
"""What is known in each row, and the row that knows one thing less."""
NOT_KNOWN = ("success", "plan", "script", "first_message", "messages", "language", "kind", "digest")
"""Keys of a scenario that do not say what a user knows or wants, or that hold the messages themselves."""
EXAMPLES = 8
"""Earlier messages of a person that are shown at most."""

UNITS: Mapping[str, Callable[[Cost, int], float]] = {
    "a message": lambda cost, characters: sum(cost),
    "a character": lambda cost, characters: (cost.first + cost.text) / characters,
    "a message's first token": lambda cost, characters: cost.first,
    "a message's end": lambda cost, characters: cost.end,
}
"""What is counted. How messages begin, and how long they are, is much of what any history explains: they stand apart."""

COLUMNS = ("of", "known", "n", "bits", "low", "high", "explains", "from", "to", "reason")

Said: TypeAlias = Mapping[str, Mapping[str, str]]
"""By `the person` or the name of a simulated user its messages, by the key of the moment."""


def bits_of(
    model: LanguageModel,
    moments: Sequence[Moment],
    people: Sequence[Conversation],
    simulated: Said,
    *,
    seed: int = 0,
    file: Path | None = None,
    watch: Callable[[int], object] = lambda done: None,
) -> dict[str, Table]:
    """What people's messages cost, simulated users' at the same moments, and what each thing that is known explains.

    A table for each of `UNITS`: means over people, each with the same weight.

    Args:
        model: The language model.
        moments: The places in people's conversations.
        people: Conversations from which other histories and a person's earlier messages come.
        simulated: The messages of simulated users.
        seed: Seed of these draws.
        file: Keeps the costs of each conversation that is done, so that none is asked for twice.
        watch: Called with how many conversations are done.

    Raises:
        DataError: There is no message.
    """
    said = {PERSON: {one.key: one.text for one in moments}, **simulated}
    talks = by_group((one.number, one) for one in moments if not one.ended)
    kept, stopped = _kept(file), Event()

    def costs_of(talk: Sequence[Moment]) -> list[_Asked]:
        run, asked = Costs(model), []
        for known, moment, before in _known(model, talk, people, seed):
            for source, texts in said.items():
                message = model.tokens(texts.get(moment.key, "").strip())
                if message and not stopped.is_set():
                    key = digest("bits", model.digest, list(before), message)
                    fits = len(before) + len(message) < model.context
                    cost = kept.get(key) or (run.of(before, message) if fits else None)
                    asked.append(_Asked(source, known, moment.key, key, cost))
        return asked

    costs: dict[tuple[str, str], dict[str, Cost]] = {}
    lost = 0
    with ExitStack() as stack:
        # Conversations side by side use the cores better than parts of an operation.
        stack.callback(model.torch.set_num_threads, model.torch.get_num_threads())
        model.torch.set_num_threads(1)
        pool = stack.enter_context(ThreadPoolExecutor(cpu_count()))
        stack.callback(stopped.set)  # Ctrl-C
        for done, asked in enumerate(pool.map(costs_of, talks), start=1):
            lost += sum(one.cost is None for one in asked)
            found = [(one, one.cost) for one in asked if one.cost is not None]
            for one, cost in found:
                costs.setdefault((one.source, one.known), {})[one.moment] = cost
            if file is not None and (new := {one.key: cost for one, cost in found if one.key not in kept}):
                with file.open("a", encoding="utf-8") as lines:
                    lines.writelines(f"\n{dumps([key, *cost])}" for key, cost in new.items())
            watch(done)
    if not costs:
        raise DataError("there is no message of a user with words: give conversations of people")
    notes = [
        "bits: minus the binary logarithm of the probability; explains: bits less than without it. Means and 95 % intervals "
        "over people."
    ]
    if model.frame.begins == OWN_LINE:
        notes.append(f"{model.name} has no chat template for this: its texts are plain lines.")
    if lost:
        notes.append(f"{lost} costs are left out: with what is known they are longer than {model.context} tokens.")
    return _tables(model.name, {one.key: user_of(one.conversation) for one in moments}, said, costs, notes)


class _Asked(NamedTuple):
    """A message, where it was said and what is known there; `key` names what was asked, `cost` is None of too long ones."""

    source: str
    known: str
    moment: str
    key: str
    cost: Cost | None


def _kept(file: Path | None) -> dict[str, Cost]:
    """The costs that a file holds, by what was asked."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else ():
        with suppress(ValueError, TypeError):  # a torn line is asked again
            key, *numbers = json.loads(line)
            found[key] = Cost(*map(float, numbers))
    return found


def _known(
    model: LanguageModel, talk: Sequence[Moment], people: Sequence[Conversation], seed: int
) -> Iterator[tuple[str, Moment, tuple[int, ...]]]:
    """What is known before each message of a conversation, as tokens, in an order in which they begin alike."""
    conversation = talk[0].conversation
    scenario = told(conversation)
    head, begins = model.tokens(model.frame.head), model.tokens(model.frame.begins)
    knows = (*head, *model.tokens(scenario))
    later = [moment for moment in talk if moment.before]
    yield from ((NOTHING, moment, (*head, *begins)) for moment in talk)
    yield from ((SCENARIO, moment, (*knows, *begins)) for moment in talk)
    yield from ((HISTORY, moment, (*knows, *history(model, moment.before))) for moment in later)
    as_far = [there.before for there in moments_of(_other(conversation, people, seed)) if there.before]
    for moment in later if as_far else ():
        there = as_far[min(max(moment.turn, 1), len(as_far)) - 1]
        yield ANOTHER, moment, (*knows, *history(model, there))
    if own := _own_words(conversation, people, seed):
        shown = (*head, *model.tokens(f"{scenario}\n\nMessages that you wrote to others:\n{own}"))
        yield from ((OWN, moment, (*shown, *(history(model, moment.before) or begins))) for moment in talk)


def _other(talk: Conversation, people: Sequence[Conversation], seed: int) -> list[Conversation]:
    """A conversation of another person in the same language, drawn by the seed; none where there is no such."""
    spoken, user = domains.of(talk).language(talk), user_of(talk)
    others = (one for one in people if domains.of(one).language(one) == spoken and user_of(one) != user)
    answered = (one for one in others if any(message.role == "assistant" for message in one.messages))
    return sorted(answered, key=lambda one: digest("other history", seed, talk.id, one.id))[:1]


def _own_words(talk: Conversation, people: Sequence[Conversation], seed: int) -> str:
    """Messages that the same person wrote in other conversations, drawn by the seed; empty without any."""
    name = named_user(talk)
    texts = {
        " ".join(message.text.split())
        for one in people
        if name and one.id != talk.id and named_user(one) == name
        for message in one.messages
        if message.role == "user" and message.stored and message.text.strip()
    }
    drawn = sorted(texts, key=lambda text: digest("own words", seed, talk.id, text))
    return "\n".join(f"- {text}" for text in drawn[:EXAMPLES])


def _tables(
    model: str,
    person: Mapping[str, str],
    said: Said,
    costs: Mapping[tuple[str, str], Mapping[str, Cost]],
    notes: Sequence[str],
) -> dict[str, Table]:
    """By unit a table with a row for each source and for what is known; `person`: whose conversation each moment is in."""
    pandas = of_extra("pandas", "stats")
    tables: dict[str, Table] = {}
    for unit, counted in UNITS.items():
        rows: list[tuple[Any, ...]] = []
        for source, known in product(said, BUILDS_ON):
            own, less = (
                {
                    key: counted(cost, len(said[source][key].strip()))
                    for key, cost in costs.get((source, one), {}).items()
                }
                for one in (known, BUILDS_ON[known])
            )
            bits = mean(by_group((person[key], value) for key, value in own.items()), unit="people")
            pairs = by_group((person[key], (value, less[key])) for key, value in own.items() if key in less)
            if own:
                rows.append((source, known, len(own), *bits.ends, *paired(pairs, None, "people").ends, bits.reason))
        frame = pandas.DataFrame(rows, columns=COLUMNS)
        people = len({person[key] for one in costs.values() for key in one})
        reasons = [f"{reason}." for reason in dict.fromkeys(frame.pop("reason")) if reason]
        title = f"Bits of {unit} under {model}, {people} people"
        tables[f"bits of {unit}"] = table_of(title, frame, [*notes, *reasons] if not tables else (), places=2)
    return tables


def told(conversation: Conversation) -> str:
    """What a simulated user knows of its scenario, in lines: the topic, or the profile, the task and the goal.

    A text that messages are slices of is not among it: only the other side sees it.
    """
    known = {key: value for key, value in conversation.scenario.items() if key not in NOT_KNOWN}
    line, _ = of_log(conversation, further(conversation))
    known |= {key: line[key] for key in ("goal", "facts", "persona") if key in line and key not in known}
    scenario = {**known, "kind": conversation.scenario.get("kind")}
    domain = domains.of(conversation)
    lines = [domain.title(scenario), domain.subtitle(scenario)]
    for piece in domain.material(scenario):
        if not piece.source and piece.label != "kind":
            lines += [f"{name}: {text}" for name, text in piece.rows] or [piece.text]
    return "\n".join(dict.fromkeys(filter(None, lines)))


def history(model: LanguageModel, messages: Sequence[Message]) -> tuple[int, ...]:
    """The tokens of earlier messages, several of one side in a row as one, up to where an own message begins."""
    frame, ids = model.frame, list[int]()
    said = (message for message in messages if message.name is None and message.stored)
    for role, together in groupby(said, key=lambda message: message.role):
        starts = [frame.to_own if role == "user" else frame.to_other]
        if not ids:  # where the other side begins, an own message without a text is before it
            starts = [frame.begins] if role == "user" else [frame.begins, frame.to_other]
        for text in (*starts, "\n".join(message.text for message in together)):
            ids += model.tokens(text)
    return (*ids, *model.tokens(frame.to_own)) if ids else ()
