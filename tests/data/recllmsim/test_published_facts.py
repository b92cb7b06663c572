"""The label pages against the published facts, and the facts against the open data."""

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

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


# --- The facts against the open data


@cache
def talks(edition: str, *sides: str) -> list[dict[str, Any]]:
    folder = Path(__file__).resolve().parents[4] / "shared" / "seed-data" / FOLDERS[edition]
    if not folder.is_dir():
        pytest.skip(f"the open data is not at {folder}")
    paths = [path for side in sides for path in sorted((folder / side).rglob("*.json"))]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


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
