"""An agent of rules in LangWatch's scenario, with a Duologue user."""

import asyncio

import scenario

import duologue
from duologue.hosts.scenario import UserAdapter


class Agent(scenario.AgentAdapter):
    """Asks for the code, and moves the flight."""

    async def call(self, input):
        """The agent's answer."""
        has_code = any("QX4821" in message["content"] for message in input.messages)
        return "Done: it is moved." if has_code else "Which is the booking code?"


customer = duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=1)
run = scenario.arun(
    name="move a flight",
    description="The user has its booking code.",
    agents=[Agent(), UserAdapter(customer)],
)
result = asyncio.run(run)
print(result.success, result.reasoning)
