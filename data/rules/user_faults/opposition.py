"""Two statements of a user that exclude each other: by a negation, opposite words, or another value for one thing."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ...text.content_words import content, stem, tokens
from ...text.languages import HAN
from ...text.text_values import TextValue, values
from ...text.things import kinds_in_general, kinds_named
from .opposite_words import (
    BLANK_ZH,
    BOTH,
    CLAUSE,
    HOLDS,
    LIGHT,
    LIGHT_ZH,
    LONG,
    LONG_ZH,
    NEGATED,
    NOT,
    OFTEN,
    OPEN,
    OPPOSITES,
    OWN,
    OWNS,
    PART,
    PLACE,
    PLENTY,
    RARE,
    RECENT,
    SHORT_ZH,
    SINGLE,
    SLOTS,
    TAIL_ZH,
    USUAL,
    WHO,
    WISH,
)


class Clause(NamedTuple):
    """A clause of a statement, with whom it is about."""

    text: str
    who: str
    """`self`, `kin`, `others`, or empty if that is open."""


@lru_cache(maxsize=20_000)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a statement; one without a person is about the person of the clause before it."""
    parts: list[Clause] = []
    for part in CLAUSE.split(text):
        if part.strip():
            parts.append(Clause(part.strip(), _who(part) or (parts[-1].who if parts else "")))
    return tuple(parts)


def _who(text: str) -> str:
    if BOTH.search(text):
        return ""
    places = [(match.start(), who) for who, form in WHO.items() if (match := form.search(text))]
    return min(places)[1] if places else ""


def excludes(one: str, other: str) -> bool:
    """Whether two statements, with numbers in digits, cannot both be true of the same person or thing."""
    if one == other:
        return False
    for first in clauses(one):
        for second in clauses(other):
            same = not (first.who and second.who) or first.who == second.who
            if _denies(first.text, second.text, same=same) or _denies(second.text, first.text, same=same):
                return True
            if _by_opposites(first.text, second.text, same=same):
                return True
    return _by_slots(one, other) or _by_value(one, other) or _by_time(one, other) or _by_count(one, other)


def _denies(negative: str, positive: str, *, same: bool) -> bool:
    """Whether a clause denies what another one states."""
    match = NOT.search(negative)
    if match is None or NEGATED.search(positive) or OPEN.search(negative):
        return False
    if match["neg_zh"] or match["allergy"]:
        return _denies_zh(match["neg_zh"] or "不", match["scope_zh"] or match["allergy"] or "", positive, same=same)
    kinds, rest = kinds_in_general(match["scope"])
    need = content(rest) - LIGHT
    if not kinds and not need:
        need = frozenset(stem(word) for word in tokens(match["scope"])) & {
            "driv",
            "smok",
            "travel",
            "fly",
            "drink",
            "swim",
            "cook",
            "work",
        }
    if (not kinds and not need) or len(need) + len(kinds) > 3:
        return False
    if not (need <= content(positive) and kinds <= kinds_named(positive)):
        return False
    possession = match["neg"].casefold() in ("no", "without", "nobody", "none") or re.search(
        r"\b(?:have|own|got)\b", match["scope"], re.IGNORECASE
    )
    if not same and not possession:
        return False
    if re.search(r"\b(?:never|haven't|hasn't|ever)\b", negative, re.IGNORECASE) and not USUAL.search(positive):
        return False
    return not (possession and (WISH.search(positive) or not OWNS.search(positive)))


def _denies_zh(negation: str, scope: str, positive: str, *, same: bool) -> bool:
    denial = TAIL_ZH.sub("", scope)
    if (not same and negation not in ("没有", "没")) or max(len(denial), len(positive)) > LONG_ZH:
        return False
    if len(HAN.findall(denial)) >= 2 and denial in positive and not BLANK_ZH.fullmatch(denial) and "过" not in scope:
        return True
    kinds, rest = kinds_in_general(denial)
    cores = [core for core in LIGHT_ZH.split(rest.strip()) if HAN.search(core) and not BLANK_ZH.fullmatch(core)]
    if not kinds and (not cores or (sum(map(len, cores)) < 2 and not kinds_named("".join(cores)))):
        return False
    if not (kinds <= kinds_named(positive) and all(core.strip() in positive for core in cores)):
        return False
    if "过" in scope or negation.startswith("从"):
        return USUAL.search(positive) is not None
    return not (negation in ("没有", "没") and WISH.search(positive))


