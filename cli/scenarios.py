"""`duologue scenarios`: scenarios for `test`, designed from tools, rules and examples, each proven by an oracle."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..data.files.json import write_lines
from . import options
from .options import argument, option
from .printing import check_apart, check_free, print_json, put, say, stderr
from .running import HowToRun, carried_out, how_to_run

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..studies.scenario_design import DesignedScenarios, DesignSources


@how_to_run("repeats", "shard", "ray")
def scenarios_command(
    agent: Annotated[str, argument("AGENT", "Agent or tools as MODULE:NAME, or JSON of tools in OpenAI's form.")],
    world: options.World = None,
    context: options.Context = None,
    rules: Annotated[str | None, option("Default: world.rules.", metavar="FILE|MODULE:NAME")] = None,
    examples: Annotated[str | None, option("Default: world.examples.", metavar="FILE|MODULE:NAME")] = None,
    model: options.Model = None,
    out: options.File = None,
    *,
    how: HowToRun,
) -> int:
    """Design scenarios from the tools of an agent.

    For each tool valid, missing, ambiguous and forbidden arguments; with a world each one is proven by playing tool calls
    in fresh worlds. They are written to --out, by default scenarios.jsonl. --model writes goals and facts in the words of
    people. Exit code 1: the model gave no wording of some.
    """
    from ..studies.scenario_design import designed, read_sources
    from ..views.pages import plural

    file = out or Path("scenarios.jsonl")
    check_apart(file, agent, rules, examples)
    if not how.plan:
        check_free(file)
    sources = read_sources(agent, world, rules, examples, context)
    say(*sources.notes)
    with stderr.status("designs scenarios") as status:
        result = designed(sources, seed=how.seed or 0, limit=how.limit, watch=status.update)
    unworded: list[str] = []
    if model is not None:
        result, unworded = _worded(model, result, sources, how)
    write_lines(file, result.lines)
    if how.as_json:
        about = {"verdicts": dict(result.verdicts), "lacking": list(result.lacking)}
        print_json({"out": str(file), **about, "scenarios": list(result.lines)})
        return int(bool(unworded))
    put(*(f"no scenario: {line}" for line in result.lacking))
    of = plural(len(result.lines), "scenario")
    put(*(f"{number} of {of}: {verdict}" for verdict, number in result.verdicts.most_common()))
    if bare := sum("success" not in line for line in result.lines):
        put(f"{plural(bare, 'scenario')} without a success: `duologue test` gives no score until you write one")
    put(*unworded, f"written: {file}: {of}")
    return int(bool(unworded))


def _worded(
    model: str, result: "DesignedScenarios", sources: "DesignSources", how: HowToRun
) -> "tuple[DesignedScenarios, list[str]]":
    """The scenarios in the model's words, and a line for each that keeps its own."""
    from ..runs.ask import questions_planned
    from ..runs.asks import wordings

    with how.keys():
        asking = wordings(model, result.lines, sources.language, [tool.name for tool in sources.tools.schemas])
        answers = carried_out(
            how,
            lambda _: questions_planned([asking], "scenarios"),
            asking.answers,
            models=[asking.model],
            kept="the same command with --replies goes on",
        )
    lines: list[dict[str, Any]] = []
    unworded: list[str] = []
    for line, answer in zip(result.lines, answers, strict=True):
        lines.append(line if answer.error else {**line, "goal": answer.goal, "facts": list(answer.facts)})
        unworded += [f"{line['title']}: keeps its own words: {answer.error}"] if answer.error else []
    return replace(result, lines=tuple(lines)), unworded
