"""`duologue scenarios`: scenarios for `test`, designed from tools, a policy and dimensions, each proven by an oracle."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...data.files.json_files import write_lines
from ...data.text.languages import Language
from ...errors import DataError, SettingError, at
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.sections import OUTPUT, SCENARIOS, WORDING
from ..options.shared import Yes, force_for, journal_in, json_of, language_of, model_for, option, out_to, seed_of
from ..output.overwriting import check_free
from ..running.asking import OPTIONS, ask_models, check_journal
from ..streams import print_json, put, put_tables, say, stderr

if TYPE_CHECKING:
    from ...runs.asking.scenario_wording import WordedScenario
    from ...studies.scenario_design.designing import DesignedScenarios

OUT = Path("scenarios.jsonl")
SHOWN = 20
"""Most impossible pairs, and most scenarios that are not decided, which are printed."""
NONE = "none"


@extended(OPTIONS)
def scenarios_command(
    agent: Annotated[
        str | None,
        typer.Argument(
            metavar="AGENT",
            help="An agent with tools, or a list of tools, as MODULE:NAME; or a JSON file of tools in OpenAI's form.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        option(
            "Read the rules of this document, folder or text (MODULE:NAME); may be repeated.",
            metavar="SRC|MODULE:NAME",
        ),
    ] = None,
    world: Annotated[
        str | None,
        option(
            "Make a world for each proof with this function, and take the values of its examples().",
            metavar="MODULE:NAME",
        ),
    ] = None,
    values: Annotated[
        Path | None,
        option(
            "Take the values of the tools' arguments from this file of TOML, YAML or JSON.",
            metavar="FILE",
        ),
    ] = None,
    logs: Annotated[
        Path | None,
        option(
            "Take goals and facts from these people's conversations; of nearly equal goals only one is taken.",
            metavar="SRC",
        ),
    ] = None,
    dimensions: Annotated[
        Path | None,
        option(
            "Add the dimensions of this file of TOML, YAML or JSON, each with its levels.",
            metavar="FILE",
        ),
    ] = None,
    behaviours: Annotated[
        str,
        option(
            "Cover only these behaviours of users, or none. Default: all.",
            section=SCENARIOS,
            metavar="NAME,...",
        ),
    ] = "all",
    missing: Annotated[
        Path | None,
        option(
            "Design only scenarios for pairs that this file leaves out, or that did not come up in the conversations of this run.",
            metavar="SRC",
        ),
    ] = None,
    model: Annotated[
        str | None,
        model_for("to write goals and facts in the words of people: openai:NAME, PROVIDER:NAME.", section=WORDING),
    ] = None,
    personas: Annotated[
        bool, option("Let the model add who the user is, and how it writes.", "--personas", section=WORDING)
    ] = False,
    journal: Annotated[Path | None, journal_in("this file", "FILE", section=WORDING)] = None,
    size: Annotated[
        int | None,
        option("Write N scenarios. Default: the number that covers every pair.", min=1, metavar="N"),
    ] = None,
    language: Annotated[
        Language | None, language_of("goals and facts. Default: that of the tools.", section=SCENARIOS)
    ] = None,
    seed: Annotated[int, seed_of("the design", SCENARIOS)] = 0,
    out: Annotated[Path, out_to("this file. Default: scenarios.jsonl.", "FILE", section=OUTPUT)] = OUT,
    force: Annotated[bool, force_for("what --out names", OUTPUT)] = False,
    as_json: Annotated[bool, json_of("scenarios, coverage, and impossible pairs", section=OUTPUT)] = False,
    yes: Yes = False,
    **values_of_run: Any,
) -> int:
    """Design scenarios from tools, rules and dimensions.

    They cover every possible pair of tool, kind of argument, rule, dimension and behaviour of the user. With a
    world, each one is proven by playing tool calls in fresh worlds. Exit code 0: written; 1: the model gave no wording of
    some scenarios; 2: bad input.
    """
    from ...data.test_design import behaviours as user_behaviours
    from ...studies.scenario_design.designing import designed
    from ...studies.scenario_design.holes import present_rows
    from ...studies.scenario_design.sources import read_sources
    from ...studies.scenario_design.wording import worded, wording_lines

    check_free(out, force=force)
    check_journal(journal, (), [model] if model is not None else [], "--model")
    if personas and model is None:
        raise SettingError("--personas: a model writes them: give --model")
    for source in (agent, *(policy or ())):
        if source is not None and Path(source).exists() and out.exists() and Path(source).samefile(out):
            raise DataError(f"{at(out)}: is the source itself: choose another place")
    chosen = _behaviours(behaviours, user_behaviours.NAMES)
    sources = read_sources(agent, policy or (), dimensions, values, world, logs)
    say(*sources.notes)
    with stderr.status("designs scenarios") as status:
        result = designed(
            sources,
            behaviours=chosen,
            language=language,
            seed=seed,
            count=size,
            present=() if missing is None else present_rows(missing),
            watch=status.update,
        )
    if missing is not None and not result.lines:
        put(f"{missing} leaves out no pair of levels: nothing is written")
        return 0
    options = RunOptions(**values_of_run, yes=yes, as_json=as_json)
    answers: list[WordedScenario] = []
    if model is not None:
        spoken = language or sources.language
        names = [tool.name for tool in sources.tools.schemas] if sources.tools else []
        answers = _worded(model, result.lines, spoken, names, personas=personas, journal=journal, options=options)
        result = replace(result, lines=tuple(worded(result.lines, answers, model)))
    write_lines(out, result.lines)
    if as_json:
        print_json(_plain(result, out))
    else:
        _report(result)
        put(*(wording_lines(answers) if answers else ()), f"written: {out}: {len(result.lines)} scenarios")
    return int(any(answer.error for answer in answers))


def _worded(
    model: str,
    lines: Sequence[dict[str, Any]],
    language: Language,
    tools: list[str],
    *,
    personas: bool,
    journal: Path | None,
    options: RunOptions,
) -> "list[WordedScenario]":
    """The model's wording of each scenario; a plan in its place ends the command."""
    from ...studies.scenario_design.wording import wordings

    with options.surroundings():
        asking = wordings(model, lines, language, tools, personas=personas)
        answers = ask_models({model: asking}, "scenarios", journal=journal, options=options)[model]
    return answers


