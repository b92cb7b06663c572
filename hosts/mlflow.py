"""Simulated users in MLflow's ConversationSimulator: they write the user's messages, and decide when to end.

    from duologue.hosts import Users
    from duologue.hosts.mlflow import UserConversations

    simulator = UserConversations(test_cases, Users(seed=1), max_turns=5)
    mlflow.genai.evaluate(data=simulator, predict_fn=agent, scorers=[...])

MLflow 3.17 and 3.18 ask a model after each turn whether the goal is achieved; here the user answers that too.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ..data.test_cases.mlflow import scenario_of
from ..errors import DataError, SettingError, of_extra
from .given_scenarios import state_of
from .simulated_users import User, UserEnded, Users

_mlflow: Any = of_extra("mlflow.genai.simulators", "mlflow")
_prompts: Any = of_extra("mlflow.genai.simulators.prompts", "mlflow")

_NO_MODEL = "none"
_OF_MLFLOW = ("goal", "persona", "context", "expectations", "simulation_guidelines")
"""The keys of its test cases; it warns of others."""
_current_user: ContextVar[User] = ContextVar("_current_user")
"""The user of this thread's conversation: MLflow holds each conversation in one thread, and checks its goal there."""


class CaseUsers:
    """The users of test cases, by what MLflow gives its user: goal, persona and guidelines."""

    def __init__(self, user: User | Users) -> None:
        self._user = user
        self._scenarios: dict[tuple[str, str, str], Mapping[str, Any]] = {}

    def add(self, number: int, test_case: Mapping[str, Any]) -> dict[str, Any]:
        """The test case without the keys that only the user knows; DataError if another test case differs only in these."""
        of_mlflow = {key: value for key, value in test_case.items() if key in _OF_MLFLOW}
        further = {key: value for key, value in test_case.items() if key not in _OF_MLFLOW}
        try:
            scenario = {**scenario_of(of_mlflow), **further}
            state_of(scenario)
        except ValueError as error:
            raise DataError(f"test case {number}: {error}") from None
        key = _key(*(test_case.get(name) for name in ("goal", "persona", "simulation_guidelines")))
        if self._scenarios.setdefault(key, scenario) != scenario:
            raise DataError(f"test case {number}: has goal and persona of an earlier one: give it another persona")
        return of_mlflow

    def of(self, context: Any) -> User:
        """The user of a conversation, by MLflow's `SimulatorContext`."""
        if isinstance(self._user, User):
            return self._user
        key = _key(context.goal, context.persona, context.simulation_guidelines)
        goal, persona, guidelines = key
        values = {"goal": goal, "persona": persona, "simulation_guidelines": guidelines}
        return self._user.of(self._scenarios.get(key) or scenario_of(values))


class UserAgent(_mlflow.BaseSimulatedUserAgent):
    """The `user_agent_class`: MLflow makes one for each conversation, with the settings as `user_llm_params`.

    In MLflow's own ConversationSimulator it takes the settings of `duologue.user`, such as `seed=1`, and a model checks
    the goal.
    """

    def __init__(self, model: str | None = None, users: CaseUsers | None = None, **settings: Any) -> None:
        super().__init__(model=model or _NO_MODEL)
        self._users = users or CaseUsers(Users(**settings))

    def generate_message(self, context: Any) -> str:
        """The user's next message; SettingError if it has ended the conversation."""
        user = self._users.of(context)
        _current_user.set(user)
        answer = user.reply_now(context.conversation_history)
        if isinstance(answer, UserEnded):
            raise SettingError(f"the user has ended the conversation: {answer.failure or answer.reason}")
        return answer.text


class UserConversations(_mlflow.ConversationSimulator):
    """MLflow's ConversationSimulator with our users; it asks no model.

    Args:
        test_cases: MLflow's, as a list, a DataFrame or an EvaluationDataset. Objects of a list may have further keys of a
            scenario, such as `facts`, which only the user gets.
        user: `Users`, for a user of each test case, or one user for all.
        max_turns: Maximum number of turns.

    Raises:
        DataError: Two test cases with the same goal, persona and guidelines differ in other keys.
        SettingError: The installed MLflow checks the goal in another way.
    """

    def __init__(self, test_cases: Any, user: User | Users, max_turns: int = 10) -> None:
        if not hasattr(_mlflow.ConversationSimulator, "_check_goal_achieved"):
            raise SettingError(
                "UserConversations: this MLflow checks the goal in another way: install mlflow 3.17 or 3.18"
            )
        users = CaseUsers(user)
        if isinstance(test_cases, list):
            test_cases = [users.add(number, case) for number, case in enumerate(test_cases)]
        super().__init__(test_cases, max_turns=max_turns, user_model=_NO_MODEL, user_agent_class=UserAgent, users=users)

    def _check_goal_achieved(self, conversation_history: Sequence[Any], last_response: str, goal: str) -> bool:
        """Whether the user ends the conversation here, with its goal achieved or without."""
        return isinstance(_current_user.get().reply_now(conversation_history), UserEnded)


def _key(goal: Any, persona: Any, guidelines: Any) -> tuple[str, str, str]:
    """Goal, persona and guidelines as texts; MLflow's own persona stands for none."""
    lines = [guidelines] if isinstance(guidelines, str) else guidelines or []
    own = "" if persona in (None, _prompts.DEFAULT_PERSONA) else str(persona)
    return str(goal), own, "\n".join(map(str, lines))
