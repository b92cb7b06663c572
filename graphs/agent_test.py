"""The cast that tests an agent, without code: a user with a goal and facts, and the agent as assistant."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from ..data import domains
from ..data.records import as_object
from ..data.text.languages import Language, language_of
from ..errors import DataError, placed
from ..nodes.goodbyes import Ending
from ..nodes.messages import PageMessages
from ..nodes.people import origin_of
from ..nodes.prompt_selectors import RepairPrompts
from ..nodes.recllmsim import GoalMessages, UserPrompts, UserValidator, goal_of, told_to_user
from ..nodes.scorers import Score, scoring, solved
from ..nodes.state import Planned, State, history
from ..nodes.success import KEY
from ..nodes.validators import not_empty
from .casts.cast import STORED, Cast, stored_words
from .casts.registry import Assistant, Common, User, assembled, library, ships
from .graph import conversation
from .scenarios.sources import ScenarioSource, numbered, of_another_kind, repeated

NAME = "agent_test"
TURNS = 10
"""Maximum turns of a conversation."""


class Goals(ScenarioSource):
    """Goals, facts and what counts as success."""

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The scenario; DataError for one of a known domain without a goal."""
        if domains.of(scenario) is not domains.PLAIN and not goal_of(scenario).strip():
            raise DataError(of_another_kind(scenario.get("kind"), "scenarios with a 'goal' or a 'first_message'"))
        return scenario

    def settings_for(self, states: Sequence[Planned]) -> dict[str, Any]:
        """The language that all goals share."""
        languages = {language_of(goal_of(state["scenario"])) for state in states}
        return {"language": "zh"} if languages == {"zh"} else {}

    def remarks(self, states: Sequence[Planned], settings: Any) -> list[str]:
        """Unknown kinds, and scenarios without a goal."""
        notes = super().remarks(states, settings)
        if lacking := sum(not goal_of(state["scenario"]).strip() for state in states):
            notes.append(f"{lacking} of {len(states)} scenarios name no goal: their users have none")
        return notes


def unless_the_scenario_says(state: State) -> Score | None:
    """The score of a scenario without `success`: whether the user left as one that has what it came for.

    `None` for a retrieval-based user: it leaves where its source conversation ended, not by the agent's answers; and where
    the oracle left a designed scenario undecided, which needs a `success` of yours.
    """
    undecided = as_object(state["scenario"].get("proof")).get("verdict") == "undecided"
    if KEY in state["scenario"] or undecided or any(map(origin_of, history(state, "user"))):
        return None
    return solved()(state)


@ships(Goals)
def cast(
    user: User = "offline",
    assistant: Assistant = "offline",
    *,
    language: Language | None = None,
    may_give_up: bool = True,
    **common: Unpack[Common],
) -> Cast:
    """A user with a goal and facts, and an agent of yours: a test of the agent that needs no code.

    Args:
        language: Choose the language of the user's prompts: en or zh. Default: that of the goals, or en.
        may_give_up: Give the user a phrase for giving up, which is not a success by itself.
    """
    language = language or "en"
    pages = library(NAME, common.get("prompts"), language)
    asker = stored_words("user", user)
    ending = Ending(may_give_up=may_give_up, any_goodbye=True, stored=True)
    return assembled(
        common,
        turns=TURNS,
        name=NAME,
        user_prompt_selector=UserPrompts(pages, language, may_give_up),
        user_view=GoalMessages("user", pages),
        user_simulator=asker,
        question_validator=UserValidator(
            None if isinstance(asker, STORED) else ending, instructions=told_to_user(pages)
        ),
        assistant_prompt_selector=RepairPrompts("assistant", pages),
        assistant_view=PageMessages("assistant", pages),
        assistant=stored_words("assistant", assistant),
        answer_validator=not_empty,
        closing=scoring(success=unless_the_scenario_says),
        prompts=pages,
    )


def scenarios(described: Iterable[Mapping[str, Any]], *, repeats: int = 1) -> list[Planned]:
    """Planned conversations, one of each object as in a line of a scenario file, `repeats` times: for `simulate`.

    `graphs.begun` makes a graph's input of one.

    Equal ones are numbered; results count them as repeats of one scenario. DataError or SettingError if one cannot be
    used.
    """
    states: list[Planned] = []
    for number, scenario in enumerate(described, 1):
        with placed(f"scenario {number}"):
            states.append(Goals().state(dict(scenario) if isinstance(scenario, Mapping) else scenario))
    return repeated(numbered(states), repeats)


graph = conversation(cast())
"""The test of an offline assistant by an offline user: what `langgraph dev` serves."""
