"""`duologue next-turn`: nearness of simulated users' next messages to people's."""

from pathlib import Path
from typing import Annotated

from ..data.loading import load
from . import options
from .options import argument, option
from .printing import check_apart, print_json, put, put_tables, say
from .running import HowToRun, carrying, how_to_run, set_values


@how_to_run("repeats", "shard", "ray")
def next_turn_command(
    source: Annotated[Path, argument("SRC", "People's conversations: a data set of any format.")],
    user: options.Users = None,
    bits: Annotated[
        str | None,
        option(
            "Model whose bits of each message are counted: local:smollm2, a GGUF file or a folder.",
            "--bits",
            metavar="MODEL",
        ),
    ] = None,
    part: options.Part = "all",
    cast: options.CastName = None,
    settings: options.Settings = None,
    *,
    how: HowToRun,
) -> int:
    """Compare simulated next turns with those of people.

    Asks simulated users, at every turn of people's conversations, for their next message; messages of other people of SRC
    are the baseline. --limit draws conversations with the seed; --out has every turn and its scores. Exit code 1: a turn
    could not be simulated.
    """
    from ..graphs import casts
    from ..studies.prediction import REPORT, TURNS, next_turn

    check_apart(how.out, source)
    people = load(source)
    say(*(f"{people.path}: {note}" for note in people.notes))
    with how.keys():
        report = next_turn(
            people,
            user or (),
            out=how.out,
            part=part,
            limit=how.limit,
            seed=how.seed or 0,
            cast=cast,
            settings=set_values(settings or (), None if cast is None else casts.find(cast).settings),
            bits=bits,
            carry=carrying(how, how.out, "nothing is kept without --out" if how.out is None else ""),
        )
    if how.as_json:
        print_json(report.to_json())
    else:
        put_tables(report.narrow())
        put("Near to one person's next turn is not realism, and realism is not usefulness for testing.")
    say(*(f"written: {how.out / name}" for name in (REPORT, TURNS) if how.out is not None))
    return 1 if any(row["failed"] for row in report.table().objects()) or people.broken else 0
