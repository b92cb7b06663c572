"""Checks before the first call: that pages are filled, that scenarios can be played and scored."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ...data import domains
from ...data.behaviours import behaviours_in
from ...data.executed_graph import SPEAKERS
from ...data.scenarios import tools_in_success
from ...data.text.languages import written_language
from ...errors import SettingError
from ...nodes.contract import parts_of
from ...nodes.judges import Judge
from ...nodes.messages import PageMessages, RepairPrompts
from ...nodes.people import PeopleSpeaker
from ...nodes.requests import PostQuestions
from ...nodes.scorers import SUCCESS, FinalState, Scoring, ToolCalled
from ...nodes.speakers.agents import AgentSpeaker, channels_of
from ...nodes.speakers.speaker import ChatSpeaker
from ...nodes.speakers.tools import tools_of
from ...nodes.state import Planned, state_from
from ...nodes.success import KEY, unscorable
from ...prompts import Page, PromptError

if TYPE_CHECKING:
    from .cast import Cast

OF_REPAIRS = frozenset({"repair", "attempt", "attempts"})
"""What `RepairPrompts` fills a page with."""
OF_DRAFTS = frozenset({"conversation", "scenario", "form", "draft", "speaker", "tool_calls"})
"""What the page of a draft's judge is filled with, besides the values of the scenario."""
OF_SCORES = frozenset({"conversation", "scenario", "form", "criterion", "answers"})
"""What the page of a conversation's judge is filled with, likewise."""
NO_STATE = (
    "compares a state that nothing gives: give the cast a world (world=, --world MODULE:NAME), or the agent "
    "a channel besides messages"
)


def check_pages(nodes: Iterable[object]) -> None:
    """PromptError if a page that no scenario fills has a variable that its node never fills, or cannot be filled."""
    for node in nodes:
        for page, filled in _filled_by(node):
            _check_gaps(page, filled)
            page.check()


def _filled_by(node: object) -> Iterator[tuple[Page, Set[str]]]:
    """The pages of a node that do not depend on the scenario, each with what the node fills."""
    if isinstance(node, RepairPrompts):
        pages = node.pages.pages.values()
        yield from ((page, OF_REPAIRS) for page in pages if page.name.startswith(f"{node.role}/repair_"))
    if isinstance(node, PostQuestions):
        yield from ((node.pages[name], frozenset()) for role in node.speakers for name in node.questions(role))
    view = getattr(node, "build", None)
    if isinstance(view, PageMessages) and (page := _page(view, "system")) is not None:
        yield page, view.told({}).keys()


def _page(view: object, kind: str) -> Page | None:
    return view.pages.pages.get(f"{view.role}/{kind}") if isinstance(view, PageMessages) else None


def _check_gaps(page: Page, filled: Set[str], there: str = "there are") -> None:
    if lacking := page.gaps - filled:
        gaps = ", ".join(f"{{{{ {gap} }}}}" for gap in sorted(lacking))
        available = ", ".join(sorted(filled)) or "none"
        raise PromptError(
            f"prompt {page.name}: has the template variable {gaps} that nothing fills ({there}: {available}): rename it, "
            "or write its text into the template"
        )


def check_filled(cast: "Cast", scenarios: Sequence[Mapping[str, Any]]) -> None:
    """PromptError if a page of the cast has a variable that no scenario fills, or a judge's that one does not fill."""
    if not scenarios:
        return
    some, every = set[str]().union(*scenarios), set(scenarios[0]).intersection(*scenarios)
    for place in SPEAKERS:
        view: Any = getattr(cast.nodes[place], "build", None)
        if (page := _page(view, "material")) is not None:
            _check_gaps(page, some | view.told({}).keys(), "the scenarios have")
            view(state_from(scenarios[0]))  # says what cannot be filled
    of_drafts = (*parts_of(cast.question_validator), *parts_of(cast.answer_validator))
    judges: list[tuple[object, Set[str]]] = [(one, OF_DRAFTS) for one in of_drafts]
    for judge, values in (*judges, *((one, OF_SCORES) for one in parts_of(cast.closing))):
        if isinstance(judge, Judge) and isinstance(judge.page, Page):
            lacking = judge.page.gaps - values - every
            number = next((number for number, one in enumerate(scenarios) if not lacking <= one.keys()), 0)
            _check_gaps(judge.page, values | every, f"with scenario {number} there are")


def check_behaviours(cast: "Cast", states: Sequence[Planned]) -> None:
    """SettingError if a user that says people's own words is to behave in some way: no prompt reaches it."""
    user = cast.nodes["user_simulator"]
    if isinstance(user, PeopleSpeaker) and any(behaviours_in(one["scenario"], one.get("extra")) for one in states):
        raise SettingError(
            "user: turns of people show no behaviours: leave them out, or have a model write the user (?like=)"
        )


def check_scenarios(cast: "Cast", states: Iterable[Planned]) -> None:
    """SettingError for a `success`, of the cast or of a scenario, that cannot be scored, and for a goal that the
    rule-based user cannot say."""
    assistant = cast.nodes["assistant"]
    keeps = (
        not assistant.is_function and channels_of(assistant.agent) != ["messages"]
        if isinstance(assistant, AgentSpeaker)
        else not isinstance(assistant, ChatSpeaker)
    )  # a node of somebody else's may
    has_state = cast.world is not None or keeps
    by_rules = getattr(getattr(cast.nodes["user_simulator"], "model", None), "side", None) == "goal_user"
    own = cast.closing.scorers.get(SUCCESS) if isinstance(cast.closing, Scoring) else None
    tools = [name for name, _ in tools_of(getattr(assistant, "agent", None))]
    where = f"closing: the scorer {SUCCESS!r}"
    for scorer in parts_of(own):
        if isinstance(scorer, FinalState) and not has_state:
            raise SettingError(f"{where}: final_state {NO_STATE}")
        if isinstance(scorer, ToolCalled):
            _check_tool(scorer.name, tools, where)
    for state in states:
        scenario = state["scenario"]
        title = domains.of(scenario).title(scenario)
        where = f"scenario {title!r}" if title else "a scenario without a title"
        if by_rules and _is_foreign(str(scenario.get("goal") or "")):
            raise SettingError(
                f"{where}: the rule-based user speaks English and Chinese, and this goal is in another language: "
                "give a model as the user (--user openai:NAME)"
            )
        for path, name in tools_in_success(scenario.get(KEY)) if tools else ():
            _check_tool(name, tools, f"{where}: {path}")
        for path, name in unscorable(scenario.get(KEY)):
            if name == "judged":
                raise SettingError(f"{where}: {path}: names no model to judge: give it 'model'")
            if not has_state:
                raise SettingError(f"{where}: {path}: {NO_STATE}")


def _is_foreign(goal: str) -> bool:
    """Whether a goal is in a language other than English and Chinese; names such as Rio de Janeiro say nothing of that."""
    return written_language(goal) == "other" and written_language(_NAMES.sub("", goal)) == "other"


_NAMES = re.compile(r"[A-Z]\S*(?:\s+(?:\w{1,3}\s+)*[A-Z]\S*)+")


def _check_tool(name: str, tools: Collection[str], where: str) -> None:
    """SettingError for a misspelt tool; any other name is taken, since a node may call tools that it does not show."""
    if name not in tools and (like := get_close_matches(name, tools, 1, cutoff=0.85)):
        raise SettingError(f"{where}: the agent has no tool {name!r}: did you mean {like[0]!r}?")
