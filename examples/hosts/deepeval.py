"""A Duologue user for each golden in deepeval's ConversationSimulator, with an agent of rules.

Run with deepeval 4.3.1 on 2026-11-28. The file has the package's name, so it is started with -P:
DEEPEVAL_TELEMETRY_OPT_OUT=1 python -P examples/hosts/deepeval.py
"""

from deepeval.dataset import ConversationalGolden, Persona
from deepeval.models import DeepEvalBaseLLM
from deepeval.simulator import ConversationSimulator, SimulationNode
from deepeval.simulator.controller import end, proceed
from deepeval.test_case import Turn

import duologue


class NoModel(DeepEvalBaseLLM):
    """deepeval wants a model. The user's words and its end need none, so it is never asked."""

    def load_model(self):
        return self

    def generate(self, *arguments, **options):
        raise NotImplementedError

    a_generate = generate

    def get_model_name(self):
        return "a user of Duologue"


async def agent(input, turns):
    has_code = any("QX4821" in turn.content for turn in turns)
    return Turn(role="assistant", content="Done: it is moved." if has_code else "Which is the booking code?")


async def answer(turns, golden):
    """What the golden's user says next, or how it ends; asked twice, it answers the same."""
    return await users[golden.name].reply([{"role": turn.role, "content": turn.content} for turn in turns])


async def speak(turns, golden):
    return (await answer(turns, golden)).text


async def stop(turns, golden):
    if turns and turns[-1].role == "user":
        return proceed()
    said = await answer(turns, golden)
    return end(said.reason) if isinstance(said, duologue.hosts.UserEnded) else proceed()


persona = Persona(characteristics="In a hurry.", metadata={"code": "QX4821"})
goldens = [ConversationalGolden(name="move", scenario="move my flight", persona=persona)]
users = {one.name: duologue.user(goal=one.scenario, facts=one.persona.metadata, seed=1) for one in goldens}
sides = {"simulation_graph": SimulationNode(speak), "stopping_controller": stop, "simulator_model": NoModel()}
for case in ConversationSimulator(model_callback=agent, **sides).simulate(goldens, max_user_simulations=10):
    print(*(f"{turn.role}: {turn.content}" for turn in case.turns), sep="\n")
print([user.conversation.stop for user in users.values()])
