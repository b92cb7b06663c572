"""The label pages against the published facts, and the facts against the open data."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby, pairwise
from math import sqrt
from pathlib import Path
from statistics import correlation, mean
from typing import Any, NamedTuple

import pytest

from duologue.data.recllmsim.published_labels import EDITIONS, object_of, wording_of
from duologue.prompts.label_pages import shipped_labels
from tests.data.recllmsim.published_facts import EXTRA_PARTS, FACTS, LIST_LENGTHS, Fact

PAGES = [fact for fact in FACTS if not fact.object.startswith("no page")]
VOTED = [fact for fact in PAGES if fact.votes]
OWN_PARTS = {"conflict"}
"""Pages that ask more than what is published."""
BRANCHES = {{"Human_Vs_Agent": "HvA", "satisfaction": "sat"}.get(name, name): keys for name, keys in EDITIONS.items()}
FOLDERS = {"main": "recllmsim", "HvA": "recllmsim_human_vs_agent"}
PEOPLE = ("human_exp_V2", "real_human_user")


def named(fact: Fact) -> str:
    return f"{fact.object}-{fact.part}".replace(" ", "_")


def parts_of(name: str) -> dict[str, Fact]:
    return {fact.part: fact for fact in FACTS if fact.object == name}


# --- The pages' front matter


@pytest.mark.parametrize("fact", PAGES, ids=named)
def test_a_page_has_the_published_values_in_their_order(fact: Fact) -> None:
    part = shipped_labels()[fact.object].parts[fact.part]
    if not fact.values:
        assert part.text
        return
    assert {(type(choice), choice) for choice in part.choices} == {(type(value), value) for value in fact.values}
    if fact.ordered is not None:
        assert part.has_order is fact.ordered
    if part.has_order:
        assert part.choices == fact.values


@pytest.mark.parametrize("fact", PAGES, ids=named)
def test_a_page_labels_the_published_unit_and_stores_the_published_type(fact: Fact) -> None:
    label = shipped_labels()[fact.object]
    part = label.parts[fact.part]
    assert (label.unit, label.votes) == (fact.unit, fact.votes)
    assert part.several == LIST_LENGTHS.get((fact.object, fact.part))
    if fact.values:
        types = {"word": str, "text number": str, "integer": int, "bool": bool}
        assert {type(label.shape.stored(fact.part, value)) for value in fact.values} == {types[fact.stored]}
    if fact.votes:
        keys = {
            edition: key for edition, names in BRANCHES.items() for key, name in names.items() if name == fact.object
        }
        assert keys == fact.editions
    else:
        assert {label.shape.within or fact.part} == set(fact.editions.values())


@pytest.mark.parametrize("name", sorted({fact.object for fact in PAGES} - OWN_PARTS))
def test_a_page_has_no_part_that_is_not_published(name: str) -> None:
    assert set(shipped_labels()[name].parts) == set(parts_of(name))


@pytest.mark.parametrize("name", sorted({fact.object for fact in VOTED}))
def test_what_is_asked_in_one_request_is_one_published_object(name: str) -> None:
    label = shipped_labels()[name]
    assert len(label.keys) == 1, label.keys
    assert label.blind, "the published judge reads neither task nor profile"


# --- An object is known by its parts


def objects() -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Edition, key, value and name of each voted object in each edition."""
    for name, facts in groupby(VOTED, key=lambda fact: fact.object):
        rows = list(facts)
        for edition, key in rows[0].editions.items():
            extra = {part: values[0] for part, values in EXTRA_PARTS.get((edition, key), {}).items()}
            yield edition, key, {**{fact.part: fact.values[0] for fact in rows}, **extra}, name


