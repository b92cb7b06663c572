"""Options of both tasks, and the run behind them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from ...data.behaviours import chosen_users
from ...data.text.languages import Language
from ...errors import SettingError
from ..options.run import RunOptions, options_of_run
from ..options.sections import BOUNDS, CAST
from ..options.shared import MODELS, Behaviour, json_of, language_of, option, out_to, seed_of, user_by
from ..streams import print_json, put, say

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...hosts.trec.protocol import TrackTask

SHOWN = 100
"""Characters of a message that the progress shows."""

BOUNDS_OF_RUN = {
    name: option_of_it
    for name, option_of_it in options_of_run().items()
    if name not in ("plan", "max_time", "concurrency")
}
"""One message follows the other, and only the platform knows how many there will be."""


Url: TypeAlias = Annotated[str, option("Play on the platform at this address.", "--url", metavar="URL")]
RunId: TypeAlias = Annotated[str, option("Name the run on the platform.", "--run-id", metavar="NAME")]


@dataclass(frozen=True, kw_only=True)
class TrackOptions:
    """The run, and who plays the user."""

    user: Annotated[str, user_by(f"{MODELS}.")] = "offline"
    out: Annotated[
        Path | None,
        out_to(
            "this folder: every request and answer, submission.jsonl and conversations.jsonl. The same command continues from "
            "there. Default: out/trec-RUN."
        ),
    ] = None
    team: Annotated[str, option("Name the team.", "--team", metavar="NAME")] = ""
    description: Annotated[str, option("Describe the run.", "--description", metavar="TEXT")] = ""
    debug: Annotated[bool, option("Use the platform's routes for trying.", "--debug")] = False
    behaviour: Behaviour = None
    language: Annotated[
        Language | None, language_of("the user's prompts. Default: that of the goals, or en.", section=CAST)
    ] = None
    seed: Annotated[int, seed_of("the user", CAST)] = 0
    max_turns: Annotated[
        int | None,
        option(
            "Set the maximum number of the user's messages in a conversation. Default: the platform's own.",
            "--max-turns",
            section=BOUNDS,
            min=1,
        ),
    ] = None
    as_json: Annotated[bool, json_of("the report")] = False


def play_track(task: "TrackTask", url: str, run_id: str, track: TrackOptions, values: dict[str, Any]) -> int:
    """Play the run; gives the exit code, 1 if the platform's copy of the run has a problem."""
    from ...hosts import trec
    from ...hosts.trec.protocol import Platform
    from ...nodes.settings.environment import track_token

    run_options = RunOptions(**values)
    kinds = chosen_users(track.behaviour or ())
    if len(kinds) > 1:
        raise SettingError("--behaviour: a run has one kind of user: give its behaviours with commas")
    platform = Platform(
        url.strip(),
        task,
        run_id,
        track.team,
        track.description,
        track.debug,
        track_token(),
    )
    folder = track.out or Path("out") / f"trec-{run_id}"
    with run_options.surroundings():
        say(f"playing {task} on {platform.host}, as {track.user}, into {folder}")
        settings = {"language": track.language} if track.language else {}
        report = trec.play(
            platform,
            user=track.user,
            out=folder,
            behaviours=kinds[0] if kinds else None,
            max_turns=track.max_turns,
            seed=track.seed,
            on_message=lambda role, text: say(f"{role}: {' '.join(text.split())[:SHOWN]}"),
            conduct=run_options.conduct(run_options.control()),
            **settings,
        )
    if track.as_json:
        print_json(report.model_dump(mode="json"))
    else:
        things = "conversations" if task == "task2" else "histories"
        put(
            f"{report.messages} messages in {report.conversations} {things}; the user ended {report.ended_by_user}; "
            f"{report.rejected} drafts were rejected",
            *report.problems,
            f"written: {folder}",
        )
    return 1 if report.problems else 0
