"""How near a simulated user comes to the person's next turn, beside another person's turn at the same place.

It calls no model. Needs the extra `stats`, for Chinese `zh`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any

from typing_extensions import override

from ..data import domains
from ..data.identity import digest
from ..data.people import Moment, NextTurn, UserPart, moments_of, of_part, user_of
from ..data.records import Conversation, Record
from ..errors import DataError
from .bits import BitsReport
from .estimates import Difference, Estimate, Item, by_group, mean, paired
from .realism.transcripts import task_of
from .tables import Cell, Column, Table, TabledReport

PERSON, FLOOR, REPEAT, RETRIEVED = "the person", "another person", "repeats itself", "made from people"
ENOUGH = 0.5
"""Share of the moments that a row needs to count in which moments rows are compared at."""


class NextTurnRow(Record):
    """The scores of one source of turns: means over users, each with the same weight."""

    name: str
    turns: int
    """Turns of people that it is compared at."""
    ends: int
    """Ends of people that it is compared at."""
    chrf: Estimate
    """Similarity to what the person wrote, 0 to 1."""
    above: Difference = Difference()
    """Its chrF less that of another person's turn at the same places."""
    ended: Estimate
    """Share of the ends at which it leaves as the person did."""
    stayed: Estimate
    """Share of the turns at which it goes on as the person did."""
    rejected: int
    """Drafts that its own validator rejected."""
    failed: int
    """Moments at which it could not be asked; they count in no mean."""
    failure: str
    """Why, of the most frequent reason; empty if all were asked."""


class NextTurnReport(TabledReport):
    """The nearness of each row to people's next turns."""

    part: UserPart
    seed: int
    conversations: int
    users: int
    turns: int
    ends: int
    rows: tuple[NextTurnRow, ...]
    bits: BitsReport | None = None
    """What the messages cost under a language model, where one is given."""
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        return [self.table(), *([] if self.bits is None else self.bits.tables())]

    def table(self) -> Table:
        """A row for each source of turns."""
        columns = [Column(name="row"), Column(name="turns", kind="count")]
        names = ("chrF", "low", "high", "above", "above low", "above high", "ended", "stayed")
        columns += [Column(name=name, kind="number") for name in names]
        columns += [Column(name=name, kind="count") for name in ("rejected", "failed")]
        rows: list[tuple[Cell, ...]] = [
            (
                row.name,
                row.turns,
                *row.chrf.ends,
                *row.above.ends,
                row.ended.value,
                row.stayed.value,
                row.rejected,
                row.failed,
            )
            for row in self.rows
        ]
        notes = (
            "chrF: similarity to what the person wrote, 0 to 1; above: less that of another person's turn at the same "
            "places. ended: left where the person left; stayed: went on where the person went on. Means and 95 % intervals "
            "over users.",
            *dict.fromkeys(f"{row.chrf.reason}." for row in self.rows if row.chrf.reason),
            *self.notes,
        )
        title = f"The next turn of {self.users} people, {self.turns} turns"
        return Table(title=title, columns=tuple(columns), rows=tuple(rows), notes=notes)


