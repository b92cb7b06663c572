"""Checks of pages before the first call: when a cast is made, and when its run is planned."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...data.records import Role
from ...data.text.languages import language_of
from ...nodes.asking.judges import AsksJudge
from ...nodes.messages.building import PageMessages, Talk, WithMessageBuilder
from ...nodes.messages.selectors import RepairPrompts
from ...nodes.people.memory import Memory
from ...nodes.scorers.combined import scorers_of
from ...nodes.scorers.post_questions import PostQuestions
from ...nodes.state import state_from
from ...nodes.validators.composition import parts_of
from ...prompts import Page, PromptError

if TYPE_CHECKING:
    from .cast import Cast

SYSTEM = "user/system"
"""The page whose language is the cast's."""
OF_REPAIRS = frozenset({"repair", "attempt", "attempts"})
"""What `RepairPrompts` fills a page with."""
OF_JUDGES = frozenset({"conversation", "scenario", "form"})
"""What every judge's page is filled with, besides the values of the scenario."""
OF_DRAFTS = OF_JUDGES | {"draft", "speaker", "tool_calls"}
OF_SCORES = OF_JUDGES | {"criterion", "answers"}


def check_pages(parts: Iterable[object]) -> None:
    """Raise PromptError if a part of a cast has a template with a variable that it never fills."""
    for part in parts:
        for page, filled in _filled_by(part):
            if lacking := page.gaps - filled:
                raise PromptError(f"prompt {page.name}: {_lacking(lacking, filled)}")
            page.try_out()


class _Cast(Protocol):
    """The parts of a cast that read scenarios."""

    @property
    def user_simulator(self) -> object: ...
    @property
    def assistant(self) -> object: ...
    @property
    def question_validator(self) -> object: ...
    @property
    def answer_validator(self) -> object: ...
    @property
    def closing(self) -> object: ...


def check_filled(cast: _Cast, scenarios: Sequence[Mapping[str, Any]]) -> None:
    """Raise PromptError if a page of the cast has a variable that the scenarios do not fill.

    A speaker's value may be missing in some scenarios, and is then empty, but not in all. A judge's value may not be
    missing in any.
    """
    if not scenarios:
        return
    keys = [frozenset(map(str, scenario)) for scenario in scenarios]
    some, all_keys = frozenset().union(*keys), frozenset(keys[0]).intersection(*keys)
    for part in (cast.user_simulator, cast.assistant):
        build = _builder(part)
        material = _page(build, "material") if isinstance(build, PageMessages) else None
        if isinstance(build, PageMessages) and material is not None:
            if lacking := material.gaps - some:
                raise PromptError(f"prompt {material.name}: {_lacking(lacking, some, 'the scenarios have')}")
            _try(build, scenarios[0])
    validators = (*parts_of(cast.question_validator), *parts_of(cast.answer_validator))
    for judges, available in ((validators, OF_DRAFTS), (tuple(scorers_of(cast.closing)), OF_SCORES)):
        for judge in judges:
            if isinstance(judge, AsksJudge) and isinstance(judge.page, Page):
                filled = available | all_keys
                if lacking := judge.page.gaps - filled:
                    raise PromptError(f"prompt {judge.page.name}: {_lacking(lacking, filled, _where(lacking, keys))}")


def _filled_by(part: object) -> Iterable[tuple[Page, frozenset[str]]]:
    """The pages of a part that do not depend on the scenario, each with what the part fills."""
    if isinstance(part, RepairPrompts):
        for page in part.pages.pages.values():
            if page.name.startswith(f"{part.role}/repair_"):
                yield page, OF_REPAIRS
    if isinstance(part, PostQuestions):
        roles: Iterable[Role] = part.speakers
        for role in roles:
            for name in part.questions(role):
                yield part.pages[name], frozenset()
    build = _builder(part)
    system = _page(build, "system") if isinstance(build, PageMessages) else None
    if system is not None:
        yield system, frozenset()


def _builder(part: object) -> object:
    """What makes the messages of a speaker; for an agent that is sent only the talk, nothing."""
    build = part.build if isinstance(part, WithMessageBuilder) else None
    return None if isinstance(build, Talk) else build


def _page(build: PageMessages, kind: str) -> Page | None:
    name = f"{build.role}/{kind}"
    return build.pages.pages.get(name)


def _try(build: PageMessages, scenario: Mapping[str, Any]) -> None:
    """Fill the page with a scenario: PromptError if that is not possible."""
    build(state_from(scenario))


def _where(lacking: frozenset[str], keys: Sequence[frozenset[str]]) -> str:
    number = next((number for number, scenario_keys in enumerate(keys) if not lacking <= scenario_keys), 0)
    return f"with scenario {number} there are"


def _lacking(lacking: frozenset[str], filled: frozenset[str], there: str = "there are") -> str:
    gaps = ", ".join(f"{{{{ {gap} }}}}" for gap in sorted(lacking))
    available = ", ".join(sorted(filled)) or "none"
    return f"has the template variable {gaps} that nothing fills ({there}: {available}): rename it, or write its text into the template"


def of_another_language(cast: "Cast") -> list[str]:
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
