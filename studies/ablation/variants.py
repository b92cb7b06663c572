"""The variants of an ablation: casts with changed settings, nodes, models, templates or limits."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ...analysis.testing.pairs.ablation import AblationReport, MeasuredVariant, compare_variants
from ...data.formats.detection import MANIFEST
from ...data.people.splits import UserPart
from ...data.records import Conversation
from ...errors import DuologueError, SettingError, first_invalid, kind
from ...graphs import Cast, casts
from ...graphs.scenarios.sources import ScenarioFile, Scenarios, ScenarioSource
from ...nodes.limits import Limits
from ...runs.engine import conversing
from ...runs.folder import manifests
from ...runs.folder.run_conditions import differing_settings
from ...runs.folder.summary import Summary, summarize
from ..agent_trials import given_scenarios
from ..paired_tests import records_of
from ..sources import Notify, logged
from .named_measures import ChosenMeasures, MeasureName, chosen_measures

LIMITS = tuple(field.name for field in fields(Limits) if field.name != "seed")
"""Limits that a variant may change; the seed is that of all."""
LONGEST_NAME = 60


class CastChanges(BaseModel):
    """A cast as plain data: its name, and what is changed of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cast: str | None = None
    """Registered name or import path."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the cast, such as `user`, `assistant` (models) and `prompts` (a folder of templates)."""
    replace: dict[str, JsonValue] = Field(default_factory=dict)
    """Replaced parts: a node or the stop criterion by import path, a speaker also by a model identifier."""
    limits: dict[str, JsonValue] = Field(default_factory=dict)
    """Limits of each conversation, such as `question_attempts`."""

    def beside(self, common: "CastChanges") -> "CastChanges":
        """These changes, and those that all variants have in common where they do not have their own."""
        return CastChanges(
            cast=self.cast or common.cast,
            settings={**common.settings, **self.settings},
            replace={**common.replace, **self.replace},
            limits={**common.limits, **self.limits},
        )

    def factory(self) -> casts.CastFactory:
        """The factory of the cast; SettingError without its name."""
        if self.cast is None:
            raise SettingError("names no cast: give cast, such as 'simquac' or MODULE:FUNCTION")
        return casts.find(self.cast)

    def build(self, implied: Mapping[str, Any]) -> Cast:
        """The cast; `implied`: settings that follow from the scenarios unless they are given."""
        cast = self.factory()(**{**implied, **self.settings})
        if "limits" in self.replace:
            raise SettingError("replace: limits are not a part: give limits = { ... } beside it")
        if self.replace:
            cast = cast.replace(**self.replace)
        if unknown := [name for name in self.limits if name not in LIMITS]:
            seed = "seed is that of all variants: give it beside them" if unknown[0] == "seed" else ""
            raise SettingError(f"limits: {seed or f'there is no {unknown[0]!r}, only ' + ', '.join(LIMITS)}")
        try:
            return cast.replace(limits=replace(cast.limits, **self.limits)) if self.limits else cast  # type: ignore[arg-type]
        except TypeError as error:
            raise SettingError(f"limits: {error}") from None


VariantCast: TypeAlias = Cast | str | Mapping[str, Any] | CastChanges
"""A cast, its name, or an object with `cast`, `settings`, `replace` and `limits`."""