def _behaviours(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The behaviours that the option names."""
    chosen = tuple(name.strip().replace("-", "_") for name in text.split(",") if name.strip())
    if chosen in (("all",), (NONE,)):
        return names if chosen == ("all",) else ()
    for name in chosen:
        if name not in names:
            raise SettingError(
                f"--behaviours: there is no behaviour {name!r}, only {', '.join(names)}; or all, or none"
            )
    return chosen


def _report(result: "DesignedScenarios") -> None:
    """Print the coverage, the impossible pairs, and what the oracle found."""
    from ...data.test_design.lines import proof_line

    put_tables([result.coverage.table()])
    absent = {f"{row.factor} {row.level}" for row in result.coverage.levels if not row.of}
    whole = {
        level: pair.because for pair in result.infeasible for level in (pair.first, pair.second) if level in absent
    }
    put(*(f"cannot be: {level}: {why}" for level, why in whole.items()))
    pairs = [pair for pair in result.infeasible if not {pair.first, pair.second} & absent]
    for pair in pairs[:SHOWN]:
        put(f"cannot be: {pair.first} with {pair.second}: {pair.because}")
    if more := len(pairs) - SHOWN:
        put(*[f"cannot be: {more} more pairs (--json lists all)"] * (more > 0))
    groups = Counter(proof_line(line["proof"]) for line in result.lines)
    for words, number in sorted(groups.items(), key=lambda one: _VERDICTS.index(one[0].partition(" ")[0])):
        put(f"{number} of {len(result.lines)} scenarios: {words}")


_VERDICTS = ("possible", "impossible:", "not")
"""First words of the verdicts of an oracle, in the order in which they are printed."""


def _plain(result: "DesignedScenarios", out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "scenarios": list(result.lines),
        "verdicts": dict(result.verdicts),
        "coverage": result.coverage.model_dump(mode="json"),
        "infeasible": [pair.model_dump(mode="json") for pair in result.infeasible],
    }
