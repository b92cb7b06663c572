"""Scenarios designed from an agent's tools, rules as data and examples of a world, each proven by the oracle."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import isroutine
from pathlib import Path
from typing import Any

from ..data.files.json import read_settings, read_text
from ..data.test_design import (
    DesignedCase,
    Example,
    Rule,
    cases_of,
    completed,
    examples_of,
    fields_of,
    line_of,
    read_tools,
    rules_of,
)
from ..data.text.languages import Language, language_of
from ..errors import DataError, SettingError, at, kind
from ..nodes.models.specs import is_import_path
from ..nodes.oracle import NO_FAULT, AgentTools, Oracle, tools_at
from ..nodes.settings.import_path import imported
from ..nodes.settings.redaction import error_line
from ..nodes.worlds import World, check_world


@dataclass(frozen=True)
class DesignSources:
    """What scenarios are designed from."""

    tools: AgentTools
    world: World | None
    rules: tuple[Rule, ...]
    prose: tuple[str, ...]
    """Rules that are no data, and so forbid nothing."""
    examples: tuple[Example, ...]
    invented: tuple[str, ...]
    """Names of the arguments whose values were not given."""

    @property
    def language(self) -> Language:
        """The language of the tools' descriptions; English without any."""
        return language_of(" ".join(tool.description for tool in self.tools.schemas)) or "en"

    @property
    def notes(self) -> list[str]:
        """What the person who designs has to know, a line each."""
        notes = [f"not used, since it is prose: {text}" for text in self.prose]
        if self.prose:
            notes.append("a rule is data: {forbids: TOOL, when: {FIELD: VALUE}, because: TEXT}")
        if self.invented:
            named = ", ".join(self.invented)
            notes.append(
                f"no value was given for {named}, so invented ones stand in: give --examples, or world.examples"
            )
        return notes


@dataclass(frozen=True)
class DesignedScenarios:
    """Scenarios, and what has none."""

    lines: tuple[dict[str, Any], ...]
    lacking: tuple[str, ...]
    """Cases of a tool without an example, a line each with the reason."""

    @property
    def verdicts(self) -> Counter[str]:
        """How many scenarios have each verdict of the oracle, with the reason where it is not possible."""
        proofs = [line["proof"] for line in self.lines]
        return Counter(": ".join(filter(None, [one["verdict"], one.get("because")])) for one in proofs)


def read_sources(
    agent: str,
    world: str | None = None,
    rules: str | None = None,
    examples: str | None = None,
    context: str | None = None,
) -> DesignSources:
    """Read what scenarios are designed from; SettingError or DataError, in one line, for what cannot be read.

    `agent`: MODULE:NAME, or a JSON file of tools in OpenAI's form. `world`, `context`: MODULE:NAME. `rules`, `examples`:
    a file of YAML or JSON, or MODULE:NAME of a list or of a function that makes one; without them the attributes
    `rules` and `examples` of the function that makes the world.
    """
    tools = AgentTools(read_tools(Path(agent))) if agent.endswith(".json") else tools_at(agent)
    if context is not None:
        tools = replace(tools, context=imported(context, "--context"))
    live = None if world is None else imported(world, "--world")
    if world is not None:
        check_world(live)
    given, where = _given(rules, "--rules", live, "rules")
    found_rules, prose = rules_of(given or [], tools.schemas, where)
    given, where = _given(examples, "--examples", live, "examples")
    found_examples = examples_of(given or [], tools.schemas, where)
    oracle = Oracle(tools, live)

    async def with_states() -> list[Example]:
        return [one.model_copy(update={"state": await oracle.state(one.scenario)}) for one in found_examples]

    found_examples, invented = completed(asyncio.run(with_states()), tools.schemas)
    fields = fields_of(tools.schemas, found_examples)
    if unknown := [field for rule in found_rules for field in rule.when if field not in fields]:
        raise DataError(
            f"a rule looks at the field {unknown[0]!r}, which no argument and no world of an example has: mend it"
        )
    return DesignSources(tools, live, tuple(found_rules), tuple(prose), tuple(found_examples), tuple(invented))


def designed(
    sources: DesignSources, *, seed: int = 0, limit: int | None = None, watch: Callable[[str], object] = lambda _: None
) -> DesignedScenarios:
    """A scenario for each case of the tools, with the oracle's proof; `limit`: the first so many."""
    design = (sources.tools.schemas, sources.rules, sources.examples, seed)
    cases, lacking = cases_of(*design)
    oracle = Oracle(sources.tools, sources.world, sources.rules)

    unplayed: dict[str, str] = {}

    async def lines() -> list[dict[str, Any]]:
        valid = [case for case in cases[:limit] if case.kind == "valid" and sources.world is not None]
        best = {case.tool.name: one for case in valid if (one := await _possible(oracle, case, sources.language))}
        chosen, _ = cases_of(*design, best)
        found = []
        for number, case in enumerate(chosen[:limit], start=1):
            watch(f"proves scenario {number} of {len(cases[:limit])}")
            line = line_of(case, sources.language, number)
            proof = await oracle.proof(case, line)
            of_world = case.kind != "valid" or proof.verdict != "must be refused"
            if not of_world and (names := sorted(case.arguments.keys() & set(sources.invented))):
                unplayed[case.tool.name] = (
                    f"{case.tool.name}: the world does not take invented values ({', '.join(names)})"
                )
            if case.argument is not None and proof.because == NO_FAULT:
                lacking.append(f"{case.tool.name}: {case.argument.label}: {proof.because}")
            elif case.tool.name not in unplayed:
                found.append(line | proof.keys)
        return found

    found = tuple(asyncio.run(lines()))
    return DesignedScenarios(found, (*lacking, *unplayed.values()))


async def _possible(oracle: Oracle, valid: DesignedCase, language: Language) -> Example | None:
    """An example of a valid case in which it is possible; one whose call changes something, or tells something, if any."""
    found = []
    for case in (valid, *valid.instead):
        proof = await oracle.proof(case, line_of(case, language, 0))
        if proof.verdict != "possible":
            continue
        for other in () if proof.changes else case.changing:
            there = await oracle.proof(other, line_of(other, language, 0))
            if there.verdict == "possible" and there.changes:
                return other.example
        if proof.changes or "text_contains" in proof.success:
            return case.example
        found.append(case.example)
    return found[0] if found else None


def _given(source: str | None, option: str, world: Any, attribute: str) -> tuple[Any, str]:
    """The value of a file or of an import path, else of the world's attribute; and the place, for errors."""
    if source is None:
        value, where = getattr(world, attribute, None), f"world.{attribute}"
    elif is_import_path(source) and not Path(source).exists():
        value, where = imported(source, option), f"{option} {source}"
    elif Path(source).suffix.lower() in (".yaml", ".yml", ".json"):
        value, where = read_settings(Path(source)), at(Path(source))
    else:
        value, where = read_text(Path(source)), at(Path(source))
    if isroutine(value):
        try:
            value = value()
        except (Exception, SystemExit) as error:
            raise DataError(f"{where}() failed: {error_line(error)}") from error
    if isinstance(value, str) and attribute == "rules":  # a policy in prose: its items, else its lines
        lines = [line.strip() for line in value.splitlines() if line.strip() and not line.startswith("#")]
        return [re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", line) for line in lines], where
    if value is not None and not isinstance(value, list | tuple | dict):
        raise SettingError(f"{where}: expected a list, got {kind(value)}")
    return (list(value) if isinstance(value, tuple) else value), where
