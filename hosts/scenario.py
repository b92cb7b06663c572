"""A simulated user in LangWatch's scenario: an agent adapter in the role of the user, which ends the run.

    import scenario
    from duologue.hosts.scenario import UserAdapter

    result = await scenario.run(name="...", description="...", agents=[MyAgent(), UserAdapter(customer)])

In scenario 1.6 an agent that answers with a result ends the run.
"""

from typing import Any

from ..analysis.outcomes import outcome
from ..data.attempts import is_object
from ..errors import ModelError, of_extra
from ..nodes.scorers.scenario_success import success_of
from .scored_records import scored_record
from .simulated_users import User, UserEnded

_scenario: Any = of_extra("scenario", "scenario")


class UserAdapter(_scenario.AgentAdapter):
    """The user among the `agents` of `scenario.run`, in place of a `UserSimulatorAgent`.

    When the user ends the conversation, the judge among the agents decides. Without a judge the scores of a run decide.

    A run scores the `success` of the user's scenario, by default whether the user left as one who has what it came for.
    """

    role = _scenario.AgentRole.USER

    def __init__(self, user: User) -> None:
        self._user = user

    async def call(self, input: Any) -> Any:
        """The user's next message, or the run's result.

        Raises:
            ModelError: The user's model or code failed, or a judge gave no verdict: not the agent's fault.
            SettingError: No agent is a judge, and the scenario's `success` cannot be scored.
        """
        executor = (
            input.scenario_state._executor
        )  # scenario's own steps, such as `judge()`, have no other way to it either
        has_judge = any(agent.role == _scenario.AgentRole.JUDGE for agent in executor.agents)
        if not has_judge and is_object(self._user.success):
            success_of(self._user.success)  # with its judge, before the first call
        answer = await self._user.reply(input.messages)
        if not isinstance(answer, UserEnded):
            return answer.text
        if answer.failure:
            raise ModelError(f"the simulated user failed: {answer.failure}")
        state = input.scenario_state
        if answer.message is not None:
            state.add_message({"role": "user", "content": answer.message.text})
        if has_judge:
            return await executor.judge()
        record = await scored_record(self._user, state.messages, answer, self._user.success)
        result = outcome(record)
        if result.success is None:
            raise ModelError(f"the run has no score: {result.reason}")
        return _scenario.ScenarioResult(success=result.success, messages=state.messages, reasoning=result.reason)
