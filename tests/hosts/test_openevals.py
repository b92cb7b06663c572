"""A simulated user in the simulations of the installed openevals: same words as in a run, and it ends them."""

import asyncio

import pytest

import duologue
from duologue.errors import ModelError, SettingError
from duologue.graphs import agent_test
from duologue.hosts import openevals as host
from duologue.testing import scripted_model

pytest.importorskip("openevals")

pytestmark = pytest.mark.heavy  # openevals is among what `make test-all` installs

GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}


def agent(messages):
    texts = " ".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it is booked on 2026-05-03." if "QX4821" in texts else "Which is the booking code?"


@pytest.fixture(scope="module")
def simulators():
    from openevals import simulators

    return simulators


def app():
    """openevals gives an application only the new message, so it remembers the others."""
    heard = []

    def answer(message, *, thread_id, **others):
        heard.append(message)
        heard.append({"role": "assistant", "content": agent(heard)})
        return heard[-1]

    return answer


@pytest.fixture(scope="module")
def texts():
    """The user's messages in a run."""
    [conversation] = duologue.simulate(agent_test.cast(assistant=agent), agent_test.scenarios([GOAL]))
    return [message.text for message in conversation.messages if message.role == "user"]


def own(trajectory):
    return [message["content"] for message in trajectory if message["role"] == "user"]


def test_the_user_says_what_it_says_in_a_run_and_ends_the_simulation(simulators, texts):
    customer = duologue.user(**GOAL)
    result = simulators.run_multiturn_simulation(app=app(), **host.sides(customer), max_turns=10)
    assert own(result["trajectory"]) == texts[:-1]
    assert customer.conversation.stop == "user_ended"
    assert [message.text for message in customer.conversation.messages if message.role == "user"] == texts
    ids = [message["id"] for message in result["trajectory"]]
    assert len(set(ids)) == len(ids)


def test_the_async_form_says_the_same(simulators, texts):
    async def answer(message, *, thread_id, **others):
        return held(message, thread_id=thread_id)

    held = app()
    customer = duologue.user(**GOAL)
    simulation = simulators.run_multiturn_simulation_async(
        app=answer, **host.sides(customer, awaited=True), max_turns=10
    )
    assert own(asyncio.run(simulation)["trajectory"]) == texts[:-1]


def test_an_evaluator_gets_the_whole_trajectory(simulators, texts):
    def evaluator(*, outputs, reference_outputs):
        return {"key": "messages", "score": len(own(outputs)), "comment": None}

    sides = host.sides(duologue.user(**GOAL))
    result = simulators.run_multiturn_simulation(app=app(), **sides, max_turns=9, trajectory_evaluators=[evaluator])
    assert [row["score"] for row in result["evaluator_results"]] == [len(texts) - 1]


def test_without_the_stopping_condition_an_end_without_words_is_one_line(simulators):
    customer = duologue.user(**GOAL, max_turns=1)
    with pytest.raises(
        SettingError, match=r"the user has ended the conversation: give the simulation openevals.sides whole"
    ):
        simulators.run_multiturn_simulation(app=app(), user=host.sides(customer)["user"], max_turns=5)


def test_a_user_that_fails_at_its_first_message_is_an_error_and_later_an_end(simulators):
    first = duologue.user(**GOAL, user=scripted_model(ValueError("no such model")))
    with pytest.raises(ModelError, match=r"^the simulated user failed: user_simulator: .*no such model"):
        simulators.run_multiturn_simulation(app=app(), **host.sides(first), max_turns=2)
    later = duologue.user(**GOAL, user=scripted_model("Move it.", ValueError("no such model"), by_call=True))
    simulators.run_multiturn_simulation(app=app(), **host.sides(later), max_turns=2)
    assert (later.conversation.stop, "no such model" in later.conversation.failure.error) == ("model_failed", True)
