"""An agent and a model of rules in Verifiers, with a Duologue user for each task."""

import asyncio
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import verifiers.v1 as vf

from duologue.hosts.verifiers import ScenarioTaskset, SimulatedUserEnv

__all__ = ["Agent", "ScenarioTaskset", "SimulatedUserEnv"]


class Model(BaseHTTPRequestHandler):
    """A model of rules, behind an endpoint of this machine."""

    def do_POST(self):
        request = self.rfile.read(int(self.headers["Content-Length"]))
        has_code = b"QX4821" in request
        text = "Done: it is moved." if has_code else "Which is the booking code?"
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": "1", "created": 1, "model": "rules", "choices": [choice]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"object": "chat.completion", **reply}).encode())

    def log_message(self, *parts):
        pass


class AgentConfig(vf.HarnessConfig):
    """No settings."""


class Agent(vf.Harness[AgentConfig]):
    """Asks the model once for each message of the user."""

    SUPPORTS_RESUME, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        _, prompt = self.resolve_prompt(data)
        messages = [{"role": turn.role, "content": turn.content} for turn in prompt]
        async with httpx.AsyncClient() as client:
            await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


async def main(address):
    scenarios = [
        {"goal": "move my flight", "facts": ["The code is QX4821."]},
        {"goal": "move my flight", "persona": "Has lost the code."},
    ]
    settings = {
        "taskset": {"id": "in_verifiers", "scenarios": scenarios},
        "assistant": {
            "harness": {"id": "in_verifiers"},
            "runtime": {"type": "subprocess"},
        },
        "max_turns": 5,
    }
    env = vf.load_environment(vf.resolve_env_config(settings))
    client = vf.EvalClientConfig(base_url=address)
    context = vf.ModelContext(model="rules", client=client)
    async with env.serving():
        for task in env.taskset:
            [slot] = env.slots(task, 1)
            episode = await env.run_slot(slot, context)
            for trace in episode.traces:
                print(trace.rewards["success"].score, trace.info["duologue"]["stop"])


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(main(f"http://127.0.0.1:{server.server_port}/v1"))
    server.shutdown()
    server.server_close()
