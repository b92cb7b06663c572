"""The result of a test: how often conversations reach their goal, by scenario and by kind of user, and the verdict."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import comb
from typing import NamedTuple

from pydantic import Field

from ...data.behaviours import KEY, PLAIN, behaviours_in
from ...data.identity import digest
from ...data.records import INTERRUPT, Attempt, Conversation, Record, as_object
from ...data.scenarios import tools_in_success
from ...errors import DataError
from ..attempts import model_tokens, rejected_drafts, sent_although_rejected
from ..estimates import Difference, Estimate, by_group, holm, mean, paired, share
from ..faults import SUCCESS, Whose, forbidden_in
from ..outcomes import (
    SCORE_FAILED,
    Outcome,
    content_key,
    ending_of,
    is_scored_by_goodbye,
    outcome,
    planned_key,
    scenario_key,
    teardown_warning,
    title_of,
    was_begun,
    was_cut_short,
)
from .failures import FailedConversation, FailureGroup, failed_conversation, groups_of
from .pairs import PairedTest, not_as_good

NO_SCORE = (
    "give the cast one (closing=nodes.scoring(success=...)) that answers true or false, or each scenario a 'success'"
)
SHARE = (0.0, 1.0)
KNOWN: tuple[Whose, ...] = ("user", "assistant", "infrastructure", "undecided", "tools", "scenario")
MOST_LEFT_OUT = 0.1
"""Greatest share of conversations that may say nothing of the agent."""
TOOLS = 5
"""Most tools whose errors are named: a model may call tools that do not exist."""


class PlannedConversation(NamedTuple):
    """A conversation that was to be held."""

    id: str
    scenario: str
    """Equal for conversations about the same scenario, as of `scenario_key`."""
    title: str

    @classmethod
    def of(cls, conversation: Conversation, begun: str = "") -> "PlannedConversation":
        """The plan of a conversation; `begun`: the digest of its opening messages."""
        return cls(conversation.id, planned_key(conversation, begun), title_of(conversation))


class ScenarioSuccess(Record):
    """What became of the conversations about one scenario."""

    scenario: str
    """What it is about, in a few words, with the id of its first conversation where others have the same title."""
    conversations: int
    """Those that count: with a score, and not left out."""
    successes: int
    unscored: int
    """Those that began and have no score, and were not cut short."""
    cut_short: int
    not_begun: int
    left_out: int = 0
    """Failures that are the user simulator's or the infrastructure's, which `conversations` does not have."""

    @property
    def share(self) -> float | None:
        """The share of successes; None without a score."""
        return self.successes / self.conversations if self.conversations else None


class UserSuccess(Record):
    """The success of conversations with one kind of user, without failures that are the user simulator's."""

    user: str
    """Its behaviours, or `plain`."""
    success: Estimate
    against_plain: Difference | None
    """The share less that of the plain user about the same scenarios; None for the plain user, or without one."""
    adjusted_p: float | None
    """p of `against_plain`, adjusted for the number of users that are compared, by Holm's method."""


class Floor(Record):
    """In how many scenarios an agent succeeds that does nothing."""

    scenarios: int
    """Those whose `success` needs no judge."""
    refusing: int
    """With an agent that only says "I cannot help with that"."""
    silent: int
    """With an agent that says nothing."""


class JudgeCheck(Record):
    """A judge of success beside people."""

    labelled: int
    """Conversations that both labelled."""
    agreed: int
    kappa: Estimate
    """Cohen's kappa of judge and people."""
    judged: float
    """The share of successes by the judge, of all conversations."""
    rectified: Estimate
    """The same rectified by people's labels."""


