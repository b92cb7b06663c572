"""A simulated user in deepeval's ConversationSimulator: the graph of one node, and the controller that ends with it.

    from duologue.hosts import Users, deepeval
    from deepeval.simulator import ConversationSimulator

    simulator = ConversationSimulator(model_callback=agent, **deepeval.sides(Users(seed=1)))
    simulator.simulate(conversational_goldens=goldens)

deepeval 4.3 asks a model for the user's words and for the end, unless a node and a controller of one's own answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..data.test_cases.deepeval import golden_of, scenario_of
from ..errors import DataError, SettingError, of_extra
from .given_scenarios import state_of
from .simulated_users import User, UserEnded, Users

_simulator: Any = of_extra("deepeval.simulator", "deepeval")
_controller: Any = of_extra("deepeval.simulator.controller", "deepeval")
_dataset: Any = of_extra("deepeval.dataset", "deepeval")
_models: Any = of_extra("deepeval.models", "deepeval")


class NoModel(_models.DeepEvalBaseLLM):
    """A model that answers nothing: deepeval wants one, and the user and its end need none."""

    def load_model(self) -> "NoModel":
        """The model itself."""
        return self

    def generate(self, *arguments: Any, **options: Any) -> str:
        """SettingError: what would ask a model."""
        raise SettingError("deepeval.sides: the simulation asks a model: give it 'simulator_model' after these sides")

    async def a_generate(self, *arguments: Any, **options: Any) -> str:
        """As `generate`."""
        return self.generate()

    def get_model_name(self) -> str:
        """What deepeval's progress shows."""
        return "a user of Duologue"


def sides(user: User | Users) -> dict[str, Any]:
    """The arguments `simulation_graph`, `stopping_controller` and `simulator_model` of a ConversationSimulator.

    Args:
        user: One user for all goldens, or `Users`: a user for each golden, with its scenario, persona and facts.

    Raises:
        DataError: While it simulates, for a golden without a scenario.
    """

    def user_of(golden: Any) -> User:
        return user if isinstance(user, User) else user.of(_scenario(golden))

    async def simulated_user(turns: Sequence[Any], golden: Any) -> str:
        answer = await user_of(golden).reply(_messages(turns))
        if isinstance(answer, UserEnded):
            raise SettingError(
                f"the user has ended the conversation ({answer.failure or answer.reason}): "
                "give the simulator the stopping_controller of deepeval.sides"
            )
        return answer.text

    async def stopping_controller(turns: Sequence[Any], golden: Any) -> Any:
        if turns and turns[-1].role == "user":
            return _controller.proceed()
        answer = await user_of(golden).reply(_messages(turns))
        if isinstance(answer, UserEnded):
            return _controller.end(answer.failure or answer.reason)
        return _controller.proceed()

    return {
        "simulation_graph": _simulator.SimulationNode(simulated_user),
        "stopping_controller": stopping_controller,
        "simulator_model": NoModel(),
    }


def scenarios(goldens: Iterable[Any]) -> list[dict[str, Any]]:
    """The scenarios of conversational goldens, as `--scenarios` reads them; DataError for one without a scenario."""
    return [_scenario(golden) for golden in goldens]


def goldens(scenarios: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Scenarios as conversational goldens; what deepeval does not read is in their metadata."""
    values = [golden_of(scenario) for scenario in scenarios]
    return [_dataset.ConversationalGolden(**{key: value for key, value in one.items() if value}) for one in values]


def _scenario(golden: Any) -> dict[str, Any]:
    persona = golden.persona
    values = {**golden.model_dump(), "persona": persona.model_dump(exclude_defaults=True) if persona else None}
    try:
        scenario = scenario_of(values)
        state_of(scenario)
        return scenario
    except ValueError as error:
        raise DataError(f"golden {golden.name or golden.scenario!r}: {error}") from None


def _messages(turns: Sequence[Any]) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in turns]
