"""Bits of next messages under a language model: how near a simulated user is to people, without a judge and without a draw.

A message costs so many bits: the negative binary logarithm of the probability that the model gives it. It costs fewer where
the model knows the scenario and the conversation before it, if these say anything of the message; the difference is what
they explain. The same is measured of people's messages and of simulated users' at the same places. It needs the extras
`readers` and `stats`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby, product
from os import cpu_count
from pathlib import Path
from threading import Event, Lock, local
from typing import Any

from typing_extensions import override

from ..data import domains
from ..data.files.json import dumps
from ..data.formats.messages import further
from ..data.identity import digest
from ..data.people import Moment, named_user, user_of
from ..data.records import Conversation, Message, Record
from ..data.scenarios import of_log
from ..errors import DataError
from .estimates import Difference, Estimate, by_group, mean, paired
from .language_model import Cost, Costs, LanguageModel
from .tables import Column, Table, TabledReport

NOTHING, SCENARIO, HISTORY = "nothing", "the scenario", "and its history"
ANOTHER, OWN = "another history", "and own earlier messages"
BUILDS_ON = {SCENARIO: NOTHING, HISTORY: SCENARIO, ANOTHER: SCENARIO, OWN: HISTORY}
"""What is known in each row, and the row that knows one thing less."""
NOT_KNOWN = ("success", "plan", "script", "first_message", "messages", "language", "kind", "digest")
"""Keys of a scenario that do not say what a user knows or wants, or that hold the messages themselves."""
EXAMPLES = 8
"""Earlier messages of a person that are shown at most."""


UNITS: Mapping[str, Callable[[Cost, int], float]] = {
    "a message": lambda cost, characters: cost.bits,
    "a character": lambda cost, characters: (cost.first + cost.text) / characters,
    "a message's first token": lambda cost, characters: cost.first,
    "a message's end": lambda cost, characters: cost.end,
}
"""What is counted. How messages begin, and how long they are, is much of what any history explains: they stand apart."""


class BitsRow(Record):
    """What messages cost where so much is known: means over people, each with the same weight."""

    unit: str
    """Bits of what, one of `UNITS`."""
    source: str
    """Whose messages: `the person`, or the name of a simulated user."""
    known: str
    messages: int
    bits: Estimate
    explains: Difference | None = None
    """Bits less than where this is not known; None for the first row."""


class BitsReport(TabledReport):
    """What is known, and what messages cost then."""

    model: str
    people: int
    rows: tuple[BitsRow, ...]
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        *_, last = UNITS
        return [self.table(unit, self.notes if unit == last else ()) for unit in UNITS]

    def table(self, unit: str = "a message", notes: Sequence[str] = ()) -> Table:
        """A row for each source of messages and for what is known."""
        columns = [Column(name="of"), Column(name="known"), Column(name="n", kind="count")]
        names = ("bits", "low", "high", "explains", "from", "to")
        columns += [Column(name=name, kind="number", places=2) for name in names]
        rows = tuple(
            (row.source, row.known, row.messages, *row.bits.ends, *(row.explains or Difference()).ends)
            for row in self.rows
            if row.unit == unit
        )
        title = f"Bits of {unit} under {self.model}, {self.people} people"
        return Table(title=title, columns=tuple(columns), rows=rows, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A message, and what is known before it."""

    moment: Moment
    source: str
    known: str
    text: str
    before: tuple[int, ...]


@dataclass
class KeptCosts:
    """The costs that a file holds, by what was asked; a line is appended for each new one."""

    path: Path | None = None
    found: dict[str, Cost] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    key, *numbers = json.loads(line)
                    self.found[key] = Cost(*map(float, numbers))
                except (ValueError, TypeError):  # a torn line is asked again
                    continue

    def add(self, key: str, cost: Cost) -> None:
        """Keep a cost; a line is whole, whatever else is under way."""
        with self._lock:
            self.found[key] = cost
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(f"\n{dumps([key, *cost])}")


