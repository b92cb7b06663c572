"""How the offline task user writes: nothing changes by default, and each rate does what it says."""

import pytest

import duologue
from duologue.data.text.languages import language_of
from duologue.graphs import recllmsim
from duologue.graphs.scenarios.tasks import TaskSource
from duologue.nodes.models.offline.manner import OfflineStyle

HELLO = {"en": ("Hello", "Hi"), "zh": ("你好", "您好", "嗨")}


def user_texts(spec: str, language: str = "en", count: int = 3) -> list[list[str]]:
    """The user's messages of some conversations, without goodbyes."""
    source = TaskSource(sample=1)
    states = list(source.read(recllmsim.FACTORY.checked({"language": language}), 0))[:count]
    conversations = duologue.simulate(recllmsim.cast(user=spec, language=language), states)
    return [[message.text for message in one.messages if message.role == "user"] for one in conversations]


def first(spec: str, language: str = "en") -> list[str]:
    return [texts[0] for texts in user_texts(spec, language)]


def later(spec: str, language: str = "en") -> list[str]:
    return [text for texts in user_texts(spec, language) for text in texts[1:-1]]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_rates_as_they_are_change_nothing(language):
    query = "&".join(f"{name}={rate}" for name, rate in OfflineStyle().model_dump().items())
    assert user_texts(f"offline?{query}", language) == user_texts("offline", language)


@pytest.mark.heavy
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_rate_does_what_it_says(language):
    usual, later_usual = first("offline", language), later("offline", language)
    assert any(text.startswith(HELLO[language]) for text in usual)
    assert not any(text.startswith(HELLO[language]) for text in first("offline?greeting=0", language))
    assert sum(map(len, first("offline?whole=0", language))) < sum(map(len, usual))
    assert sum(map(len, first("offline?request=1", language))) > sum(map(len, usual))
    assert not any(text.endswith((".", "?", "!", "。", "？", "！")) for text in later("offline?marks=0", language))
    assert all(text.endswith(("!", "！")) for text in later("offline?exclaim=1", language))
    assert all(text.startswith(("Thank", "谢", "多谢")) for text in later("offline?thanks=1", language))
    for spec in ("reactions=0", "personal=0", "frames=0"):
        assert sum(map(len, later(f"offline?{spec}", language))) < sum(map(len, later_usual)), spec
    assert later("offline?wishes=0&follow_up=1", language) != later("offline?wishes=0", language)
    assert len(later("offline?wishes=0&haste=0.9", language)) < len(later_usual)
    assert {language_of(text) for text in usual} == {language}


def test_a_rate_between_holds_for_about_that_share_and_for_the_same_ones_again():
    manner = OfflineStyle(greeting=0.3)
    draws = [manner.holds("greeting", number) for number in range(2_000)]
    assert 0.26 < sum(draws) / len(draws) < 0.34
    assert draws == [manner.holds("greeting", number) for number in range(2_000)]


def test_a_user_of_short_words_still_comes_to_an_end():
    conversations = user_texts(
        "offline?greeting=0&whole=0&wishes=0&frames=0&reactions=0&personal=0&follow_up=1&haste=1&marks=0"
    )
    assert all(2 <= len(texts) <= 4 for texts in conversations)
