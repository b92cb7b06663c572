"""An agent of rules in Inspect, with a Duologue user for each sample."""

from inspect_ai import Task, eval
from inspect_ai.agent import agent
from inspect_ai.model import ChatMessageAssistant

from duologue.hosts import inspect


@agent
def support():
    async def execute(state):
        has_code = any("QX4821" in message.text for message in state.messages)
        text = "Done: it is moved." if has_code else "Which is the booking code?"
        state.messages.append(ChatMessageAssistant(content=text))
        return state

    return execute


scenarios = [
    {"goal": "move my flight", "facts": ["The code is QX4821."]},
    {"goal": "move my flight", "persona": "Has lost the code."},
]
task = Task(
    dataset=inspect.dataset(scenarios),
    solver=inspect.simulated_user(support(), seed=1, max_turns=5),
    scorer=inspect.success(),
)
[log] = eval(task, model="mockllm/model", display="none")
for sample in log.samples:
    print(sample.scores["success"].value, sample.scores["success"].explanation)
