"""The style filter of the setting `like` around a cast's own validator of the user, and its templates."""

from dataclasses import is_dataclass, replace
from typing import Any

from ...data.text.languages import Language, language_of
from ...errors import SettingError
from ...nodes.people.memory import Memory
from ...nodes.people.style import PAGES, REASON, LikePeople, like, parsed
from ...nodes.validators.composition import Observing
from ...prompts import Library, shipped
from .cast import Cast

SYSTEM = "user/system"
"""The page whose language is the cast's, if no setting names one."""


def with_guard(cast: Cast, spec: str, language: Language | None = None, *, as_published: bool = False) -> Cast:
    """The cast with a style filter behind the validator of its user (`nodes.like`), from a setting `SRC?part=tune&...`.

    Where the validator only observes, as of a replayed user, the filter observes too: what is sent is measured, and
    nothing is asked again. SettingError or DataError says what is wrong.
    """
    observes = isinstance(cast.question_validator, Observing)
    if as_published and not observes:
        raise SettingError("like: as_published uses only the published rules: leave one of the two out")
    path, options = parsed(spec)
    if language is None and SYSTEM in cast.prompts:
        language = language_of(cast.prompts[SYSTEM].source)
    inner = cast.question_validator.node if isinstance(cast.question_validator, Observing) else cast.question_validator
    guard = like(
        path,
        inner,
        language=language,
        part=options.part,
        drafts=options.drafts or None,
        most=options.most,
    )
    pages = with_pages(cast.prompts, guard.manners.language)
    guard = replace(guard, pages=pages)
    return cast.replace(
        question_validator=Observing(guard) if observes else guard,
        user_prompt_selector=_selecting(cast.user_prompt_selector, guard.manners.language),
        prompts=pages,
    )


def of_another_language(cast: Cast) -> list[str]:
    """A line for each side whose stored turns are in another language than the cast's pages."""
    if SYSTEM not in cast.prompts or (spoken := language_of(cast.prompts[SYSTEM].source)) is None:
        return []
    lines = []
    for role, place in (("user", cast.user_simulator), ("assistant", cast.assistant)):
        memory = getattr(place, "memory", None)
        if isinstance(memory, Memory) and (stored_language := memory.language) not in (None, spoken):
            lines.append(
                f"{role}: the people of {memory.source} write {stored_language}, and the language of the cast is {spoken}: give --language {stored_language}"
            )
    return lines


def guard_of(cast: Cast) -> LikePeople | None:
    """The style filter of a cast; None without one."""
    node: Any = cast.question_validator
    node = node.node if isinstance(node, Observing) else node
    return node if isinstance(node, LikePeople) else None


def with_pages(pages: Library, language: Language | str) -> Library:
    """The library with the filter's templates; its own ones of these names stay."""
    return Library({**shipped(PAGES, language).pages, **pages.pages})


def _selecting(selector: Any, language: Language) -> Any:
    """The selector with the filter's pages too, if it has a library of pages; any other as it is."""
    pages = getattr(selector, "pages", None)
    if not isinstance(pages, Library) or f"user/repair_{REASON}" in pages or not is_dataclass(selector):
        return selector
    return replace(selector, pages=with_pages(pages, language))  # type: ignore[type-var]
