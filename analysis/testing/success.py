"""How often conversations reach their goal: success by scenario, whose fault each failure was, and the user's own faults.

The figures are of `analysis.over_users.rates`: shares and pass^k, with intervals over scenarios.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from ...data.records import Conversation, Record
from ...errors import DataError
from ..attempts import rejected_drafts, sent_although_rejected
from ..labels.reliability import Trusts
from ..outcomes import (
    SCORE_FAILED,
    SUCCESS,
    Crashes,
    Outcome,
    agent_failed,
    answered,
    outcome,
    scenario_key,
    score_of,
    was_cut_short,
)
from ..over_users.rates import Rate, clustered, intraclass, pass_hat, wilson
from ..tables import Column, Table
from ..user_faults import RULE
from .code_errors import CodeError, CodeErrors
from .failed_conversations import FailedConversation, UserFault, failed_conversation
from .shares import ScenarioCounts, ScenarioSuccess, Share, share_of

__all__ = [
    "FailedConversation",
    "Outcome",
    "Rate",
    "ScenarioSuccess",
    "Share",
    "Successes",
    "UserFault",
    "clustered",
    "intraclass",
    "outcome",
    "pass_hat",
    "score_of",
    "success_over_scenarios",
    "successes",
    "wilson",
]

NO_SCORE = (
    "give the cast one (closing=nodes.scoring(success=...)) that answers true or false, or each scenario a 'success'"
)

GUARDED = (Column(name="rejected", kind="count"), Column(name="at first draft", kind="number", places=2))
"""Columns of a table in which a draft of the assistant was rejected."""
GUARDED_NOTE = (
    "rejected: drafts of the agent; at first draft: share of conversations that succeeded without a rejected one"
)


class Successes(Record):
    """How often conversations reached their goal."""

    conversations: int
    """Those that are over, scored, and not excluded."""
    excluded: int
    """Those left out because of a fault of the user simulator; 0 unless it was asked for."""
    unscored: int
    """Those without a score, such as those that a failing endpoint cut short: they count in no share, and a run with
    any is incomplete."""
    unscored_because: str
    """Why the first of these has no score, in a line; empty if all have one."""
    successes: int
    success: Rate | None
    """The share of successes; its interval knows that conversations about one scenario are alike. None if no
    conversation counts: all are without a score, or excluded."""
    first_draft: Rate | None
    """The share of successes in which no draft of the assistant was rejected: the agent's own, without its validator."""
    pass_hat: dict[int, float]
    """pass^k by k, as far as each scenario has k conversations."""
    pass_hat_intervals: dict[int, Rate]
    """The same with its interval over scenarios, by each k below the fewest conversations of a scenario; empty with
    fewer than two scenarios."""
    scenarios: tuple[ScenarioSuccess, ...]
    failures: tuple[FailedConversation, ...]
    """The shortest first."""
    faults: dict[Literal["user", "assistant", "infrastructure"], int]
    """Whose fault each conversation without success is: those that failed, excluded ones too, and those without a
    score, which are the infrastructure's unless the record says otherwise."""
    rule: str
    """The rule by which a user simulator is at fault, in words."""
    user_faults: tuple[UserFault, ...]
    all: Share
    """Of all scored conversations."""
    without_user_faults: Share
    """Of those in which the user simulator is not at fault, whether they succeeded or not."""
    planned: int = 0
    """Conversations that were to be held; without a plan, those that are here."""
    scored: int = 0
    """Those of them that have a score."""
    cut_short: int = 0
    """Those that a bound of the run ended, or somebody cancelled; they are among `unscored`."""
    missing: int = 0
    """Those that were not begun."""
    crashed: int = 0
    """Those in which the agent's own code crashed, or it answered nothing at all its attempts."""
    answered: int = 0
    """Those in which the agent answered to the end."""
    unanswered: int = 0
    """Those in which it did not: it crashed, answered nothing, took too long, or stopped for a person. Those that a bound,
    an endpoint or another node ended are neither."""
    rejected_drafts: int = 0
    """Drafts of the assistant that its validator rejected."""
    sent_although_rejected: int = 0
    """Those of them that were sent all the same: after the last attempt, or because the validator only observes."""
    trust: str = ""
    """How far the success can be trusted: `computed` by a rule, a judge's agreement with people's `success_human` of the
    same conversations, or `not calibrated`; empty if none has a score."""
    errors: tuple[CodeError, ...] = ()
    """Errors of one's own code: the agent, a tool, a validator, a scorer or a world raised. The most frequent first."""
    gave_up: int = 0
    """Successes of conversations that the user ended by giving up."""

    def table(self) -> Table:
        """A row for each scenario."""
        # From all conversations of a scenario pass^k is 0 or 1, and pass^1 is the share.
        most = max(self.pass_hat, default=1) - 1
        incomplete, guarded = self.unscored > 0, self.rejected_drafts > 0
        names = ("share", "low", "high", *((f"pass^{most}",) if most > 1 else ()))
        rates: tuple[Column, ...] = tuple(Column(name=name, kind="number", places=2) for name in names)
        return Table(
            title="Success by scenario",
            columns=(
                Column(name="scenario"),
                Column(name="conversations", kind="count"),
                Column(name="successes", kind="count"),
                *((Column(name="no score", kind="count"),) if incomplete else ()),
                *rates,
                *(GUARDED if guarded else ()),
            ),
            rows=tuple(
                (
                    *(row.scenario, row.conversations, row.successes, *((row.unscored,) if incomplete else ())),
                    *((row.success.value, row.success.low, row.success.high) if row.success else (None, None, None)),
                    *((row.pass_hat_of(most),) if most > 1 else ()),
                    *((row.rejected_drafts, row.first_draft and row.first_draft.value) if guarded else ()),
                )
                for row in self.scenarios
            ),
            notes=(
                "low, high: Wilson's interval of 95 % of the share",
                *(("no score: not among the conversations of the row",) if incomplete else ()),
                *((GUARDED_NOTE,) if guarded else ()),
                *(() if all(row.success for row in self.scenarios) else ("no share: no conversation counts",)),
                *((f"success: {self.trust}",) if self.trust else ()),
            ),
        )

    def fault_table(self) -> Table:
        """Whose fault the conversations without success are."""
        return Table(
            title="Whose fault",
            columns=(Column(name="fault"), Column(name="conversations", kind="count")),
            rows=tuple(self.faults.items()),
        )


