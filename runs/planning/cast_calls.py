"""The calls that a cast's conversations take: of speakers, of judges of drafts, and of scorers at the end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple
from typing import cast as typed

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from ...data import domains
from ...data.executed_graph import SPEAKER_OF, VALIDATOR_OF
from ...data.files.json import dumps
from ...data.formats import record_lines
from ...data.formats.source import CONVERSATIONS
from ...data.records import Role, Usage
from ...data.text.words import OF_MESSAGE, tokens_about
from ...errors import DuologueError
from ...graphs import Cast
from ...graphs.casts.cast import STORED
from ...graphs.opening import begun, of_cast, opening, overwritten
from ...nodes.calls.spending import asked_model
from ...nodes.judges import ATTEMPTS, ModelJudge
from ...nodes.limits import Limits
from ...nodes.people import FewShotUser
from ...nodes.scorers.judged import JudgedScore
from ...nodes.scorers.scores import scorers_of
from ...nodes.scorers.success import KEY, success_of
from ...nodes.speakers.replay import ReplaySpeaker
from ...nodes.speakers.speaker import ChatSpeaker
from ...nodes.state import Planned, State, after, merged, role_of, state_from
from ...nodes.stops import AfterOneTurn
from ...nodes.validators import parts_of
from ..engine.event_loop import blocking
from .plans import ANSWER, ENDS, REJECTED, CallEstimate, CallTokens, Ends, ModelCalls

SAMPLED = 12
"""Most scenarios whose first calls are written out."""
ENOUGH = 5
"""Finished conversations of the folder from which their own mean is used."""

BY_PAGES = (
    "first calls as they would be sent, four characters a token (a Chinese one each); with each call all messages "
    "before it are sent again; reasoning is not foreseen"
)
BY_FINISHED = "the mean of the {count} finished conversations of the folder, and two standard errors to both sides"


class TypicalConversation(NamedTuple):
    """How conversations about such scenarios go, by which a run's tokens are estimated before any call."""

    exchanges: int | None
    """Turns after which one usually ends; None: it continues to the limit."""
    lengths: Mapping[Role, tuple[int, int, int]]
    """Tokens of a message of each side: of a short one (95 of 100 are longer), the mean, a long one (5 are longer)."""
    known_by: str
    """Where these figures are from, in words."""


_TYPICAL = TypicalConversation(
    5, {"user": (10, 60, 275), "assistant": (20, 250, 707)}, "a guess, as nothing is known of such scenarios"
)
_OF_KIND = {
    "simquac": TypicalConversation(
        None,
        {"user": (10, 20, 32), "assistant": (6, 28, 103)},
        "as in the published simulated conversations of SimQuAC",
    ),
    "recllmsim": TypicalConversation(
        4,
        {"user": (56, 132, 275), "assistant": (67, 349, 707)},
        "as in the published simulated conversations of RecLLMSim",
    ),
}
"""Measured in the open part of the published data: 77 and 233 conversations."""