@pytest.mark.parametrize(
    ("edition", "key", "value", "name"), list(objects()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_object_is_known_whatever_key_its_edition_gives_it(
    edition: str, key: str, value: dict[str, Any], name: str
) -> None:
    voted = dict.fromkeys(("final", "1", "2", "3"), value)
    assert object_of(key, voted) == name
    human = object_of(key.replace("strategy", "strategy_human", 1), {"final": value})  # people's have one value
    assert human == f"{name}_human"


def test_one_key_names_several_objects() -> None:
    names = defaultdict(set)
    for _, key, value, _ in objects():
        names[key].add(object_of(key, {"final": value}))
    assert names["strategy_V2"] == {"broadness", "order_and_feedback"}
    assert names["strategy_V3"] == {"style", "broadness_and_feedback"}
    assert names["strategy_V4"] == {"style", "advice"}


def test_the_first_wording_of_the_style_is_no_style_of_today() -> None:
    value = {fact.part: fact.values[0] for fact in FACTS if fact.object == "no page: first style"}
    assert object_of("strategy_V4_deprecated", {"final": value}) != "style"


def test_the_first_taxonomy_by_another_model_is_the_first_taxonomy_in_the_same_words() -> None:
    value = {part: fact.values[0] for part, fact in parts_of("first_taxonomy").items()}
    name = object_of("strategy_1120", {"final": value})
    assert name == "first_taxonomy_1120"
    assert {wording_of(name, part) for part in value} == {wording_of("first_taxonomy", part) for part in value}


# --- The pages' text

NO = r"\b(?:not|no|none|never|hardly|nothing|nobody|too)\b"


class Ends(NamedTuple):
    """Words that stand at either end of a scale, as regular expressions."""

    low: str
    high: str


ENDS = {
    "question_broadness": Ends(r"broad|vague|open|general", r"specific|precise|narrow|exact|detail"),
    "question": Ends(r"broad|open|wide|many|general", r"specific|detail|focus|narrow|precise"),
    "context_dependency": Ends(
        r"alone|self-contained|independent|by itself|by themselves", r"without|rest|need|lean|depend"
    ),
    "context": Ends(r"alone|by itself|by themselves|independent", r"rest|need|lean|depend|heav|earlier|before|rely"),
    "explanation": Ends(r"without", r"two|several|more|often"),
    "promise": Ends(r"without|neither", r"will|commit|follow|agree"),
    "politeness": Ends(r"rude|curs|insult|swear|harsh|offen|abus", r"polite|thank|courte|kind|friendl"),
    "advice utility": Ends(r"miss|fail|off topic|beside|useless", r"relevant|help|fit|meet|serve"),
    "operability": Ends(
        r"vague|impractical|unrealistic|abstract|infeasible", r"concrete|clear|step|feasible|practical"
    ),
    "satisfaction": Ends(
        r"dissatisf|unhapp|useless|of no use|no help|wrong",
        r"solve|better|perfect|fully|very satisf|all that|everything",
    ),
    "Role-Playing Completeness": Ends(r"incomplete|missing|unfinished|little", r"complete|whole|fully|all"),
    "Preference Alignment": Ends(r"against|ignore|contradict", r"show|fit|clear|match|follow"),
    "questionnaire Memorization": Ends(r"not|nothing|remember|kept", r"forg"),
    "questionnaire Detail": Ends(r"brief|short|bare", r"detail|depth"),
    "questionnaire Diversity": Ends(r"one kind|single|alike", r"many|several|divers"),
    "Availability": Ends(r"useless|no use", r"useful|of use"),
    "Memorization": Ends(r"forg", r"remember|keep|kept|recall"),
    "Detail Level": Ends(r"vague|brief|short|bare|name", r"depth|detail|step|ingredient|thorough"),
    "Diversity": Ends(r"one|two|single|few", r"three|all|several|many"),
    "Practical Usefulness": Ends(
        r"unreal|impractical|useless|nothing|cannot be", r"practical|action|feasible|realistic|could be|can be"
    ),
    "detail": Ends(r"miss|lack|sketch", r"all|complete|everything|whole|detail"),
    "utility": Ends(r"unreal|impractical|useless|nothing", r"eas[iy]|practical|readily|useful"),
    "diversity": Ends(r"one|single", r"several|many|different"),
}


def places(text: str, value: object) -> list[re.Match[str]]:
    """Where a text names a value as a word of its own."""
    if isinstance(value, bool):
        return list(re.finditer(r"\b(?:true|yes)\b" if value else r"\b(?:false|no)\b", text, re.IGNORECASE))
    if isinstance(value, int):
        return list(re.finditer(rf"(?<![\w.,:]){value}(?![\w]|[.,:]\d)", text))
    return list(re.finditer(rf"(?<![A-Za-z]){re.escape(str(value))}(?![A-Za-z])", text))


def clauses(text: str, values: tuple[Any, ...]) -> dict[Any, str]:
    """What a text says of each value: from its name to the next value's."""
    found = sorted((place.start(), place.end(), value) for value in values for place in places(text, value))
    said: dict[Any, str] = defaultdict(str)
    for number, (_, end, value) in enumerate(found):
        until = found[number + 1][0] if number + 1 < len(found) else len(text)
        said[value] += text[end:until].lower() + " "
    return said


def reversal(text: str, values: tuple[Any, ...], ends: Ends) -> str:
    """What is wrong about the ends of a scale in a text; empty if nothing is."""
    said = clauses(text, values)
    low, high = said[values[0]], said[values[-1]]
    low_said = [re.search(rf"\b(?:{words})", low) for words in (ends.low, ends.high)]
    high_said = [re.search(rf"\b(?:{words})", high) for words in (ends.high, ends.low)]
    if low_said[1] and not low_said[0] and not re.search(NO, low):
        return f"{values[0]} is said to be the high end: {low.strip()}"
    if high_said[1] and not high_said[0]:
        return f"{values[-1]} is said to be the low end: {high.strip()}"
    return "" if low_said[0] or high_said[0] else f"neither end is recognised: {low.strip()} | {high.strip()}"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("**x** 1 is very broad, 3 is mixed, and 5 is very specific.", ""),
        ("**x** From 5 (precise questions) down to 1 (vague questions).", ""),
        ("**x** 1: asks for one specific fact; 5: everything is open.", "1 is said to be the high end"),
        ("**x** 1: a bit; 5: all of it is open and general.", "5 is said to be the low end"),
        ("**x** 1 is red, 5 is blue.", "neither end"),
    ],
)
def test_a_turned_scale_is_found(text: str, wrong: str) -> None:
    found = reversal(text, (1, 2, 3, 4, 5), ENDS["question_broadness"])
    assert found.startswith(wrong)
    assert bool(found) is bool(wrong)


