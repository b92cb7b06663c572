"""How near a simulated user comes to the person's next turn, beside another person's turn at the same place.

It calls no model. Needs the extra `stats`, for Chinese `zh`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..data import domains
from ..data.identity import digest
from ..data.people import Moment, NextTurn, UserPart, moments_of, named_user, of_part, user_of
from ..data.records import Conversation
from ..errors import DataError, of_extra
from .bits import PERSON
from .estimates import Difference, Item, by_group, mean, paired
from .realism.transcripts import task_of
from .tables import TablesReport, table_of

FLOOR, REPEAT = "another person", "repeats itself"
SHARE = (0.0, 1.0)
COLUMNS = (
    *("row", "turns", "chrF", "low", "high", "above", "from", "to", "ended", "stayed", "rejected", "failed"),
    "reason",
)
ABOUT = (
    "chrF: similarity to what the person wrote, 0 to 1; above: less that of another person's turn at the same places. "
    "ended: left where the person left; stayed: went on where the person went on. Means and 95 % intervals over users."
)

Turn: TypeAlias = Mapping[str, Any]
"""A turn beside the person's, as plain values."""


@dataclass(frozen=True)
class Benchmark:
    """The moments of people's conversations, and the conversations of the part that other people's turns come from."""

    moments: tuple[Moment, ...]
    others: Mapping[tuple[str, str], Sequence[tuple[str, Sequence[Moment]]]]
    """By language and task the user and the moments of each."""
    seed: int

    @classmethod
    def of(
        cls, conversations: Sequence[Conversation], *, part: UserPart = "all", limit: int | None = None, seed: int = 0
    ) -> "Benchmark":
        """The moments of people's conversations.

        `part`: of the people `tune`, `test` or `all`. `limit`: only so many conversations, drawn by the seed. DataError if
        no turn of a user is left.
        """
        own = (moment for moment in moments_of(conversations) if of_part(moment.conversation, part))
        talks = by_group((moment.number, moment) for moment in own)
        if not talks:
            raise DataError("there is no turn of a user to compare with: give conversations of people")
        by_lot = sorted(talks, key=lambda talk: digest("next turn", seed, talk[0].conversation.id, talk[0].number))
        taken = {talk[0].number for talk in by_lot[:limit]}
        others = defaultdict(list)
        for talk in talks:
            others[_topic_of(talk[0])].append((user_of(talk[0].conversation), talk))
        return cls(tuple(moment for talk in talks for moment in talk if moment.number in taken), others, seed)

    def rows(self, predictions: Mapping[str, Sequence[NextTurn]]) -> dict[str, list[Turn]]:
        """Every turn of each row: of the person, of another person, of one who repeats itself, and of the users."""
        moments = {one.key: one for one in self.moments}
        last = {one.key: moments.get(f"{one.number}/{one.turn - 1}") for one in self.moments}
        return {
            PERSON: [_beside(one, one.text, one.ended) for one in self.moments],
            FLOOR: [_beside(one, *said) for one in self.moments if (said := self._another(one))],
            REPEAT: [_beside(one, before.text if (before := last[one.key]) else "", False) for one in self.moments],
        } | {
            name: [_beside(moments[one.key], one.text, one.stopped, one.rejected, one.failure) for one in turns]
            for name, turns in predictions.items()
        }

    def report(self, rows: Mapping[str, Sequence[Turn]], notes: Sequence[str] = ()) -> TablesReport:
        """The scores of the rows, at the places at which all could be asked that could be at half of them."""
        asked = {name: {turn["place"] for turn in turns if turn["failure"] is None} for name, turns in rows.items()}
        common = set(asked[PERSON])
        for places in asked.values():
            common &= places if 2 * len(places) >= len(self.moments) else common
        told = [ABOUT]
        if len(common) < len(self.moments):
            told.append(f"Means are over the {len(common)} of {len(self.moments)} places at which rows could be asked.")
        told += [
            f"{name}: means over only {len(places & common)} of these, so not to be compared with the others."
            for name, places in asked.items()
            if not common <= places
        ]
        for name, turns in rows.items():
            if why := Counter(turn["failure"] for turn in turns if turn["failure"] is not None):
                told.append(f"{name}: could not be asked at {why.total()} places: {why.most_common(1)[0][0]}.")
        floor = {turn["place"]: turn["chrf"] for turn in rows[FLOOR]}
        scores = [_scores(name, turns, common, floor) for name, turns in rows.items()]
        frame = of_extra("pandas", "stats").DataFrame(scores, columns=COLUMNS)
        talks = {one.number: one.conversation for one in self.moments}.values()
        if nameless := sum(not named_user(one) for one in talks):
            told.append(f"{nameless} of {len(talks)} conversations do not name their user: each scenario is one.")
        told += dict.fromkeys(f"{reason}." for reason in frame.pop("reason") if reason)
        about = {"users": len(set(map(user_of, talks))), "turns": sum(not one.ended for one in self.moments)}
        title = f"The next turn of {about['users']} people, {about['turns']} turns"
        return TablesReport(
            about=about, by_name={"next_turn": table_of(title, frame, [*told, *notes], wide=("rejected", "failed"))}
        )

    def _another(self, moment: Moment) -> tuple[str, bool] | None:
        """What another person said at the place, in the same language about the same task, and whether they left there.

        A user is drawn of those who came as far, then one of their conversations, so that users with many are not drawn
        more often. The text of one who left is their last turn, as it is where nobody came as far.
        """
        own = user_of(moment.conversation)
        others = [(user, talk) for user, talk in self.others[_topic_of(moment)] if user != own]
        as_far = [(user, talk) for user, talk in others if len(talk) > moment.turn]
        if not (users := by_group(as_far or others)):
            return None
        talk = self._drawn(self._drawn(users, "whom", moment), "conversation", moment)[: moment.turn + 1]
        return [there.text for there in talk if not there.ended][-1], talk[-1].ended

    def _drawn(self, among: Sequence[Item], what: str, moment: Moment) -> Item:
        lot = digest("next turn", self.seed, FLOOR, what, moment.conversation.id, moment.key)
        return among[int(lot[:16], 16) % len(among)]


