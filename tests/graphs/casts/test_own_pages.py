"""A cast of one's own with prompt pages of one's own, played by the offline user: it needs no key."""

from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs, nodes, prompts
from duologue.data.records import NodeInfo
from duologue.errors import DataError, DuologueError, SettingError
from duologue.prompts import PromptError

FLIGHT = {"goal": "move my flight to 2026-05-03", "facts": "My booking code is QX4821.", "kind": "flight"}
AIRLINE = "<goal>{{ goal }}</goal>\n<facts>{{ facts }}</facts>"


def clerk(messages: list[dict[str, Any]]) -> str:
    """Asks for the code, then does it."""
    user_text = "\n".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it has been moved." if "QX4821" in user_text else "Which booking is it? Please tell me its code."


def own_cast(folder: Path, material: str, system: str = "You are a customer.", **side: Any) -> graphs.Cast:
    (folder / "user").mkdir()
    (folder / "user" / "system.md").write_text(system, encoding="utf-8")
    (folder / "user" / "material.md").write_text(material, encoding="utf-8")
    pages = nodes.PageMessages("user", prompts.library(folder))
    return graphs.Cast(
        name="airline",
        user_simulator=graphs.side("user", "offline", pages, **side),
        question_validator=nodes.UserValidator(nodes.Ending(may_give_up=True)),
        assistant=graphs.side("assistant", clerk, nodes.PageMessages("assistant", pages.pages)),
    )


def conversation_of(cast: graphs.Cast, scenario: dict[str, Any] = FLIGHT) -> Any:
    (talk,) = duologue.simulate(cast, [{"scenario": scenario}])
    return talk


@pytest.mark.parametrize(
    "material",
    [
        AIRLINE,
        "<task>{{ goal }}</task>\n<profile>{{ facts }}</profile>",
        "<request>{{ goal }}</request>\n\n<persona>{{ facts }}</persona>\n\nWrite short messages.",
    ],
)
def test_the_offline_user_reads_the_goal_and_the_facts_from_pages_of_ones_own_and_says_goodbye(
    tmp_path: Path, material: str
) -> None:
    talk = conversation_of(own_cast(tmp_path, material))
    wish, code, bye = [message.text for message in talk.messages if message.role == "user"]
    assert "move my flight to 2026-05-03" in wish
    assert "QX4821" not in wish
    assert "QX4821" in code
    assert (bye, talk.stop) == ("Thank you, goodbye.", "user_ended")


def test_it_gives_up_where_the_pages_say_that_it_may(tmp_path: Path) -> None:
    def refuses(messages: list[dict[str, Any]]) -> str:
        return "Sorry, that is not possible."

    cast = own_cast(tmp_path, AIRLINE, "When you lose patience, write: I give up, goodbye.")
    assert conversation_of(cast.replace(assistant=refuses)).stop == "user_gave_up"


@pytest.mark.parametrize("material", ["You want: {{ goal }}", "<facts>{{ goal }}</facts>"])
def test_pages_in_which_it_finds_no_goal_are_refused_before_a_conversation_begins(
    tmp_path: Path, material: str
) -> None:
    with pytest.raises(PromptError, match=r"user/material: the offline user finds no goal in it: write <goal>"):
        own_cast(tmp_path, material)


def test_a_scenario_without_the_goal_is_not_played_with_an_empty_one(tmp_path: Path) -> None:
    goalless = {"facts": "QX4821", "kind": "flight"}
    _, talk = duologue.simulate(own_cast(tmp_path, AIRLINE), [{"scenario": FLIGHT}, {"scenario": goalless}])
    assert (talk.stop, talk.messages) == ("model_failed", ())
    assert "is sent no goal between <goal> and </goal>" in talk.failure.error


def test_another_part_for_the_offline_model_can_be_named(tmp_path: Path) -> None:
    cast = own_cast(tmp_path, "<task>{{ goal }}</task><profile>{{ facts }}</profile>", offline="task_user")
    assert cast.user_simulator.model.side == "task_user"  # type: ignore[attr-defined]


