"""Repairs of one side of a conversation: what each said is put right where it is wrong, and stays where it is not.

They are the interventions by which `studies.but_for` finds whose fault a failure is. What is wrong is decided by the
scenario's goal, facts and plan (`nodes.oracle`), and by the calls and values of the messages.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeAlias

from langgraph.runtime import Runtime

from ..data.records import INTERRUPT, as_list, as_object
from ..data.rules.guards import plain_words
from ..data.rules.outcomes import consent, outcome_of, sentences_of, statements
from ..data.text.languages import language_of
from ..data.text.values import deed_of, holds, names_goal, scalars, values_in
from .contract import Node
from .goodbyes import farewell
from .limits import Limits
from .models.offline.goals import Listener, form_of, has
from .models.offline.reading import ParsedPrompt, vocabulary
from .oracle import AgentTools
from .recllmsim import facts_of, goal_of
from .settings.redaction import error_line
from .state import Draft, State, Update, said, standing
from .worlds import before_draft, put_back, restorable, state_of

FAILED = "it failed"
"""What is wrong with a turn without a message: an exception, a time-out, a limit or an empty reply."""
MOST_ASKED = 2
"""Times that the oracle asks for a fact; an agent that asks the same more often is wrong."""


def listener(scenario: Mapping[str, Any], turns: Sequence[tuple[str, str]]) -> Listener:
    """The ideal user of a scenario after these messages, each with its role."""
    unknown = scenario.get("unknown") or ""
    listed = "\n".join(map(str, unknown)) if isinstance(unknown, list) else str(unknown)
    goal, known = goal_of(scenario), facts_of(scenario)
    own, others = ([text for role, text in turns if (role == "user") is mine] for mine in (True, False))
    prompt = ParsedPrompt(
        material=f"<goal>{goal}</goal>\n<facts>{known}</facts>\n<unknown>{listed}</unknown>\n我放弃了，再见 I give up, goodbye",
        turns=tuple((role == "user", text) for role, text in turns),
        own=tuple(own),
        others=tuple(others),
        answered=tuple(own),
        note="",
        behaviour="",
    )
    return Listener(prompt, goal, vocabulary("goals")[language_of(goal) or "en"], 0)


def wrong_of_user(text: str, ideal: Listener) -> str:
    """What is wrong with a user's message, in words; empty where nothing is.

    Not wrong: to volunteer a fact, other words or case, consent to a wrong read-back, and to leave an agent that has said
    the same three times.
    """
    heard = ideal.prompt.others[-1] if ideal.prompt.others else ""
    if other := _strange_values(text, ideal):
        return f"it gives {other[0]}, which its scenario does not have"
    leaves = farewell(text) is not None
    if not heard:
        names_another = bool(statements([text])) and names_goal(ideal.goal, [text]) is False
        return "it does not name its goal" if leaves or names_another else ""
    if leaves:
        same = len({plain_words(one) for one in ideal.prompt.others[-3:]}) == 1 and len(ideal.prompt.others) > 2
        ended = not ideal.questions(heard) and (ideal.is_answer(heard) or outcome_of(heard) == "refused")
        return "" if same or ended else "it leaves before the answer"
    questions = ideal.questions(heard)
    signs = vocabulary("goals")[language_of(heard) or "en"]
    if questions and all(has(signs["approval"], one) for one in questions):
        is_right = ideal.consented(heard) in ideal.phrases["approve"]
        return "it says no to what is right" if is_right and consent(text) == "no" else ""
    asked = [fact for question in questions for fact in ideal.fitting(question)]
    if asked and not any(_told(fact, text) for fact in asked):
        return "it withholds a fact that it is asked for"
    is_asked_for_goal = any(has(signs["offers"], one) for one in questions)
    no_goal = is_asked_for_goal and names_goal(ideal.goal, [*ideal.prompt.own, text]) is False
    return "it does not name its goal when asked" if no_goal else ""


def _strange_values(text: str, ideal: Listener) -> list[str]:
    """Values in a user's message of a form that goal or facts have, and that nobody has; not beside the right one."""
    brief = "\n".join((ideal.goal, *ideal.facts))
    known = values_in(brief) | values_in("\n".join(ideal.prompt.others))
    corrected = {form_of(value) for value in values_in(text) & values_in(brief)}
    forms = {form_of(value) for value in values_in(brief)} - corrected
    return sorted(value for value in values_in(text) - known if form_of(value) in forms)


def put_right(text: str, ideal: Listener) -> str:
    """A user's wrong message put right: without the sentences that have a strange value, and with the facts of its form.

    Any other wrong message becomes the ideal user's, and so does one without a fact that is still to be told.
    """
    strange = {*_strange_values(text, ideal)}
    forms = {form_of(value) for value in strange}
    fitting = [fact for fact in ideal.facts if forms & {form_of(value) for value in values_in(fact)}]
    untold = [fact for fact in fitting if not _told(fact, ideal.said)]
    kept = [sentence.strip() for sentence in sentences_of(text) if not strange & values_in(sentence)]
    return " ".join([*kept, *(f"{fact}." for fact in untold)]) if untold else ideal_answer(ideal)