def successes(
    conversations: Iterable[Conversation],
    *,
    exclude_user_faults: bool = False,
    planned: int | None = None,
    crashes: Crashes = "unscored",
) -> Successes:
    """Count the success of scored conversations, which are read once and not kept.

    `exclude_user_faults`: the stated figures leave out the conversations in which the user simulator is at fault,
    those that succeeded too, or the share would be too high. `planned`: how many conversations were to be held, of
    which those that are not here are missing. `crashes`: what a crash of the agent counts as. DataError if no conversation has a score though none was
    cut short by a failure: then nothing gives one.
    """
    scenarios: dict[str, ScenarioCounts] = {}
    failures: list[FailedConversation] = []
    broken: list[UserFault] = []
    faults: dict[Any, int] = dict.fromkeys(("user", "assistant", "infrastructure"), 0)
    because, failed, cut_short, sent, crashed, gave_up = "", False, 0, 0, 0, 0
    answers: Counter[bool | None] = Counter()
    trusts, errors = Trusts(), CodeErrors()
    for conversation in conversations:
        trusts.add_scores(conversation)
        result = outcome(conversation, crashes)
        errors.add(result)
        crashed += agent_failed(conversation)
        answers[answered(conversation)] += 1
        if result.fault in faults:
            faults[result.fault] += 1
        if result.user_fault:
            broken.append(
                UserFault(id=result.id, scenario=result.scenario, rule=result.user_fault, success=result.success)
            )
        counted = scenarios.setdefault(scenario_key(conversation), ScenarioCounts(result.scenario, len(scenarios)))
        counted.rejected_drafts += rejected_drafts(conversation, "assistant")
        sent += sent_although_rejected(conversation)
        if result.success is None:
            counted.unscored += 1
            cut_short += (was_cut := was_cut_short(conversation))
            because, failed = because or result.reason, failed or was_cut or conversation.failure is not None
            continue
        rejected = rejected_drafts(conversation, "assistant", wordless=True)
        counted.scored.append((result.success, rejected, bool(result.user_fault)))
        if exclude_user_faults and result.user_fault:
            continue
        if result.success:
            gave_up += conversation.stop == "user_gave_up"
        else:
            failures.append(failed_conversation(conversation, result, counted.row))
    every, without = (share_of([*scenarios.values()], fault=counts) for counts in (True, False))
    if scenarios and not every.conversations and not failed:
        if because.startswith(SCORE_FAILED):
            raise DataError(f"no conversation has a score: {because}")
        raise DataError(f"no conversation has a score named 'success' ({because or 'there is none'}): {NO_SCORE}")
    stated = without if exclude_user_faults else every
    most = max(stated.pass_hat, default=1)
    unscored = sum(scenario.unscored for scenario in scenarios.values())
    begun = every.conversations + unscored
    fault = not exclude_user_faults
    pairs = [(scenario, *scenario.pair(fault=fault)) for scenario in scenarios.values()]
    return Successes(
        **dict(stated),
        excluded=every.conversations - stated.conversations,
        unscored=unscored,
        unscored_because=because,
        scenarios=tuple(
            ScenarioSuccess(
                scenario=scenario.title,
                conversations=total,
                successes=reached,
                unscored=scenario.unscored,
                success=wilson(reached / total, total) if total else None,
                rejected_drafts=scenario.rejected_drafts,
                first_draft=wilson(scenario.pair(fault=fault, rejected=False)[0] / total, total) if total else None,
                pass_hat=pass_hat([(reached, total)])[most] if total else None,
            )
            for scenario, reached, total in pairs
        ),
        failures=tuple(sorted(failures, key=lambda failure: (failure.messages, failure.id))),
        faults=faults,
        rule=RULE,
        user_faults=tuple(broken),
        all=every,
        without_user_faults=without,
        planned=begun if planned is None else planned,
        scored=every.conversations,
        cut_short=cut_short,
        crashed=crashed,
        answered=answers[True],
        unanswered=answers[False],
        rejected_drafts=sum(scenario.rejected_drafts for scenario in scenarios.values()),
        sent_although_rejected=sent,
        missing=0 if planned is None else max(0, planned - begun),
        trust=trusts.mark_of_score(SUCCESS),
        errors=errors.rows(),
        gave_up=gave_up,
    )


def success_over_scenarios(outcomes: Iterable[tuple[Conversation, bool]]) -> Rate:
    """The share of successes of conversations, each with its outcome, and its interval over scenarios."""
    scenarios: dict[str, list[bool]] = {}
    for conversation, success in outcomes:
        scenarios.setdefault(scenario_key(conversation), []).append(success)
    return clustered([(sum(reached), len(reached)) for reached in scenarios.values()])
