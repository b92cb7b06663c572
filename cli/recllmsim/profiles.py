"""`duologue recllmsim profiles`: user profiles, written by a model."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.markup import escape
from rich.table import Table

from ...data.recllmsim import Coverage, read_pool
from ...data.text.languages import Language
from ..options.shared import Prompts, Yes, attempts_for, json_of, language_of, model_for, option, out_to, seed_of
from ..options.tracing import Trace, TrustEnvFile, leaving
from ..output.overwriting import check_unread
from ..planning.plan import go_on, profiles_planned
from ..running.interrupts import ask_all
from ..streams import print_json, put, say, stdout

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...runs.people.profiles import MadeProfiles


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
            "Read user profiles from this file or folder: the new ones differ from them and add the kinds they lack.",
            "--profiles",
            metavar="SRC",
        ),
    ] = None,
    language: Annotated[Language, language_of("the profiles.")] = "en",
    seed: Annotated[int, seed_of("the calls")] = 0,
    attempts: Annotated[int, attempts_for("one profile")] = 4,
    rounds: Annotated[int, option("Stop after N profiles in a row for which every attempt failed.", min=1)] = 3,
    prompts: Prompts = None,
    yes: Yes = False,
    trace: Trace = False,
    trust_env_file: TrustEnvFile = False,
    as_json: Annotated[bool, json_of("the summary")] = False,
) -> int:
    """Write user profiles with a model, up to a number.

    After an interruption, run the same command again.
    """
    from ... import runs
    from ...nodes.models.specs import chat_model, endpoint_host
    from ...nodes.profiles.generation import ProfileLimits
    from ...runs.engine.control import Control

    with leaving(trace=trace, trust_env_file=trust_env_file):
        file = out or Path("out") / f"profiles-{language}.txt"
        check_unread(file)
        existing = read_pool(pool).profiles if pool else ()
        writer = chat_model(model)
        if host := endpoint_host(writer):
            say(f"calls go to {host}")
        stored = len(file.read_text(encoding="utf-8", errors="replace").split("\n\n")) if file.is_file() else 0
        go_on(
            profiles_planned(max(0, count - stored), attempts, rounds, calls_models=host is not None),
            quiet=as_json,
            yes=yes,
        )

        def work(show: Callable[[str], None]) -> "Coroutine[Any, Any, MadeProfiles]":
            return runs.profiles.agenerate(
                count,
                file,
                writer,
                language=language,
                pool=existing,
                limits=ProfileLimits(attempts=attempts, rounds=rounds, seed=seed),
                prompts=prompts,
                watch=lambda accepted: show(f"{accepted} of {count} profiles"),
            )

        left = f"the finished profiles are in {file}; continue with the same command"
        making = ask_all(work, Control(), f"0 of {count} profiles", max_time=None, left=left)
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
    why = f"the model failed: {making.failure}" if making.failure else _spent(making)
    say(
        f"{making.target - len(making.profiles)} of {making.target} profiles are missing: {why}; continue with the same command"
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
