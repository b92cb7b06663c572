"""The closed vocabularies of five aspects of a profile, and which of their options a profile has.

Options and translations are those of RecLLMSim's `desc_translated.json`, by which people filled in their profiles and
annotators labelled the simulated ones ("When Synthetic Meets Real").
"""

from collections.abc import Mapping
from typing import Any

from ...data.recllmsim import ATTRIBUTES
from ...data.recllmsim.published_labels import closed_list

OTHERS = "Others"
ASPECTS = ("personality", "daily_interests", "travel_habits", "dining_preferences", "spending_habits")
"""Keys of the aspects, as in a person's profile."""
VOCABULARY: Mapping[str, tuple[str, ...]] = {aspect: closed_list(f"{aspect} en") or () for aspect in ASPECTS}
"""The options of each aspect in English, "Others" last."""

_OPTIONS = {
    aspect: {
        **dict(zip(closed_list(f"{aspect} zh") or (), options, strict=True)),
        **{option.casefold(): option for option in options},
    }
    for aspect, options in VOCABULARY.items()
}
_NAMES = {name.casefold(): aspect for aspect in ASPECTS for name in (aspect, f"profile_{aspect}", *ATTRIBUTES[aspect])}


def option(aspect: str, value: object) -> str | None:
    """The English option of a value in either language or both; None if the vocabulary has no such option."""
    if isinstance(value, Mapping):
        return option(aspect, value.get("zh")) or option(aspect, value.get("en"))
    return _OPTIONS[aspect].get(value.strip().casefold()) if isinstance(value, str) else None


def options_in(profile: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each aspect that the profile has options of: these, each once, in the order of the profile."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in profile.items():
        if (aspect := _NAMES.get(str(name).strip().casefold())) is None:
            continue
        words = (option(aspect, value) for value in (values if isinstance(values, list) else [values]))
        if options := tuple(dict.fromkeys(word for word in words if word is not None)):
            found[aspect] = options
    return found
