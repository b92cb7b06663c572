"""An agent of rules in MLflow, with a Duologue user for each test case."""

import mlflow
from mlflow.genai.scorers import scorer

from duologue.hosts import Users
from duologue.hosts.mlflow import UserConversations


def agent(messages, **context):
    has_code = any("QX4821" in message["content"] for message in messages)
    text = "Done: it is moved." if has_code else "Which is the booking code?"
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


@scorer
def is_moved(outputs):
    return "moved" in str(outputs)


mlflow.set_tracking_uri("sqlite:///mlflow.db")
test_cases = [
    {"goal": "move my flight", "facts": ["The code is QX4821."]},
    {"goal": "move my flight", "persona": "Has lost the code."},
]
users = Users(seed=1)
result = mlflow.genai.evaluate(
    data=UserConversations(test_cases, users, max_turns=5),
    predict_fn=agent,
    scorers=[is_moved],
)
print(result.metrics)
print([conversation.stop for conversation in users.conversations])