ORDERED = [
    (name, part)
    for name, label in shipped_labels().items()
    for part, of in label.parts.items()
    if of.has_order and len(of.choices) <= 10  # an age has no meaning for each year
]


@pytest.mark.parametrize(("name", "part"), ORDERED)
def test_a_page_names_every_value_of_a_scale_where_it_defines_the_part(name: str, part: str) -> None:
    label = shipped_labels()[name]
    said = label.about(part)
    if label.votes:
        assert said.startswith(f"**{part}**"), "no paragraph begins with its name"
    assert [value for value in label.parts[part].choices if not places(said, value)] == []


def with_ends() -> Iterator[tuple[Fact, Ends]]:
    for fact in PAGES:
        if fact.more and fact.stored != "bool":
            ends = ENDS.get(f"{fact.object} {fact.part}") or ENDS.get(fact.part)
            if ends is not None:
                yield fact, ends


@pytest.mark.parametrize(
    ("fact", "ends"), list(with_ends()), ids=lambda value: named(value) if isinstance(value, Fact) else ""
)
def test_a_page_never_says_the_reverse(fact: Fact, ends: Ends) -> None:
    assert reversal(shipped_labels()[fact.object].about(fact.part), fact.values, ends) == ""


def test_each_part_with_a_direction_is_tested_for_it() -> None:
    tested = {(fact.object, fact.part) for fact, _ in with_ends()}
    directed = {(fact.object, fact.part) for fact in PAGES if fact.more and fact.stored != "bool"}
    assert directed - tested == {
        ("rating", "Additional Preferences"),  # what it counts is not published
        ("style", "formality"),  # its ends are the values' own names
    }


@pytest.mark.parametrize("fact", [fact for fact in PAGES if fact.words != "both"], ids=named)
def test_a_page_says_whose_words_are_judged(fact: Fact) -> None:
    label = shipped_labels()[fact.object]
    role = label.role
    if role is not None:
        assert role == fact.words
        return
    said = label.about(fact.part)
    own = r"\bassistant|\brepl(?:y|ies)\b|\banswers?\b|\badvice\b|\bsuggest" if fact.words == "assistant" else r"\buser"
    assert re.search(own, said + label.definition.split("\n\n")[0], re.IGNORECASE)


# --- The facts against the open data


@cache
def talks(edition: str, *sides: str) -> list[dict[str, Any]]:
    folder = Path(__file__).resolve().parents[4] / "shared" / "seed-data" / FOLDERS[edition]
    if not folder.is_dir():
        pytest.skip(f"the open data is not at {folder}")
    paths = [path for side in sides for path in sorted((folder / side).rglob("*.json"))]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def finals(talk: dict[str, Any]) -> dict[str, Any]:
    return {part: value for key, parts in by_key(talk).items() for part, value in parts.items() if "human" not in key}