@dataclass(frozen=True)
class Ledger:
    """The costs of messages at moments of people's conversations, and what each thing that is known explains of them."""

    model: LanguageModel
    moments: Sequence[Moment]
    people: Sequence[Conversation]
    """Of these come other histories and a person's earlier messages."""
    seed: int = 0
    kept: KeptCosts = field(default_factory=KeptCosts)

    def report(
        self,
        simulated: Mapping[str, Mapping[str, str]] = {},
        watch: Callable[[int, int], object] = lambda done, planned: None,
    ) -> BitsReport:
        """The report of people's messages, and of simulated users' at the same moments.

        Args:
            simulated: By the name of a user the texts of its messages, by the key of the moment.
            watch: Called with how many messages are done, and of how many.
        """
        said = {"the person": {one.key: one.text for one in self.moments}, **simulated}
        wanted = [one for one in self.moments if not one.ended]
        asked = [self._asked(own, said) for own in by_group((one.number, one) for one in wanted)]
        whole = [[one for one in own if self._fits(one)] for own in asked]
        planned, lost = sum(map(len, whole)), sum(map(len, asked)) - sum(map(len, whole))
        if not planned:
            raise DataError("there is no message of a user with words: give conversations of people")
        costs: dict[tuple[str, str, str], Cost] = {}
        runs, stopped = local(), Event()
        with self.model.one_thread(), ThreadPoolExecutor(cpu_count()) as pool:
            works = [pool.submit(self._costs, own, runs, stopped) for own in whole]
            try:
                for work in as_completed(works):
                    costs |= work.result()
                    watch(len(costs), planned)
            finally:  # Ctrl-C
                stopped.set()
                pool.shutdown(cancel_futures=True)
        notes = [
            "bits: minus the binary logarithm of the probability; explains: bits less than without it. Means and 95 % intervals "
            "over people.",
        ]
        if not self.model.has_template:
            notes.append(f"{self.model.name} has no chat template for this: its texts are plain lines.")
        if lost:
            notes.append(
                f"{lost} costs are left out: with what is known they are longer than {self.model.context} tokens."
            )
        if nameless := sum(
            not named_user(one) for one in {one.conversation.id: one.conversation for one in wanted}.values()
        ):
            notes.append(f"{nameless} conversations do not name their user: each scenario is one.")
        rows = tuple(self._rows(said, costs))
        notes += dict.fromkeys(f"{row.bits.reason}." for row in rows if row.bits.reason)
        people = len({user_of(moment.conversation) for moment in wanted})
        return BitsReport(model=self.model.name, people=people, rows=rows, notes=tuple(notes))

    def _fits(self, one: _Asked) -> bool:
        return len(one.before) + len(self.model.tokens(one.text)) + 1 <= self.model.context

    def _costs(self, asked: Sequence[_Asked], runs: Any, stopped: Event) -> dict[tuple[str, str, str], Cost]:
        """The costs of a conversation's messages; each thread has what it ran before."""
        if not hasattr(runs, "costs"):
            runs.costs = Costs(self.model)
        found: dict[tuple[str, str, str], Cost] = {}
        for before, together in groupby(asked, key=lambda one: one.before):
            if stopped.is_set():
                break
            messages = {one: self.model.tokens(one.text) for one in together}
            keys = {one: digest("bits", self.model.digest, list(before), message) for one, message in messages.items()}
            new = [one for one in messages if keys[one] not in self.kept.found]
            costs = runs.costs.of(before, [messages[one] for one in new]) if new else []
            for one, cost in zip(new, costs, strict=True):
                self.kept.add(keys[one], cost)
            found |= {(one.source, one.known, one.moment.key): self.kept.found[keys[one]] for one in messages}
        return found

    def _asked(self, moments: Sequence[Moment], said: Mapping[str, Mapping[str, str]]) -> list[_Asked]:
        """What is asked of one conversation, in the order in which most of it begins as what was asked before."""
        tokens, frame = self.model.tokens, self.model.frame
        talk = moments[0].conversation
        head, begins = tuple(tokens(frame.head)), tuple(tokens(frame.begins))
        scenario = told(talk)
        knows = (*head, *tokens(scenario))
        before: dict[str, dict[str, tuple[int, ...]]] = {
            NOTHING: {moment.key: (*head, *begins) for moment in moments},
            SCENARIO: {moment.key: (*knows, *begins) for moment in moments},
        }
        later = [moment for moment in moments if moment.before]
        before[HISTORY] = {one.key: (*knows, *history(self.model, one.before)) for one in later}
        if (other := self._other(talk)) is not None:
            before[ANOTHER] = {one.key: (*knows, *history(self.model, _as_far(other, one))) for one in later}
        if own := self._own_words(talk):
            shown = (*head, *tokens(f"{scenario}\n\nMessages that you wrote to others:\n{own}"))
            starts = {one.key: history(self.model, one.before) or begins for one in moments}
            before[OWN] = {key: (*shown, *start) for key, start in starts.items()}
        return [
            _Asked(moment, source, known, text, places[moment.key])
            for known, places in before.items()
            for moment in moments
            if moment.key in places
            for source, texts in said.items()
            if (text := texts.get(moment.key, "").strip())
        ]

    def _other(self, talk: Conversation) -> Conversation | None:
        """A conversation of another person in the same language, drawn by the seed."""
        spoken = domains.of(talk).language(talk)
        others = [
            one
            for one in self.people
            if domains.of(one).language(one) == spoken and any(message.role == "assistant" for message in one.messages)
            if user_of(one) != user_of(talk)
        ]
        return min(others, key=lambda one: digest("other history", self.seed, talk.id, one.id), default=None)

    def _own_words(self, talk: Conversation) -> str:
        """Messages that the same person wrote in other conversations, drawn by the seed; empty without any."""
        if not (name := named_user(talk)):
            return ""
        texts = [
            " ".join(message.text.split())
            for one in self.people
            if one.id != talk.id and named_user(one) == name
            for message in one.messages
            if message.role == "user" and message.stored and message.text.strip()
        ]
        drawn = sorted(dict.fromkeys(texts), key=lambda text: digest("own words", self.seed, talk.id, text))
        return "\n".join(f"- {text}" for text in drawn[:EXAMPLES])

    def _rows(
        self, said: Mapping[str, Mapping[str, str]], costs: Mapping[tuple[str, str, str], Cost]
    ) -> Iterator[BitsRow]:
        person = {moment.key: user_of(moment.conversation) for moment in self.moments}
        for unit, counted in UNITS.items():
            bits = {
                (source, known, key): counted(cost, len(said[source][key].strip()))
                for (source, known, key), cost in costs.items()
            }
            for source, known in product(said, (NOTHING, *BUILDS_ON)):
                own = {key: bits[source, known, key] for key in person if (source, known, key) in bits}
                less = {key: (source, BUILDS_ON.get(known, ""), key) for key in own}
                pairs = [(person[key], (value, bits[less[key]])) for key, value in own.items() if less[key] in bits]
                if own:
                    yield BitsRow(
                        unit=unit,
                        source=source,
                        known=known,
                        messages=len(own),
                        bits=mean(by_group((person[key], value) for key, value in own.items()), unit="people"),
                        explains=paired(by_group(pairs), None, "people") if pairs else None,
                    )


