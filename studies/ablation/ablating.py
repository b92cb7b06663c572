"""Variants of a cast compared, as a function for notebooks and scripts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from ...analysis.testing.pairs.ablation import AblationReport
from ...data.formats.record_lines import attempted
from ...data.records import Conversation
from ...runs.engine.conduct import Conduct
from ...runs.engine.conversing import Concurrency
from ...runs.engine.event_loop import waiting
from ...runs.simulation import asimulate
from .named_measures import MeasureName
from .variants import AblationPlan, VariantCast


class Ablation(AblationReport):
    """Variants of a cast compared with the first, with their conversations; a notebook shows it as a table."""

    folder: Path | None = None
    """Holds the variants' run folders; None without `out`."""
    records: dict[str, tuple[Conversation, ...]] = Field(default_factory=dict, exclude=True)
    """The conversations of each variant, in the order of the scenarios; they are not part of its JSON."""

    def to_pandas(self) -> Any:
        """The table as a data frame, unrounded; needs the extra `stats`."""
        return self.table().frame()

    def _repr_html_(self) -> str:
        from ...views.notebook import table_html  # HTML is drawn only where it is shown

        return table_html(self.table())

    def __repr__(self) -> str:
        return f"<{len(self.variants)} variants; {'; '.join(self.summary())}>"

    __str__ = __repr__


async def aablate(
    variants: Mapping[str, VariantCast],
    scenarios: "str | Path | Iterable[Mapping[str, Any]] | None" = None,
    repeats: int = 1,
    measures: Sequence[MeasureName] | None = None,
    *,
    limit: int | None = None,
    judge: str | None = None,
    max_turns: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    resume: bool = False,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
) -> Ablation:
    """As `ablate`, whose parameters, result and errors it has, to be awaited.

    Example::

        >>> import asyncio, duologue
        >>> variants = {"as it is": "simquac", "one attempt": {"cast": "simquac", "limits": {"question_attempts": 1}}}
        >>> work = duologue.aablate(variants, limit=1, measures=["turns"], max_turns=1)
        >>> asyncio.run(work).difference("one attempt", "turns").difference  # in a notebook: await work
        0.0
    """
    scenarios = scenarios if scenarios is None or isinstance(scenarios, str | Path) else list(scenarios)
    plan = AblationPlan.of(
        variants,
        scenarios,
        repeats=repeats,
        measures=measures,
        limit=limit,
        judge=judge,
        seed=seed,
        max_turns=max_turns,
    )
    conduct = conduct or Conduct()
    conduct.check_in_turns()
    control = conduct.controlled()
    conduct = replace(conduct, control=control)
    folder = None if out is None else Path(out)
    places: Mapping[str, Path | None] = dict.fromkeys(plan.casts) if folder is None else plan.folders(folder)
    runs = [
        asimulate(cast, plan.scenarios, out=places[name], resume=resume, concurrency=concurrency, conduct=conduct)
        for name, cast in plan.casts.items()
    ]
    simulated = zip(plan.casts, await control.in_turns(runs), strict=True)
    # A folder also holds what an earlier call of the run could not end and this one did not begin again.
    records = {name: tuple(own if (place := places[name]) is None else attempted(place)) for name, own in simulated}
    return Ablation(**dict(plan.report(records.items())), folder=folder, records=records)


@waiting(aablate)
def ablate() -> None:
    """Compare variants of a cast with the first one, on the same scenarios in turns; `duologue ablate` as a function.

    Conversations of a scenario and repeat are pairs, with the same seed. Each measure of each variant has its paired
    difference to the first with a 95 % interval over scenarios, an exact p, and p adjusted for all differences together
    (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979).

    Args:
        variants: By name a cast, a registered name or import path, or an object with `cast` and changed `settings`,
            `replace` (nodes by import path) and `limits`. All must have the name of the first one's cast.
        scenarios: Objects as in a scenario file, initial states, or a path of either or of stored conversations. None:
            the cast's own.
        repeats: Number of conversations about each scenario.
        measures: Names of numbers of a conversation: `success`, `tokens`, `turns`, `messages`, `tool calls`,
            `rejected drafts` and others of records, `score NAME`, measures of realism, import paths of functions, or
            functions. None: success, tokens, turns, tool calls, the share of rejected drafts, and scores.
        limit: Number of scenarios, the first ones; None: all.
        judge: Model that judges success where a scenario asks for a judgement and names none.
        max_turns: Maximum number of turns of a conversation in all variants; None: the variants' own.
        seed: Seed of all runs.
        out: Folder for a run folder of each variant.
        resume: Continue the runs in that folder.
        concurrency: Number of conversations at the same time, over all variants, or `auto`.
        conduct: Pace and bounds of the calls of all variants together, as for `simulate`.

    Returns:
        Means and differences (`means`, `differences`, `table()`), what differs between the variants, and their `records`.

    Raises:
        SettingError: A variant cannot be built or its conversations do not pair with the first's, or a measure does not
            exist or fails. Other errors are those of `simulate`.

    Example::

        >>> import duologue
        >>> attempts = {f"{n} attempts": {"cast": "simquac", "limits": {"question_attempts": n}} for n in (4, 1)}
        >>> result = duologue.ablate(attempts, limit=2, measures=["turns", "rejected drafts"], max_turns=2)
        >>> [(one.variant, one.measure) for one in result.differences]
        [('1 attempts', 'turns'), ('1 attempts', 'rejected drafts')]
    """