class Successes(Record):
    """How often conversations reached their goal."""

    planned: int
    """Conversations that were to be held; without a plan, those that are here. Each is scored, unscored, cut short or
    not begun."""
    scored: int
    successes: int
    unscored: int
    """Those that ended and have no score, as after a failure of an endpoint: a run with any does not pass."""
    cut_short: int
    """Those that a limit of the run or a cancellation ended."""
    not_begun: int
    """Those without a record: they were not begun, or were lost with a process that was ended by force."""
    left_out: tuple[str, ...] = ()
    """Ids of the scored conversations whose failure is the user simulator's or the infrastructure's: they are not in the
    share. Undecided failures are."""
    success: Estimate
    """The share of successes of the scored conversations that are not left out, over scenarios."""
    first_draft: Estimate | None = None
    """The share of successes in which no draft of the assistant was rejected; None if none ever was."""
    pass_hat: dict[int, Estimate]
    """pass^k, the chance that k conversations about one scenario all succeed, by k up to the fewest of a scenario."""
    scenarios: tuple[ScenarioSuccess, ...]
    users: tuple[UserSuccess, ...] = ()
    """By kind of user, the plain one first; empty where no user has a behaviour."""
    failures: tuple[FailedConversation, ...]
    """The shortest first."""
    groups: tuple[FailureGroup, ...]
    """The same by cause, the largest group first."""
    faults: dict[Whose, int]
    """Whose fault each conversation without success is; what was cut short or not begun is the infrastructure's."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Conversations by how the agent ended (`answered`, `crashed`, `silent`, `timed out`, `interrupted`, `limit`,
    `rejected`); by what a resumed run does with them (`error`); drafts of the agent that its validator
    rejected (`rejected drafts`), and those of them that were sent all the same (`sent although rejected`)."""
    measures: dict[str, Estimate] = Field(default_factory=dict)
    """Means over scenarios: `turns`, `tokens` of models, and `turn seconds` of the agent."""
    floor: Floor | None = None
    """What agents reach that do nothing; None where it was not measured."""
    judge: JudgeCheck | None = None
    """How far the judge of success agrees with people; None without their labels."""
    cost: float | None = None
    """US dollars that the run has cost; None where no price was looked up, or one is unknown."""
    notes: tuple[str, ...] = ()
    """What may be wrong although the scores count, and remarks on the source of the scenarios, a line each."""
    advice: tuple[str, ...] = ()
    """What to do about the result, a line each."""
    resume: str = ""
    """The line that resumes an incomplete run; empty if there is nothing to resume."""
    threshold: float | None = None
    """The lowest share with which a test passes."""
    at_least: float | None = None
    """The lowest lower end of the share's interval with which a test passes."""
    against: PairedTest | None = None
    """The comparison with another version of the agent, in pairs; None without one."""
    passed: bool | None = None
    """Whether the test passed; None for conversations that are not those of a test."""
    not_passed_because: tuple[str, ...] = ()
    """Why it did not pass, a line each."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The share of all planned conversations if none, or all, of those without a score succeed; None if all have one."""
        every = self.planned
        if self.scored in (0, every):
            return None
        return self.successes / every, (self.successes + every - self.scored) / every


# Counting


@dataclass
class _Scenario:
    """The counts of the conversations about a scenario."""

    title: str
    first: str
    """Id of its first conversation."""
    content: str = ""
    """Equal for scenarios that differ only in their kind of user."""
    scored: list[tuple[bool, int, bool]] = field(default_factory=list)
    """Of each conversation with a score: success, rejected drafts of the assistant, whether it is left out."""
    values: dict[str, list[float]] = field(default_factory=dict)
    unscored: int = 0
    cut_short: int = 0
    not_begun: int = 0

    def add(self, conversation: Conversation, result: Outcome) -> None:
        if was_cut_short(conversation):
            self.cut_short += 1
        elif result.success is None:
            self.unscored += 1
        else:
            rejected = rejected_drafts(conversation, "assistant", wordless=True)
            self.scored.append((result.success, rejected, is_left_out(result)))
        for name, value in _values(conversation).items():
            self.values.setdefault(name, []).append(value)

    @property
    def counted(self) -> list[tuple[bool, int]]:
        """Success and rejected drafts of those that are not left out."""
        return [(success, drafts) for success, drafts, left_out in self.scored if not left_out]


def is_left_out(result: Outcome) -> bool:
    """Whether a failure says nothing of the agent: it is the user simulator's or the infrastructure's."""
    return result.success is False and result.fault in ("user", "infrastructure")


def _values(conversation: Conversation) -> dict[str, float]:
    turns = len(conversation.exchanges)
    values: dict[str, float] = {"turns": turns, "tokens": model_tokens(conversation)}
    if turns and (seconds := conversation.seconds("assistant")) is not None:
        values["turn seconds"] = seconds / turns
    return values


