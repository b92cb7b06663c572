"""Nearness of simulated users to people's next turns, as a function for notebooks and scripts."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.files.json import dumps, write_lines, write_text
from ..data.files.paths import make_folder
from .sources import StudySource, conversations_of

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.tables import Table, TablesReport
    from ..data.people import Moment, NextTurn, UserPart
    from ..data.records import Conversation
    from ..runs.ask import Carry
    from ..runs.settings import RunSettings


REPORT, TURNS, BITS = "next_turn.json", "turns.jsonl", "bits.jsonl"


def next_turn(
    source: "StudySource",
    user: "Mapping[str, Any] | Sequence[str] | str" = (),
    *,
    out: str | Path | None = None,
    part: "UserPart" = "all",
    limit: int | None = None,
    seed: int = 0,
    cast: str | None = None,
    settings: Mapping[str, Any] | None = None,
    baseline: bool = True,
    bits: str | None = None,
    run: "RunSettings | None" = None,
    carry: "Carry | None" = None,
) -> "TablesReport":
    """Compare the next turns of simulated users with those of people; `duologue next-turn` as a function.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        source: People's conversations, or a path that `load` reads.
        user: Model identifiers, or users by name: anything that a cast takes as its user.
        out: A folder for every turn; the same call continues what it holds.
        part: Take only users of this split of the people: `tune`, `test` or `all`.
        limit: Number of conversations, drawn with the seed; None: all.
        seed: Seed of the draws and of all calls.
        cast: The cast whose user is asked; default: the cast of the conversations' kind.
        settings: Settings of the cast.
        baseline: Whether to ask also retrieval-based users, with messages of other people.
        bits: A language model of this machine, `local:smollm2`, a GGUF file or a folder of transformers: count the bits of
            people's and users' messages under it, and what scenario and history explain. Needs the extra `readers`.
        run: `runs.RunSettings` of the calls; one set of bounds holds for all users.
        carry: How the runs are carried out, in place of `run`.

    Returns:
        The report, whose `table()` a notebook shows.

    Raises:
        DataError: No turn of a user is left.
        EndpointError: An endpoint cannot be used, and no user gave a turn.
        RunError: The folder holds turns of other settings.

    Example::

        >>> duologue.next_turn("human_exp_V2", ["offline"], part="test").table()  # doctest: +SKIP
    """
    from ..analysis.next_turn import Benchmark
    from ..graphs.single_turn import cast_for
    from ..runs.ask import Runs, carried
    from ..runs.next_turn import RETRIEVED, folder_name, said_from_people, turns_in, turns_run

    people, folder = conversations_of(source), None if out is None else Path(out)
    named = [user] if isinstance(user, str) else user
    users = dict(named) if isinstance(named, Mapping) else {name: name for name in named}
    benchmark = Benchmark.of(people, part=part, limit=limit, seed=seed)
    moments = benchmark.moments
    casts = {name: cast_for(moments, one, cast, **(settings or {})) for name, one in users.items()}
    runs = Runs({folder_name(name): turns_run(one, moments, seed) for name, one in casts.items()}, folder)
    talks = (carry or carried(run))(runs, "turns", "each one turn of a user")
    said, notes = said_from_people(moments, people, cast, seed=seed) if baseline else (None, [])
    turns = {} if said is None else {RETRIEVED: said}
    turns |= {name: turns_in(one, moments, talks[folder_name(name)]) for name, one in casts.items()}
    rows = benchmark.rows(turns)
    report = benchmark.report(rows, notes)
    if folder is not None:
        make_folder(folder)
    if bits is not None:
        kept = None if folder is None else folder / BITS
        tables = _bits(bits, moments, people, seed, turns, kept)
        report = report.model_copy(update={"by_name": {**report.by_name, **tables}})
    if folder is not None:
        write_text(folder / REPORT, dumps(report.to_json(), indent=2) + "\n")
        write_lines(folder / TURNS, ({"row": name, **turn} for name, own in rows.items() for turn in own))
    return report


def _bits(
    model: str,
    moments: "Sequence[Moment]",
    people: "Sequence[Conversation]",
    seed: int,
    turns: "Mapping[str, Sequence[NextTurn]]",
    kept: Path | None,
) -> "dict[str, Table]":
    from ..analysis.bits import bits_of
    from ..analysis.language_model import LanguageModel
    from ..nodes.calls.service import Calls
    from ..nodes.models.openai import file_of
    from ..runs.progress import Figures, shown

    simulated = {name: {one.key: one.text for one in own} for name, own in turns.items()}
    figures = Figures(len({one.number for one in moments}), Calls(), "conversations' bits")
    with shown(figures, sys.stderr.isatty() or None):
        reader = LanguageModel(file_of(model.removeprefix("local:")))
        watch = partial(setattr, figures, "ended")
        return bits_of(reader, moments, people, simulated, seed=seed, file=kept, watch=watch)
