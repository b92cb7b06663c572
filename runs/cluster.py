"""Shards of a run as tasks of Ray Core, on a cluster or on a Ray of this machine's own."""

from collections.abc import Callable

from .board import Board
from .shards import Shard


async def on_ray(
    shards: Callable[[int], list[Shard]],
    number: int | None,
    address: str | None,
    board: Board,
    check: Callable[[], object],
) -> None:
    raise NotImplementedError
