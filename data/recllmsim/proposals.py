"""Whether a text that somebody proposes is a profile, and one that a pool does not have yet."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ...errors import DataError
from ..rules.questions import plain_words
from ..text.languages import Language, language_of
from .profile_coverage import SIMILARITY, near_duplicate
from .profiles import FIELDS, Profile
from .situations import ATTRIBUTES, Line, line_of

ProfileReason: TypeAlias = Literal["empty", "incomplete", "language", "near_duplicate"]
"""Why a proposal is rejected; `incomplete`: its nine attributes are not all there, once each, and readable."""

AGES = (10, 100)
"""Youngest and oldest user that is believed."""

_NOTHING = frozenset(
    "|n a|na|none|nothing|unknown|tbd|not specified|not applicable|not given|not known|无|没有|未知|不详|暂无|保密".split(
        "|"
    )
)
"""Values that tell nothing."""

_ORNAMENT = " >#*_`-"
"""What models put around a line."""


def proposed_profile(
    text: str, pool: Sequence[Profile], language: Language = "en", similarity: float = SIMILARITY
) -> Profile | tuple[ProfileReason, str]:
    """The profile of a draft, or why it is none: the reason, and what was wrong in words.

    What stands around the nine lines, and marks of emphasis, do not matter. `pool`: those that it must not
    be like; `similarity`: the share of common words from which it is.
    """
    lines = [" ".join(line.split()).strip(_ORNAMENT) for line in text.replace("**", "").splitlines()]
    parted = ((text, line_of(text)) for text in lines)
    named = {text: (key, line.value) for text, line in parted if line is not None and (key := _key(line)) is not None}
    values = dict(named.values())
    if not values:
        return "empty", ""
    chinese = language == "zh"
    missing = [ATTRIBUTES[key][chinese] for key in FIELDS if plain_words(values.get(key, "")) in _NOTHING]
    if missing:
        return "incomplete", ("缺少" + "、".join(missing) + "。") if chinese else f"it lacks {', '.join(missing)}."
    try:
        profile = Profile.of("\n".join(text for text in lines if text in named))
    except DataError as error:
        return "incomplete", f"{str(error).removeprefix('profile: ')}."
    if not AGES[0] <= profile.age <= AGES[1]:
        span = f"{AGES[0]}-{AGES[1]}"
        return "incomplete", f"年龄应当在{span}岁之间。" if chinese else f"the age must lie in {span}."
    if language_of("\n".join(values.values())) != language:
        return "language", ""
    like = near_duplicate(profile, pool, similarity)
    return profile if like is None else ("near_duplicate", pool[like].text(language))


def _key(line: Line) -> str | None:
    """The attribute of a line, by its label or by its number."""
    label = line.attribute.casefold()
    for key in FIELDS:
        if label in (name.casefold() for name in ATTRIBUTES[key]):
            return key
    number = line.number or 0
    return FIELDS[number - 1] if 1 <= number <= len(FIELDS) else None
