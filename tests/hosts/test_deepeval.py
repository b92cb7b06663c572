"""A simulated user in the ConversationSimulator of the installed deepeval: same words as by hand, and it ends them."""

import json

import pytest

pytest.importorskip("deepeval")

from deepeval.dataset import ConversationalGolden, Persona
from deepeval.simulator import ConversationSimulator
from deepeval.test_case import Turn

import duologue
from duologue.data.test_cases import deepeval as goldens_file
from duologue.errors import DataError, SettingError
from duologue.hosts import Users
from duologue.hosts import deepeval as host

MOVE = {"goal": "move my flight to 2026-05-03", "facts": {"booking code": "QX4821"}, "persona": "In a hurry."}
TABLE = {"goal": "book a table for two", "facts": ["The name is Quill."]}


async def agent(input, turns):
    heard = " ".join(turn.content for turn in turns if turn.role == "user")
    known = "QX4821" in heard or "Quill" in heard
    return Turn(role="assistant", content="Done: it is booked." if known else "Which is your code or name?")


def simulator(user, **others):
    return ConversationSimulator(model_callback=agent, **{**host.sides(user), **others})


def by_hand(scenario):
    user, messages = duologue.user(scenario=scenario, seed=3), []
    while not isinstance(answer := user.reply_now(messages), duologue.hosts.UserEnded):
        messages.append({"role": "user", "content": answer.text})
        known = any("QX4821" in m["content"] or "Quill" in m["content"] for m in messages)
        text = "Done: it is booked." if known else "Which is your code or name?"
        messages.append({"role": "assistant", "content": text})
    return [message["content"] for message in messages if message["role"] == "user"]


def of_user(case):
    return [turn.content for turn in case.turns if turn.role == "user"]


@pytest.mark.parametrize("async_mode", [True, False])
def test_each_golden_has_its_user_and_the_user_ends_the_conversation(async_mode):
    users = Users(seed=3)
    cases = simulator(users, async_mode=async_mode).simulate(host.goldens([MOVE, TABLE]), max_user_simulations=8)
    assert [of_user(case) for case in cases] == [by_hand(MOVE), by_hand(TABLE)]
    assert {conversation.stop for conversation in users.conversations} == {"user_ended"}
    assert len(users.conversations) == 2


def test_one_user_for_all_goldens():
    customer = duologue.user(scenario=TABLE, seed=3)
    [case] = simulator(customer).simulate([ConversationalGolden(scenario="anything else")])
    assert of_user(case) == by_hand(TABLE)
    assert customer.conversation.stop == "user_ended"


def test_a_golden_that_begins_with_turns_goes_on_from_them():
    golden = ConversationalGolden(scenario="book a table", turns=[Turn(role="user", content="Hello there.")])
    [case] = simulator(Users()).simulate([golden], max_user_simulations=2)
    assert case.turns[0].content == "Hello there."
    assert case.turns[1].role == "assistant"
    assert case.turns[2].role == "user"


def test_without_the_controller_an_end_is_one_line():
    def never(turns):
        return None

    quick = duologue.user(scenario=MOVE, max_turns=1)
    with pytest.raises(SettingError, match=r"the user has ended the conversation \(max_turns\)"):
        simulator(quick, stopping_controller=never).simulate([ConversationalGolden(scenario="a")])


def test_a_graph_with_edges_asks_a_model_which_is_one_line():
    sides = host.sides(Users())
    sides["simulation_graph"].add_node(sides["simulation_graph"], when="The assistant asks for a code")
    with pytest.raises(SettingError, match="the simulation asks a model: give it 'simulator_model'"):
        ConversationSimulator(model_callback=agent, **sides).simulate(host.goldens([MOVE]))


def test_goldens_become_scenarios_and_come_back():
    golden = ConversationalGolden(
        name="move",
        scenario="move my flight",
        expected_outcome="The flight is moved.",
        persona=Persona(name="Quill", characteristics="In a hurry.", metadata={"booking code": "QX4821"}),
        additional_metadata={"team": "flights"},
    )
    [scenario] = host.scenarios([golden])
    assert scenario["facts"] == {"name": "Quill", "booking code": "QX4821"}
    assert scenario["persona"] == "In a hurry."
    assert scenario["success"] == {"judged": "The flight is moved."}
    [back] = host.goldens([scenario])
    assert back == golden


def test_scenarios_become_goldens_and_come_back():
    for scenario in (MOVE, TABLE, {**MOVE, "success": {"text_contains": "booked"}, "unknown": ["the seat"]}):
        assert host.scenarios(host.goldens([scenario])) == [scenario]


def test_a_saved_data_set_is_read_as_the_same_scenarios(tmp_path):
    from deepeval.dataset import EvaluationDataset

    goldens = host.goldens([MOVE, TABLE])
    EvaluationDataset(goldens=goldens).save_as(file_type="json", directory=str(tmp_path), file_name="set")
    scenarios = [conversation.scenario for conversation in goldens_file.read(tmp_path / "set.json").conversations]
    assert [scenario["goal"] for scenario in scenarios] == [MOVE["goal"], TABLE["goal"]]
    assert json.loads((tmp_path / "set.json").read_text())


def test_a_misspelt_scenario_of_a_golden_is_one_line():
    golden = host.goldens([{**MOVE, "success": {"text_contain": "a"}}])[0]
    with pytest.raises(DataError, match=r"golden 'move my flight .*': success: there is no scorer 'text_contain'"):
        host.scenarios([golden])


def test_a_golden_without_a_scenario_is_one_line():
    with pytest.raises(DataError, match="golden 'empty': has no text that a user would want or write: give it one"):
        host.scenarios([ConversationalGolden(name="empty", scenario="")])
