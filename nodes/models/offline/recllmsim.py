"""The rule-based user and assistant of tasks.

Each replies in the language of its messages.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ....data.identity import digest
from ....data.recllmsim.profiles import lines_of
from ....data.text.languages import language_of
from .reading import (
    QUOTED,
    READ,
    ParsedPrompt,
    content_words,
    phrase,
    rotated,
    sentences,
    short,
    vocabulary,
    words,
)

_OPTION = re.compile(r"^[ \t]*(\d{1,2})[.)、．][ \t]*\**([^\n:：;；.。(（*]{2,60})", re.MULTILINE)
_ASKS = ("?", "？")


class OfflineSituation(NamedTuple):
    """A task context and a profile in the first person, and the phrases of their language."""

    phrases: Mapping[str, Any]
    opening: str
    requirements: Sequence[str]
    facts: Sequence[str]


@lru_cache(maxsize=256)
def situation_of(task: str, profile: str) -> OfflineSituation:
    """The sentence with the goal as opening, the clauses of the other sentences, and the values of the profile."""
    phrases = vocabulary(f"tasks_{language_of((task + profile)[:READ]) or 'en'}")
    for pattern, replacement in phrases["first_person"]:
        task = re.sub(pattern, replacement, task[:READ], flags=re.IGNORECASE)
    parts = sentences(task) or [phrases["nothing_wanted"]]
    opening = next((part for part in parts if re.search(phrases["wants"], part)), parts[0])
    clauses = [clause for part in parts if part != opening for clause in re.split(phrases["joints"], part)]
    bare = [re.sub(phrases["leads"], "", clause) for clause in clauses if not re.search(phrases["untold"], clause)]
    requirements = list(dict.fromkeys(short(clause, 20) for clause in bare if len(words(clause)) > 1))
    facts = []
    for label, values in lines_of(profile[:READ]):
        frame = next(frame for signs, frame in phrases["frames"] if re.search(signs, label, re.IGNORECASE))
        facts += [frame.replace("{x}", short(value, 12)) for value in values]
    # At most eight requirements, so that the conversation does not become too long.
    return OfflineSituation(phrases, short(opening, 40), requirements[:8] or phrases["requirements"], facts)


def user_reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """The user's next message; misbehaviours: `role_leak` speaks for another role, `prompt_leak` reveals the prompt."""
    situation = situation_of(prompt.marked("task"), prompt.marked("profile"))
    return phrase(situation.phrases.get(misbehaviour, ["{m}"]), draw, m=_message(prompt, situation, draw))


def _message(prompt: ParsedPrompt, situation: OfflineSituation, draw: int) -> str:
    """First the goal; then a reaction, a fact and some requirements; at the end the closing phrase."""
    phrases, own, others = situation.phrases, prompt.own, prompt.others
    if not own:
        return phrase(phrases["openings"], draw, x=situation.opening)
    earlier = "\n".join(own).casefold()
    unasked = [text for text in situation.requirements if text.casefold() not in earlier]
    untold = [text for text in situation.facts if text.casefold() not in earlier]
    if prompt.note.endswith(_ASKS):
        return _afterwards(prompt, situation, unasked, untold)
    useless, offered = _useless(others, phrases), QUOTED.findall(prompt.note)
    if len(offered) > 1 and useless and _useless(others[:-1], phrases):
        return str(offered[1])
    patience = 4 + int(digest("patience", own[0], others[:1])[:6], 16) % 4
    if offered and (len(own) > 8 or (len(own) >= patience and not unasked)):
        return str(offered[0])
    options = _OPTION.findall(others[-1][:READ]) if others else []
    number, title = options[(draw >> 4) % len(options)] if options else ("", "")
    reaction = "useless" if useless else "option" if options and draw % 3 else "plain"
    parts = [phrase(phrases[reaction], draw, n=number, t=title.strip())]
    parts += [phrase(phrases["facts"], draw, x=text) for text in rotated(untold, draw)[:1]]
    due = min(3, -(-len(unasked) // max(1, patience - len(own))))
    parts += [phrase(phrases["requests"], draw + n, x=text) for n, text in enumerate(unasked[:due])]
    if not unasked:
        more = [text for text in rotated(phrases["more"], draw) if text.casefold() not in earlier]
        parts.append(more[0] if more else phrase(phrases["more_numbered"], draw, n=str(len(own) + 1)))
    return str(phrases["space"]).join(parts)


def _useless(replies: Sequence[str], phrases: Mapping[str, Any]) -> bool:
    if not replies:
        return False
    last = replies[-1]
    refuses = len(last) < 300 and re.search(phrases["refusal"], last, re.IGNORECASE) is not None
    return refuses or len(content_words(last[:READ])) < 3 or last in replies[:-1]


def _afterwards(
    prompt: ParsedPrompt, situation: OfflineSituation, unasked: Sequence[str], untold: Sequence[str]
) -> str:
    phrases = situation.phrases
    plan = [title for text in prompt.others for _, title in _OPTION.findall(text[:READ])][-3:]
    facts_told = [text for text in situation.facts if text not in untold]
    lists = {"unasked": unasked, "plan": plan, "told": facts_told}
    gaps = {name: phrases["between"].join(items) or phrases["nothing"] for name, items in lists.items()}
    answers = next(answers for signs, *answers in phrases["post"] if re.search(signs, prompt.note, re.IGNORECASE))
    return phrase(answers, 0 if plan else -1, opening=situation.opening, **gaps)


def assistant_reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """Three options for the last request, and one question; after the conversation, an answer to a question about it."""
    heard = [text[:READ] for text in prompt.others] or [""]
    phrases = vocabulary(f"tasks_{language_of(heard[0]) or language_of(prompt.note) or 'en'}")["assistant"]
    over = prompt.own and prompt.note.endswith(_ASKS)
    sentences_heard = [text for text in sentences(heard[0 if over else -1]) if len(content_words(text)) > 1]
    topic = short(re.split("[:：]", "".join(sentences_heard[-1:]).rstrip(":："))[-1], 20)
    if over:
        answers = next(answers for signs, *answers in phrases["post"] if re.search(signs, prompt.note, re.IGNORECASE))
        return phrase(answers, 0, x=topic)
    if not topic:
        return str(phrases["empty"])
    kinds, earlier = phrases["kinds"], "\n".join(prompt.own).casefold()
    kind = max(kinds, key=lambda name: len(re.findall(kinds[name]["signs"], heard[0], re.IGNORECASE)))
    ideas = [*rotated(kinds[kind]["ideas"], draw), *rotated(kinds["other"]["ideas"], draw)]
    ideas.sort(key=lambda idea: idea.casefold() in earlier)
    options = zip(dict.fromkeys(ideas), rotated(phrases["tails"], draw)[:3], strict=False)
    lines = [phrase(phrases["option"], n, n=str(n), idea=idea, tail=tail) for n, (idea, tail) in enumerate(options, 1)]
    questions = [*rotated(kinds[kind]["questions"], draw), *rotated(phrases["questions"], draw)]
    question = min(questions, key=lambda text: text.casefold() in earlier)
    return "\n".join([phrase(phrases["start"], draw, x=topic), *lines, question])