def successes(
    conversations: Iterable[Conversation],
    *,
    plan: Iterable[PlannedConversation] | None = None,
    ending: str = "",
    named: Mapping[str, tuple[Whose, str]] | None = None,
) -> Successes:
    """Count the success of scored conversations, which are read once and not kept.

    `plan`: the conversations that were to be held, of which those that are not here were not begun. `ending`: why the
    run ended, for those that it cut short. `named`: the fault of failures by their ids, and what shows it, where more
    than structure was asked. DataError without a plan, if nothing gives a score.
    """
    scenarios: dict[str, _Scenario] = {}
    open_plan = {one.id: one for one in plan or ()}
    keys = {one.id: one.scenario for one in open_plan.values()}
    for one in open_plan.values():
        scenarios.setdefault(one.scenario, _Scenario(one.title, one.id))
    failures: list[FailedConversation] = []
    faults: Counter[Whose] = Counter()
    counts: Counter[str] = Counter()
    notes, tools, users = _Notes(), _Tools(), _Users()
    for conversation in conversations:
        open_plan.pop(conversation.id, None)
        result = outcome(conversation, ending)
        if named and conversation.id in named and result.cause is not None:
            fault, because = named[conversation.id]
            changed: dict[str, str | None] = {"fault": fault, "because": because}
            if result.cause.site == "message" and result.cause.fault != fault:  # where the other side's fault was
                changed["message"] = None
            result = replace(result, fault=fault, cause=result.cause.model_copy(update=changed))
        key = keys.get(conversation.id) or scenario_key(conversation)
        scenario = scenarios.setdefault(key, _Scenario(result.scenario, conversation.id))
        scenario.content = content_key(conversation)
        if not was_begun(conversation):
            scenario.not_begun += 1
            continue
        scenario.add(conversation, result)
        faults[result.fault] += 1
        counts.update(_counted(conversation, result))
        for collector in (notes, tools, users):
            collector.add(conversation, result)
        if failed := failed_conversation(conversation, result):
            failures.append(failed)
    for one in open_plan.values():
        scenarios[one.scenario].not_begun += 1
    unscored = [failure for failure in failures if failure.success is None]
    listed = [*scenarios.values()]
    scored, not_begun = sum(len(one.scored) for one in listed), sum(one.not_begun for one in listed)
    cut_short = sum(one.cut_short for one in listed)
    if plan is None and unscored and not (scored or cut_short or counts["error"]):
        raise DataError(f"no conversation has a score named 'success' ({unscored[0].reason}): {NO_SCORE}")
    faults["infrastructure"] += not_begun
    failures.sort(key=lambda failure: (failure.messages, failure.id))
    chances = [(sum(success for success, _ in one.counted), len(one.counted)) for one in listed if one.counted]
    success = _share(listed)
    return Successes(
        planned=scored + len(unscored) + cut_short + not_begun,
        scored=scored,
        successes=sum(reached for reached, _ in chances),
        unscored=len(unscored),
        cut_short=cut_short,
        not_begun=not_begun,
        left_out=tuple(failure.id for failure in failures if failure.success is False and failure.left_out),
        success=success,
        first_draft=_share(listed, rejected=False) if counts["rejected drafts"] else None,
        pass_hat={
            k: mean([[comb(reached, k) / comb(total, k)] for reached, total in chances], SHARE, "scenarios")
            for k in range(1, min((total for _, total in chances), default=0) + 1)
        },
        scenarios=tuple(_rows(listed)),
        users=tuple(users.rows()),
        failures=tuple(failures),
        groups=groups_of({"": failures}),
        faults={whose: faults[whose] for whose in KNOWN if faults[whose] or whose in KNOWN[:4]},
        counts=dict(counts),
        measures={
            name: mean(of_scenarios, unit="scenarios")
            for name in ("turns", "tokens", "turn seconds")
            if (of_scenarios := [one.values[name] for one in listed if name in one.values])
        },
        notes=(*notes.lines(), *tools.lines()),
    )


