"""A simulated user among the agents of the installed scenario: same words as by hand, and it ends the run by a result."""

import logging

import pytest

pytest.importorskip("scenario")

import scenario

import duologue
from duologue.errors import ModelError
from duologue.hosts.scenario import UserAdapter
from duologue.testing import scripted_model

MOVE = {"goal": "move my flight to 2026-05-03", "facts": ["The booking code is QX4821."]}


class Agent(scenario.AgentAdapter):
    async def call(self, input):
        heard = " ".join(message["content"] for message in input.messages if message["role"] == "user")
        return "Done: it is booked on 2026-05-03." if "QX4821" in heard else "Which is the booking code?"


class Judge(scenario.AgentAdapter):
    """A judge that decides when it is asked to, and by what it then sees."""

    role = scenario.AgentRole.JUDGE

    async def call(self, input):
        if input.judgment_request is None:
            return []
        text = input.messages[-1]["content"]
        return scenario.ScenarioResult(success=False, messages=input.messages, reasoning=f"heard: {text}")


@pytest.fixture(autouse=True)
def no_events(monkeypatch):
    """Nothing is sent where the runs are shown, and nothing is said about that."""
    logging.getLogger("scenario").setLevel(logging.ERROR)


async def run(user, *others, **options):
    agents = [Agent(), UserAdapter(user), *others]
    return await scenario.arun(name="move", description="a flight is moved", agents=agents, verbose=False, **options)


def of_user(messages):
    return [message["content"] for message in messages if message["role"] == "user"]


async def by_hand(**settings):
    """The user's messages with its goodbye."""
    user, messages = duologue.user(**MOVE, **settings), []
    while not isinstance(answer := await user.reply(messages), duologue.hosts.UserEnded):
        messages.append({"role": "user", "content": answer.text})
        known = any("QX4821" in text for text in of_user(messages))
        text = "Done: it is booked on 2026-05-03." if known else "Which is the booking code?"
        messages.append({"role": "assistant", "content": text})
    return of_user(messages) + ([answer.message.text] if answer.message else [])


async def test_the_user_ends_the_run_as_a_success_and_says_goodbye():
    customer = duologue.user(**MOVE, seed=3)
    result = await run(customer)
    assert of_user(result.messages) == await by_hand(seed=3)
    assert result.success
    assert result.reasoning.startswith("the user ended it:")
    assert customer.conversation.stop == "user_ended"


async def test_the_form_in_a_thread_says_the_same():
    agents = [Agent(), UserAdapter(duologue.user(**MOVE, seed=3))]
    result = await scenario.run(name="move", description="a flight is moved", agents=agents, verbose=False)
    assert of_user(result.messages) == await by_hand(seed=3)


async def test_a_judge_decides_when_the_user_has_ended():
    result = await run(duologue.user(**MOVE, seed=3), Judge())
    goodbye = (await by_hand(seed=3))[-1]
    assert (result.success, result.reasoning) == (False, f"heard: {goodbye}")


async def test_a_user_that_leaves_unserved_is_a_failure():
    result = await run(duologue.user(**MOVE, max_turns=1))
    assert not result.success
    assert result.reasoning.startswith("the user did not confirm that it is solved")


async def test_a_condition_of_a_scenario_decides_as_in_a_run():
    for text, success in (("2026-05-03", True), ("2027", False)):
        customer = duologue.user(scenario={**MOVE, "success": {"text_contains": text}}, seed=3)
        assert (await run(customer)).success is success


async def test_it_plays_its_part_in_a_script():
    steps = [scenario.user(), scenario.agent(), scenario.user(), scenario.agent(), scenario.succeed()]
    result = await run(duologue.user(**MOVE, seed=3), script=steps)
    assert of_user(result.messages) == (await by_hand(seed=3))[:2]


async def test_a_user_whose_model_fails_is_an_error_and_not_the_agents_failure():
    customer = duologue.user(**MOVE, user=scripted_model(ValueError("no such model")))
    with pytest.raises(Exception, match=r"the simulated user failed: .*no such model") as error:
        await run(customer)
    assert isinstance(error.value.__cause__ or error.value, ModelError)


async def test_a_success_that_cannot_be_scored_is_an_error_before_the_first_message():
    customer = duologue.user(scenario={**MOVE, "success": {"judged": "The flight is moved."}}, seed=3)
    with pytest.raises(Exception, match=r"success\.judged: names no model to judge"):
        await run(customer)
    assert customer.conversation.messages == ()
    assert (await run(customer, Judge())).reasoning.startswith("heard: ")
