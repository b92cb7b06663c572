"""`duologue trec task1`: the user simulation track's task of next utterances."""

from typing import Any

from ..options.model_fields import extended
from .options import BOUNDS_OF_RUN, RunId, TrackOptions, Url, play_track


@extended(BOUNDS_OF_RUN)
def task1_command(url: Url, run_id: RunId, track: TrackOptions, **values: Any) -> int:
    """Send the next message of the user for each history of a TREC run.

    The variable TREC_TOKEN holds the team's token. Exit code 0: the run is complete, and the platform's copy has
    all messages; 1: a message is missing there, or the platform could not be reached.
    """
    return play_track("task1", url, run_id, track, values)
