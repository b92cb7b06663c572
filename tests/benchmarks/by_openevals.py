"""The same conversations by openevals' async multi-turn simulation, its simulated user and stock ChatOpenAI."""

import asyncio
from typing import Any

from langchain_core.language_models import BaseChatModel

from .workload import Workload


async def held(work: Workload, model: BaseChatModel) -> int:
    """Hold all conversations, as many at a time as the work says; how many messages there are."""
    from openevals.simulators import create_async_llm_simulated_user, run_multiturn_simulation_async

    pages = work.texts
    semaphore = asyncio.Semaphore(work.concurrency)
    histories: dict[str, list[Any]] = {}

    async def app(message: Any, *, thread_id: str, **more: Any) -> Any:
        history = histories.setdefault(thread_id, [])
        history.append({"role": "user", "content": message["content"]})
        reply = await model.ainvoke([{"role": "system", "content": pages.assistant}, *history])
        history.append({"role": "assistant", "content": reply.content})
        return {"role": "assistant", "content": reply.content}

    async def one(number: int) -> int:
        async with semaphore:
            system = f"{pages.user}\n\n{pages.situation}\nConversation {number}"
            user = create_async_llm_simulated_user(system=system, client=model)
            result = await run_multiturn_simulation_async(
                app=app, user=user, max_turns=work.turns, thread_id=str(number)
            )
        histories.pop(str(number), None)
        return len(result["trajectory"])

    return sum(await asyncio.gather(*(one(number) for number in range(work.conversations))))
