"""`duologue scenarios`: scenarios for `test`, designed from tools, rules and examples, each proven by an oracle."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data.files.json import write_lines
from ...errors import DataError, at
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.sections import OUTPUT, WORDING
from ..options.shared import Yes, force_for, journal_in, json_of, limit_to, model_for, option, out_to, seed_of
from ..output.overwriting import check_free
from ..running.asking import OPTIONS, ask_models, check_journal
from ..streams import print_json, put, say, stderr

if TYPE_CHECKING:
    from ...studies.scenario_design import DesignSources

OUT = Path("scenarios.jsonl")
LISTED = "FILE|MODULE:NAME"


@extended(OPTIONS)
def scenarios_command(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="An agent with tools, or a list of tools, as MODULE:NAME; or a JSON file of tools in OpenAI's form.",
        ),
    ],
    world: Annotated[
        str | None, option("Make a world for each proof with this function.", metavar="MODULE:NAME")
    ] = None,
    context: Annotated[
        str | None, option("Call the tools with this context, as `test` does.", metavar="MODULE:NAME")
    ] = None,
    rules: Annotated[
        str | None,
        option("Take the rules, each with forbids, when and because, from here. Default: world.rules.", metavar=LISTED),
    ] = None,
    examples: Annotated[
        str | None,
        option(
            "Take the values that users have, and their worlds, from here. Default: world.examples.", metavar=LISTED
        ),
    ] = None,
    limit: Annotated[int | None, limit_to("scenarios")] = None,
    seed: Annotated[int, seed_of("the choice of examples")] = 0,
    model: Annotated[
        str | None,
        model_for(
            "to write goals and facts in the words of people: openai:NAME, PROVIDER:NAME.",
            section=WORDING,
        ),
    ] = None,
    journal: Annotated[Path | None, journal_in("this file", "FILE", section=WORDING)] = None,
    out: Annotated[Path, out_to("this file. Default: scenarios.jsonl.", "FILE", section=OUTPUT)] = OUT,
    force: Annotated[bool, force_for("what --out names", OUTPUT)] = False,
    as_json: Annotated[bool, json_of("scenarios, verdicts, and what has no scenario", section=OUTPUT)] = False,
    yes: Yes = False,
    **values_of_run: Any,
) -> int:
    """Design scenarios from the tools of an agent.

    For each tool valid, missing, ambiguous and forbidden arguments.

    With a world, each one is proven by playing tool calls in fresh worlds: possible, to be refused, or undecided. Exit
    code 0: written; 1: the model gave no wording of some scenarios; 2: bad input.
    """
    from ...studies.scenario_design import designed, read_sources

    check_free(out, force=force)
    check_journal(journal, (), [model] if model is not None else [], "--model")
    for source in (agent, rules, examples):
        if source is not None and Path(source).exists() and out.exists() and Path(source).samefile(out):
            raise DataError(f"{at(out)}: is the source itself: choose another place")
    sources = read_sources(agent, world, rules, examples, context)
    say(*sources.notes)
    with stderr.status("designs scenarios") as status:
        result = designed(sources, seed=seed, limit=limit, watch=status.update)
    unworded: list[str] = []
    if model is not None:
        options = RunOptions(**values_of_run, yes=yes, as_json=as_json)
        lines, unworded = _worded(model, result.lines, sources, journal, options)
        result = replace(result, lines=tuple(lines))
    write_lines(out, result.lines)
    if as_json:
        values = {
            "verdicts": dict(result.verdicts),
            "lacking": list(result.lacking),
            "scenarios": list(result.lines),
        }
        print_json({"out": str(out), **values})
    else:
        put(*(f"no scenario: {line}" for line in result.lacking))
        put(
            *(
                f"{number} of {len(result.lines)} scenarios: {verdict}"
                for verdict, number in result.verdicts.most_common()
            )
        )
        put(*unworded, f"written: {out}: {len(result.lines)} scenarios")
    return int(bool(unworded))


def _worded(
    model: str,
    lines: Sequence[dict[str, Any]],
    sources: "DesignSources",
    journal: Path | None,
    options: RunOptions,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The scenarios in the model's words, and a line for each that keeps its own; a plan in their place ends the command."""
    from ...runs.asks import wordings

    tools = [tool.name for tool in sources.tools.schemas]
    with options.surroundings():
        asking = wordings(model, lines, sources.language, tools)
        answers = ask_models({model: asking}, "scenarios", journal=journal, options=options)[model]
    worded = [
        line if answer.error else {**line, "goal": answer.goal, "facts": list(answer.facts)}
        for line, answer in zip(lines, answers, strict=True)
    ]
    kept = [
        f"{line['title']}: keeps its own words: {one.error}"
        for line, one in zip(lines, answers, strict=True)
        if one.error
    ]
    return worded, kept
