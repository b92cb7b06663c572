"""A simulated user in environments of Verifiers: a task set of scenarios, an environment and rewards.

A module of your own names them, and its name is the id of the task set:

    from duologue.hosts.verifiers import ScenarioTaskset, SimulatedUserEnv

    __all__ = ["ScenarioTaskset", "SimulatedUserEnv"]

The trained or evaluated agent plays the assistant, with any harness that can go on with a conversation.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import Field

from ..analysis.outcomes import outcome
from ..data.records import Conversation, Usage
from ..errors import DuologueError, ModelError, SettingError, of_extra
from ..nodes.scorers.scenario_success import KEY as SUCCESS
from ..nodes.scorers.scores import Scorer, score_by
from .given_scenarios import scenarios_of
from .scored_records import scored_record
from .simulated_users import Heard, User, UserEnded, user

_vf = of_extra("verifiers.v1", "verifiers")

if TYPE_CHECKING:
    _AgentConfig: TypeAlias = Any
else:
    _AgentConfig = _vf.AgentConfig

KEY = "duologue"
"""Key of a trace's `info` for the record of the conversation."""


class ScenarioData(_vf.TaskData):  # type: ignore[misc, name-defined]
    """A scenario as a row: without a prompt, because the user opens the conversation."""

    scenario: dict[str, Any]


class ScenarioTask(_vf.Task[ScenarioData]):  # type: ignore[misc, name-defined]
    """A scenario with the reward of its `success`.

    Rewards of your own are methods of a subclass, as of any task.
    """

    @_vf.reward  # type: ignore[untyped-decorator]
    async def success(self, trace: Any) -> float:
        """1 if the scenario's `success` holds, else 0; without one, whether the user left with what it came for.

        DuologueError if its success says nothing about the agent: then the trace has an error and no reward.
        """
        result = outcome(record_of(trace))
        if result.success is None:
            raise DuologueError(f"not scored: {result.reason}")
        return float(result.success)


class ScenarioTasksetConfig(_vf.TasksetConfig):  # type: ignore[misc, name-defined]
    """Which scenarios: `--env.taskset.scenarios FILE`."""

    scenarios: str | list[dict[str, Any]] = Field(default_factory=list)
    """A file as of `duologue test --scenarios`, or the scenarios as objects."""


class ScenarioTaskset(_vf.Taskset[ScenarioTask, ScenarioTasksetConfig]):  # type: ignore[misc, name-defined]
    """A task for each scenario. A subclass may set `task` to a task of its own."""

    task: type[ScenarioTask] = ScenarioTask

    def load(self) -> Iterator[Any]:
        """The tasks, in the order of the scenarios; SettingError without any."""
        if not self.config.scenarios:
            raise SettingError("the task set has no scenarios: give --env.taskset.scenarios FILE")
        for scenario in scenarios_of(self.config.scenarios):
            name = str(scenario["id"]) if scenario.get("id") else None
            goal = str(scenario.get("goal") or scenario.get("first_message") or "")
            yield self.task(ScenarioData(id=name, description=goal, scenario=scenario), self.config.task)


class SimulatedUserEnvConfig(_vf.EnvConfig):  # type: ignore[misc, name-defined]
    """The assistant's agent, and the settings of `duologue.user`."""

    assistant: _AgentConfig = _vf.AgentConfig()
    user: str = "offline"
    """Who plays the user: `offline` (rules), or a model such as `openai:NAME`."""
    behaviours: list[str] = Field(default_factory=list)
    """What makes the user difficult, such as `impatient`."""
    max_turns: int | None = None
    """Maximum number of turns. Default: as in the cast."""
    seed: int = 0
    """Seed of the user's draws. Each rollout of a task is a repeat of its scenario, with draws of its own."""


class SimulatedUserEnv(_vf.Env[SimulatedUserEnvConfig]):  # type: ignore[misc, name-defined]
    """Our user talks to the assistant until the user ends the conversation."""

    def __init__(self, config: SimulatedUserEnvConfig) -> None:
        super().__init__(config)
        self._repeats: Counter[str] = Counter()

    async def run(self, task: Any, agents: Any) -> None:
        """One conversation; its record is in the trace's info, under `duologue`.

        Raises:
            ModelError: The user's model or code failed, which is not the assistant's fault: the episode has an error.
        """
        settings, scenario = self.config, task.data.scenario
        customer = user(
            scenario=scenario,
            user=settings.user,
            behaviours=settings.behaviours,
            max_turns=settings.max_turns,
            seed=settings.seed,
            repeat=self._repeats[task.key],
        )
        self._repeats[task.key] += 1
        async with agents.assistant.interaction(task) as assistant:
            turns: list[Heard] = []
            ended = await self._hold(customer, assistant, turns)
            record = await scored_record(customer, turns, ended, scenario.get(SUCCESS))
            assistant.trace.info[KEY] = record.plain()
            drafts = [draft for draft in record.attempts("user") if not draft.rule_based]
            spent = sum((draft.spent for draft in drafts), Usage.none())
            if spent.tokens:
                usage = _vf.Usage(prompt_tokens=spent.input_tokens, completion_tokens=spent.output_tokens)
                assistant.trace.extra_usage.append(usage)
            assistant.trace.record_metric("user_messages", float(sum(turn.role == "user" for turn in record.messages)))

    async def _hold(self, customer: User, assistant: Any, turns: list[Heard]) -> UserEnded:
        """Hold the conversation; `turns` gets what was said."""
        while True:
            answer = await customer.reply(turns)
            if isinstance(answer, UserEnded):
                if answer.failure:
                    raise ModelError(f"the simulated user failed: {answer.failure}")
                return answer
            turns.append({"role": "user", "content": answer.text})
            segment = await assistant.turn(answer.text)
            if segment.terminated:  # an error of the assistant, or one of its limits
                is_limit = assistant.trace.stop_condition == "max_turns"
                return UserEnded(reason="max_turns" if is_limit else "budget")
            turns += _turns(segment)


def _turns(segment: Any) -> Iterator[dict[str, Any]]:
    """The assistant's messages and results of tools, in OpenAI's form; the last one is what the user hears."""
    last = ""
    for message in segment.messages:
        turn = message.model_dump(include={"role", "content", "tool_call_id", "name"}, exclude_none=True)
        if calls := getattr(message, "tool_calls", None):
            turn["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ]
        last = str(turn.get("content") or "") if turn["role"] == "assistant" and not calls else ""
        yield {"content": None, **turn}
    if not last:
        yield {"role": "assistant", "content": segment.last_reply}


def record_of(trace: Any) -> Conversation:
    """The record of a trace's conversation; SettingError if another environment made the trace."""
    if KEY not in trace.info:
        raise SettingError("the trace has no record of a simulated user: run the task in SimulatedUserEnv")
    return Conversation.from_plain(trace.info[KEY])


async def score(trace: Any, scorer: Scorer) -> float:
    """The value of one of our scorers, such as `nodes.refused()`, for a reward or a metric of your own.

    Raises:
        ContractError: The scorer's answer is not a score. DuologueError: It is not a number, true or false.
    """
    state: Any = record_of(trace).plain()
    result = await score_by("scorer", scorer, state)
    if result is None or not isinstance(result.value, bool | int | float):
        raise DuologueError(f"the scorer gave no number: {None if result is None else result.value!r}")
    return float(result.value)


__all__ = ["ScenarioTask", "ScenarioTaskset", "SimulatedUserEnv", "record_of", "score"]
