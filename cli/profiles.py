"""`duologue profiles`: pools of users."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..data.recllmsim import Coverage, read_pool
from ..data.text.languages import Language
from .output import print_json, say, stderr, stdout

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..runs.profiles import Making

profiles = typer.Typer(help="Pools of users with a profile each.", no_args_is_help=True)


@profiles.callback()
def about() -> None:
    """Pools of users with a profile each."""


@profiles.command("generate")
def generate(
    count: Annotated[int, typer.Option(min=1, help="Profiles that the file shall hold.")],
    assistant: Annotated[str, typer.Option(help="Who invents the people: openai:NAME, offline.")] = "offline",
    out: Annotated[
        Path | None,
        typer.Option(help="File for the profiles; every draft goes beside it. Default: out/profiles-LANGUAGE.txt."),
    ] = None,
    pool: Annotated[
        Path | None, typer.Option("--profiles", help="A pool to extend: its people are avoided, its coverage counts.")
    ] = None,
    language: Annotated[Language, typer.Option(help="Language of the profiles.")] = "en",
    seed: Annotated[int, typer.Option(help="Seed of the calls.")] = 0,
    attempts: Annotated[int, typer.Option(min=1, help="Calls for one person, the first included.")] = 4,
    rounds: Annotated[int, typer.Option(min=1, help="People in a row that may come to nothing.")] = 3,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompt pages that replace the shipped ones by name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> int:
    """Make profiles that a pool lacks, until there are so many; the same command goes on where it ended."""
    from .. import runs
    from ..nodes.models.specs import chat_model, endpoint_host
    from ..nodes.profiles import ProfileLimits

    file = out or Path("out") / f"profiles-{language}.txt"
    known = read_pool(pool).profiles if pool else ()
    model = chat_model(assistant)
    if host := endpoint_host(model):
        say(f"calls go to {host}")
    with stderr.status(f"0 of {count} profiles") as status:
        try:
            made = runs.profiles.generate(
                count,
                file,
                model,
                language=language,
                pool=known,
                limits=ProfileLimits(attempts=attempts, rounds=rounds, seed=seed),
                prompts=prompts,
                watch=lambda kept: status.update(f"{kept} of {count} profiles"),
            )
        except KeyboardInterrupt:
            say(f"interrupted: what is made is in {file}; the same command goes on")
            raise typer.Exit(130) from None
    return _report(made, as_json)


def _report(made: "Making", as_json: bool) -> int:
    for line in made.notes:
        say(line)
    if as_json:
        print_json(
            {
                "out": str(made.path),
                "drafts": str(made.drafts),
                "wanted": made.wanted,
                "profiles": len(made.profiles),
                "new": made.new,
                "rejected": made.rejected,
                "usage": made.usage,
                "stop": made.stop,
                "failure": made.failure,
                "coverage": made.coverage.model_dump(mode="json"),
                "lacking": {name: list(kinds) for name, kinds in made.coverage.lacking.items()},
            }
        )
    else:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(made.rejected.items()))
        tokens = made.usage["input_tokens"] + made.usage["output_tokens"]
        stdout.print(
            f"{len(made.profiles)} profiles, {made.wanted} asked for, {made.new} new; "
            f"{sum(made.rejected.values())} drafts rejected{f' ({reasons})' if reasons else ''}, {tokens} tokens"
        )
        stdout.print(coverage_table(made.coverage))
        print(f"profiles: {made.path}")
        print(f"drafts:   {made.drafts}")
    if made.complete:
        return 0
    why = f"the model failed: {made.failure}" if made.failure else _spent(made)
    say(
        f"{made.wanted - len(made.profiles)} of {made.wanted} profiles are missing: {why}; the same command goes on from here"
    )
    return 1


def _spent(made: "Making") -> str:
    reasons = ", ".join(sorted(made.rejected, key=made.rejected.__getitem__, reverse=True))
    return f"no proposal was accepted within the attempts, most were rejected as {reasons}"


def coverage_table(found: Coverage) -> Table:
    """How many profiles are of each kind, a pair of columns for each attribute."""
    groups: Mapping[str, Mapping[str, int]] = {
        name: getattr(found, name) for name in ("ages", "genders", "occupations", "traits")
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
