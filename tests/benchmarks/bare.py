"""The ideal: asyncio and an HTTP client, the same requests one after another in each conversation, and nothing else."""

import asyncio
import json

import aiohttp

from .workload import MODEL, Workload


async def held(work: Workload) -> int:
    """Hold all conversations, as many at a time as the work says; how many messages there are."""
    pages, url, messages = work.texts, f"{work.url}/chat/completions", 0
    numbers = iter(range(work.conversations))
    headers = {"content-type": "application/json", "authorization": "Bearer none"}

    async def reply(client: aiohttp.ClientSession, texts: list[tuple[str, str]], number: int) -> str:
        body = {
            "model": MODEL,
            "stream": False,
            "messages": [{"content": text, "role": role} for role, text in texts],
            "seed": number,
        }
        async with client.post(url, data=json.dumps(body, ensure_ascii=False).encode(), headers=headers) as response:
            response.raise_for_status()
            answer = json.loads(await response.read())
        return str(answer["choices"][0]["message"]["content"])

    async def worker(client: aiohttp.ClientSession) -> None:
        nonlocal messages
        for number in numbers:
            turns: list[str] = []
            for _ in range(work.turns):
                turns.append(await reply(client, pages.for_user(number, turns), number))
                turns.append(await reply(client, pages.for_assistant(turns), number))
            messages += len(turns)

    connector = aiohttp.TCPConnector(limit=work.concurrency)
    async with aiohttp.ClientSession(connector=connector) as client, asyncio.TaskGroup() as group:
        for _ in range(min(work.concurrency, work.conversations)):
            group.create_task(worker(client))
    return messages
