"""The design of scenarios: a covering array, a line for each row, and a proof of each line."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...analysis.testing.design.coverage import CoverageTable, planned_coverage
from ...data.behaviours.kinds import KEY
from ...data.test_design import behaviours as user_behaviours
from ...data.test_design.case_space import CaseSpace
from ...data.test_design.covering_arrays import ArrayRow, Design, InfeasiblePair, covering_array
from ...data.test_design.dimensions import GOAL
from ...data.test_design.lines import COVERS, DIFFICULTY, PROOF, behaviours_of, facts_of_row, line_of
from ...data.test_design.log_cases import LogCase, LogSpace
from ...data.text.languages import Language
from ...errors import SettingError
from ...nodes.oracle import Oracle, ScenarioProof, answer_proof
from .sources import DesignSources

NO_WORLD = "there is no tool to play, and so no plan"


@dataclass(frozen=True)
class DesignedScenarios:
    """Scenarios of a design, with what they cover."""

    lines: tuple[dict[str, Any], ...]
    coverage: CoverageTable
    infeasible: tuple[InfeasiblePair, ...]

    @property
    def verdicts(self) -> Counter[str]:
        """How many scenarios have each verdict of the oracle."""
        return Counter(line[PROOF]["verdict"] for line in self.lines)


def designed(
    sources: DesignSources,
    *,
    behaviours: Sequence[str] = user_behaviours.NAMES,
    language: Language | None = None,
    seed: int = 0,
    count: int | None = None,
    present: Sequence[Mapping[str, str]] = (),
    watch: Callable[[str], object] = lambda _: None,
) -> DesignedScenarios:
    """Scenarios that cover each pair of levels that can be together.

    `count`: that many scenarios. `present`: rows that exist, so that only what they leave out is covered.
    """
    space = None
    factors: dict[str, tuple[str, ...]] = {}
    exclusions = list(sources.dimensions.exclusions)
    logs = LogSpace(sources.logs) if sources.logs else None
    if logs is not None:
        factors |= logs.factors()
        exclusions.append(logs.exclusion())
    if sources.tools is not None:
        space = CaseSpace(sources.tools.schemas, sources.rules, sources.examples)
        factors |= space.factors()
        exclusions.append(space.exclusion())
    factors |= {
        name: levels for name, levels in sources.dimensions.factors.items() if name != GOAL or not (space or logs)
    }
    if not factors:
        raise SettingError(
            "nothing to design scenarios from: give an agent with tools, --logs SRC or --dimensions FILE"
        )
    design = Design(factors | user_behaviours.factors(behaviours), tuple(exclusions))
    spoken = language or sources.language
    least = space.least() if space is not None else {}
    rows = covering_array(design, seed=seed, count=count, present=present, least=least)

    async def lines() -> list[dict[str, Any]]:
        scenario_lines = []
        for number, row in enumerate(rows, start=1):
            watch(f"proves scenario {number} of {len(rows)}")
            if logs is not None:
                line, proof = await _of_log(number, logs.case(row, seed), row, sources, spoken)
            elif space is None or sources.tools is None:
                line, proof = _of_dimensions(row, sources, spoken)
            else:
                case = space.case(row, seed)
                line = line_of(case, spoken, sources.dimensions.levels, number)
                oracle = Oracle(sources.tools, sources.world, case, line, spoken)
                proof = await oracle.proof()
            scenario_lines.append(_complete(line, proof))
        return scenario_lines

    scenarios = asyncio.run(lines())
    covered = [*present, *rows]
    return DesignedScenarios(tuple(scenarios), planned_coverage(design, covered), design.infeasible)


def _of_dimensions(row: ArrayRow, sources: DesignSources, language: Language) -> tuple[dict[str, Any], ScenarioProof]:
    """The scenario of a row of a table of dimensions, which nothing decides."""
    goal = row.get(GOAL) or next(iter(sources.dimensions.goals), "")
    facts = facts_of_row(row, sources.dimensions.levels, language)
    line = {"goal": goal or " ".join(facts), "facts": facts, **_of_row(row)}
    return line, ScenarioProof("not decided", sources.dimensions.success, NO_WORLD)


async def _of_log(
    number: int, case: LogCase, row: ArrayRow, sources: DesignSources, language: Language
) -> tuple[dict[str, Any], ScenarioProof]:
    """The scenario of a person's conversation, and the proof that an answer fulfils it."""
    title = case.goal if len(case.goal) <= _TITLE else f"{case.goal[: _TITLE - 1]}…"
    facts = [*case.facts, *facts_of_row(row, sources.dimensions.levels, language)]
    line = {"title": f"{number}. {title}", "goal": case.goal, "facts": facts, "log": case.id, **_of_row(row)}
    if sources.dimensions.success:
        return line, ScenarioProof("not decided", sources.dimensions.success, NO_WORLD)
    return line, await answer_proof(line, case.values, language)


_TITLE = 60
"""Most characters of a goal in a title."""


def _of_row(row: ArrayRow) -> dict[str, Any]:
    return ({KEY: names} if (names := behaviours_of(row)) else {}) | {COVERS: dict(row)}


def _complete(line: dict[str, Any], proof: ScenarioProof) -> dict[str, Any]:
    """A scenario with its success, proof and difficulty."""
    difficulty = {"calls": len(proof.plan), "rules": int("rule" in line), "facts": len(line["facts"])}
    success = {"success": dict(proof.success)} if proof.success else {}
    return {**line, **success, PROOF: proof.plain, DIFFICULTY: difficulty}