@dataclass(frozen=True)
class CastCalls:
    """The calls of a cast's conversations about some scenarios."""

    cast: Cast
    limits: Limits
    states: tuple[Planned, ...]
    _of_success: dict[str, list[JudgedScore]] = field(default_factory=dict)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles that are asked: one in a cast that ends after its turn."""
        return (self.cast.stop.role,) if isinstance(self.cast.stop, AfterOneTurn) else tuple(SPEAKER_OF)

    @property
    def most_turns(self) -> int:
        """The maximum of turns of a conversation."""
        return 1 if isinstance(self.cast.stop, AfterOneTurn) else self.limits.max_turns or 1

    @property
    def replays(self) -> bool:
        """Whether stored conversations are replayed, with their users' turns."""
        return any(state.get("replays") for state in self.states)

    @cached_property
    def turns(self) -> dict[Role, int]:
        """The maximum of turns of each role in all conversations, without those that these begin with."""
        begun = [turns_of(state.get("messages", ())) for state in self.states]
        return {role: sum(max(0, self.most_turns - turns[role]) for turns in begun) for role in self.roles}

    @cached_property
    def models(self) -> dict[Role, Any]:
        """The chat model that plays a role, where one does."""
        speakers: dict[Role, Any] = {role: self.cast.nodes[SPEAKER_OF[role]] for role in self.roles}
        return {role: node.model for role, node in speakers.items() if isinstance(node, (ChatSpeaker, FewShotUser))}

    @cached_property
    def tries(self) -> dict[Role, int]:
        """The maximum of calls for a turn of each role; 0 for one that repeats stored words without a model."""
        attempts = {"user": self.limits.question_attempts, "assistant": self.limits.answer_attempts}
        stored = {
            role
            for role in self.roles
            if isinstance(self.cast.nodes[SPEAKER_OF[role]], STORED) and role not in self.models
        }
        return {role: 0 if role in stored else attempts[role] for role in self.roles}

    @cached_property
    def judges(self) -> dict[Role, list[ModelJudge]]:
        """The judges of the drafts of a role."""
        parts = {role: parts_of(self.cast.nodes[VALIDATOR_OF[role]]) for role in self.roles}
        return {role: [part for part in parts[role] if isinstance(part, ModelJudge)] for role in self.roles}

    def scorers(self, state: Planned) -> list[JudgedScore]:
        """The judges of the finished conversation: of the cast, and of the scenario."""
        described = state["scenario"].get(KEY)
        key = dumps(described)
        if key not in self._of_success:
            own: list[object] = [*scorers_of(self.cast.closing)]
            with suppress(DuologueError):  # is the score's error
                own += scorers_of(success_of(described)) if isinstance(described, dict) else ()
            self._of_success[key] = [part for part in own if isinstance(part, JudgedScore)]
        return self._of_success[key]

    def estimate(self, folder: Path | None) -> CallEstimate:
        """About how much they take, by the conversations that the folder has, or by the first calls."""
        finished = list(_finished(folder)) if folder is not None else []
        if len(finished) < ENOUGH:
            talk = _talk(self.states)
            return CallEstimate(tuple(blocking(self._by_pages(talk))), BY_PAGES, self._assumed(talk))
        models: dict[str, Any] = {f"{role} judge": judges[0].model for role, judges in self.judges.items() if judges}
        models |= {str(role): model for role, model in self.models.items()}
        if scorers := [scorer for state in self.states[:1] for scorer in self.scorers(state)]:
            models["closing"] = scorers[0].model
        calls = (
            ModelCalls(asked_model(model), _by_mean([tokens[name] for tokens in finished], len(self.states)))
            for name, model in models.items()
        )
        return CallEstimate(tuple(calls), BY_FINISHED.format(count=len(finished)))

    async def _by_pages(self, talk: TypicalConversation) -> list[ModelCalls]:
        """The calls of each role, from those that begin a conversation, and the calls at its end."""
        turns = self._turns(talk)
        sample = self.states[:: max(1, -(-len(self.states) // SAMPLED))]
        lengths = [self._lengths(talk, end) for end in ENDS]
        of_speakers, of_judges = list[ModelCalls](), list[ModelCalls]()
        for role in self.roles:
            if role not in self.models and not self.judges[role]:
                continue
            first_states = [await self._first(role, state, talk) for state in sample]
            share = self.turns[role] / self.most_turns  # conversations that begin with messages are parts of one
            low = 0.0 if role == "user" and self.replays else share
            factors = (low, share * (1 + REJECTED), share * (self.tries[role] or 1))

            def calls(
                model: Any, first: Sequence[int], replies: Sequence[int], times: Sequence[float], grows: bool = True
            ) -> ModelCalls:
                ends = []
                for end in ENDS:
                    exchanges, before = turns[end], sum(lengths[end].values()) if grows else 0
                    # Each call is sent what was said before it: the sum of 0, 1, ... exchanges.
                    sent = exchanges * (fmean(first) if first else 0.0) + exchanges * (exchanges - 1) / 2 * before
                    ends.append(CallTokens(sent, 0.0, exchanges * replies[end], exchanges).times(times[end]))
                return ModelCalls(asked_model(model), (ends[0], ends[1], ends[2]))

            if role in self.models:
                first = [await self._sent(role, state) for state in first_states]
                of_speakers.append(calls(self.models[role], first, [of_end[role] for of_end in lengths], factors))
            for judge in self.judges[role]:
                first = [
                    _tokens(judge.texts(state, {"text": "word" * talk.lengths[role][1]})) for state in first_states
                ]
                times = (factors[0], factors[1], factors[2] * judge.attempts)
                of_judges.append(calls(judge.model, first, ANSWER, times, "conversation" in judge.page.gaps))
        return [*self._bounded(of_speakers), *of_judges, *self._scored(sample, talk)]

    def _scored(self, sample: Sequence[Planned], talk: TypicalConversation) -> Iterator[ModelCalls]:
        """The calls about finished conversations: stored ones as they are, others of typical length."""
        turns, lengths = self._turns(talk), [self._lengths(talk, end) for end in ENDS]
        sides = (self.cast.nodes[place] for place in SPEAKER_OF.values())
        replays = [side for side in sides if isinstance(side, ReplaySpeaker)]
        share = len(self.states) / (len(sample) or 1)
        for state in sample:
            stored = replays[0].about(typed(State, begun(state))) if len(replays) == 2 else None
            script = [] if stored is None else [message.plain() for message in stored.messages]
            for scorer in self.scorers(state):
                ends = []
                for end in ENDS:
                    typical = [{"role": role, "text": "word" * lengths[end][role]} for role in SPEAKER_OF] * turns[end]
                    over = merged(state_from(state["scenario"], script or typical), {"stop": "max_turns"})
                    sent = _tokens(scorer.texts(over))
                    ends.append(CallTokens(sent, 0.0, ANSWER[end], 1.0).times((1, 1, ATTEMPTS)[end] * share))
                yield ModelCalls(asked_model(scorer.model), (ends[0], ends[1], ends[2]))

    def _turns(self, talk: TypicalConversation) -> tuple[int, int, int]:
        """Exchanges of a conversation: at least, about, at most."""
        most = self.most_turns
        return 1, most if talk.exchanges is None else min(talk.exchanges, most), most

    def _assumed(self, talk: TypicalConversation) -> dict[str, str]:
        """What each end assumes, in words."""
        _, about, most = (f"{count} turn{'' if count == 1 else 's'}" for count in self._turns(talk))
        user, assistant = talk.lengths["user"][1], talk.lengths["assistant"][1]
        limit = "" if self.limits.max_tokens is None else ", within --max-tokens"
        return {
            "about": f"{about} with messages of {user} tokens (user) and {assistant} (assistant), {talk.known_by}; "
            "one draft in ten is retried",
            "at least": "one turn of short messages, and no draft is rejected",
            "at most": f"{most} of long messages, and each draft is rejected as often as may be{limit}",
        }

    def _lengths(self, talk: TypicalConversation, end: int) -> dict[Role, int]:
        """Tokens of a message of each role; a model's maximum is taken for all its messages."""
        lengths: dict[Role, int] = {}
        for role, of_role in talk.lengths.items():
            model = self.models.get(role)
            bound = getattr(model, "max_tokens", None) or getattr(model, "arguments", {}).get("max_tokens")
            lengths[role] = (
                of_role[end] if not isinstance(bound, int) else bound if end == 2 else min(of_role[end], bound)
            )
        return lengths

    def _bounded(self, calls: list[ModelCalls]) -> list[ModelCalls]:
        """The speakers' calls under the limit of tokens of each conversation."""
        if self.limits.max_tokens is None:
            return calls
        most = self.limits.max_tokens * len(self.states)
        totals = [sum(of_model.ends[end].all for of_model in calls) or 1.0 for end in ENDS]
        return [of_model.times([min(1.0, most / total) for total in totals]) for of_model in calls]

    async def _first(self, role: Role, scenario: Planned, talk: TypicalConversation) -> State:
        """The state right before a role's first call about a scenario."""
        opened = opening(self.cast, of_cast(self.cast), typed(State, begun(scenario)), self.limits)
        state = merged(typed(State, overwritten(opened)), {"memory": {}, "speaking": role})
        messages = state["messages"]
        if role == "assistant" and not (messages and role_of(messages[-1]) == "user"):
            state = after(state, {"messages": [HumanMessage("word" * talk.lengths["user"][1])]})
        selector = getattr(self.cast, f"{role}_prompt_selector")
        if type(selector).__module__.startswith("duologue."):  # one of somebody's own may call a model
            update = await selector(state, Runtime(context=self.limits))
            state = merged(state, {"prompt": update.get("prompt")})
        return state

    async def _sent(self, role: Role, state: State) -> int:
        """About how many tokens a chat model is sent in a role's first call."""
        speaker: Any = self.cast.nodes[SPEAKER_OF[role]]
        messages = speaker.build(state)
        if isinstance(speaker, FewShotUser):
            with suppress(DuologueError):  # where no turn of people may be shown
                messages = speaker.sent(state, self.limits)
        return _tokens(str(message.text) for message in messages)


def _tokens(texts: Iterable[str]) -> int:
    return sum(tokens_about(text) + OF_MESSAGE for text in texts)


def _talk(states: Sequence[Planned]) -> TypicalConversation:
    """How conversations about these scenarios go."""
    kinds = {domain.kind for domain in domains.present(state["scenario"] for state in states)}
    return _OF_KIND.get(kinds.pop(), _TYPICAL) if len(kinds) == 1 else _TYPICAL


def _finished(folder: Path) -> Iterator[dict[str, CallTokens]]:
    """Tokens of each finished conversation of the folder: of speakers, judges of drafts and scorers."""
    if not (folder / CONVERSATIONS).is_file():
        return
    for conversation in record_lines.iterate_run(folder):
        tokens = {"closing": _taken([conversation.closing_usage])}
        for role in SPEAKER_OF:
            attempts = list(conversation.attempts(role))
            tokens[role] = _taken(attempt.usage for attempt in attempts)
            tokens[f"{role} judge"] = _taken(attempt.judging for attempt in attempts)
        yield tokens


def _taken(usages: Iterable[Usage | None]) -> CallTokens:
    total = sum((usage for usage in usages if usage is not None), Usage.none())
    return CallTokens(total.input_tokens, total.cached_tokens, total.output_tokens, total.calls)


def _by_mean(finished: list[CallTokens], count: int) -> Ends:
    """So many further conversations like the finished ones."""
    mean = CallTokens(*map(fmean, zip(*finished, strict=True))).times(count)
    error = (
        2 * stdev(tokens.all for tokens in finished) * (1 / len(finished) + 1 / count) ** 0.5 * count if count else 0.0
    )
    share = error / mean.all if mean.all else 0.0
    return mean.times(max(0.0, 1 - share)), mean, mean.times(1 + share)


def turns_of(messages: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The number of turns of each role: messages of a role that follow each other are one."""
    return Counter(role for role, _ in groupby(message["role"] for message in messages))
