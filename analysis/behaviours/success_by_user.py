"""Success by kind of user, in pairs with the plain user."""

from collections import defaultdict
from dataclasses import dataclass, field

from ...data.behaviours import KEY, PLAIN, behaviours_in
from ...data.identity import digest
from ...data.records import Conversation, Record
from ..over_users.pairs import PairedDifference, holm, paired_difference
from ..over_users.rates import Rate, clustered
from ..tables import Column, Table

KINDS = 8
"""Most kinds of users that have a row each; of more, each behaviour has one."""


class UserSuccess(Record):
    """The success of conversations with one kind of user, without those in which the user simulator is at fault."""

    user: str
    """Its behaviours, or `plain`; with many kinds of users one behaviour, which others may stand beside."""
    conversations: int
    successes: int
    success: Rate | None
    """The share, with its interval over scenarios; None if no conversation counts."""
    against_plain: PairedDifference | None
    """The share less that of the plain user about the same scenarios; None for the plain user, or without one."""
    adjusted_p: float | None = None
    """p of `against_plain`, adjusted for the number of users that are compared, by Holm's method."""


class SuccessByUser(Record):
    """Success by kind of user."""

    users: tuple[UserSuccess, ...] = ()
    """The plain user first, then by name; empty where no user has a behaviour."""
    mixed: bool = False
    """Whether `users` has a row for each behaviour in place of each kind of user."""

    def table(self) -> Table:
        """A row for each kind of user."""
        paired = any(one.against_plain for one in self.users)
        numbers = ("share", "low", "high", *(("difference", "from", "to", "adjusted p") if paired else ()))
        rows = []
        for one in self.users:
            pair = one.against_plain
            rate = (one.success.value, one.success.low, one.success.high) if one.success else (None, None, None)
            difference = (pair.difference, pair.low, pair.high, one.adjusted_p) if pair else (None, None, None, None)
            rows.append((one.user, one.conversations, one.successes, *rate, *(difference if paired else ())))
        return Table(
            title="Success by user",
            columns=(
                Column(name="user"),
                Column(name="conversations", kind="count"),
                Column(name="successes", kind="count"),
                *(Column(name=name, kind="number", places=2) for name in numbers),
            ),
            rows=tuple(rows),
            notes=(
                *(
                    (
                        "difference: the share less that of the plain user, in pairs by scenario; from, to: its 95 % interval",
                        "adjusted p: for the number of users compared, by Holm's method; the intervals are not adjusted",
                    )
                    if paired
                    else ()
                ),
                *(
                    (f"more than {KINDS} kinds of users: a conversation counts for each of its behaviours",)
                    * self.mixed
                ),
            ),
        )


@dataclass
class UserCounts:
    """Collects conversations by kind of user, one after another."""

    _scored: dict[tuple[str, ...], dict[str, list[bool]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Successes by the behaviours of the user and by scenario."""
    _behave: bool = False

    def add(self, conversation: Conversation, success: bool | None, user_fault: bool) -> None:
        """Count a conversation that began."""
        names = behaviours_in(conversation.scenario, conversation.extra)
        self._behave = self._behave or bool(names)
        if success is not None and not user_fault:
            scenario = {key: value for key, value in conversation.scenario.items() if key != KEY}
            self._scored[tuple(sorted(names))][digest(scenario)].append(success)

    def result(self) -> SuccessByUser:
        """The success by kind of user; empty if none has a behaviour."""
        if not self._behave:
            return SuccessByUser()
        plain, mixed = self._scored.get(()), len(self._scored) > KINDS
        users = sorted((self._by_behaviour() if mixed else self._scored).items())
        rows = [_success(", ".join(names) or PLAIN, scenarios, plain) for names, scenarios in users]
        adjusted = holm([one.against_plain.p if one.against_plain else None for one in rows])
        return SuccessByUser(
            mixed=mixed,
            users=tuple(one.model_copy(update={"adjusted_p": p}) for one, p in zip(rows, adjusted, strict=True)),
        )

    def _by_behaviour(self) -> dict[tuple[str, ...], dict[str, list[bool]]]:
        """The same, each conversation with each of its behaviours."""
        single: dict[tuple[str, ...], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for names, scenarios in self._scored.items():
            rows: list[tuple[str, ...]] = [(name,) for name in names] or [()]
            for row in rows:
                for scenario, reached in scenarios.items():
                    single[row][scenario] += reached
        return single


def _success(user: str, scenarios: dict[str, list[bool]], plain: dict[str, list[bool]] | None) -> UserSuccess:
    counts = [(sum(reached), len(reached)) for reached in scenarios.values()]
    pairs = None
    if plain is not None and user != PLAIN:
        # Repeats of a scenario are alike: which is paired with which does not matter.
        pairs = [
            [(float(old), float(new)) for old, new in zip(plain[key], reached, strict=False)]
            for key, reached in sorted(scenarios.items())
            if key in plain
        ]
    return UserSuccess(
        user=user,
        conversations=sum(total for _, total in counts),
        successes=sum(reached for reached, _ in counts),
        success=clustered(counts) if counts else None,
        against_plain=paired_difference(pairs, scale=(0.0, 1.0)) if pairs else None,
    )
