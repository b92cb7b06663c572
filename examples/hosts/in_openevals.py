"""An agent of rules in openevals, with a Duologue user."""

from openevals.simulators import run_multiturn_simulation

import duologue
from duologue.hosts import openevals


def app(message, *, thread_id, **others):
    has_code = "QX4821" in message["content"]
    text = "Done: it is moved." if has_code else "Which is the booking code?"
    return {"role": "assistant", "content": text}


def is_moved(*, outputs, reference_outputs):
    return {"key": "moved", "score": "moved" in outputs[-1]["content"]}


customer = duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=1)
result = run_multiturn_simulation(
    app=app,
    **openevals.sides(customer),
    trajectory_evaluators=[is_moved],
    max_turns=10,
)
for message in result["trajectory"]:
    print(f"{message['role']}: {message['content']}")
print(result["evaluator_results"], customer.conversation.stop)
