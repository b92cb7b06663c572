"""A Duologue user as the `user_agent_class` of MLflow's ConversationSimulator, with an agent of rules.

Run with mlflow 3.17.2 on 2026-11-28. The file has the package's name, so it is started with -P:
MLFLOW_DISABLE_TELEMETRY=true python -P examples/hosts/mlflow.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import mlflow
from mlflow.genai.scorers import scorer
from mlflow.genai.simulators import BaseSimulatedUserAgent, ConversationSimulator

import duologue


class UserAgent(BaseSimulatedUserAgent):
    """The user's words."""

    def generate_message(self, context):
        return customer.reply_now(context.conversation_history).text


class GoalCheck(BaseHTTPRequestHandler):
    """The model that MLflow asks after each answer whether the goal is achieved: it says whether the user has ended."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        verdict = {"rationale": "the user", "result": "yes" if customer.conversation.stop else "no"}
        choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(verdict)}, "finish_reason": "stop"}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "user", "usage": {}}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**reply, "choices": [choice]}).encode())


def agent(messages, **context):
    has_code = any("QX4821" in message["content"] for message in messages)
    reply = {"role": "assistant", "content": "Done: it is moved." if has_code else "Which is the booking code?"}
    customer.reply_now([*messages, reply])  # whether it ends here; asked again, it answers the same
    return {"choices": [{"message": reply}]}


@scorer
def is_moved(outputs):
    return "moved" in str(outputs)


customer = duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=1)
server = HTTPServer(("127.0.0.1", 0), GoalCheck)
Thread(target=server.serve_forever, daemon=True).start()
os.environ |= {"OPENAI_API_BASE": f"http://127.0.0.1:{server.server_port}/v1", "OPENAI_API_KEY": "none"}
mlflow.set_tracking_uri("sqlite:///mlflow.db")
simulator = ConversationSimulator([{"goal": "move my flight"}], 9, "openai:/user", UserAgent)
result = mlflow.genai.evaluate(simulator, scorers=[is_moved], predict_fn=agent)
print(*(f"{message.role}: {message.text}" for message in customer.conversation.messages), sep="\n")
print(customer.conversation.stop, result.metrics)