@dataclass(frozen=True)
class Benchmark:
    """The moments of people's conversations, and those whose turns are another person's there."""

    moments: tuple[Moment, ...]
    part: UserPart
    seed: int
    others: Mapping[tuple[str, str], Sequence[Sequence[Moment]]]
    """By language and task the conversations of the part, each as its moments: among them are another person's turns."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, conversations: Sequence[Conversation], *, part: UserPart = "all", limit: int | None = None, seed: int = 0
    ) -> "Benchmark":
        """The moments of people's conversations.

        `part`: of the people `tune`, `test` or `all`. `limit`: only so many conversations, drawn by the seed. DataError if
        no turn of a user is left.
        """
        places = [place for place, one in enumerate(conversations) if of_part(one, part)]
        by_lot = sorted(places, key=lambda place: digest("next turn", seed, conversations[place].id, place))
        taken = frozenset(by_lot[:limit])
        moments = tuple(moment for moment in moments_of(conversations) if moment.number in taken)
        if not any(moment.messages for moment in moments):
            raise DataError("there is no turn of a user to compare with: give conversations of people")
        selected = [conversations[place] for place in places]
        notes = []
        if simulated := sum(domains.of(one).simulated(one) is True for one in selected):
            notes.append(f"{simulated} of {len(selected)} conversations are of simulated users: is this intended?")
        if nameless := sum(not domains.of(one).user(one) for one in selected):
            notes.append(f"{nameless} of {len(selected)} conversations do not name their user: each scenario is one.")
        talks = by_group((moment.number, moment) for moment in moments_of(selected))
        of_topics = by_group((_topic_of(talk[0]), talk) for talk in talks if not talk[0].ended)
        return cls(moments, part, seed, {_topic_of(talks[0][0]): talks for talks in of_topics}, tuple(notes))

    def askable(self, may_be_asked: Callable[[Moment], bool]) -> "Benchmark":
        """The benchmark without the moments at which no user can be asked; a note counts them."""
        left = tuple(moment for moment in self.moments if may_be_asked(moment))
        if not any(moment.messages for moment in left):
            raise DataError(
                "no user can be asked for any of these turns: give conversations with a task, or longer ones"
            )
        lacking = len(self.moments) - len(left)
        note = f"{lacking} first turns are left out: nothing before them states what the user wants."
        return replace(self, moments=left, notes=(*self.notes, note)) if lacking else self

    def rows(self, predictions: Mapping[str, Sequence[NextTurn]]) -> dict[str, dict[str, NextTurn]]:
        """What each row says at each moment, by its key: the person, the baselines that need no call, the users."""
        return {
            PERSON: {
                one.key: NextTurn(id=one.key, key=one.key, text=one.text, stopped=one.ended) for one in self.moments
            },
            FLOOR: {one.key: turn for one in self.moments if (turn := self._another(one)) is not None},
            REPEAT: {one.key: NextTurn(id=one.key, key=one.key, text=_last_turn(one)) for one in self.moments},
            **{name: {turn.key: turn for turn in turns} for name, turns in predictions.items()},
        }

    def report(self, rows: Mapping[str, Mapping[str, NextTurn]], notes: Sequence[str] = ()) -> NextTurnReport:
        """The rows, at the moments at which all could be asked that could be at half of them; with further notes."""
        asked = {name: {key for key, turn in turns.items() if turn.failure is None} for name, turns in rows.items()}
        common = {moment.key for moment in self.moments}
        for keys in asked.values():
            common &= keys if len(keys) >= ENOUGH * len(self.moments) else common
        further = list(self.notes)
        if len(common) < len(self.moments):
            further.append(
                f"Means are over the {len(common)} of {len(self.moments)} places at which rows could be asked."
            )
        further += [
            f"{name}: means over only {len(keys & common)} of these, so not to be compared with the others."
            for name, keys in asked.items()
            if not common <= keys
        ]
        floor = self._chrf(rows[FLOOR], common)
        return NextTurnReport(
            part=self.part,
            seed=self.seed,
            conversations=len({moment.number for moment in self.moments}),
            users=len({user_of(moment.conversation) for moment in self.moments}),
            turns=sum(not moment.ended for moment in self.moments),
            ends=sum(moment.ended for moment in self.moments),
            rows=tuple(self._row(name, turns, common, floor) for name, turns in rows.items()),
            notes=(*further, *notes),
        )

    def lines(self, rows: Mapping[str, Mapping[str, NextTurn]]) -> Iterator[dict[str, Any]]:
        """Every turn of every row beside the person's, as plain JSON values."""
        for name, turns in rows.items():
            for moment in self.moments:
                if (turn := turns.get(moment.key)) is not None:
                    yield {
                        "row": name,
                        "conversation": moment.conversation.id,
                        "user": user_of(moment.conversation),
                        "turn": moment.turn,
                        "person": None if moment.ended else moment.text,
                        "said": turn.text,
                        "stopped": turn.stopped,
                        "chrf": None if moment.ended or turn.failure else chrf(turn.text, moment.text),
                        "rejected": turn.rejected,
                        "failure": turn.failure,
                    }

    def _row(
        self, name: str, turns: Mapping[str, NextTurn], common: set[str], floor: Mapping[str, float]
    ) -> NextTurnRow:
        at = {moment.key: moment for moment in self.moments if moment.key in common}
        own = [(at[turn.key], turn) for turn in turns.values() if turn.key in at and turn.failure is None]
        scores = self._chrf(turns, common)
        both = [] if name == FLOOR else [key for key in scores if key in floor]
        pairs = by_group((user_of(at[key].conversation), (floor[key], scores[key])) for key in both)
        left = [(moment, float(turn.stopped is moment.ended)) for moment, turn in own if turn.stopped is not None]
        failed = Counter(turn.failure for turn in turns.values() if turn.failure is not None)
        chrf_mean = _over_users((at[key], value) for key, value in scores.items())
        if name == PERSON:  # each turn is compared with itself: 1 by definition, of whatever users
            chrf_mean = chrf_mean.model_copy(update={"low": None, "high": None, "reason": ""})
        return NextTurnRow(
            name=name,
            turns=len(scores),
            ends=sum(moment.ended for moment, _ in own),
            chrf=chrf_mean,
            above=paired(pairs, (0.0, 1.0), "users") if pairs else Difference(),
            ended=_over_users((moment, value) for moment, value in left if moment.ended),
            stayed=_over_users((moment, value) for moment, value in left if not moment.ended),
            rejected=sum(turn.rejected for turn in turns.values()),
            failed=failed.total(),
            failure=failed.most_common(1)[0][0] if failed else "",
        )

    def _chrf(self, turns: Mapping[str, NextTurn], common: set[str]) -> dict[str, float]:
        """The similarity at each of these moments at which the person wrote: an image alone has no text."""
        return {
            moment.key: chrf(turns[moment.key].text, moment.text)
            for moment in self.moments
            if moment.key in common and moment.key in turns and turns[moment.key].failure is None
            if not moment.ended and moment.text.strip()
        }

    def _another(self, moment: Moment) -> NextTurn | None:
        """What another person did at the moment's place, in the same language about the same task; None without one.

        A user is drawn of those who came as far, then one of their conversations, so that users with many are not drawn
        more often. The text of one who left is their last turn, as it is where nobody came as far.
        """
        of_topic = self.others.get(_topic_of(moment), ())
        others = [talk for talk in of_topic if user_of(talk[0].conversation) != user_of(moment.conversation)]
        as_far = [talk for talk in others if len(talk) > moment.turn]
        users = by_group((user_of(talk[0].conversation), talk) for talk in as_far or others)
        if not users:
            return None
        talk = self._drawn(self._drawn(users, "whom", moment), "conversation", moment)
        so_far = talk[: moment.turn + 1]
        said = [there.text for there in so_far if not there.ended]
        return NextTurn(id=moment.key, key=moment.key, text=said[-1], stopped=so_far[-1].ended)

    def _drawn(self, among: Sequence[Item], what: str, moment: Moment) -> Item:
        lot = digest("next turn", self.seed, FLOOR, what, moment.conversation.id, moment.key)
        return among[int(lot[:16], 16) % len(among)]


