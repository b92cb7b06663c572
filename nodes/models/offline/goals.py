"""The rule-based user of an agent's test, which has a goal and facts and listens: in English and Chinese.

It names its goal first. A question is answered with each fact that fits it, once: what is asked for is known by its kind
(a code, a date, a phone) or its words, and where no fact fits, the user says that it does not know. A statement that
something is done or, where the goal asks for something, one with a value which the user did not give is the answer: it says thanks and leaves. After a
refusal, or a message that is no answer, it asks once more in other words, then gives up.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ....data.rules.guards import plain_words
from ....data.rules.outcomes import outcome_of
from ....data.text.languages import HAN, language_of
from ....data.text.values import values_in
from ....errors import ModelError
from ...goodbyes import ENDING, GIVING_UP
from ...messages import unfenced
from .reading import (
    GOAL_MARKS,
    KNOWN_MARKS,
    QUOTED,
    READ,
    ParsedPrompt,
    content_words,
    phrase,
    sentences,
    short,
    vocabulary,
)

PATIENCE = 10
"""Messages after which it gives up."""
_SAY_GOAL = ("openings", "again", "insist", "goal")
_LABEL = re.compile(
    r"(?:(?:the|my) (?:\w+ ){0,4}?|(?:\w+ ){0,2}?(?=[\w ]+:)|(?:我的)?(?=\w+?[是：]))"
    r"(\w+?)(?: (?:name|number|code|id)|的?(?:号码?|编号|名称|名字))?(?: (?:is|are) |[:：是])",
    re.IGNORECASE,
)
_FIRST_PERSON = (
    (r"^You are\b", "I am"),
    (r"^You have\b", "I have"),
    (r"^Your\b", "My"),
    (r"^你是", "我是"),
    (r"^你的", "我的"),
)


def goal_user(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """The user's next message; misbehaviours: `role_leak` speaks for another role, `prompt_leak` reveals the prompt."""
    goal_text = " ".join(unfenced("".join(prompt.marked_any(GOAL_MARKS)[:1])[:READ]).split())
    goal = short(goal_text, 60)
    if not goal:
        raise ModelError(
            "model 'offline' is sent no goal between <goal> and </goal>: does the scenario have it, and your page "
            "user/material these marks around {{ goal }}?"
        )
    language = language_of(goal) or "en"
    phrases = vocabulary("goals")[language]
    if goal_text == goal + (mark := goal_text[-1]) and mark in "?？":  # its own mark, and no other one after it
        goal = goal_text
        bare = {name: [re.sub(r"\{x\}[.?。]", "{x}", text) for text in phrases[name]] for name in _SAY_GOAL}
        phrases = phrases | bare
    leaks = vocabulary(f"tasks_{language}").get(misbehaviour, ["{m}"])
    return phrase(leaks, draw, m=Listener(prompt, goal, phrases, draw).message())