def _counted(conversation: Conversation, result: Outcome) -> Counter[str]:
    """What a conversation adds to `Successes.counts`."""
    counts = Counter[str]()
    if (ending := ending_of(conversation)) is not None:
        counts[ending] += 1
    if not was_cut_short(conversation):
        counts["error"] += conversation.ending_failure is not None or result.reason.startswith(SCORE_FAILED)
    counts["rejected drafts"] += rejected_drafts(conversation, "assistant")
    counts["sent although rejected"] += sent_although_rejected(conversation)
    return +counts


def _share(scenarios: Sequence[_Scenario], *, rejected: bool = True) -> Estimate:
    """The share of successes; the kinds of users of one scenario are alike, and so are one scenario here.

    `rejected`: successes with a rejected draft count.
    """
    counted = (
        (one.content, success and (rejected or not drafts)) for one in scenarios for success, drafts in one.counted
    )
    return share([(sum(reached), len(reached)) for reached in by_group(counted)])


def share_over_scenarios(outcomes: Iterable[tuple[Conversation, bool]]) -> Estimate:
    """The share of successes of conversations, each with its outcome, and its interval over scenarios."""
    scenarios = by_group((content_key(conversation), success) for conversation, success in outcomes)
    return share([(sum(reached), len(reached)) for reached in scenarios])


def _rows(scenarios: Sequence[_Scenario]) -> Iterator[ScenarioSuccess]:
    titles = Counter(one.title for one in scenarios)
    for one in scenarios:
        yield ScenarioSuccess(
            scenario=f"{one.title} ({one.first})" if titles[one.title] > 1 else one.title,
            conversations=len(one.counted),
            successes=sum(success for success, _ in one.counted),
            left_out=len(one.scored) - len(one.counted),
            unscored=one.unscored,
            cut_short=one.cut_short,
            not_begun=one.not_begun,
        )


class _Users:
    """Collects successes by the behaviours of the user and by scenario."""

    def __init__(self) -> None:
        self._scored: dict[tuple[str, ...], dict[str, list[bool]]] = {}

    def add(self, conversation: Conversation, result: Outcome) -> None:
        names = tuple(sorted(behaviours_in(conversation.scenario, conversation.extra)))
        if result.success is not None and not is_left_out(result):
            scenario = {key: value for key, value in conversation.scenario.items() if key != KEY}
            self._scored.setdefault(names, {}).setdefault(digest(scenario), []).append(result.success)

    def rows(self) -> list[UserSuccess]:
        if not any(self._scored):
            return []
        plain = self._scored.get((), {})
        found = []
        for names, scenarios in sorted(self._scored.items()):
            # Repeats of a scenario are alike: which is paired with which does not matter.
            pairs = [
                [(float(old), float(new)) for old, new in zip(plain[key], reached, strict=False)]
                for key, reached in sorted(scenarios.items())
                if names and key in plain
            ]
            success = share([(sum(reached), len(reached)) for reached in scenarios.values()])
            found.append((", ".join(names) or PLAIN, success, paired(pairs, SHARE) if pairs else None))
        adjusted = holm([None if pair is None else pair.p for *_, pair in found])
        return [
            UserSuccess(user=user, success=success, against_plain=pair, adjusted_p=p)
            for (user, success, pair), p in zip(found, adjusted, strict=True)
        ]