def _topic_of(moment: Moment) -> tuple[str, str]:
    """The language and the task."""
    talk = moment.conversation
    return domains.of(talk).language(talk) or "en", task_of(talk)


def _beside(moment: Moment, said: str, stopped: bool | None, rejected: int = 0, failure: str | None = None) -> Turn:
    """A turn beside the person's, with its chrF (Popović 2015); an image alone has no text to compare with."""
    person, chrf = None if moment.ended else moment.text, None
    if failure is None and person is not None and person.strip():
        chrf = of_extra("sacrebleu", "stats").sentence_chrf(said, [person]).score / 100
    talk = {"place": moment.key, "conversation": moment.conversation.id, "user": user_of(moment.conversation)}
    told = {"turn": moment.turn, "person": person, "said": said, "stopped": stopped}
    return {**talk, **told, "chrf": chrf, "rejected": rejected, "failure": failure}


def _scores(name: str, turns: Sequence[Turn], common: set[str], floor: Mapping[str, float]) -> tuple[Any, ...]:
    """The scores of a row at these places, by `COLUMNS`: means over users, each with the same weight."""
    own = [turn for turn in turns if turn["place"] in common and turn["failure"] is None]
    written = [turn for turn in own if turn["chrf"] is not None]
    chrf = mean(by_group((one["user"], one["chrf"]) for one in written), SHARE)
    ends = (chrf.low, chrf.high) if name != PERSON else (None, None)  # its own is 1, of whatever users
    pairs = [(one["user"], (floor[one["place"]], one["chrf"])) for one in written if one["place"] in floor]
    above = paired(by_group(pairs), SHARE, "users") if name != FLOOR else Difference()
    leaves = [(one["user"], one["person"] is None, one["stopped"]) for one in own if one["stopped"] is not None]
    rightly = [
        mean(by_group((user, float(stopped is left)) for user, ended, stopped in leaves if ended is left)).value
        for left in (True, False)
    ]
    counts = sum(turn["rejected"] for turn in turns), sum(turn["failure"] is not None for turn in turns)
    return name, len(written), chrf.value, *ends, *above.ends, *rightly, *counts, chrf.reason
