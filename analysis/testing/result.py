"""The result of a test: its counts, shares, failures and verdict, and its tables."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import Field

from ...data.records import Record
from ..behaviours.success_by_user import SuccessByUser
from ..labels.reliability import COMPUTED
from ..over_users.rates import Rate
from ..tables import Column, Table
from .code_errors import CodeError
from .failed_conversations import FailedConversation, FailureGroup, UserFault, user_fault_lines
from .pairs.pairing import PairedTest
from .shares import ScenarioSuccess, Share

LACKING: Mapping[str, Callable[[ScenarioSuccess], int]] = {
    "no score": lambda row: row.unscored - row.cut_short,
    "cut short": lambda row: row.cut_short,
    "not begun": lambda row: row.not_begun,
}
"""Columns of a table with conversations that no share counts."""
GUARDED = (Column(name="rejected", kind="count"), Column(name="at first draft", kind="number", places=2))
"""Columns of a table in which a draft of the assistant was rejected."""
GUARDED_NOTE = (
    "rejected: drafts of the agent; at first draft: share of conversations that succeeded without a rejected one"
)
INTERVALS = "low, high: Blaker's exact interval of the share, at 94 % (up to ten conversations) to 95 %"
BY_RULES = " by rules, no model judged it"


class Successes(Record):
    """How often conversations reached their goal."""

    conversations: int
    """Those that are over, scored, and not excluded."""
    excluded: int
    """Those left out because of a fault of the user simulator; 0 unless it was asked for."""
    unscored: int
    """Those that began and have no score, as after a failure of an endpoint: they count in no share, and a run with any
    does not pass."""
    unscored_because: str
    """Why the first of these has no score, in a line; empty if all have one."""
    successes: int
    success: Rate | None
    """The share of successes; its interval knows that conversations about one scenario are alike. None if no
    conversation counts: all are without a score, or excluded."""
    first_draft: Rate | None
    """The share of successes in which no draft of the assistant was rejected: the agent's own, without its
    validator."""
    pass_hat: dict[int, float]
    """pass^k by k, as far as each scenario has k conversations."""
    pass_hat_intervals: dict[int, Rate]
    """The same with its interval over scenarios, by each k below the fewest conversations of a scenario; empty with
    fewer than two scenarios."""
    scenarios: tuple[ScenarioSuccess, ...]
    by_user: SuccessByUser = SuccessByUser()
    """Success by the behaviours of the users; empty where none has any."""
    failures: tuple[FailedConversation, ...]
    """The shortest first."""
    groups: tuple[FailureGroup, ...] = ()
    """The failed conversations by their causes, the largest group first."""
    faults: dict[Literal["user", "assistant", "infrastructure"], int]
    """Whose fault each conversation without success is: those that failed, excluded ones too, and those without a
    score, cut short or not begun, which are the infrastructure's unless the record says otherwise."""
    rule: str
    """The rule by which a user simulator is at fault, in words."""
    user_faults: tuple[UserFault, ...]
    all: Share
    """Of all scored conversations."""
    without_user_faults: Share
    """Of those in which the user simulator is not at fault, whether they succeeded or not."""
    planned: int = 0
    """Conversations that were to be held; without a plan, those that are here. Each is scored, unscored or not
    begun."""
    scored: int = 0
    """Those of them that have a score."""
    cut_short: int = 0
    """Those that a limit of the run, their own limit of tokens or a cancellation ended; they are among `unscored`."""
    at_own_limit: int = 0
    """Those of them that ended at their own limit of tokens: a run that is resumed with a higher one simulates them
    again."""
    not_begun: int = 0
    """Those without a record: they were not begun, or were lost with a process that was ended by force."""
    of_planned: tuple[float, float] | None = None
    """The share of all planned conversations if none or all of those without a score succeed: the interval is only of
    the scored. None if no score is missing."""
    crashed: int = 0
    """Those in which the agent's own code crashed, or it answered nothing at all its attempts."""
    silent: int = 0
    """Those of the crashed in which it answered nothing."""
    without_message: int = 0
    """The crashed ones in which a function returned something other than a message, such as None."""
    ended_by_error: int = 0
    """Those that a crash or another failure ended, or whose scorer raised: a resumed run simulates them again."""
    not_scorable: int = 0
    """Those of them that ended, and only their scorer raised."""
    answered: int = 0
    """Those in which the agent answered to the end."""
    unanswered: int = 0
    """Those in which it did not: it crashed, answered nothing, took too long, stopped for a person, or no reply of it
    was accepted. Those that a bound, an endpoint or another node ended are neither."""
    timed_out: int = 0
    """Those of the unanswered in which a turn of the agent took too long."""
    turn_timeout: float | None = None
    """The seconds that a turn of those could take; None for none, or if they differ."""
    interrupted: int = 0
    """Those of the unanswered in which the agent stopped for a person."""
    none_accepted: dict[str, int] = Field(default_factory=dict)
    """Those of the unanswered that ended because no reply was accepted, by the validator's reasons."""
    unanswered_successes: int = 0
    """Successes of conversations that the agent did not answer to the end."""
    rejected_drafts: int = 0
    """Drafts of the assistant that its validator rejected."""
    sent_although_rejected: int = 0
    """Those of them that were sent all the same: after the last attempt, or because the validator only observes."""
    trust: str = ""
    """How far the success can be trusted: `computed` by a rule, a judge's agreement with people's `success_human` of
    the same conversations, or `not calibrated`; empty if none has a score."""
    errors: tuple[CodeError, ...] = ()
    """Errors of one's own code: the agent, a tool, a validator, a scorer or a world raised. The most frequent first."""
    warnings: tuple[str, ...] = ()
    """What may be wrong although the scores count, a line each: a world that could not be torn down after the end, a
    tool whose calls ended in an error, a tool that `success` names and no conversation called."""
    gave_up: int = 0
    """Successes of conversations that the user ended by giving up."""
    gave_up_refused: int = 0
    """Those of them whose `success` asks for a refusal, after which a user gives up."""
    by_goodbye: int = 0
    """Scored conversations whose scenario has no `success`, so that the user's goodbye counts as success."""
    exclude_user_faults: bool = False
    """Whether the stated share leaves out the conversations in which the user simulator is at fault."""
    threshold: float | None = None
    """The lowest share with which a test passes."""
    at_least: float | None = None
    """The lowest lower end of the share's interval with which a test passes."""
    passed: bool | None = None
    """Whether the test passed; None for conversations that are not those of a test."""
    against: PairedTest | None = None
    """The comparison with another version of the agent, in pairs; None without one."""
    not_passed_because: tuple[str, ...] = ()
    """Why it did not pass, a line each."""
    source_notes: tuple[str, ...] = ()
    """Remarks on the source of the scenarios, a line each, such as how many of its conversations are left out."""
    advice: tuple[str, ...] = ()
    """What to do about the result, a line each."""
    resume: str = ""
    """The line that resumes an incomplete run; empty if there is nothing to resume."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of each scenario its title, with the id of its first conversation where others have the same."""
        titles = Counter(row.scenario for row in self.scenarios)
        return tuple(
            f"{row.scenario} ({row.first})" if titles[row.scenario] > 1 and row.first else row.scenario
            for row in self.scenarios
        )

    def table(self) -> Table:
        """A row for each scenario."""
        # From all conversations of a scenario pass^k is 0 or 1, and pass^1 is the share.
        most = max(self.pass_hat, default=1) - 1
        guarded = self.rejected_drafts > 0
        lacking = {
            name: [value(row) for row in self.scenarios]
            for name, value in LACKING.items()
            if any(value(row) for row in self.scenarios)
        }
        names = ("share", "low", "high", *((f"pass^{most}",) if most > 1 else ()))
        rates: tuple[Column, ...] = tuple(Column(name=name, kind="number", places=2) for name in names)
        return Table(
            title="Success by scenario",
            columns=(
                Column(name="scenario"),
                Column(name="conversations", kind="count"),
                Column(name="successes", kind="count"),
                *(Column(name=name, kind="count") for name in lacking),
                *rates,
                *(GUARDED if guarded else ()),
            ),
            rows=tuple(
                (
                    name,
                    row.conversations,
                    row.successes,
                    *(counts[number] for counts in lacking.values()),
                    *((row.success.value, row.success.low, row.success.high) if row.success else (None, None, None)),
                    *((row.pass_hat_of(most),) if most > 1 else ()),
                    *((row.rejected_drafts, row.first_draft and row.first_draft.value) if guarded else ()),
                )
                for number, (name, row) in enumerate(zip(self.names, self.scenarios, strict=True))
            ),
            notes=(
                *((INTERVALS,) if any(row.success for row in self.scenarios) else ()),
                *((f"{', '.join(lacking)}: not among the conversations of the row",) if lacking else ()),
                *((GUARDED_NOTE,) if guarded else ()),
                *(() if all(row.success for row in self.scenarios) else ("no share: no conversation counts",)),
                *(
                    (f"success: {self.trust}{BY_RULES * (self.trust == COMPUTED)}",)
                    if self.trust and self.scored
                    else ()
                ),
            ),
        )

    def user_fault_lines(self) -> list[str]:
        """A line for each broken rule for users: how often, and the first conversation with message and reason."""
        return user_fault_lines(self.user_faults)

    def fault_table(self) -> Table:
        """Whose fault the conversations without success are."""
        lacking = ("cut short", self.cut_short), ("not begun", self.not_begun)
        return Table(
            title="Whose fault",
            columns=(Column(name="fault"), Column(name="conversations", kind="count")),
            rows=(*self.faults.items(), *((f"  of these {name}", count) for name, count in lacking if count)),
        )

    @property
    def has_faults(self) -> bool:
        """Whether any conversation is without success, so that the table of faults says anything."""
        return any(self.faults.values())
