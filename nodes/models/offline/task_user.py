"""The offline user with a task: opens, tells of itself bit by bit, reacts, asks for what is open, and ends."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ....data.checks import plain_words
from ....data.identity import digest
from ....data.text.languages import Language
from .facts import Fact, facts_of
from .hearing import Talk
from .replies import objection, options_of
from .voices import READ, begin_small, capital, phrases, sentences, spoken, turned
from .wish import Wish
from .wishes import Situation, situation_of
from .words import content_words

_QUOTED = re.compile(r"[“\"「](.{2,80}?)[”\"」]")
LONGEST = 9
"""Messages after which a user ends as soon as it may: a published conversation has ten exchanges at most."""


@dataclass(frozen=True)
class _Person:
    """Everything that a message is made of."""

    talk: Talk
    language: Language
    situation: Situation
    facts: Sequence[Fact]

    @cached_property
    def said(self) -> str:
        return "\n".join(self.talk.own).casefold()

    @property
    def patience(self) -> int:
        """After how many messages this user wants to be done, 4 to 7: its situation and how the talk began decide."""
        begun = (self.talk.own[:1], self.talk.others[:1])
        return 4 + int(digest("patience", self.talk.task, self.talk.profile, begun)[:6], 16) % 4

    def told(self, fact: Fact) -> bool:
        return fact.told.casefold() in self.said

    def untold(self) -> list[Fact]:
        return [fact for fact in self.facts if not self.told(fact)]

    def open_details(self) -> list[str]:
        return [detail for detail in self.situation.details if detail.casefold() not in self.said]

    def open_wishes(self) -> list[Wish]:
        words = phrases(self.language)["requests"]
        return [
            wish
            for wish in self.situation.wishes
            if not any((wish.text if wish.kind != "whole" else one).casefold() in self.said for one in words[wish.kind])
        ]


def message(talk: Talk, draw: int) -> str:
    """The next message of the user whose situation and profile the talk holds."""
    language = spoken(talk.task + talk.profile)
    situation = situation_of(talk.task, language)
    person = _Person(talk, language, situation, facts_of(talk.profile, situation.kind, language))
    if talk.own and talk.note.endswith(("?", "？")):
        return _afterwards(person)
    if talk.own and (ending := _ending(person)):
        return ending
    earlier = {plain_words(text) for text in talk.own}
    for turn in range(12):
        text = _message(person, draw + turn)
        if plain_words(text) not in earlier:
            return text
    numbered: str = phrases(language)["more_numbered"]
    return numbered.replace("{n}", str(len(talk.own) + 1))


def _ending(person: _Person) -> str:
    """The phrase that the note offers, if it is time for it; nothing otherwise."""
    offered = _QUOTED.findall(person.talk.note)
    if not offered:
        return ""
    heard = person.talk.others[-2:]
    if len(offered) > 1 and len(heard) == 2 and all(_useless(person, number) for number in (-1, -2)):
        return str(offered[1])
    said = len(person.talk.own)
    enough = min(3, len(person.facts)) <= len(person.facts) - len(person.untold())
    done = said >= person.patience and not person.open_wishes() and enough
    return str(offered[0]) if done or said >= LONGEST else ""


def _useless(person: _Person, number: int) -> bool:
    """Whether a reply says nothing to act on: next to nothing, a refusal, the same as before."""
    others = person.talk.others
    if len(others) < -number:
        return False
    reply = others[number]
    little = len(content_words(reply[:READ])) < 3
    refusal = len(reply) < 300 and re.search(phrases(person.language)["useless"], reply, re.IGNORECASE)
    return little or bool(refusal) or reply in others[:number]


def _message(person: _Person, draw: int) -> str:
    words = phrases(person.language)
    if not person.talk.own:
        opening: str = words["openings"][draw % len(words["openings"])]
        return opening.replace("{o}", person.situation.opening)
    reply = person.talk.others[-1] if person.talk.others else ""
    parts = [_reaction(person, reply, draw)]
    asked = _asked(person, reply)
    answer = _answer(person, asked, [fact for fact in person.untold() if fact.told not in parts[0]], draw)
    if answer:
        parts.append(answer)
    said = " ".join(parts)
    fresh = [fact for fact in person.untold() if fact.told not in said]
    most = 1 + (draw >> 5) % 2 - (answer is not None and bool(fresh))
    parts.append(_telling(person, fresh, [one for one in person.open_details() if one not in said], most, draw))
    parts += _requests(person, draw)
    return _joined(parts, person.language)


def _joined(parts: Sequence[str], language: Language) -> str:
    return ("" if language == "zh" else " ").join(part for part in parts if part)


def _reaction(person: _Person, reply: str, draw: int) -> str:
    words = phrases(person.language)["reactions"]
    if _useless(person, -1):
        return str(words["useless"][draw % len(words["useless"])])
    against = objection(reply, person.facts, person.said, person.language)
    options = options_of(reply)
    if against:
        thing, fact = against
        text = words["objection"][draw % len(words["objection"])].replace("{f}", fact.told)
        return _about(text, thing)
    if options and (draw >> 3) % 3:
        number, title = options[(draw >> 7) % len(options)]
        if title.casefold() not in person.said:
            text = words["option"][draw % len(words["option"])].replace("{n}", str(number))
            return _about(text, title)
    plain = [text for text in turned(words["plain"], draw) if text.casefold() not in person.said]
    return plain[0] if plain else ""


def _about(template: str, thing: str) -> str:
    small = begin_small(thing)
    return template.replace("{T}", capital(thing)).replace("{t}", small)


def _asked(person: _Person, reply: str) -> str:
    """The last question of a reply; nothing if it asked none."""
    questions = [text for text in sentences(reply[-READ:]) if text.endswith(("?", "？"))]
    return questions[-1] if questions else ""


def _answer(person: _Person, question: str, fresh: Sequence[Fact], draw: int) -> str | None:
    """An answer from the facts that were not told, or the situation; None if neither tells, or nothing was asked."""
    if not question:
        return None
    words = phrases(person.language)
    template: str = words["answering"][draw % len(words["answering"])]
    for kind in words["asked"]:
        if re.search(kind["signs"], question, re.IGNORECASE):
            for fact in fresh:
                if fact.attribute == kind["attribute"]:
                    return template.replace("{f}", fact.told)
    wanted = set(content_words(question))
    for detail in person.open_details():
        if wanted & set(content_words(detail)):
            return f"{detail}{'。' if person.language == 'zh' else '.'}"
    undecided = [text for text in turned(words["undecided"], draw) if text.casefold() not in person.said]
    return undecided[0] if undecided and (draw >> 11) % 2 else None


def _telling(person: _Person, fresh: Sequence[Fact], details: Sequence[str], most: int, draw: int) -> str:
    """One or two facts, or a detail of the situation, in a sentence."""
    words = phrases(person.language)
    if details and (draw >> 9) % 2:
        return details[0] + ("。" if person.language == "zh" else ".")
    if not fresh or most < 1:
        return ""
    if most > 1 and len(fresh) > 1:
        text = words["two_facts"][draw % len(words["two_facts"])].replace("{g}", fresh[1].told)
    else:
        text = words["facts"][draw % len(words["facts"])]
    return str(text.replace("{f}", fresh[0].told).replace("{F}", capital(fresh[0].told)))


def _requests(person: _Person, draw: int) -> Iterator[str]:
    """As many of the open wishes as are due in this message; a question of its own when none is open."""
    words = phrases(person.language)
    wishes = person.open_wishes()
    left = max(1, person.patience - len(person.talk.own))
    due = min(3, -(-len(wishes) // left))
    for place, wish in enumerate(wishes[:due]):
        template = words["requests"][wish.kind]
        yield template[(draw + place) % len(template)].replace("{x}", wish.text)
    if not wishes:
        for text in turned(words["more"], draw >> 4):
            if text.casefold() not in person.said:
                yield text
                return


def _afterwards(person: _Person) -> str:
    """The answer to a question about the talk, in a sentence or two."""
    words = phrases(person.language)
    told = words["post_words"]
    template = next(text for signs, text in words["post"] if re.search(signs, person.talk.note, re.IGNORECASE))
    comma = "、" if person.language == "zh" else ", "
    left = comma.join(wish.text for wish in person.open_wishes())
    facts = comma.join(fact.told for fact in person.facts if person.told(fact))
    plans = [title for reply in reversed(person.talk.others) for _, title in options_of(reply)][:3]
    counts = [len(reply if person.language == "zh" else reply.split()) for reply in person.talk.others]
    mean = sum(counts) // max(1, len(counts))
    fits = "fits" if 20 <= mean <= 300 else "short" if mean < 20 else "long"
    values = {
        "{o}": person.situation.opening,
        "{f}": facts or told["nothing_open"],
        "{r}": comma.join(plans) or told["no_plan"],
        "{n}": str(mean),
        "{l}": told[fits],
        "{w}": told["open"].replace("{x}", left) if left else told["nothing_open"],
        "{s}": told["unsolved"].replace("{x}", left) if left else told["solved" if plans else "nothing"],
    }
    for gap, value in values.items():
        template = template.replace(gap, value)
    return str(template)
