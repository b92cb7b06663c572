"""What a command checks and says before its run begins."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...data import DataError, identity
from ..options.run import RunOptions
from ..streams import say


def uncounted(cast: Any, options: RunOptions) -> Iterator[str]:
    """A line, where tokens or money are limited, about who makes calls of its own, which the run cannot count."""
    from ...runs.plan import own_callers

    if options.max_cost is None and options.max_tokens is None:
        return
    if own := own_callers(cast):
        yield f"calls that the {' and the '.join(own)} makes itself count in no bound of the run"


def lacking_replays(cast: Any, scenarios: list[Any]) -> Iterator[str]:
    """For how many scenarios a replayed role has no conversation, a line each; DataError if for all."""
    from ...nodes.speakers.replay import ReplaySpeaker

    keys = [identity.digest(scenario["scenario"]) for scenario in scenarios]
    for node in (cast.nodes["user_simulator"], cast.nodes["assistant"]):
        if isinstance(node, ReplaySpeaker):
            replayable = {key for key, _ in node.by_scenario}
            lacking = sum(key not in replayable for key in keys)
            if lacking and lacking == len(keys):
                raise DataError(
                    f"the {node.role} replays {node.source}, which has no conversation about any of the scenarios: "
                    "replay a data set that was made for the same scenarios"
                )
            if lacking:
                yield f"the {node.role} replays {node.source}, which lacks {lacking} of {len(keys)} scenarios: these fail"


def say_hosts(models: Iterable[Any]) -> None:
    """Print the hosts at which models are asked, each once.

    A stray setting could send conversations elsewhere.
    """
    from ...nodes.models.specs import endpoint_host

    for host in sorted({host for model in models if (host := endpoint_host(model))}):
        say(f"calls go to {host}")
