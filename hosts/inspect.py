"""A simulated user in evaluations of Inspect: a solver that holds the conversation, a data set and scorers.

    from inspect_ai import Task, eval
    from duologue.hosts import inspect

    task = Task(dataset=inspect.dataset("scenarios.jsonl"), solver=inspect.simulated_user(), scorer=inspect.success())
    eval(task, model="openai/gpt-4.1-mini", epochs=5)

The evaluated model, or an agent, answers the user with its tools. The record is in the sample's store.
"""

from collections.abc import Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from ..analysis.outcomes import outcome
from ..data.formats.messages import as_messages
from ..data.logs.inspect import KEY, as_record, inspect_turns, stored_record
from ..data.records import Conversation, as_object, is_object
from ..errors import SettingError, kind, of_extra, placed
from ..nodes.success import KEY as SUCCESS
from ..nodes.success import success_of
from .users import User, UserEnded, described, scored_record, user

_agent = of_extra("inspect_ai.agent", "inspect")
_data = of_extra("inspect_ai.dataset", "inspect")
_model = of_extra("inspect_ai.model", "inspect")
_scorer = of_extra("inspect_ai.scorer", "inspect")
_solver = of_extra("inspect_ai.solver", "inspect")

_PARTS = ("goal", "facts", "unknown", "persona", "first_message", SUCCESS)
"""Keys of a sample's metadata that are a scenario by themselves."""


def dataset(scenarios: str | Path | Iterable[Mapping[str, Any]]) -> Any:
    """A data set of Inspect with a sample for each scenario, whose goal is the input.

    Args:
        scenarios: A file as of `duologue test --scenarios`, or scenarios as objects.

    Raises:
        DataError or SettingError: A scenario cannot be used; the error has its line.
    """
    return _data.MemoryDataset([_sample(number, one) for number, one in enumerate(described(scenarios), 1)])


def _sample(number: int, scenario: dict[str, Any]) -> Any:
    goal = str(scenario.get("goal") or scenario.get("first_message") or "")
    name = scenario.get("id") or number
    return _data.Sample(id=name, input=goal, target=str(scenario.get(SUCCESS) or ""), metadata={"scenario": scenario})


@_solver.solver  # type: ignore[untyped-decorator]
def simulated_user(agent: Any = None, **settings: Any) -> Any:
    """A solver in which our user talks to the evaluated model until the user ends the conversation.

    Args:
        agent: An agent or a solver of Inspect that answers each message, such as `react(submit=False)` or a bridged agent.
            Default: the evaluated model with the task's tools.
        settings: Settings of `duologue.user`, such as `user="openai:NAME"`, `behaviours=["impatient"]`, `max_turns=8`,
            `seed=1`. Each epoch is a repeat of the scenario, with draws of its own.

    A sample's scenario is its metadata's `scenario`, or `goal`, `facts`, `unknown`, `persona`, `first_message` and
    `success` there. Without a goal the input is the goal. An input that is a list of messages is what was said before.

    The record is in the sample's store: `sample.store["duologue"]`.

    Raises:
        SettingError: A setting is unknown or has a wrong value.
    """
    user(scenario={"goal": "any"}, **settings)  # what is wrong is said before the first sample
    if agent is not None and not callable(agent):
        raise SettingError(f"simulated_user: expected an agent or a solver of Inspect that answers, not {agent!r}")
    answers = _agent.as_solver(_checked(agent)) if _agent.is_agent(agent) else agent

    async def solve(state: Any, generate: Any) -> Any:
        scenario, customer = _begun(state, settings)
        if isinstance(state.input, str):  # the input is the user's goal, which the agent must not see
            state.messages = [message for message in state.messages if message.role == "system"]
        instructions = {message.id for message in state.messages if message.role == "system"}
        ended: UserEnded | None = None
        try:
            while not state.completed:
                answer = await customer.reply(_turns(state))
                ended = answer if isinstance(answer, UserEnded) else None
                message = answer.message if isinstance(answer, UserEnded) else answer
                if message is not None:
                    state.messages.append(_model.ChatMessageUser(content=message.text, source="generate"))
                if ended is not None:
                    break
                # An agent puts its own instructions before the messages each time that it is asked.
                state.messages = [turn for turn in state.messages if turn.role != "system" or turn.id in instructions]
                state = await _answered(answers, state, generate)
        finally:
            record = await scored_record(customer, _turns(state), ended, scenario.get(SUCCESS))
            state.store.set(KEY, stored_record(record))
        return state

    return solve


