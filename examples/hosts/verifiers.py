"""A Duologue user as the user of a Verifiers rollout, with a harness and a model of rules.

Run with verifiers 0.4.0 on 2026-11-28. The file has the package's name, so it is started with -P:
python -P examples/hosts/verifiers.py
"""

import asyncio
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import verifiers.v1 as vf

import duologue

__all__ = ["OneCall"]  # Verifiers loads the harness from this module


class Model(BaseHTTPRequestHandler):
    """A model of rules, behind an endpoint of this machine."""

    def do_POST(self):
        has_code = b"QX4821" in self.rfile.read(int(self.headers["Content-Length"]))
        text = "Done: it is moved." if has_code else "Which is the booking code?"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "rules", "choices": [choice]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())


class OneCall(vf.Harness[vf.HarnessConfig]):
    """Asks the model once for each message of the user."""

    SUPPORTS_RESUME, EXECUTES_CODE, NEEDS_CONTAINER = True, False, False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        messages = [{"role": one.role, "content": one.content} for one in self.resolve_prompt(data)[1]]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as client:
            await client.post(f"{endpoint}/chat/completions", json={"model": ctx.model, "messages": messages})
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


async def main(address):
    customer, heard = duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=1), []
    seat = {"harness": {"id": "__main__"}, "runtime": {"type": "subprocess"}, "model": "rules"}
    agent = vf.make_agent(vf.AgentConfig(**seat, client=vf.EvalClientConfig(base_url=address)))
    async with agent.interaction(vf.Task(vf.TaskData(idx=0))) as conversation:
        while not isinstance(said := await customer.reply(heard), duologue.hosts.UserEnded):
            segment = await conversation.turn(said.text)
            heard += [{"role": "user", "content": said.text}, {"role": "assistant", "content": segment.last_reply}]
        conversation.trace.record_reward("success", float(said.reason == "user_ended"))
    print(*(f"{turn['role']}: {turn['content']}" for turn in heard), conversation.trace.rewards, sep="\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
asyncio.run(main(f"http://127.0.0.1:{server.server_port}/v1"))
