"""Words of the section in questions of a student who cannot see it.

A word leaks into a question if it is in the section, but in nothing that the student had seen. Seen are title,
background, header, and all messages before. Some words leak by chance: to count those, the same questions are put
beside the section of another conversation.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from ...data.records import Conversation, Record
from ...data.text.token_search import tokens
from .samples import exchanges

_SECTIONS = 1_000
"""Sections whose words are in memory at a time."""
RUN = 3
"""Words of a run that is looked for in the section."""

FUNCTION_WORDS = frozenset(
    "a about above after again against all also although always am among an and another any anyone anything are "
    "around as at away back be became because become been before being below between both but by came can cannot "
    "come could d did do does doing done down during each either else ever every few first for from further get got "
    "had has have having he her here hers herself him himself his how however i if in into is it its itself just ll "
    "m made make many may me might more most much must my myself neither never no nor not of off on once one only "
    "or other others our out over own per re s same shall she should since so some someone something still such t "
    "than that the their theirs them themselves then there these they this those through to too two under until up "
    "upon us ve very was we well went were what when where whether which while who whom whose why will with within "
    "without would yes yet you your "
    "的 了 是 在 和 有 什 么 吗 呢 他 她 它 这 那 哪 谁 何 与 及 为 从 一 不 们 也 就 都 而 被 把 对 于 其 之 以".split()
)
"""Words that say nothing of what a text is about."""


class Leakage(Record):
    """What questions hold of a section that the student cannot see."""

    leaks: float
    """Share of questions with a word that leaks, function words aside, 0 to 1."""
    leaks_by_chance: float | None = None
    """The same beside another conversation's section; None if all conversations have one section."""
    words_leaked: float
    """Mean number of different words of a question that leak."""
    words_leaked_by_chance: float | None = None
    runs_leaked: float
    """Share of questions with a run of three words of the section that was not told, 0 to 1."""
    runs_leaked_by_chance: float | None = None


@dataclass(frozen=True)
class _Seen:
    """The words of a text, and its runs that are not of function words alone."""

    words: frozenset[str]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, *texts: str) -> "_Seen":
        rows = [[token.casefold() for token in tokens(text) if token.isalnum()] for text in texts]
        runs = (tuple(row[n : n + RUN]) for row in rows for n in range(len(row) - RUN + 1))
        return cls(
            frozenset(word for row in rows for word in row if word not in FUNCTION_WORDS),
            frozenset(run for run in runs if not FUNCTION_WORDS.issuperset(run)),
        )


def leaked_words(question: str, section: str, seen_before: Iterable[str]) -> Set[str]:
    """Words of a question that the section holds and no text seen before does, in lower case."""
    return (_Seen.of(question).words & _Seen.of(section).words) - _Seen.of(*seen_before).words


def leakage(conversations: Iterable[Conversation]) -> Leakage | None:
    """The overlap of the questions' new words with their sections, and with other sections; None without a question.

    Conversations are iterated twice, and not held.
    """
    first: dict[str, str] = {}
    texts = (str(conversation.scenario.get("section", "")) for conversation in conversations)
    sections = [first.setdefault(text, text) for text in texts]
    seen = lru_cache(maxsize=_SECTIONS)(_Seen.of)
    own: list[tuple[int, int]] = []
    by_chance: list[tuple[int, int]] = []
    for conversation, section, other_section in zip(conversations, sections, next_others(sections), strict=True):
        for new in _news(conversation):
            own.append(_shared(new, seen(section)))
            if other_section is not None:
                by_chance.append(_shared(new, seen(other_section)))
    if not own:
        return None
    return Leakage(
        **_means(own),
        **({f"{name}_by_chance": mean for name, mean in _means(by_chance).items()} if by_chance else {}),
    )


def next_others(sections: Sequence[str]) -> list[str | None]:
    """For each section the next one that is another, the first following the last; None if all are equal."""
    others: list[str | None] = [None] * len(sections)
    for place in reversed(range(2 * len(sections))):
        here, following = place % len(sections), (place + 1) % len(sections)
        differ = sections[following] != sections[here]
        others[here] = sections[following] if differ else others[following]
    return others


def _means(counts: Sequence[tuple[int, int]]) -> dict[str, float]:
    return {
        "leaks": fmean(words > 0 for words, _ in counts),
        "words_leaked": fmean(words for words, _ in counts),
        "runs_leaked": fmean(runs > 0 for _, runs in counts),
    }


def _news(conversation: Conversation) -> Iterable[_Seen]:
    """Of each question the words and runs that stand nowhere before it."""
    scenario = conversation.scenario
    head = _Seen.of(*(str(scenario.get(key, "")) for key in ("title", "background", "header")))
    words, runs = set(head.words), set(head.runs)
    for messages, answer in exchanges(conversation):
        question = _Seen.of(*(message.text for message in messages))
        if messages:
            yield _Seen(question.words - words, question.runs - runs)
        reply = _Seen.of(*(message.text for message in answer))
        words |= question.words | reply.words
        runs |= question.runs | reply.runs


def _shared(new: _Seen, section: _Seen) -> tuple[int, int]:
    return len(new.words & section.words), len(new.runs & section.runs)
