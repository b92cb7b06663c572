"""The part of a user's system prompt about its behaviours: a page for each, in the language of the prompt."""

from collections.abc import Mapping
from typing import Any

from ...data.behaviours import behaviours_in, injected_word
from ...data.text.languages import language_of
from ...prompts import Library, Page, shipped
from ..state import State

PAGES = "behaviours"
"""Name of the shipped templates that no cast's manifest lists, unless a folder of one's own has one."""


def behaviours_of(state: State) -> tuple[str, ...]:
    """The behaviours of the conversation's user."""
    return behaviours_in(state["scenario"], state.get("extra"))


def with_pages(own: Library | None, system: str) -> dict[str, Page]:
    """The templates that only some scenarios need, in the language of the system prompt; those of `own` replace them."""
    return {**shipped(PAGES, language_of(system) or "en").pages, **({} if own is None else own.pages)}


def behaviour_text(state: State, system: str, own: Library | None = None) -> str:
    """How the user behaves, as a part of its system prompt; empty for a plain user.

    A page of `own` named `user/behaviour_NAME` counts before the shipped one.
    """
    names = behaviours_of(state)
    if not names:
        return ""
    pages = with_pages(own, system)
    values: Mapping[str, Any] = {"word": injected_word(state["scenario"])}
    lines = "\n".join(f"- {name}: {pages[f'user/behaviour_{name}'].fill_from(values)}" for name in names)
    return pages["user/behaviours"].fill(lines=lines)
