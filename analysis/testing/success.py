"""How often conversations reach their goal: success by scenario, whose fault each failure was, and the user's own faults.

The figures are of `analysis.over_users.rates`: shares and pass^k, with intervals over scenarios.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...data.records import Conversation, as_object
from ...errors import DataError
from ..attempts import rejected_drafts, sent_although_rejected
from ..behaviours.success_by_user import UserCounts
from ..labels.reliability import Trusts
from ..outcomes import (
    INTERRUPTED,
    SCORE_FAILED,
    SUCCESS,
    TIMED_OUT,
    Crashes,
    agent_failed,
    answered,
    at_own_limit,
    content_key,
    fell_silent,
    gave_no_message,
    is_scored_by_goodbye,
    outcome,
    rejected_because,
    scenario_key,
    teardown_warning,
    turn_limit,
    was_begun,
    was_cut_short,
)
from ..over_users.rates import Rate, bounds, clustered, exact, pass_hat
from ..user_faults import RULE
from .code_errors import CodeErrors
from .failed_conversations import FailedConversation, UserFault, failed_conversation, groups_of
from .named_tools import NamedTools
from .plan import PlannedConversation
from .result import Successes
from .result_text import in_number
from .shares import ScenarioCounts, ScenarioSuccess, share_of
from .tool_errors import ToolErrors

NO_SCORE = (
    "give the cast one (closing=nodes.scoring(success=...)) that answers true or false, or each scenario a 'success'"
)


def successes(
    conversations: Iterable[Conversation],
    *,
    exclude_user_faults: bool = False,
    plan: Iterable[PlannedConversation] | None = None,
    crashes: Crashes = "unscored",
    ending: str = "",
) -> Successes:
    """Count the success of scored conversations, which are read once and not kept.

    `exclude_user_faults`: the stated figures leave out the conversations in which the user simulator is at fault. Those
    that succeeded are left out too, or the share would be too high. `plan`: the conversations that were to be held, of
    which those that are not here were not begun. `crashes`: what a crash of the agent counts as. `ending`: why the run
    ended, for those that it cut short. DataError without a plan, if nothing gives a score.
    """
    scenarios: dict[str, ScenarioCounts] = {}
    open_plan = {one.id: one for one in plan or ()}
    keys = {one.id: one.scenario for one in open_plan.values()}
    for one in open_plan.values():
        scenarios.setdefault(one.scenario, ScenarioCounts(one.title, len(scenarios), one.id))
    failures: list[FailedConversation] = []
    broken: list[UserFault] = []
    faults: dict[Any, int] = dict.fromkeys(("user", "assistant", "infrastructure"), 0)
    because, failed, sent, crashed, gave_up, refused, unanswered_successes = "", False, 0, 0, 0, 0, 0
    answers: Counter[bool | None] = Counter()
    stops: Counter[str | None] = Counter()
    endings: Counter[str] = Counter()
    none_accepted: Counter[str | None] = Counter()
    trusts, errors, named_tools, tool_errors = Trusts(), CodeErrors(), NamedTools(), ToolErrors()
    warnings: Counter[str | None] = Counter()
    silent, turn_limits, users = 0, set[float | None](), UserCounts()
    for conversation in conversations:
        open_plan.pop(conversation.id, None)
        result = outcome(conversation, crashes, ending)
        key = keys.get(conversation.id) or scenario_key(conversation)
        counted = scenarios.setdefault(key, ScenarioCounts(result.scenario, len(scenarios), conversation.id))
        counted.content = content_key(conversation)
        if not was_begun(conversation):
            counted.not_begun += 1
            continue
        trusts.add_scores(conversation)
        errors.add(result)
        users.add(conversation, result.success, bool(result.user_fault))
        named_tools.add(conversation)
        tool_errors.add(conversation, result)
        crashed += agent_failed(conversation)
        answers[is_answered := answered(conversation)] += 1
        stops[conversation.stop] += is_answered is False
        none_accepted[rejected_because(conversation)] += 1
        warnings[teardown_warning(conversation)] += 1
        endings["own limit"] += at_own_limit(conversation)
        endings["no message"] += gave_no_message(conversation)
        silent += fell_silent(conversation)
        turn_limits |= {turn_limit(conversation)} if conversation.stop == TIMED_OUT else set()
        if not was_cut_short(conversation):
            scoring_failed = conversation.ending_failure is None and result.reason.startswith(SCORE_FAILED)
            endings["scorer"] += scoring_failed
            endings["error"] += scoring_failed or conversation.ending_failure is not None
        if result.fault in faults:
            faults[result.fault] += 1
        if result.user_fault:
            broken.append(
                UserFault(
                    id=result.id,
                    scenario=result.scenario,
                    rule=result.user_fault,
                    success=result.success,
                    message=result.user_fault_at,
                    reason=result.user_fault_reason,
                )
            )
        counted.rejected_drafts += rejected_drafts(conversation, "assistant")
        sent += sent_although_rejected(conversation)
        if result.success is None:
            counted.unscored += 1
            counted.cut_short += (was_cut := was_cut_short(conversation))
            because, failed = because or result.reason, failed or was_cut or conversation.ending_failure is not None
            continue
        rejected = rejected_drafts(conversation, "assistant", wordless=True)
        counted.scored.append((result.success, rejected, bool(result.user_fault)))
        endings["goodbye"] += is_scored_by_goodbye(conversation)
        if exclude_user_faults and result.user_fault:
            continue
        if result.success:
            gave_up += (left := conversation.stop == "user_gave_up")
            refused += left and as_object(conversation.scenario.get(SUCCESS)).get("refused") is True
            unanswered_successes += is_answered is False
        else:
            failures.append(failed_conversation(conversation, result, counted.row))
    for one in open_plan.values():
        scenarios[one.scenario].not_begun += 1
    every, without = (share_of([*scenarios.values()], fault=counts) for counts in (True, False))
    unscored = sum(scenario.unscored for scenario in scenarios.values())
    if plan is None and unscored and not every.conversations and not failed and not because.startswith(SCORE_FAILED):
        raise DataError(f"no conversation has a score named 'success' ({because or 'there is none'}): {NO_SCORE}")
    stated = without if exclude_user_faults else every
    most = max(stated.pass_hat, default=1)
    not_begun = sum(scenario.not_begun for scenario in scenarios.values())
    faults["infrastructure"] += not_begun
    fault = not exclude_user_faults
    missing = unscored + not_begun
    pairs = [(scenario, *scenario.pair(fault=fault)) for scenario in scenarios.values()]
    return Successes(
        **dict(stated),
        excluded=every.conversations - stated.conversations,
        unscored=unscored,
        unscored_because=because,
        scenarios=tuple(
            ScenarioSuccess(
                scenario=scenario.title,
                first=scenario.first,
                conversations=total,
                successes=reached,
                unscored=scenario.unscored,
                cut_short=scenario.cut_short,
                not_begun=scenario.not_begun,
                success=exact(reached, total) if total else None,
                rejected_drafts=scenario.rejected_drafts,
                first_draft=exact(scenario.pair(fault=fault, rejected=False)[0], total) if total else None,
                pass_hat=pass_hat([(reached, total)])[most] if total else None,
            )
            for scenario, reached, total in pairs
        ),
        by_user=users.result(),
        failures=tuple(sorted(failures, key=lambda failure: (failure.messages, failure.id))),
        groups=groups_of(failures),
        faults=faults,
        rule=RULE,
        user_faults=tuple(broken),
        all=every,
        without_user_faults=without,
        planned=every.conversations + unscored + not_begun,
        scored=every.conversations,
        cut_short=sum(scenario.cut_short for scenario in scenarios.values()),
        crashed=crashed,
        silent=silent,
        turn_timeout=turn_limits.pop() if len(turn_limits) == 1 else None,
        ended_by_error=endings["error"],
        not_scorable=endings["scorer"],
        without_message=endings["no message"],
        at_own_limit=endings["own limit"],
        answered=answers[True],
        unanswered=answers[False],
        timed_out=stops[TIMED_OUT],
        interrupted=stops[INTERRUPTED],
        none_accepted={reasons: count for reasons, count in none_accepted.most_common() if reasons},
        unanswered_successes=unanswered_successes,
        rejected_drafts=sum(scenario.rejected_drafts for scenario in scenarios.values()),
        sent_although_rejected=sent,
        not_begun=not_begun,
        of_planned=bounds(stated.successes, stated.conversations, missing) if missing else None,
        trust=trusts.mark_of_score(SUCCESS),
        errors=errors.rows(),
        warnings=(
            *(f"in {in_number(count)} {text}" for text, count in warnings.most_common() if text),
            *tool_errors.lines(),
            *named_tools.lines(),
        ),
        gave_up=gave_up,
        gave_up_refused=refused,
        by_goodbye=endings["goodbye"],
        exclude_user_faults=exclude_user_faults,
    )


def success_over_scenarios(outcomes: Iterable[tuple[Conversation, bool]]) -> Rate:
    """The share of successes of conversations, each with its outcome, and its interval over scenarios."""
    scenarios: dict[str, list[bool]] = {}
    for conversation, success in outcomes:
        scenarios.setdefault(content_key(conversation), []).append(success)
    return clustered([(sum(reached), len(reached)) for reached in scenarios.values()])
