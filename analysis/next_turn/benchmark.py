"""The next-turn benchmark: which moments of people's conversations are asked about, the baselines, and the report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...data import domains
from ...data.identity import digest
from ...data.next_turns import Moment, NextTurn, moments_of
from ...data.people import of_part, user_of
from ...data.records import Conversation
from ...data.text.languages import Language
from ...errors import DataError, SettingError
from ..over_users.means import FEWEST_IN_INTERVAL
from ..realism.measures.transcripts import task_of
from ..realism.report import UserPartName
from .donors import Donors, about_the_same, by_language, language_of
from .judging import JudgedRow, RowKind, TurnJudge, TurnText
from .report import FLOOR, NextTurnReport, ProbedNextTurnReport, row_of
from .weights import Embed, TextWeights

PERSON = "the person"
REPEAT = "repeats itself"
BASELINE_ROW = "made from people"
PUBLISHED = "published"
ENOUGH = 0.5
"""Share of the moments that a row needs to count in which moments rows are compared at."""


@dataclass(frozen=True)
class Benchmark:
    """The moments of people's conversations, with the baselines that need no call.

    `report` compares what users say there (`duologue.runs.people.next_turn` asks them) with what the person said.
    """

    moments: tuple[Moment, ...]
    part: UserPartName
    seed: int
    weights: TextWeights
    """Of the words in all people's turns of the source, so that a turn's score depends on no option."""
    others: Callable[[Language], Donors]
    """People's conversations of the part, to draw another person's turn from, by language."""
    published: Callable[[Language], Donors] | None
    notes: tuple[str, ...] = ()
    probes: tuple[int, ...] = ()
    """Per cents of a conversation at whose turns users are asked; empty: at all turns, and where the person left."""

    @classmethod
    def of(
        cls,
        conversations: Sequence[Conversation],
        published: Sequence[Conversation] | None = None,
        *,
        part: UserPartName = "all",
        limit: int | None = None,
        seed: int = 0,
    ) -> "Benchmark":
        """The moments of people's conversations.

        - `published`: simulated users of an earlier study.
        - `part`: of the people `tune`, `test` or `all`, as for `realism.compare`.
        - `limit`: only so many conversations, drawn by the seed.

        DataError if no turn of a user is left.
        """
        moments = list(moments_of(conversations))
        weights = TextWeights.of((moment.text, language_of(moment.conversation)) for moment in moments if moment.text)
        places = [n for n, one in enumerate(conversations) if of_part(one, part)]
        selected = [conversations[place] for place in places]
        notes = _notes(selected)
        if part != "all":
            notes.insert(0, f"People: the part {part!r} of the users, {len(selected)} of {len(conversations)}.")
        by_lot = sorted(places, key=lambda place: digest("next turn", seed, conversations[place].id, place))
        taken = frozenset(by_lot[:limit])
        chosen = tuple(moment for moment in moments if moment.number in taken)
        if not any(moment.messages for moment in chosen):
            raise DataError("there is no turn of a user to compare with: give conversations of people")
        spoken: list[Language] = [language_of(moment.conversation) for moment in chosen]
        earlier = None if published is None else by_language(published, spoken)
        return cls(chosen, part, seed, weights, by_language(selected, spoken), earlier, tuple(notes))

    def at(self, probes: Sequence[int]) -> "Benchmark":
        """The benchmark with only the turns at these per cents of each conversation.

        SettingError for one outside of 0 to 99.
        """
        if wrong := [probe for probe in probes if not 0 <= probe < 100]:
            raise SettingError(f"a probe is a per cent of a conversation from 0 to 99, not {wrong[0]}")
        chosen = tuple(sorted(set(probes)))
        if not chosen:
            return self
        keys = frozenset().union(*(self._keys_at(probe) for probe in chosen))
        return replace(self, moments=tuple(one for one in self.moments if one.key in keys), probes=chosen)

    def _keys_at(self, probe: int) -> frozenset[str]:
        """The turn of each conversation before which this per cent of its user's turns lie, rounded down."""
        turns: dict[int, int] = {}
        for moment in self._all_turns:
            turns[moment.number] = turns.get(moment.number, 0) + 1
        places = {number: count * probe // 100 for number, count in turns.items()}
        return frozenset(one.key for one in self._all_turns if one.turn == places[one.number])

    @cached_property
    def _all_turns(self) -> list[Moment]:
        """The turns of whole conversations, from which probes are counted."""
        numbers = {moment.number for moment in self.moments}
        conversations = {moment.number: moment.conversation for moment in self.moments}
        return [
            replace(one, number=number)
            for number in sorted(numbers)
            for one in moments_of([conversations[number]])
            if not one.ended
        ]

    def askable(self, may_be_asked: Callable[[Moment], bool]) -> "Benchmark":
        """The benchmark without the moments at which no user can be asked; a note counts them."""
        left = tuple(moment for moment in self.moments if may_be_asked(moment))
        if len(left) == len(self.moments):
            return self
        if not any(moment.messages for moment in left):
            raise DataError(
                "no user can be asked for any of these turns: give conversations with a task, or longer ones"
            )
        note = (
            f"{len(self.moments) - len(left)} first turns are left out: nothing before them states what the user wants."
        )
        return replace(self, moments=left, notes=(*self.notes, note))

    def judged(
        self,
        predictions: Mapping[str, Sequence[NextTurn]],
        embed: Embed | None = None,
        *,
        retrieval_based: Sequence[NextTurn] | None = None,
    ) -> tuple[JudgedRow, ...]:
        """Every row with the scores of each of its turns: the person's own, the baselines, then each user asked.

        `retrieval_based`: the turns of users made from people, as a baseline.
        """
        judge = TurnJudge(self.weights, embed)
        asked_rows: list[tuple[str, RowKind, TurnText]] = [
            (name, "user", {turn.key: turn for turn in turns}) for name, turns in predictions.items()
        ]
        rows: list[tuple[str, RowKind, TurnText]] = [
            (PERSON, "person", {moment.key: _own(moment) for moment in self.moments}),
            (FLOOR, "baseline", self._another()),
            (REPEAT, "baseline", {moment.key: _repeated(moment) for moment in self.moments}),
        ]
        if retrieval_based is not None:
            rows.append((BASELINE_ROW, "baseline", {turn.key: turn for turn in retrieval_based}))
        if self.published is not None:
            rows.append((PUBLISHED, "published", self._earlier[0]))
        return tuple(judge.row(name, kind, self.moments, turns) for name, kind, turns in (*rows, *asked_rows))

    def report(self, rows: Sequence[JudgedRow], notes: Sequence[str] = ()) -> NextTurnReport:
        """The table of these rows, at the moments at which all of them could be asked; with further notes.

        A row that could be asked at less than half of the moments takes none from the others. Its means are over its
        part of the common ones, and the report has a note about it.
        """
        floor = next((row for row in rows if row.name == FLOOR), None)
        users = len({user_of(moment.conversation) for moment in self.moments})
        sufficient = [row.keys for row in rows if len(row.keys) >= ENOUGH * len(self.moments)]
        common = frozenset(moment.key for moment in self.moments).intersection(*sufficient)
        few = [f"No interval: there are {users} users, it needs {FEWEST_IN_INTERVAL}."] * (users < FEWEST_IN_INTERVAL)
        report = NextTurnReport(
            part=self.part,
            seed=self.seed,
            conversations=len({moment.number for moment in self.moments}),
            users=users,
            turns=sum(not moment.ended for moment in self.moments),
            ends=sum(moment.ended for moment in self.moments),
            rows=tuple(row_of(row, floor, common) for row in rows),
            notes=(
                *self.notes,
                *few,
                *self._notes_on(rows),
                *_notes_on_common(rows, common, len(self.moments)),
                *notes,
            ),
        )
        if not self.probes:
            return report
        by_probe = {
            probe: tuple(row_of(row, floor, common & self._keys_at(probe)) for row in rows) for probe in self.probes
        }
        return ProbedNextTurnReport(**dict(report), by_probe=by_probe)

    def _another(self) -> dict[str, NextTurn]:
        turns: dict[str, NextTurn] = {}
        for moment in self.moments:
            donors = self.others(language_of(moment.conversation))
            pool = donors.by_task.get(task_of(moment.conversation), [])
            turn = donors.drawn(moment, user_of(moment.conversation), self.seed, FLOOR, pool)
            if turn is not None:
                turns[moment.key] = turn
        return turns

    @cached_property
    def _earlier(self) -> tuple[dict[str, NextTurn], int]:
        """The published users' turns, and the number of moments that match only by task."""
        turns: dict[str, NextTurn] = {}
        by_task = 0
        if (earlier := self.published) is None:
            return turns, by_task
        for moment in self.moments:
            language = language_of(moment.conversation)
            donors = earlier(language)
            pool = about_the_same(donors, moment, language)
            if not pool:
                pool = donors.by_task.get(task_of(moment.conversation), []) if task_of(moment.conversation) else []
                by_task += bool(pool)
            turn = donors.drawn(moment, "", self.seed, PUBLISHED, pool)
            if turn is not None:
                turns[moment.key] = turn
        return turns, by_task

    def _notes_on(self, rows: Sequence[JudgedRow]) -> list[str]:
        notes = []
        for row in rows:
            if lacking := len(self.moments) - len(row.turns):
                notes.append(f"{row.name}: no person to draw from at {lacking} of {len(self.moments)} places.")
            failed = [turn.next_turn.failure for turn in row.turns if turn.next_turn.failure]
            if failed:
                notes.append(f"{row.name}: {len(failed)} of {len(row.turns)} could not be asked: {failed[0]}")
        if only := self._earlier[1]:
            notes.append(
                f"{PUBLISHED}: at {only} of {len(self.moments)} places there is no conversation about the same context; "
                "one about the same task stands there."
            )
        return notes


def _notes_on_common(rows: Sequence[JudgedRow], common: frozenset[str], moments: int) -> list[str]:
    """Notes on the moments at which rows are compared, where these are not all."""
    notes = []
    if len(common) < moments:
        notes.append(f"Means are over the {len(common)} of {moments} places at which rows could be asked.")
    few = [(row.name, len(row.keys & common)) for row in rows if not common <= row.keys]
    notes += [
        f"{name}: means over only {count} of these, so not to be compared with the others." for name, count in few
    ]
    return notes


def _own(moment: Moment) -> NextTurn:
    return NextTurn(id=moment.key, key=moment.key, text=moment.text, stopped=moment.ended)


def _repeated(moment: Moment) -> NextTurn:
    """The user's own last turn; empty where there is none before."""
    texts: list[str] = []
    for message in reversed(moment.before):
        if message.role == "user" and message.stored:
            texts.insert(0, message.text)
        elif texts:
            break
    return NextTurn(id=moment.key, key=moment.key, text="\n".join(texts))


def _notes(conversations: Sequence[Conversation]) -> list[str]:
    notes = []
    if simulated := sum(domains.of(one).simulated(one) is True for one in conversations):
        notes.append(f"{simulated} of {len(conversations)} conversations are of simulated users: is this intended?")
    if nameless := sum(not domains.of(one).user(one) for one in conversations):
        notes.append(
            f"{nameless} of {len(conversations)} conversations do not name their user: those about an equal scenario count "
            "as one user's."
        )
    return notes