def by_key(talk: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {key: stored["final"] for key, stored in talk.items() if key.startswith("strategy")}


@pytest.mark.parametrize("edition", FOLDERS)
def test_the_open_objects_have_the_parts_and_values_of_the_facts(edition: str) -> None:
    facts: dict[str, dict[str, Fact]] = defaultdict(dict)
    for fact in FACTS:
        if fact.votes and edition in fact.editions:
            facts[fact.editions[edition]][fact.part] = fact
    seen = set()
    for talk in talks(edition, "LLM_agent_user", *PEOPLE):
        for key, stored in talk.items():
            if key not in facts:
                continue
            assert set(stored) == {"final", "1", "2", "3"}
            for vote in stored.values():
                assert set(vote) == set(facts[key])
                for part, value in vote.items():
                    assert (type(value), value) in [(type(known), known) for known in facts[key][part].values]
            seen.add(key)
    assert seen == set(facts)


def is_of(value: object, name: str, part: str) -> bool:
    """Whether a stored value is one of the facts' part, in its type."""
    fact = parts_of(name)[part]
    known = map(str, fact.values) if fact.stored == "text number" else fact.values
    return (type(value), value) in [(type(each), each) for each in known]


@pytest.mark.parametrize("edition", FOLDERS)
def test_the_open_labels_of_simulated_conversations_have_the_values_of_the_facts(edition: str) -> None:
    found = {"rating": 0, "satisfaction": 0, "intent": 0, "hallucination": 0}
    for talk in talks(edition, "LLM_agent_user"):
        for key, name in (("rating", "rating"), ("satisfaction", "satisfaction_conversation")):
            if key in talk:
                assert set(talk[key]) == set(parts_of(name))
                assert all(is_of(value, name, part) for part, value in talk[key].items())
                found[key] += 1
        for message in talk["history"]:
            if "intent" in message:
                assert is_of(message["intent"], "intent", "intent")
                found["intent"] += 1
            if "hallucination" in message:
                assert set(message["hallucination"]) == set(parts_of("hallucination"))
                assert is_of(message["hallucination"]["hallucination"], "hallucination", "hallucination")
                found["hallucination"] += 1
    assert [key for key, number in found.items() if not number] == (["satisfaction"] if edition == "main" else [])


@pytest.mark.parametrize("edition", FOLDERS)
def test_the_open_labels_of_people_have_the_values_of_the_facts(edition: str) -> None:
    places = {
        "intent": ("intent_people", "intent"),
        "satisfaction": ("satisfaction", "satisfaction"),
        "reason": ("satisfaction", "reason"),
        "hallucination": ("hallucination_people", "hallucination"),
    }
    found = dict.fromkeys(places, 0)
    for talk in talks(edition, *PEOPLE):
        for row in talk["questionnaire"]:
            assert is_of(row["option"], "questionnaire", row["summary"])
        for message in talk["history"]:
            for key in places.keys() & message.keys():
                values = message[key] if key == "intent" else [message[key]]
                assert all(is_of(value, *places[key]) for value in values)
                found[key] += 1
            assert ("reason" in message) is (message.get("satisfaction") in {"1", "2", "3"})
    assert min(found.values()) > 0


# --- Directions in the open data of people: 254 conversations, in Chinese

REFERRING = re.compile("这|那|它|其中|上面|前面|以上|上述|刚才|刚刚|之前|你说的|你提到")
CAUSAL = re.compile("因为|由于|因此|所以|毕竟|考虑到|为了")
USEFUL = {"不可用": 0, "有一定参考": 1, "很有用": 2}
CHANCE = 1.645
"""A rank correlation as high as this many of its standard errors comes about by chance once in twenty."""

Figure = Callable[[dict[str, Any]], float | None]


def said_by_user(talk: dict[str, Any]) -> list[str]:
    return [message["content"] for message in talk["history"] if message["role"] == "user"]


def characters(talk: dict[str, Any]) -> float:
    return mean(len(text) for text in said_by_user(talk))


def numbers(talk: dict[str, Any]) -> float:
    return mean(len(re.findall(r"\d+", text)) for text in said_by_user(talk))


def messages(talk: dict[str, Any]) -> float:
    return len(said_by_user(talk))


def referring(talk: dict[str, Any]) -> float | None:
    """Share of the messages after the first with a referring word."""
    later = said_by_user(talk)[1:]
    return mean(bool(REFERRING.search(text)) for text in later) if later else None


def causal(talk: dict[str, Any]) -> float:
    return sum(bool(CAUSAL.search(text)) for text in said_by_user(talk))


def usefulness(talk: dict[str, Any]) -> float:
    return next(USEFUL[row["option"]] for row in talk["questionnaire"] if row["summary"] == "Availability")


def satisfaction(talk: dict[str, Any]) -> float | None:
    felt = [int(message["satisfaction"]) for message in talk["history"] if "satisfaction" in message]
    return mean(felt) if felt else None


def pairs(part: str, figure: Figure) -> list[tuple[Any, float]]:
    rows = [(finals(talk)[part], figure(talk)) for talk in talks("HvA", *PEOPLE)]
    return [(value, number) for value, number in rows if number is not None]


def means(part: str, figure: Figure) -> dict[Any, float]:
    groups = defaultdict(list)
    for value, number in pairs(part, figure):
        groups[value].append(number)
    return {value: mean(groups[value]) for value in sorted(groups)}


def ranks(numbers: list[float]) -> list[float]:
    ordered = sorted(numbers)
    return [(ordered.index(number) * 2 + ordered.count(number) - 1) / 2 for number in numbers]


def strength(part: str, figure: Figure) -> float:
    """The rank correlation of a part with a figure, in its standard errors where there is none."""
    values, numbers = zip(*pairs(part, figure), strict=True)
    return correlation(ranks(list(values)), ranks(list(numbers))) * sqrt(len(values) - 1)


@pytest.mark.parametrize(
    ("part", "figure"),
    [
        ("question_broadness", characters),
        ("question_broadness", numbers),
        ("context_dependency", referring),
        ("context_dependency", messages),
    ],
)
def test_a_figure_rises_from_each_value_of_a_scale_to_the_next(part: str, figure: Figure) -> None:
    of_values = means(part, figure)
    assert len(of_values) >= 4
    assert all(low < high for low, high in pairwise(of_values.values())), of_values


@pytest.mark.parametrize(
    ("part", "figure"),
    [("question_broadness", characters), ("context_dependency", referring), ("context_dependency", messages)],
)
def test_a_figure_rises_with_a_scale_by_more_than_chance(part: str, figure: Figure) -> None:
    assert strength(part, figure) > CHANCE


def test_a_reason_has_more_causal_words_than_none() -> None:
    groups = defaultdict(list)
    for value, number in pairs("explanation", causal):
        groups[value == "NoExplanation"].append(number)
    assert min(len(group) for group in groups.values()) > 100
    assert mean(groups[False]) > 2 * mean(groups[True])


@pytest.mark.parametrize("figure", [usefulness, satisfaction])
def test_people_found_operable_advice_better_than_a_general_guide(figure: Figure) -> None:
    of_values = means("operability", figure)
    assert of_values["Low"] < of_values["Moderate"] < of_values["High"], of_values


@pytest.mark.parametrize("figure", [usefulness, satisfaction])
def test_people_found_useful_what_has_a_high_utility(figure: Figure) -> None:
    """Two open conversations are Moderate, so Low and Moderate count as one."""
    groups = defaultdict(list)
    for value, number in pairs("utility", figure):
        groups[value == "High"].append(number)
    assert mean(groups[False]) < mean(groups[True])


def test_satisfaction_with_replies_rises_with_the_usefulness_of_the_whole() -> None:
    groups = defaultdict(list)
    for talk in talks("HvA", *PEOPLE):
        groups[usefulness(talk)] += [
            int(message["satisfaction"]) for message in talk["history"] if "satisfaction" in message
        ]
    rising = [mean(groups[useful]) for useful in sorted(groups)]
    assert len(rising) == 3
    assert rising[0] + 0.5 < rising[1] < rising[2] - 0.3


def test_people_were_less_satisfied_with_a_reply_that_they_called_made_up() -> None:
    groups = defaultdict(list)
    for talk in talks("HvA", *PEOPLE):
        for message in talk["history"]:
            if "satisfaction" in message and "hallucination" in message:
                groups[message["hallucination"]].append(int(message["satisfaction"]))
    assert mean(groups["是"]) + 1 < mean(groups["无法判断"]) < mean(groups["否"])