class _Notes:
    """Collects what may be wrong with successes, and worlds that could not be torn down."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, conversation: Conversation, result: Outcome) -> None:
        little = "read one, as its 'success' may ask too little"
        success = as_object(conversation.scenario.get(SUCCESS))
        refusal = success.get("refused") is True or any(True for _ in forbidden_in(success))
        if result.success and conversation.stop == "user_gave_up" and not refusal:
            self._counts[f"successful conversation{{s}} the user gave up: {little}"] += 1
        if result.success and ending_of(conversation) not in ("answered", None):
            self._counts[f"successful conversation{{s}} the agent did not answer to the end: {little}"] += 1
        if result.success is not None and is_scored_by_goodbye(conversation):
            line = "the scenario has no 'success': the user's goodbye counts as success, unless the user gives up"
            self._counts[f"scored conversation{{s}} {line}"] += 1
        if warning := teardown_warning(conversation):
            self._counts[f"conversation{{s}} {warning.replace('{', '{{').replace('}', '}}')}"] += 1

    def lines(self) -> Iterator[str]:
        for line, count in self._counts.most_common():
            yield f"in {count} {line.format(s='s' * (count != 1))}"


class _Tools:
    """Collects tools whose calls failed, and those that a `success` names and no conversation called.

    A misspelt name passes or fails in silence; a scenario may want a tool to fail.
    """

    def __init__(self) -> None:
        self._called: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._required: set[str] = set()
        self._forbidden: set[str] = set()
        self._answered = False

    def add(self, conversation: Conversation, result: Outcome) -> None:
        for path, name in tools_in_success(conversation.scenario.get(SUCCESS)):
            negated = path.endswith("tool_not_called") != (path.count(".not") % 2 == 1)
            (self._forbidden if negated else self._required).add(name)
        drafts: list[Attempt] = list(conversation.attempts("assistant"))
        self._answered |= bool(drafts)
        self._called.update({call.name for draft in drafts for call in draft.tool_calls} - {INTERRUPT})
        self._failed.update(result.tool_errors.keys())
        for name, error in result.tool_errors.items():
            self._first.setdefault(name, f"first in {result.id}: {error}")

    def lines(self) -> Iterator[str]:
        for name, count in self._failed.most_common(TOOLS):
            those = f"{self._called[name]} conversation{'s' * (self._called[name] != 1)} that called it"
            yield f"calls of {name or 'a tool without a name'} ended in an error in {count} of {those}, {self._first[name]}"
        called = sorted(self._called)
        # A tool that must not be called is named only where the name of a called one is like it.
        unlike = {name for name in self._forbidden - self._required if not get_close_matches(name, called)}
        for name in sorted((self._required | self._forbidden).difference(called, unlike)) if self._answered else ():
            yield f"`success` names the tool {name}, which no conversation called; tools called: {', '.join(called) or 'none'}"


# The verdict


def with_verdict(
    result: Successes,
    *,
    threshold: float | None = None,
    at_least: float | None = None,
    broken: bool = False,
    against: PairedTest | None = None,
) -> Successes:
    """The result with its verdict: by default it passes if every scored conversation succeeds.

    `threshold`: the lowest share with which it passes; `at_least`: the lowest lower end of its interval. `broken`: a part
    of the source of the scenarios could not be read. `against`: the comparison with another version, which may
    have a margin.
    """
    bounded = result.model_copy(update={"threshold": threshold, "at_least": at_least, "against": against})
    reasons = ("a part of the source of the scenarios could not be read",) * broken + tuple(_reasons(bounded))
    return bounded.model_copy(update={"passed": not reasons, "not_passed_because": reasons})


def _reasons(result: Successes) -> Iterator[str]:
    """Why a test does not pass."""
    for count, what in ((result.not_begun, "not begun"), (result.cut_short, "cut short")):
        if count:
            yield f"{count} {what}"
    lost, ended = result.unscored + len(result.left_out), result.unscored + result.scored
    if lost > MOST_LEFT_OUT * ended:
        parts = (
            (result.unscored, "without a score"),
            (len(result.left_out), "failed by another fault than the agent's"),
        )
        yield f"{' and '.join(f'{count} {what}' for count, what in parts if count)}: more than one in ten of {ended}"
    success, threshold, at_least = result.success, result.threshold, result.at_least
    if success.value is None:
        yield "no conversation has a score that counts"
        return
    if threshold is not None and success.value < threshold:
        yield f"the share is below the threshold {threshold:g}"
    if at_least is not None and success.low is None:
        yield success.reason
    elif at_least is not None and success.low is not None and success.low < at_least:
        yield f"the lower end of the interval is below {at_least:g}"
    compared = result.against is not None and result.against.margin is not None
    if result.against is not None and (worse := not_as_good(result.against)):
        yield worse
    if not result.successes:
        yield "no conversation succeeded"
    elif threshold is None and at_least is None and not compared:
        counted = result.scored - len(result.left_out)
        if failed := counted - result.successes:
            yield f"{failed} of {counted} failed"