@dataclass(frozen=True)
class AblationPlan:
    """An ablation to be simulated: its casts, which share scenarios, repeats and seed."""

    casts: Mapping[str, Cast]
    """By the variants' names, in order; each has its limits and the seed."""
    scenarios: Scenarios
    measures: ChosenMeasures
    differs: Mapping[str, Sequence[str]]
    """Of each variant the settings in which it differs from the first, a line each."""

    @classmethod
    def of(
        cls,
        variants: Mapping[str, VariantCast],
        scenarios: "str | Path | Iterable[Mapping[str, Any]] | None" = None,
        *,
        repeats: int = 1,
        measures: Sequence[MeasureName] | None = None,
        limit: int | None = None,
        judge: str | None = None,
        part: UserPart = "all",
        seed: int = 0,
        max_turns: int | None = None,
        notify: Notify = logged,
    ) -> Self:
        """The plan with the parameters of `ablate`, checked before a call is paid for; `notify` gets each note.

        SettingError names the variant that cannot be built, or whose conversations do not pair with the first's.
        """
        changes = {_checked_name(name): _changes(name, variant) for name, variant in variants.items()}
        if len(changes) < 2:
            raise SettingError("ablate: give at least two variants: all others are compared with the first")
        if len(folders := {folder_name(name).casefold() for name in changes}) < len(changes):
            raise SettingError(f"ablate: {len(changes)} variants have {len(folders)} names of folders: name them apart")
        chosen = chosen_measures(measures)
        name, first = next(iter(changes.items()))
        with _of_variant(name):
            source_type, settings = _source_of(first)
        planned = given_scenarios(
            source_type, settings, scenarios, notify, judge=judge, limit=limit, repeats=repeats, part=part, seed=seed
        )
        built: dict[str, Cast] = {}
        for name, variant in changes.items():
            with _of_variant(name):
                cast = variant if isinstance(variant, Cast) else variant.build(planned.settings)
                of_all = {"seed": seed} | ({} if max_turns is None else {"max_turns": max_turns})
                built[name] = cast.replace(limits=replace(cast.limits, **of_all))
        return cls(built, planned, chosen, _differing(built, planned))

    @property
    def planned(self) -> int:
        """Conversations of each variant."""
        return len(self.scenarios)

    def folders(self, out: Path) -> dict[str, Path]:
        """The run folder of each variant."""
        return {name: out / folder_name(name) for name in self.casts}

    def measured(self, name: str, conversations: Iterable[Conversation]) -> MeasuredVariant:
        """A variant with its measured conversations."""
        return MeasuredVariant.of(name, conversations, self.measures, self.planned, self.differs[name])

    def summaries(self, out: Path) -> list[Summary]:
        """The summary of each variant's run that has begun; its data set is written once more."""
        return [summarize(place) for place in self.folders(out).values() if (place / MANIFEST).is_file()]

    def report_of(self, out: Path) -> AblationReport:
        """The comparison of the variants' run folders, also of runs without an end."""
        return self.report((name, records_of(place)) for name, place in self.folders(out).items())

    def report(self, records: Iterable[tuple[str, Iterable[Conversation]]]) -> AblationReport:
        """The comparison of the variants' conversations, which come by the variants' names."""
        return compare_variants([self.measured(name, own) for name, own in records], self.measures.names)


def folder_name(name: str) -> str:
    """The name of a variant as that of its run folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not folder_name(name) or len(name) > LONGEST_NAME:
        raise SettingError(f"ablate: {name!r} names no variant: give a text of 1 to {LONGEST_NAME} characters")
    return name


def _changes(name: str, variant: VariantCast) -> Cast | CastChanges:
    if isinstance(variant, Cast | CastChanges):
        return variant
    if isinstance(variant, str):
        return CastChanges(cast=variant)
    if not isinstance(variant, Mapping):
        raise SettingError(
            f"variant {name!r}: is {kind(variant)}: give a cast, its name, or an object with its changes"
        )
    try:
        return CastChanges.model_validate(dict(variant))
    except ValidationError as error:
        first = first_invalid(error)
        raise SettingError(f"variant {name!r}: {first.path}: {first.reason}") from None


def _source_of(variant: Cast | CastChanges) -> tuple[type[ScenarioSource], Any]:
    """Where a variant's scenarios come from, and its settings; of a cast that was put together by hand from anywhere."""
    spec = variant.spec if isinstance(variant, Cast) else variant
    if not isinstance(spec, CastChanges | casts.CastSpec):
        return ScenarioFile, None
    factory = spec.factory() if isinstance(spec, CastChanges) else casts.find(spec.cast)
    return factory.source, factory.checked(spec.settings)


@contextmanager
def _of_variant(name: str) -> Iterator[None]:
    """Inside, errors that a user can mend name the variant."""
    try:
        yield
    except DuologueError as error:
        raise SettingError(f"variant {name!r}: {error}") from None


def _differing(built: Mapping[str, Cast], scenarios: Scenarios) -> dict[str, Sequence[str]]:
    """Of each variant how it differs from the first; SettingError if its conversations do not pair with the first's."""
    name, first = next(iter(built.items()))
    manifest_of_first = _manifest(name, first, scenarios)
    differing: dict[str, Sequence[str]] = {name: ()}
    for name, cast in list(built.items())[1:]:
        if cast.name != first.name:
            raise SettingError(
                f"variant {name!r}: its cast is {cast.name!r}, that of the first is {first.name!r}, so their "
                f"conversations have other ids and draws: give it replace = {{ name = '{first.name}' }}"
            )
        differing[name] = differing_settings(manifest_of_first, _manifest(name, cast, scenarios))
    return differing


def _manifest(name: str, cast: Cast, scenarios: Scenarios) -> dict[str, Any]:
    with _of_variant(name):
        return manifests.of_run(cast, conversing.planned(cast, scenarios.states), cast.limits)