def _told(fact: str, text: str) -> bool:
    if values := values_in(fact):
        return bool(values & values_in(text)) or any(holds(text, value) for value in values)
    return bool(set(plain_words(fact).split()) & set(plain_words(text).split()))


def question_for(fact: str) -> str:
    """The oracle's question for a fact, in the fact's words without its value, whatever its form."""
    parts = re.split(r"\s+(?:is|are)\s+|\s*[:：=]\s*|是", fact)
    label = next((part for part in parts if not values_in(part)), "") or re.split(r"\s+(?=\S*\d)", fact)[0]
    if language_of(fact) == "zh":
        return f"{label}是什么？"
    label = f"{label[:1].lower()}{label[1:]}"
    return f"What is {label}?" if re.match(r"(?:the|my|your|an?|its) ", label) else f"What is the {label}?"


def ideal_answer(ideal: Listener) -> str:
    """What the ideal user says next: to the oracle's question the fact itself."""
    heard = ideal.prompt.others[-1] if ideal.prompt.others else ""
    asked = [fact for fact in ideal.facts if question_for(fact) == heard]
    return f"{asked[0]}." if asked else ideal.message()


Calls: TypeAlias = Sequence[Mapping[str, Any]]


def wrong_of_agent(
    text: str, calls: Calls, before: Calls, ideal: Listener, scenario: Mapping[str, Any], *, changed: bool
) -> str:
    """What is wrong with an agent's turn, in words; empty where nothing is.

    `calls`, `before`: the calls of the turn, and those of earlier ones. `changed`: whether the turn changed the world.
    """
    plan = [as_object(step) for step in as_list(scenario.get("plan"))]
    if wrong := _wrong_call(calls, plan, "\n".join(ideal.prompt.own), changed=changed):
        return wrong
    if questions := ideal.questions(text):
        if [plain_words(one) for one in ideal.prompt.others].count(plain_words(text)) >= MOST_ASKED:
            return "it asks the same again and again"
        results = values_in("\n".join(str(one.get("result")) for one in (*before, *calls)))
        return next(filter(None, (_wrong_question(one, text, results, ideal) for one in questions)), "")
    every, heard = (*before, *calls), "\n".join(ideal.prompt.own)
    made = [_call_of(one) for one in every if one.get("error") is None]
    followed = {name for name, own in made if all(holds(heard, one) for one in scalars(own))}
    left = [step for step in plan if _call_of(step) not in made and step.get("name") not in followed]
    lacking = [step for step in left if _is_told(step, heard, ideal)]
    failed = any(one.get("error") and _call_of(one) in map(_call_of, plan) for one in calls)
    beside, outcome = {one["name"] for one in every} - {step.get("name") for step in plan}, outcome_of(text)
    if (beside and outcome != "done") or (made and outcome == "refused"):
        return ""  # what a tool told it may be why
    if outcome == "done" and lacking:
        return "it says that it is done, and the plan's calls were not made"
    if outcome == "refused" and left and not failed and names_goal(ideal.goal, [heard]) is not False:
        return "it refuses what the plan does"
    if outcome is None and lacking:
        return "it does not do what was asked"
    wanted = as_object(as_object(scenario.get("success")).get("text_contains")).get("any", [])
    lacks = not lacking and wanted and not any(holds(text, one) for one in wanted)
    return "its answer lacks what the tools say" if lacks else ""


def _is_told(step: Mapping[str, Any], heard: str, ideal: Listener) -> bool:
    """Whether the user said all that it has for a step of the plan, so that the agent could have made it."""
    brief = "\n".join((ideal.goal, *ideal.facts))
    needed = [value for value in scalars(step.get("arguments")) if holds(brief, value)]
    return bool(needed) and all(holds(heard, value) for value in needed)


def _wrong_call(calls: Calls, plan: Calls, heard: str, *, changed: bool) -> str:
    """The first call that is unlike the plan with a value that the user did not say.

    Where the turn changed the world, and none of its calls is of the plan, it is one that the user did not speak of: which
    of several calls changed it is not known.
    """
    names = {step.get("name") for step in plan}
    for call in calls:
        planned = [*scalars([as_object(step.get("arguments")) for step in plan if step.get("name") == call["name"]])]
        strange = [one for one in scalars(call.get("arguments")) if one not in planned and not holds(heard, one)]
        if call["name"] in names and strange:
            return f"it calls {call['name']} with {strange[0]!r}, which the user did not say"
    acts = [one["name"] for one in calls if not one.get("error")]
    unlike = [name for name in acts if names_goal(deed_of(name), [heard]) is False]
    return f"it calls {unlike[-1]}, which the plan does not" if changed and unlike and not names & {*acts} else ""


