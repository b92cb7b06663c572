"""Validation of proposed profiles: complete, plausible, in the right language, and new to the pool."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ...errors import DataError
from ..rules.questions import plain_words
from ..text.languages import Language, language_of
from .pool_coverage import SIMILARITY, near_duplicate
from .profiles import FIELDS, Profile, field_of
from .situations import ATTRIBUTES, line_of

ProfileReason: TypeAlias = Literal["empty", "incomplete", "language", "near_duplicate"]
"""Why a proposal is rejected. `incomplete`: one of the nine attributes is missing, repeated or unreadable."""

AGES = (10, 100)
"""Lowest and highest accepted age, in years."""

_NOTHING = frozenset(
    "|n a|na|none|nothing|unknown|tbd|not specified|not applicable|not given|not known|无|没有|未知|不详|暂无|保密".split(
        "|"
    )
)
"""Values without information."""

_ORNAMENT = " >#*_`-"
"""Characters that models put around a line."""


def proposed_profile(
    text: str, pool: Sequence[Profile], language: Language = "en", similarity: float = SIMILARITY
) -> Profile | tuple[ProfileReason, str]:
    """The profile in a draft, or a pair of the reason for its rejection and an explanation.

    Text around the nine lines and marks of emphasis are ignored. A profile is rejected as a near-duplicate if its
    share of common words with a profile of the `pool` is at least `similarity`.
    """
    lines = [" ".join(line.split()).strip(_ORNAMENT) for line in text.replace("**", "").splitlines()]
    parsed = ((text, line_of(text)) for text in lines)
    named = {
        text: (key, line.value) for text, line in parsed if line is not None and (key := field_of(line)) is not None
    }
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
    duplicate = near_duplicate(profile, pool, similarity)
    return profile if duplicate is None else ("near_duplicate", pool[duplicate].text(language))
