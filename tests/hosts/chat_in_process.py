"""A harness of Verifiers that runs in this process: a chat with one tool, by the endpoint that it is given."""

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

PARAMETERS = {"type": "object", "properties": {"booking": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "change", "description": "Move.", "parameters": PARAMETERS}}]


class ChatConfig(vf.HarnessConfig):
    pass


class ChatInProcess(vf.Harness[ChatConfig]):
    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [message_to_wire(message) for message in prompt]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as client:
            while True:
                body = {"model": ctx.model, "messages": messages, "tools": TOOLS}
                response = await client.post(f"{endpoint}/chat/completions", json=body)
                if response.status_code != 200:
                    return vf.ProgramResult(exit_code=1, stdout="", stderr=response.text)
                messages.append(response.json()["choices"][0]["message"])
                if not (calls := messages[-1].get("tool_calls")):
                    return vf.ProgramResult(exit_code=0, stdout="", stderr="")
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": "moved"} for call in calls]


__all__ = ["ChatInProcess"]