def _wrong_question(question: str, text: str, results: Set[str], ideal: Listener) -> str:
    """What is wrong with a question: it reads another value back, or fits only facts that were given."""
    signs, heard = vocabulary("goals")[language_of(text) or "en"], "\n".join(ideal.prompt.own)
    if has(signs["approval"], question):
        forms = {form_of(value) for value in values_in("\n".join(ideal.facts))}
        other = [one for one in values_in(text) - values_in(heard) - results if form_of(one) in forms]
        return f"it reads {other[0]} back, which the user did not say" if other else ""
    asked = ideal.fitting(question)
    return "its question fits only facts that were given" if asked and all(_told(fact, heard) for fact in asked) else ""


def _call_of(described: Mapping[str, Any]) -> tuple[Any, Any]:
    return described.get("name"), described.get("arguments")


class RepairedUser:
    """A user whose wrong messages are put right, and that stays itself otherwise; `whole`: the ideal user from the start."""

    def __init__(self, node: Node, *, whole: bool = False) -> None:
        self.node, self.whole = node, whole
        self.because = ""
        """What was put right first."""

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        ideal = listener(state["scenario"], _turns(state))
        if self.whole:
            return {"drafts": [{"text": ideal_answer(ideal)}]}
        update = await self.node(state, runtime)
        text = "\n".join(draft["text"] for draft in update.get("drafts") or ())
        if wrong := wrong_of_user(text, ideal) if not update.get("failed") else FAILED:
            self.because = self.because or wrong
            return {"drafts": [{"text": put_right(text, ideal)}]}
        return update


class RepairedAgent:
    """An agent that stays until its first wrong act, from where the oracle takes its place; `whole`: from the start.

    Its turn is undone by the world's snapshot.
    """

    def __init__(self, node: Node, tools: AgentTools, *, whole: bool = False) -> None:
        self.node, self.tools, self.whole = node, tools, whole
        self.because = ""
        self._taken = False

    async def __call__(self, state: State, runtime: Runtime[Limits]) -> Update:
        ideal, world = listener(state["scenario"], _turns(state)), getattr(runtime.context, "world", None)
        if self.whole or self._taken:
            return await self._oracle(state, ideal, world)
        state_before = repr(await state_of(world)) if world is not None else ""
        update: Update
        try:
            update = await self.node(state, runtime)
        except Exception as error:  # of the agent's code, which is anybody's
            update = {"failed": error_line(error)}
        drafts = update.get("drafts") or []
        text = "\n".join(draft["text"] for draft in drafts)
        calls = [one for draft in drafts for one in draft.get("tool_calls", []) if one["name"] != INTERRUPT]
        changed = world is not None and repr(await state_of(world)) != state_before
        wrong = "" if text.strip() and not update.get("stop") and not update.get("failed") else FAILED
        wrong = wrong or wrong_of_agent(text, calls, _calls(state), ideal, state["scenario"], changed=changed)
        if not wrong or (changed and not restorable(runtime.context)):  # what it did cannot be undone
            return update
        self.because, self._taken = wrong, True
        await put_back(runtime.context)
        await before_draft(runtime.context)
        return await self._oracle(state, ideal, world)

    async def _oracle(self, state: State, ideal: Listener, world: Any) -> Update:
        """One missing fact at a time, each at most twice; then the plan, if each was said with the plan's value."""
        plan = [as_object(step) for step in as_list(state["scenario"].get("plan"))]
        heard, own = "\n".join(ideal.prompt.own), ideal.prompt.others
        for fact in ideal.facts:
            needed = [v for step in plan for v in scalars(as_object(step.get("arguments"))) if holds(fact, v)]
            if needed and not all(holds(heard, value) for value in needed):
                question = question_for(fact)
                again = sum(question == text for text in own) < MOST_ASKED
                return {"drafts": [{"text": question if again else "Without that it is not possible."}]}
        made = [_call_of(one) for one in _calls(state) if one.get("error") is None]
        played: list[dict[str, Any]] = []
        for step in (one for one in plan if _call_of(one) not in made):
            arguments = dict(as_object(step.get("arguments")))
            told = f"{heard} {[one.get('result') for one in (*_calls(state), *played)]}"
            if not all(isinstance(value, bool) or holds(told, value) for value in scalars(arguments)):
                return {"drafts": [Draft(text="Without that it is not possible.", tool_calls=played)]}
            for _ in range(2):
                call = await self.tools.play(step["name"], arguments, world, state["scenario"])
                played.append(call.model_dump(mode="json"))
                if call.error is None:
                    break
            else:
                return {"drafts": [Draft(text=f"That is not possible: {played[-1]['error']}", tool_calls=played)]}
        results = " ".join(str(one["result"]) for one in played or _calls(state))
        done = "已办好。" if language_of(ideal.goal) == "zh" else "It is done."
        return {"drafts": [Draft(text=f"{done} {results}".strip(), tool_calls=played)]}


def _turns(state: State) -> list[tuple[str, str]]:
    return [(one["role"], one["text"]) for one in said(state) if not one.get("name")]


def _calls(state: State) -> list[dict[str, Any]]:
    return [call for one in said(state) if one["role"] == "assistant" for call in standing(one).get("tool_calls", [])]