class Listener:
    """A user that has heard the conversation so far."""

    def __init__(self, prompt: ParsedPrompt, goal: str, phrases: dict[str, Any], draw: int) -> None:
        self.prompt, self.goal, self.phrases, self.draw = prompt, goal, phrases, draw
        known = unfenced("\n".join(prompt.marked_any(KNOWN_MARKS)))
        self.facts = [_in_first_person(text.strip(" .。")) for text in sentences(known)]
        self.unknown = sentences(unfenced(prompt.marked("unknown")))
        self.said = "\n".join(prompt.own)
        offered = QUOTED.findall(prompt.note)
        leave, give_up = [*offered, ""][:2] if offered else _goodbyes(prompt)
        language = language_of(goal) or "en"
        self.leave = ENDING[language] if leave in ENDING.values() else leave
        self.give_up = GIVING_UP[language] if give_up in GIVING_UP.values() else give_up

    def message(self) -> str:
        """The next message."""
        others = self.prompt.others
        if not others:
            return self.phrase("openings", self.draw)
        heard = others[-1][:READ]
        questions = self.questions(heard)
        if len(self.prompt.own) >= PATIENCE and self.give_up:
            return self.give_up
        if questions:
            return self.answered(questions, heard)
        if self.leave and self.is_answer(heard):
            return self.leave
        refused = outcome_of(heard) == "refused"
        before = [text[:READ] for text in others[:-1]]  # which neither asked nor answered
        if self.give_up and any(not self.questions(text) and not self.is_answer(text) for text in before):
            return self.give_up
        return self.phrase("insist" if refused else "again", len(self.prompt.own))

    def phrase(self, name: str, number: int, **gaps: str) -> str:
        """A phrase with the goal in it."""
        return phrase(self.phrases[name], number, **{"x": self.goal, **gaps})

    def questions(self, heard: str) -> list[str]:
        """The sentences that ask for something, without those for more wishes."""
        signs = vocabulary("goals")[language_of(heard) or "en"]
        asked = [text for text in sentences(heard) if text.endswith(("?", "？")) or has(signs["asks"], text)]
        return [text for text in asked if not has(signs["else"], text)]

    def is_answer(self, heard: str) -> bool:
        """Whether a message without a question is what the user came for: done, or something that it did not know."""
        if (outcome := outcome_of(heard)) is not None:
            return outcome == "done"
        signs = vocabulary("goals")[language_of(heard) or "en"]
        if has(signs["waits"], heard):
            return False
        if not has(self.phrases["informs"], self.goal):  # it wants something done, of which a number alone says nothing
            return False
        own = "\n".join((self.said, self.goal, *self.facts))
        if values_in(heard) - values_in(own):
            return True
        # What was asked about has no number: a statement about it that says something new.
        about, new = set(_words(heard)), set(_words(heard)) - set(_words(own))
        wanted = set(_words(self.goal))
        return bool(about & wanted) and len(new) > 0

    def answered(self, questions: Sequence[str], heard: str) -> str:
        """The answer to questions: consent, the facts that fit and were not given, the goal, or that it is unknown."""
        signs = vocabulary("goals")[language_of(heard) or "en"]
        if all(has(signs["approval"], text) for text in questions):  # "Shall I book it?", `ask-user`
            return self.consented(heard)
        fitting = list(dict.fromkeys(fact for question in questions for fact in self.fitting(question)))
        new = [fact for fact in fitting if fact.casefold() not in self.said.casefold()]
        if not fitting and any(has(signs["offers"], text) for text in questions):
            return self.repeated_goal()
        if not fitting and (outcome_of(heard) == "refused"):
            return self.refused()
        if not fitting:
            unknown = [text for text in self.prompt.own[1:] if text in self.phrases["unknown"]]
            return self.give_up if len(unknown) >= 2 and self.give_up else self.phrase("unknown", len(unknown))
        asked_before = [text for text in self.prompt.others[:-1] if plain_words(text) == plain_words(heard)]
        if not new and len(asked_before) > 1 and self.give_up:  # it was told twice
            return self.give_up
        told = new or fitting
        if told == [self.goal]:
            return self.phrase("goal", sum(self.goal in text for text in self.prompt.own))
        joined = ("，" if language_of(told[0]) == "zh" else ". ").join(told)
        texts = ["{x}"] if told[0][-1] in "?？!！" else self.phrases["fact"]
        return phrase(texts, self.draw + len(self.prompt.own), x=joined)

    def repeated_goal(self) -> str:
        """The goal once more, or giving up where it was repeated before."""
        before = sum(self.goal in text for text in self.prompt.own)
        return self.give_up if before > 2 and self.give_up else self.phrase("goal", before)

    def refused(self) -> str:
        """Once more after a refusal, then giving up."""
        before = any(outcome_of(text[:READ]) == "refused" for text in self.prompt.others[:-1])
        return self.give_up if before and self.give_up else self.phrase("insist", len(self.prompt.own))

    def consented(self, heard: str) -> str:
        """Yes, or the fact whose value the other side has wrong."""
        own = values_in("\n".join((self.goal, *self.facts)))
        strange = values_in(heard) - own
        codes = {form_of(value) for value in strange if len(value) > 3}
        for fact in self.facts:
            values = values_in(fact)
            if values and not values & values_in(heard) and {form_of(one) for one in values} & codes:
                return self.phrase("corrects", 0, x=fact)
        return self.phrase("approve", self.draw)

    def fitting(self, question: str) -> list[str]:
        """The facts that a question asks for: those of its kind or, of no kind, those that share its words."""
        lists = vocabulary("goals")
        asked = [(name, of_fact) for name, of_question, of_fact in lists["families"] if has(of_question, question)]
        if specific := [pair for pair in asked if pair[0] in lists["specific"]]:
            asked = specific
        topic = set(_words(self.goal))
        wanted = set(_words(question))
        found: list[str] = []
        of_any_kind = False
        for _, of_fact in asked:
            of_kind = [fact for fact in self.facts if has(of_fact, fact)]
            in_goal = [self.goal] if not of_kind and has(of_fact, self.goal) else []
            of_any_kind |= bool(of_kind or in_goal)
            found += self.nearest(of_kind or in_goal, wanted)
        if of_any_kind:
            return list(dict.fromkeys(found))
        labels = {fact: label[1].casefold() for fact in self.facts if (label := _LABEL.match(fact))}
        # A word of the goal is in questions about anything; it tells something as a label whose value is asked for.
        value_of = lists[language_of(question) or "en"]["value_of"]
        named = [fact for fact in labels if has(value_of.replace("{x}", labels[fact].removesuffix("s")), question)]
        sharing = [fact for fact in self.facts if fact in named or (wanted - topic) & set(_words(fact))]
        return self.nearest(sharing, wanted)

    def nearest(self, facts: Sequence[str], wanted: set[str]) -> list[str]:
        """Of facts of one kind those that share most words with a question; none where what is unknown shares more."""
        shared = {fact: len(wanted & set(_words(fact))) for fact in facts}
        most = max(shared.values(), default=0)
        if any(len(wanted & set(_words(text))) > most for text in self.unknown):
            return []
        best = [fact for fact in facts if shared[fact] == most]
        return (
            best
            if len(best) == 1 or most
            else [fact for fact in best if fact.casefold() not in self.said.casefold()][:1] or best[:1]
        )


def _words(text: str) -> list[str]:
    """The words of a text that tell something; of Chinese its pairs of characters."""
    signs = HAN.findall(text)
    pairs = [a + b for a, b in pairwise(signs)]
    return pairs or [word for word in content_words(text) if len(word) > 1]


def form_of(value: str) -> str:
    """A value with each digit as 0 and each letter as a."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", value))


def _in_first_person(fact: str) -> str:
    for pattern, own in _FIRST_PERSON:
        fact = re.sub(pattern, own, fact)
    return fact


def _goodbyes(prompt: ParsedPrompt) -> tuple[str, str]:
    language = language_of(prompt.material) or "en"
    return ENDING[language], GIVING_UP[language] if GIVING_UP[language].rstrip(".。") in prompt.material else ""


def has(pattern: object, text: str) -> bool:
    """Whether a text has a match of a pattern, in any case."""
    return re.search(str(pattern), text, re.IGNORECASE) is not None