def _by_opposites(one: str, other: str, *, same: bool) -> bool:
    """Whether two clauses are on the two sides of opposite words; `same`: whether about the same person."""
    ones, others = _sides(one), _sides(other)
    for number in ones.keys() & others.keys():
        first, second, anyhow = OPPOSITES[number]
        for left, right, here, there in ((one, other, ones, others), (other, one, others, ones)):
            (a, not_b), (not_a, b) = here[number], there[number]
            if not a or not b or not_a or not_b:
                continue
            if (anyhow and (same or OWN.match(b))) or _linked(first.sub(" ", left), second.sub(" ", right)):
                return True
    return False


@lru_cache(maxsize=20_000)
def _sides(text: str) -> Mapping[int, tuple[str, str]]:
    """The words of a clause on both sides of opposite words, by the number of the pair in `OPPOSITES`."""
    matches = ((first.search(text), second.search(text)) for first, second, _ in OPPOSITES)
    return {
        number: (match.group() if match else "", other.group() if other else "")
        for number, (match, other) in enumerate(matches)
        if match or other
    }


def _linked(one: str, other: str) -> bool:
    """Whether what is left of two clauses is about one thing."""
    if content(one) & content(other) or kinds_named(one) & kinds_named(other):
        return True
    if PLACE.search(one) and PLACE.search(other):
        return True
    signs, others = (
        frozenset(HAN.findall(text)) - frozenset("我你您他她的了是在有和就都也这那个一不没很过着到说")
        for text in (one, other)
    )
    return len(signs & others) >= (2 if max(len(one), len(other)) > SHORT_ZH else 1)


def _by_slots(one: str, other: str) -> bool:
    for form in SLOTS:
        first, second = (
            [value for match in form.finditer(text) for value in match.groups() if value] for text in (one, other)
        )
        if first and second and not {value.casefold() for value in first} & {value.casefold() for value in second}:
            return not any(a in b or b in a for a in first for b in second)
    return False


def _by_time(one: str, other: str) -> bool:
    """Whether one thing is recent and old, or rare and frequent."""
    for first, second in ((RECENT, LONG), (RARE, OFTEN)):
        for left, right in ((one, other), (other, one)):
            if not (first.search(left) and second.search(right)) or first.search(right) or second.search(left):
                continue
            if _linked(first.sub(" ", left), second.sub(" ", right)):
                return True
            if _with_you(left) and _with_you(right):
                return True
    return False


def _with_you(text: str) -> bool:
    return re.search(r"\bwith you\b|\byour? (?:bank|shop|company)\b|[你您]们", text, re.IGNORECASE) is not None


def _by_value(one: str, other: str) -> bool:
    """Whether two statements about one thing have one value each of a kind, and not the same."""
    for value, second in _pairs(one, other):
        shared = content(one.replace(value.text, " ")) & content(other.replace(second.text, " "))
        if value.kind == "number":
            if (
                not PART.search(f"{one}\n{other}")
                and value.noun
                and value.noun == second.noun
                and HOLDS.search(one)
                and HOLDS.search(other)
            ):
                return True
        elif len(shared) >= 2 or (value.kind == "measure" and shared):
            return True
    return False


def _pairs(one: str, other: str) -> Iterator[tuple[TextValue, TextValue]]:
    firsts, seconds = values(one), values(other)
    for value in firsts:
        if value.kind not in ("number", "money", "measure", "date", "time", "weekday"):
            continue
        same = [second for second in seconds if second.kind == value.kind]
        if len(same) == 1 and sum(first.kind == value.kind for first in firsts) == 1 and same[0].key != value.key:
            yield value, same[0]


def _by_count(one: str, other: str) -> bool:
    """Whether one statement has a single thing, and the other several of its kind."""
    for left, right in ((one, other), (other, one)):
        if SINGLE.search(left) and PLENTY.search(right) and kinds_named(left) & kinds_named(right):
            return True
    return False
