"""A Duologue user as the user among the agents of LangWatch's scenario, with an agent of rules.

Run with langwatch-scenario 1.6.0 on 2026-11-28. The file has the package's name, so it is started with -P:
LITELLM_LOCAL_MODEL_COST_MAP=true python -P examples/hosts/scenario.py
"""

import asyncio

import scenario

import duologue


class Agent(scenario.AgentAdapter):
    """Asks for the code, and moves the flight."""

    async def call(self, input):
        has_code = any("QX4821" in message["content"] for message in input.messages)
        return "Done: it is moved." if has_code else "Which is the booking code?"


class User(scenario.AgentAdapter):
    """Says what the Duologue user says; its end ends the run, which an agent does that answers with a result."""

    role = scenario.AgentRole.USER

    def __init__(self, user):
        self.user = user

    async def call(self, input):
        answer = await self.user.reply(input.messages)
        if not isinstance(answer, duologue.hosts.UserEnded):
            return answer.text
        if answer.failure:  # that is not the agent's failure
            raise RuntimeError(answer.failure)
        why = f"{answer.reason}: {answer.message.text if answer.message else 'without a word'}"
        is_content = answer.reason == "user_ended"
        return scenario.ScenarioResult(success=is_content, messages=input.messages, reasoning=why)


customer = duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=1)
run = scenario.arun(
    name="move a flight",
    description="The user has its booking code.",
    agents=[Agent(), User(customer)],
)
result = asyncio.run(run)
print(result.success, result.reasoning)