@lru_cache(maxsize=20_000)
def _runs_of(text: str) -> Sequence[Counter[str]]:
    """The runs of 1 to 6 characters of a text's beginning; a person writes no longer message by hand."""
    packed = "".join(text.split())[:50_000]
    return tuple(
        Counter(packed[start : start + length] for start in range(len(packed) - length + 1)) for length in range(1, 7)
    )


def chrf(text: str, reference: str) -> float:
    """Similarity of a text to the reference, 0 to 1: how many runs of characters they share; 0 if either has none.

    "chrF: character n-gram F-score for automatic MT evaluation" (Popović 2015), of runs of 1 to 6 characters without white
    space and with recall twice as important as precision, each the mean over the lengths that both have, as in sacrebleu.

    >>> round(chrf("ab", "abc"), 4)
    0.6364
    """
    shares = []
    for of_text, of_reference in zip(_runs_of(text), _runs_of(reference), strict=True):
        if of_text and of_reference:
            common = (of_text & of_reference).total()
            shares.append((common / of_text.total(), common / of_reference.total()))
    if not any(precision for precision, _ in shares):
        return 0.0
    precision, recall = (fmean(column) for column in zip(*shares, strict=True))
    return 5 * precision * recall / (4 * precision + recall)


def _over_users(values: Iterable[tuple[Moment, float]]) -> Estimate:
    return mean(by_group((user_of(moment.conversation), value) for moment, value in values), (0.0, 1.0))


def _topic_of(moment: Moment) -> tuple[str, str]:
    """The language and the task."""
    talk = moment.conversation
    return domains.of(talk).language(talk) or "en", task_of(talk)


def _last_turn(moment: Moment) -> str:
    """The user's own last turn; empty where there is none before."""
    texts: list[str] = []
    for message in reversed(moment.before):
        if message.role == "user" and message.stored:
            texts.insert(0, message.text)
        elif texts:
            break
    return "\n".join(texts)
