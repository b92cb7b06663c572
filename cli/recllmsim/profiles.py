"""`duologue recllmsim profiles`: user profiles, written by a model."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.markup import escape
from rich.table import Table

from ...data.recllmsim import Coverage, read_pool
from ...data.text.languages import Language
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import OUTPUT
from ..options.shared import Prompts, attempts_for, json_of, language_of, model_for, option, out_to, seed_of
from ..output.overwriting import check_unread
from ..running.asking import begun
from ..running.interrupts import ask_all
from ..streams import print_json, put, say, stdout

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.people.profiles import MadeProfiles

ATTEMPTS = "Attempts and seed"
"""Section of the help."""


@extended(options_of_run("yes", "record", "replay_calls", "keep_calls"))
def profiles_command(
    count: Annotated[int, option("Write profiles until the file has this number of them.", min=1, max=1_000_000)],
    model: Annotated[str, model_for("to write the profiles: openai:NAME, PROVIDER:NAME or offline.")] = "offline",
    out: Annotated[
        Path | None,
        out_to("this file; all drafts go to a second file beside it. Default: out/profiles-LANGUAGE.txt.", "FILE"),
    ] = None,
    pool: Annotated[
        Path | None,
        option(
            "Read user profiles from this file or folder: the new profiles differ from these, and add kinds that "
            "these lack.",
            "--profiles",
            metavar="SRC",
        ),
    ] = None,
    language: Annotated[Language, language_of("the profiles.")] = "en",
    prompts: Prompts = None,
    attempts: Annotated[int, attempts_for("one profile", section=ATTEMPTS)] = 4,
    rounds: Annotated[
        int, option("Stop after N profiles in a row for which every attempt failed.", section=ATTEMPTS, min=1)
    ] = 3,
    seed: Annotated[int, seed_of("the calls", ATTEMPTS)] = 0,
    as_json: Annotated[bool, json_of("the summary", section=OUTPUT)] = False,
    **values: Any,
) -> int:
    """Write user profiles with a model, up to a number.

    After an interruption, run the same command again. Exit code 1: profiles are missing.
    """
    from ...nodes.models.specs import chat_model
    from ...nodes.profiles import ProfileLimits
    from ...runs.people.profiles import agenerate, profiles_planned

    options = RunOptions(**values, as_json=as_json)
    file = out or Path("out") / f"profiles-{language}.txt"
    check_unread(file)
    with options.surroundings():
        writer = chat_model(model)
        settings: dict[str, Any] = {
            "language": language,
            "pool": read_pool(pool).profiles if pool else (),
            "limits": ProfileLimits(attempts=attempts, rounds=rounds, seed=seed),
            "prompts": prompts,
        }
        control = begun(profiles_planned(count, file, writer, **settings), options, models=[writer])

        def work(show: Callable[[str], None]) -> "Coroutine[Any, Any, MadeProfiles]":
            def watch(accepted: int) -> None:
                show(f"{accepted} of {count} profiles")

            return agenerate(count, file, writer, **settings, conduct=options.conduct(control), watch=watch)

        left = f"the finished profiles are in {file}; continue with the same command"
        line = f"0 of {count} profiles"
        # Which bound ended it is a part of the report.
        making = ask_all(work, control, line, max_time=options.max_time, left=left, early=False)
    return _report(making, as_json)


def _report(making: "MadeProfiles", as_json: bool) -> int:
    say(*making.notes)
    if as_json:
        print_json(
            {
                "out": str(making.path),
                "drafts": str(making.drafts),
                "wanted": making.target,
                "profiles": len(making.profiles),
                "new": making.new,
                "rejected": making.rejected,
                "usage": making.usage,
                "stop": making.stop,
                "failure": making.failure,
                "ended_early": making.stopped,
                "coverage": making.coverage.model_dump(mode="json"),
                "lacking": {name: list(kinds) for name, kinds in making.coverage.lacking.items()},
            }
        )
    else:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(making.rejected.items()))
        tokens = making.usage["input_tokens"] + making.usage["output_tokens"]
        put(
            f"{len(making.profiles)} profiles, {making.target} asked for, {making.new} new; "
            f"{sum(making.rejected.values())} drafts rejected{f' ({reasons})' if reasons else ''}, {tokens} tokens"
        )
        stdout.print(coverage_table(making.coverage))
        put(f"profiles: {making.path}")
        put(f"drafts:   {making.drafts}")
    if making.complete:
        return 0
    ended = making.stopped if making.stop is None else None
    why = ended or (f"the model failed: {making.failure}" if making.failure else _spent(making))
    say(
        f"{making.target - len(making.profiles)} of {making.target} profiles are missing: {why}; continue with the "
        "same command"
    )
    return 1


def _spent(making: "MadeProfiles") -> str:
    reasons = ", ".join(sorted(making.rejected, key=making.rejected.__getitem__, reverse=True))
    return f"no proposal was accepted within the attempts, most were rejected as {reasons}"


def coverage_table(coverage: Coverage) -> Table:
    """How many profiles there are of each kind, a pair of columns for each attribute."""
    groups: Mapping[str, Mapping[str, int]] = {
        name: getattr(coverage, name) for name in ("ages", "genders", "occupations", "traits")
    }
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in groups:
        table.add_column(name)
        table.add_column("", justify="right")
    columns = [[(escape(kind), str(count)) for kind, count in counts.items()] for counts in groups.values()]
    for row in range(max(map(len, columns))):
        cells = [column[row] if row < len(column) else ("", "") for column in columns]
        table.add_row(*(text for cell in cells for text in cell))
    return table
