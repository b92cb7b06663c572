"""Casts by name and as plain data: settings, specs, import paths, other processes."""

import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

import duologue
from duologue.data import Conversation
from duologue.graphs import Cast, CastFactory, casts, recllmsim, simquac
from duologue.graphs.casts import CastSpec
from duologue.nodes import Limits, limits, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.validators import not_empty
from duologue.prompts import shipped

TOPIC = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. The last left in 1968."}
OWN = '''
from typing import Any
from pathlib import Path
from duologue import nodes

strict = nodes.validator(lambda draft, state: None if "?" in draft["text"] else "no_question")


def cast(words: int = 5, user: str = "offline", limits: nodes.Limits | None = None):
    """A student of few words.

    Args:
        words: At most this many words
            of a question.
        limits: Of its conversations.
    """
    from duologue.graphs import simquac

    return simquac.cast(user, question_words=words).replace(name="own")


def hotel(pages: Path = Path("."), prices: dict[str, Any] = {}):
    from duologue.graphs import simquac

    return simquac.cast().replace(name=f"hotel {pages} {sorted(prices.items())!r}")


def needs(words: int):
    """Has no default."""


def none():
    return 3

'''


@pytest.fixture
def own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    sys.modules.pop("own", None)


def run(cast: Cast) -> list[Conversation]:
    return duologue.simulate(cast, [simquac.scenario(TOPIC)], limits=Limits(max_turns=2, seed=3))


def again(cast: Cast) -> Cast:
    """The cast as another process builds it."""
    return casts.built(CastSpec.model_validate_json(cast.travelling().model_dump_json()))


def test_a_spec_has_what_is_not_as_by_default_and_gives_the_same_conversation(own: None) -> None:
    cast = simquac.cast(user="offline?misbehave=0.5", question_words=9, interesting_once=True)
    assert cast.spec == CastSpec(cast="simquac", settings={"question_words": 9, "user": "offline?misbehave=0.5"})
    assert recllmsim.cast(as_published=True).spec == CastSpec(cast="recllmsim", settings={"as_published": True})
    changes: Any = {"question_validator": "own:strict", "answer_validator": not_empty, "stop": limits.max_turns}
    cast = cast.replace(**changes, limits=Limits(max_turns=3), fallback="Nothing.")
    assert cast.plain()["replace"]["stop"] == "duologue.nodes.limits:max_turns"
    assert [one.without_timing() for one in run(again(cast))] == [one.without_timing() for one in run(cast)]


def test_a_function_in_the_working_directory_is_a_cast_with_its_parameters_as_settings(own: None) -> None:
    factory = casts.find("own:cast")
    assert (factory(words=7).name, factory.summary) == ("own", "A student of few words.")
    assert factory(words=7).spec == again(factory(words=7)).spec == CastSpec(cast="own:cast", settings={"words": 7})
    hotel = casts.find("own:hotel")(pages=Path("pages"), prices={"api_key": "hunter2000", "url": "https://me:pw@host"})
    assert again(hotel).name == hotel.name
    assert hotel.plain()["settings"] == {  # a manifest holds no credential
        "pages": "pages",
        "prices": {"api_key": "[secret]", "url": "https://[key]@host"},
    }


def test_what_keeps_a_cast_in_this_process_is_named_and_no_longer_once_it_is_replaced() -> None:
    live = simquac.cast(user=FakeListChatModel(responses=["Who?"]), prompts=shipped("simquac"))
    assert live.live == ("prompts is a live object (Library)", "user is a live object (FakeListChatModel)")
    replaced = simquac.cast().replace(question_validator=validator(lambda draft, state: None), stop=lambda s, m: None)
    by_hand = Cast(name="hand", user="offline", assistant="offline")
    nameless = CastFactory("mine", lambda user="offline": simquac.cast(user))()
    for cast, word in (
        (live, "FakeListChatModel"),
        (replaced, "question_validator"),
        (by_hand, "by hand"),
        (nameless, "this process only"),
    ):
        with pytest.raises(ContractError, match=f"cannot be built again in another process: .*{word}"):
            cast.travelling()
        assert "live" in cast.plain()
    assert run(live)[0].stop is not None  # it runs here all the same
    plain = replaced.replace(question_validator=not_empty, stop=limits.max_turns)
    assert plain.live == ()
    assert simquac.cast(assistant=lambda messages: "x").replace(assistant="offline").live == ()
