"""Measures of a conversation by name: of its record, registered ones of `analysis.realism`, functions by import path."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from ...analysis.measure_values import as_number, measure_failed
from ...analysis.outcomes import SUCCESS
from ...analysis.testing.pairs.ablation import MeasuredValues
from ...analysis.testing.pairs.conversation_values import NAMES, SCORE, USUAL, all_values
from ...data.records import Conversation
from ...errors import SettingError, kind
from ...nodes.settings.import_path import imported, is_import_path

if TYPE_CHECKING:  # it needs numpy, which a comparison by records does not
    from ...analysis.realism.measures import Measure

OwnMeasure: TypeAlias = "Measure | Callable[[Conversation], Any]"
"""A measure of realism, or a function of a conversation that gives a number or None."""
MeasureName: TypeAlias = "str | OwnMeasure"
"""A measure by its name or import path, or itself."""


@dataclass(frozen=True)
class ChosenMeasures:
    """The measures of a comparison; calling it measures conversations."""

    names: tuple[str, ...] | None
    """In order; None: success, those of `USUAL`, and every score."""
    own: Mapping[str, OwnMeasure]
    """Those of `names` that records do not have."""

    def __call__(self, conversations: Sequence[Conversation]) -> dict[str, MeasuredValues]:
        """The values of every measure; SettingError if a function of somebody's fails."""
        of_records = [all_values(conversation) for conversation in conversations]
        recorded = dict.fromkeys(name for one in of_records for name in one.values)
        ordered = self.names or (SUCCESS, *USUAL, *(name for name in recorded if name.startswith(SCORE)))
        measured: dict[str, MeasuredValues] = {}
        for name in ordered:
            if (own := self.own.get(name)) is not None:
                measured[name] = _of_own(name, own, conversations)
            elif name in recorded:
                share = all(name in one.shares for one in of_records if name in one.values)
                measured[name] = MeasuredValues([one.values.get(name) for one in of_records], share)
        return measured


def chosen_measures(names: Sequence[MeasureName] | None) -> ChosenMeasures:
    """The measures of these names; SettingError for one that does not exist or is given twice."""
    if names is None:
        return ChosenMeasures(None, {})
    if isinstance(names, str) or not names:
        raise SettingError("measures: give a list of names, such as ['turns', 'rejected drafts'], or leave it out")
    own: dict[str, OwnMeasure] = {}
    ordered: list[str] = []
    for measure in names:
        name, function = _resolved(measure)
        if name in ordered:
            raise SettingError(f"measures: {name!r} is given twice: leave one out")
        ordered.append(name)
        if function is not None:
            own[name] = function
    return ChosenMeasures(tuple(ordered), own)


def _resolved(measure: Any) -> "tuple[str, OwnMeasure | None]":
    """The name of a measure, and the measure itself unless it is one of records."""
    if isinstance(measure, str):
        if measure in NAMES or (measure.startswith(SCORE) and measure != SCORE):
            return measure, None
        if not is_import_path(measure):
            return measure, _registered(measure)
        measure, name = imported(measure, "measures"), measure
    else:
        name = str(getattr(measure, "name", None) or getattr(measure, "__name__", type(measure).__name__))
    if _is_realism(measure):
        return str(measure.name), measure
    if not callable(measure) or isinstance(measure, type):
        raise SettingError(
            f"measures: {name} is {kind(measure)}: give a function of a conversation, or a realism.Measure"
        )
    return name, measure


def _registered(name: str) -> "Measure":
    from ...analysis.realism.measures import all_measures

    registered = {measure.name: measure for measure in all_measures()}
    if name not in registered:
        near = get_close_matches(name, [*NAMES, *registered], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}, score NAME, those of realism,"
        raise SettingError(f"measures: there is no measure {name!r}: {hint} or give MODULE:NAME, a function")
    return registered[name]


def _is_realism(measure: object) -> bool:
    return hasattr(measure, "of_conversation") and hasattr(measure, "values")


def _of_own(name: str, measure: Any, conversations: Sequence[Conversation]) -> MeasuredValues:
    if _is_realism(measure):
        from ...analysis.realism.measures.transcripts import transcripts_of

        transcripts = transcripts_of(conversations, None)
        measured = zip(transcripts, measure.values(transcripts), strict=True)
        by_id = {transcript.conversation.id: value for transcript, value in measured}
        share = measure.unit.startswith("share") and all(
            0 <= value <= 1 for value in by_id.values() if value is not None
        )
        return MeasuredValues([by_id.get(one.id) for one in conversations], share)
    values: list[float | None] = []
    either_or = True
    for conversation in conversations:
        try:
            value = measure(conversation)
            values.append(as_number(value))
        except Exception as error:  # a stranger's function may raise anything
            raise measure_failed(name, error, conversation.id) from error
        either_or &= value is None or isinstance(value, bool)
    return MeasuredValues(values, share=either_or)
