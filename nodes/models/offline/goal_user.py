"""The rule-based user with a goal and facts: it states its goal, answers questions with facts, and leaves."""

import re

from ....data.rules.refusals import outcome_of
from ....data.text.languages import language_of
from ....errors import ModelError
from ...goodbyes import ENDING, GIVING_UP
from ...messages.building import unfenced
from .prompt_parser import GOAL_MARKS, KNOWN_MARKS, ParsedPrompt
from .recllmsim_speakers import QUOTED
from .word_weights import READ, content_words, phrase, rotated, sentences, short, vocabulary

PATIENCE = 8
"""Messages after which it gives up."""

_SAY_GOAL = ("openings", "unknown", "again", "insist")


def reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """The user's next message.

    Misbehaviours: `role_leak` speaks for another role, `prompt_leak` shows the prompt.
    """
    goal_text = " ".join(unfenced("".join(prompt.marked_any(GOAL_MARKS)[:1])[:READ]).split())
    goal = short(goal_text, 60)
    if not goal:
        raise ModelError("model 'offline' is sent no goal between <goal> and </goal>: does the scenario have it?")
    language = language_of(goal) or "en"
    phrases = vocabulary("goals")[language]
    if goal_text == goal + (mark := goal_text[-1]) and mark in "?？":  # its own mark, and no other one after it
        goal = goal_text
        phrases = phrases | {
            name: [re.sub(r"\{x\}[.?。]", "{x}", text) for text in phrases[name]] for name in _SAY_GOAL
        }
    leaks = vocabulary(f"tasks_{language}").get(misbehaviour, ["{m}"])
    return phrase(leaks, draw, m=_message(prompt, goal, phrases, draw))


def _message(prompt: ParsedPrompt, goal: str, phrases: dict[str, list[str]], draw: int) -> str:
    if not prompt.others:
        return phrase(phrases["openings"], draw, x=goal)
    heard, offered = prompt.others[-1][:READ], QUOTED.findall(prompt.note)
    leave, give_up = [*offered, ""][:2] if offered else _goodbyes(prompt)
    signs = vocabulary("goals")[language_of(heard) or "en"]
    questions = [text for text in sentences(heard) if text.endswith(("?", "？")) or _has(signs["asks"], text)]
    questions = [text for text in questions if not _has(signs["else"], text)]
    if questions and all(_has(signs["approval"], text) for text in questions):  # "Shall I book it?", `ask-user`
        return phrase(phrases["approve"], draw)
    outcome = outcome_of(heard)
    if leave and not questions and outcome == "done":
        return str(leave)
    refused_before = any(outcome_of(text[:READ]) == "refused" for text in prompt.others[:-1])
    if give_up and ((outcome == "refused" and refused_before) or len(prompt.own) >= PATIENCE):
        return str(give_up)
    if outcome == "refused":
        return phrase(phrases["insist"], draw, x=goal)
    if not questions:
        return phrase(phrases["again"], len(prompt.own), x=goal)
    return _fact(prompt, " ".join(questions), goal, phrases, draw)


def _fact(prompt: ParsedPrompt, question: str, goal: str, phrases: dict[str, list[str]], draw: int) -> str:
    """The fact that fits the question, or an unused one if it asks for no kind; else `unknown`."""
    facts = [text.strip(" .。") for text in sentences(unfenced("\n".join(prompt.marked_any(KNOWN_MARKS))))]
    unknown = sentences(unfenced(prompt.marked("unknown")))
    earlier = "\n".join(prompt.own).casefold()
    question_words = set(content_words(question))
    asked_kinds = [kind for asks, kind in vocabulary("goals")["kinds"] if _has(asks, question)]
    kinds = {text: 2 * any(_has(kind, text) for kind in asked_kinds) for text in facts}
    shared = {text: question_words & set(content_words(text)) for text in (*facts, *unknown)}
    no_fact = set[str]().union(*(shared[text] for text in unknown))
    if no_fact and not any(kinds[text] or shared[text] - no_fact for text in facts):
        return phrase(phrases["unknown"], len(prompt.own), x=goal)
    fits = {text: kinds[text] + bool(shared[text]) for text in facts}
    best = sorted(facts, key=lambda text: -fits[text])
    untold = [text for text in best if text.casefold() not in earlier]
    fact = next((text for text in (*untold, *best) if fits[text] or (text in untold and not asked_kinds)), None)
    if fact is None:
        return phrase(phrases["unknown"], len(prompt.own), x=goal)
    if fact[-1] in "?？!！":  # it keeps its own mark
        return fact
    return phrase(rotated(phrases["fact"], draw), 0, x=fact)


def _goodbyes(prompt: ParsedPrompt) -> tuple[str, str]:
    """The phrases for leaving and for giving up; the second only if the prompt contains it."""
    language = language_of(prompt.material) or "en"
    return ENDING[language], GIVING_UP[language] if GIVING_UP[language].rstrip(".。") in prompt.material else ""


def _has(pattern: object, text: str) -> bool:
    return re.search(str(pattern), text, re.IGNORECASE) is not None