def test_the_offline_model_helps_as_the_assistant_of_such_a_cast(tmp_path: Path) -> None:
    cast = own_cast(tmp_path, AIRLINE)
    assert len(conversation_of(cast.replace(assistant="offline")).messages) > 1


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("hotel.py:graph", r"^assistant: 'hotel.py:graph' names a file: write hotel:graph"),
        ("./hotel.py:graph", r"names a file: write hotel:graph, its module"),
        ("hotel.py", r"names a file: write hotel:NAME"),
        (
            "hotel",
            r"model 'hotel' is unknown: use openai:NAME.*, or an agent of yours as MODULE:NAME, such as hotel:graph",
        ),
        ("nowhere:graph", r"^model 'nowhere:graph': No module named 'nowhere'"),
    ],
)
def test_what_was_meant_as_an_import_path_is_told_how_to_write_one(spec: str, problem: str) -> None:
    with pytest.raises(DuologueError, match=problem):
        graphs.agent_test.cast(assistant=spec)


def test_an_agent_is_named_by_its_import_path_where_it_was_given_by_one() -> None:
    flat = {"name": "AgentSpeaker", "agent": "LangGraph"}
    assert NodeInfo.of("assistant", flat | {"object": "hotel:graph"}).label == "hotel:graph"
    assert NodeInfo.of("assistant", flat).label == "LangGraph"


def test_plain_scenarios_are_told_what_makes_initial_states_of_them() -> None:
    with pytest.raises(nodes.ContractError, match=r"scenarios\[0\]: .*graphs.agent_test.scenarios\("):
        duologue.simulate(graphs.agent_test.cast(), [{"goal": "a room"}])  # type: ignore[typeddict-item]


def test_a_misspelt_only_key_or_cast_is_told_the_right_one() -> None:
    with pytest.raises(DataError, match="has the key 'gaol': did you mean 'goal'"):
        graphs.agent_test.scenarios([{"gaol": "a room"}])
    with pytest.raises(SettingError, match="there is no cast 'simquak': did you mean simquac"):
        graphs.casts.find("simquak")


@pytest.mark.parametrize(
    ("name", "source", "problem"),
    [
        (
            "user/system",
            "You want {{ goal }}.",
            r"^prompt user/system: has the template variable \{\{ goal \}\} that nothing fills",
        ),
        (
            "user/repair_other",
            "Mend {{ this }}.",
            r"^prompt user/repair_other: has the template variable \{\{ this \}\} .*attempt",
        ),
        (
            "user/repair_other",
            "{{ 1 / 0 }} {{ repair }}",
            r"^prompt user/repair_other: cannot be filled \(ZeroDivision",
        ),
        (
            "user/post_open",
            "Was {{ goal }} reached?",
            r"^prompt user/post_open: has the template variable \{\{ goal \}\}",
        ),
    ],
)
def test_a_page_with_a_gap_that_its_part_never_fills_is_refused_when_the_cast_is_made(
    name: str, source: str, problem: str
) -> None:
    told_goal = prompts.Page("user/material", AIRLINE)
    pages = prompts.Library({name: prompts.Page(name, source), told_goal.name: told_goal})
    speaker = graphs.side("user", "offline", nodes.PageMessages("user", pages))
    with pytest.raises(PromptError, match=problem):
        graphs.Cast(
            name="airline",
            user_simulator=speaker,
            user_prompt_selector=nodes.RepairPrompts("user", pages),
            assistant=graphs.side("assistant", clerk, nodes.PageMessages("assistant", prompts.Library({}))),
            closing=nodes.PostQuestions(pages, {"user": speaker}),
        )


def test_a_gap_that_no_scenario_fills_is_refused_before_the_first_call_and_says_what_there_is(tmp_path: Path) -> None:
    cast = own_cast(tmp_path, AIRLINE + "{{ code }}").replace(assistant=lambda messages: pytest.fail("it was called"))
    with pytest.raises(
        PromptError, match=r"^prompt user/material: has the template variable \{\{ code \}\} .*facts, goal, kind"
    ):
        conversation_of(cast)


def test_a_judges_page_with_a_gap_that_one_scenario_lacks_is_refused_before_the_first_call(tmp_path: Path) -> None:
    from langchain_core.language_models import FakeListChatModel

    judge = nodes.judge(FakeListChatModel(responses=["x"]), "Is it {{ kind }} for {{ budget }}?", ["wrong"])
    cast = own_cast(tmp_path, AIRLINE).replace(answer_validator=judge)
    plan: list[Any] = [{"scenario": {**FLIGHT, "budget": "100"}}, {"scenario": FLIGHT}]
    with pytest.raises(PromptError, match=r"\{\{ budget \}\} .*with scenario 1 there are: .*draft, facts"):
        duologue.simulate(cast, plan)
    assert graphs.casts.page_checks.check_filled(cast, [plan[0]["scenario"]]) is None  # type: ignore[func-returns-value]
