"""This package, as its command runs: the RecLLMSim cast with `openai:` models, into a run folder."""

from pathlib import Path
from typing import Any

import duologue
from duologue import graphs, runs
from duologue.data import recllmsim
from duologue.runs.store import standing

from .workload import MODEL, Workload


def scenarios(number: int) -> list[Any]:
    """As many scenarios, the shipped ones again and again."""
    profiles = recllmsim.shipped_profiles("en")
    combined = recllmsim.combined(recllmsim.shipped_tasks("en"), profiles.texts, "en")
    states = graphs.recllmsim.scenarios(combined)
    return runs.repeated(states, -(-number // len(states)))[:number]


async def held(
    work: Workload, out: Path, user: Any = None, assistant: Any = None, keep: Any = None, **more: Any
) -> int:
    """Hold all conversations; how many messages there are, where they are kept in no folder, else in their file."""
    cast = graphs.recllmsim.cast(user=user or f"openai:{MODEL}", assistant=assistant or f"openai:{MODEL}")
    limits = duologue.Limits(max_turns=work.turns)
    plan = scenarios(work.conversations)
    settings: dict[str, Any] = {"concurrency": work.concurrency, "progress": False, **more}
    if not work.in_folder:
        held = await duologue.asimulate(cast, plan, limits=limits, **settings)
        return sum(len(conversation.messages) for conversation in held)
    await runs.arun({"": cast}, plan, runs.RunSettings(out=out, **settings), limits=limits, keep=keep)
    if not standing(out).complete:
        raise RuntimeError(f"the run is not complete: {out}")
    return work.calls
