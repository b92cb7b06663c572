"""An agent of rules in deepeval, with a Duologue user for each golden."""

from deepeval.dataset import ConversationalGolden, Persona
from deepeval.simulator import ConversationSimulator
from deepeval.test_case import Turn

from duologue.hosts import Users, deepeval


async def agent(input, turns):
    has_code = any("QX4821" in turn.content for turn in turns)
    text = "Done: it is moved." if has_code else "Which is the booking code?"
    return Turn(role="assistant", content=text)


goldens = [
    ConversationalGolden(
        scenario="move my flight",
        expected_outcome="The flight is moved.",
        persona=Persona(characteristics="In a hurry.", metadata={"code": "QX4821"}),
    )
]
users = Users(seed=1)
simulator = ConversationSimulator(model_callback=agent, **deepeval.sides(users))
for case in simulator.simulate(goldens, max_user_simulations=10):
    for turn in case.turns:
        print(f"{turn.role}: {turn.content}")
print([conversation.stop for conversation in users.conversations])