def told(conversation: Conversation) -> str:
    """What a simulated user knows of its scenario, in lines: the topic, or the profile, the task and the goal.

    A text that messages are slices of is not among it: only the other side sees it.
    """
    scenario = {key: value for key, value in conversation.scenario.items() if key not in NOT_KNOWN}
    line, _ = of_log(conversation, further(conversation))
    scenario |= {key: line[key] for key in ("goal", "facts", "persona") if key in line and key not in scenario}
    domain = domains.of(conversation)
    kind = {"kind": conversation.scenario.get("kind")}
    lines = [domain.title({**scenario, **kind}), domain.subtitle({**scenario, **kind})]
    for piece in domain.material({**scenario, **kind}):
        if not piece.source and piece.label != "kind":
            lines += [f"{name}: {text}" for name, text in piece.rows] or [piece.text]
    return "\n".join(line for line in dict.fromkeys(lines) if line)


def history(model: LanguageModel, messages: Sequence[Message]) -> tuple[int, ...]:
    """The tokens of earlier messages, several of one side in a row as one, up to where an own message begins."""
    turns: list[tuple[str, list[str]]] = []
    for message in messages:
        if message.name is None and message.stored:
            if not turns or turns[-1][0] != message.role:
                turns.append((message.role, []))
            turns[-1][1].append(message.text)
    ids: list[int] = []
    for place, (role, texts) in enumerate(turns):
        own, other = (model.frame.to_own, model.frame.to_other) if place else (model.frame.begins, model.frame.answers)
        ids += [*model.tokens(own if role == "user" else other), *model.tokens("\n".join(texts))]
    return (*ids, *model.tokens(model.frame.to_own)) if turns else ()


def _as_far(other: Conversation, moment: Moment) -> tuple[Message, ...]:
    """The messages of another conversation up to its user's turn of the same number, or to its last answer."""
    last = max(place for place, message in enumerate(other.messages) if message.role == "assistant")
    turns = [place for place, message in enumerate(other.messages[: last + 1])
             if message.role == "user" and place and other.messages[place - 1].role == "assistant"]  # fmt: skip
    starts = [0, *turns, last + 1]
    return other.messages[: starts[min(max(moment.turn, 1), len(starts) - 1)]]
