"""Success by kind of user, in pairs with the plain user, and how often each behaviour was shown."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...data.behaviours import KEY, behaviours_in, can_show, shown
from ...data.behaviours.kinds import PLAIN
from ...data.identity import digest
from ...data.records import Conversation, Record
from ..over_users.paired import PairedDifference, paired_difference
from ..over_users.rates import Rate, clustered
from ..tables import Column, Table

ROWS = 20
"""Most kinds of users in a table."""


class UserSuccess(Record):
    """The success of conversations with one kind of user, without those in which the user simulator is at fault."""

    user: str
    """Its behaviours, or `plain`."""
    conversations: int
    successes: int
    success: Rate | None
    """The share, with its interval over scenarios; None if no conversation counts."""
    against_plain: PairedDifference | None
    """The share less that of the plain user about the same scenarios; None for the plain user, or without one."""


class BehaviourShown(Record):
    """In how many conversations whose user has a behaviour, and an occasion for it, its messages show it."""

    behaviour: str
    conversations: int
    shown: int


class SuccessByUser(Record):
    """Success by kind of user."""

    users: tuple[UserSuccess, ...] = ()
    """The plain user first, then by name; empty where no user has a behaviour."""
    behaviours: tuple[BehaviourShown, ...] = ()

    def table(self) -> Table:
        """A row for each kind of user."""
        numbers = ("share", "low", "high", "difference", "from", "to", "p")
        rows = []
        for one in self.users[:ROWS]:
            pair = one.against_plain
            rate = (one.success.value, one.success.low, one.success.high) if one.success else (None, None, None)
            difference = (pair.difference, pair.low, pair.high, pair.p) if pair else (None, None, None, None)
            rows.append((one.user, one.conversations, one.successes, *rate, *difference))
        left = len(self.users) - ROWS
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
                "difference: the share less that of the plain user, in pairs by scenario; from, to: its 95 % interval",
                f"shown: {', '.join(f'{one.behaviour} {one.shown} of {one.conversations}' for one in self.behaviours)}",
                *((f"{left} more kinds of users are left out here",) if left > 0 else ()),
            ),
        )

    def warnings(self) -> Iterator[str]:
        """A line for each behaviour that no conversation shows."""
        for one in self.behaviours:
            if one.conversations and not one.shown:
                yield (
                    f"no user showed `{one.behaviour}`, in {one.conversations} conversations that ask for it: read one of them, "
                    "or demand it (--set demand_behaviours=true)"
                )


@dataclass
class UserCounts:
    """Collects conversations by kind of user, one after another."""

    _scored: dict[str, dict[str, list[bool]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    _shown: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def add(self, conversation: Conversation, success: bool | None, user_fault: bool) -> None:
        """Count a conversation that began."""
        names = behaviours_in(conversation.scenario, conversation.extra)
        turns = [(message.role, message.text) for message in conversation.messages]
        for name in names:
            seen = self._shown[name]
            if can_show(name, turns):
                seen.append(bool(shown(name, turns, conversation.scenario)))
        if success is not None and not user_fault:
            scenario = {key: value for key, value in conversation.scenario.items() if key != KEY}
            self._scored[", ".join(sorted(names)) or PLAIN][digest(scenario)].append(success)

    def result(self) -> SuccessByUser:
        """The success by kind of user; empty if none has a behaviour."""
        if not self._shown:
            return SuccessByUser()
        plain = self._scored.get(PLAIN)
        users = sorted(self._scored.items(), key=lambda item: (item[0] != PLAIN, item[0]))
        return SuccessByUser(
            users=tuple(_success(user, scenarios, plain) for user, scenarios in users),
            behaviours=tuple(
                BehaviourShown(behaviour=name, conversations=len(seen), shown=sum(seen))
                for name, seen in sorted(self._shown.items())
            ),
        )


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