def _begun(state: Any, settings: Mapping[str, Any]) -> tuple[dict[str, Any], User]:
    """The scenario of a sample and its user; an error names the sample."""
    with placed(f"sample {state.sample_id}"):
        scenario = scenario_of(state)
        customer = user(scenario=scenario, **{"repeat": state.epoch - 1, **settings})
        if is_object(customer.success):
            success_of(customer.success)  # with its judge, as it is scored here
        return scenario, customer


async def _answered(answers: Any, state: Any, generate: Any) -> Any:
    """The state after an answer; SettingError without one."""
    answered = await (generate(state) if answers is None else answers(state, generate))
    if not isinstance(answered, _solver.TaskState):
        raise SettingError(f"simulated_user: the solver gave {kind(answered)}: let it return its state")
    if not answered.completed and _turns(answered)[-1]["role"] == "user":
        raise SettingError("simulated_user: the agent gave no answer: let it append one to its state's messages")
    return answered


def _checked(agent: Any) -> Any:
    """The agent, for which it is an error of one line to return no state."""

    @wraps(agent)
    async def answering(*arguments: Any, **options: Any) -> Any:
        state = await agent(*arguments, **options)
        if not isinstance(state, _agent.AgentState):
            raise SettingError(f"simulated_user: the agent gave {kind(state)}: let it return its state")
        return state

    return answering


def scenario_of(state: Any) -> dict[str, Any]:
    """The scenario of a sample, by its metadata or its input; SettingError without any, or for a misspelt key."""
    scenario = state.metadata.get("scenario")
    if scenario is not None and not is_object(scenario):
        raise SettingError("metadata 'scenario' is not an object: give it a 'goal'")
    parts = {key: state.metadata[key] for key in _PARTS if state.metadata.get(key) is not None}
    merged = {**as_object(scenario), **parts}
    if not merged.get("goal") and not merged.get("first_message"):
        merged["goal"] = state.input_text if isinstance(state.input, str) else ""
    if not merged.get("goal") and not merged.get("first_message"):
        raise SettingError("has no goal: give it as input, or as metadata 'goal'")
    return merged


def _turns(state: Any) -> list[dict[str, Any]]:
    """What was said, in OpenAI's form; where an agent answered beside its messages, its output is the answer."""
    messages = [message.model_dump(exclude_none=True) for message in state.messages]
    turns = list(as_messages(turn for message in messages for turn in inspect_turns(message)))
    last = turns[-1] if turns else {"role": "user"}
    if last["role"] != "user" and not (last["role"] == "assistant" and last.get("content")) and state.output.completion:
        turns.append({"role": "assistant", "content": state.output.completion})
    return turns


def record_of(state: Any) -> Conversation:
    """The record of a sample, by its state, or its log.

    Raises:
        SettingError: The sample has none, because another solver ran.
    """
    record = as_record(state.store.get(KEY))
    if record is None:
        raise SettingError("the sample has no record of a simulated user: give the task the solver simulated_user()")
    return record


@_scorer.scorer(metrics=[_scorer.accuracy(), _scorer.stderr()])  # type: ignore[untyped-decorator]
def success() -> Any:
    """A scorer of Inspect: whether the scenario's `success` holds; without one, whether the user left content.

    A sample is unscored if its success says nothing about the agent: the user's model failed, a limit of Inspect cut the
    conversation short, or a judge gave no verdict. The metadata names whose fault a failure was.
    """

    async def score(state: Any, target: Any) -> Any:
        record = record_of(state)
        if record.stop is None:
            return _scorer.Score.unscored(reason="limit", explanation="a limit ended it before the user did")
        result = outcome(record)
        if result.success is None:
            return _scorer.Score.unscored(reason=result.fault, explanation=result.reason)
        metadata = {"fault": result.fault, "stop": record.stop}
        return _scorer.Score(value=result.success, explanation=result.reason, metadata=metadata)

    return score
