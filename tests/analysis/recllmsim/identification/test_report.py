"""Profile identification as a report: what is found, what leaks, beside the label prior."""

import sys

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.recllmsim.identification import VOCABULARY, identify, left_out, models, profile_talks
from duologue.data import Conversation, Message
from duologue.errors import MissingExtraError, SettingError


def test_a_word_that_tells_the_label_is_found_of_users_who_were_not_seen(crowd, values):
    rows = values(identify(crowd("sign"), models(["logistic", "forest"], 10)))
    assert rows["users", "label prior"].hit_1 <= 0.6
    assert rows["users", "logistic"].hit_1 == rows["users", "forest"].hit_1 == 1


def test_a_word_of_each_user_tells_the_label_in_the_published_split_alone(crowd, values):
    report = identify(crowd("marker"), models(["logistic"]), splits=("published", "users"))
    rows = values(report)
    assert rows["published", "logistic"].hit_1 >= 0.9
    assert rows["users", "logistic"].hit_1 <= 0.65
    assert rows["users", "logistic"].hit_1 - rows["users", "label prior"].hit_1 <= 0.1
    published, grouped = report.table.notes[:2]
    assert published.startswith("published: conversations at random are held out, as published; ")
    assert "; 0.0% of the tests are of a user" in grouped
    assert "100.0%" in published


def test_the_vocabulary_is_closed_unless_it_is_asked_for_as_published(crowd, values):
    closed, seen = (values(identify(crowd("sign"), vocabulary=kind)) for kind in ("closed", "published"))
    closed_row, published = closed["users", "label prior"], seen["users", "label prior"]
    assert closed_row.hit_1 == published.hit_1
    assert closed_row.f1_macro == pytest.approx(published.f1_macro * 2 / len(VOCABULARY["personality"]))


def test_chains_and_forests_agree_on_a_word_that_tells_the_label(crowd, values):
    report = identify(crowd("sign"), models(["logistic-chain", "forest-chain"], 10), seeds=2)
    rows = values(report)
    assert rows["users", "logistic-chain"].hit_1 == rows["users", "forest-chain"].hit_1 == 1
    deviation = {(row.model, row.metric): row.sd for row in report.metrics.rows if row.aspect == "personality"}
    assert deviation["forest-chain", "hit_1"] == 0
    assert deviation["label prior", "hit_1"] is None


def test_boosted_trees_learn_a_word_or_name_their_extra(monkeypatch, crowd, values):
    if "xgboost" not in sys.modules:
        try:
            import xgboost  # noqa: F401
        except ImportError:
            with pytest.raises(MissingExtraError, match=r"duologue\[stats\]"):
                models(["xgboost"])
            return
    rows = values(identify(crowd("sign"), models(["xgboost", "xgboost-chain"], 5)))
    assert rows["users", "xgboost"].hit_1 == rows["users", "xgboost-chain"].hit_1 == 1


def test_an_unknown_model_is_refused_by_name():
    with pytest.raises(SettingError, match="--model oracle: is not a model: give forest"):
        models(["oracle"])


def test_profiles_of_people_and_of_simulated_users_come_to_the_same_options():
    person = Conversation(
        id="p", scenario={"kind": "recllmsim", "language": "zh", "task": "t", "task_context": "c",
                          "profile": {"personality": ["冷静", "幽默", "x"], "age": 20}},
        messages=(Message(role="user", text="你好，我想去旅行。"),),
    )  # fmt: skip
    simulated = Conversation(
        id="s", scenario={"kind": "recllmsim", "language": "en", "task": "t", "task_context": "c", "preference": "1. Gender: F"},
        labels={"profile_mapped": {"Personality": [{"en": "Calm", "zh": "冷静"}, {"en": "Humorous", "zh": "幽默"}]}},
        messages=(Message(role="user", text="Hello.", extra={"content_zh": "你好。"}),),
    )  # fmt: skip
    one, other = profile_talks([person, simulated])
    assert one.labels == other.labels == {"personality": ("Calm", "Humorous")}
    assert (one.side, other.side) == ("people", "simulated")
    assert other.messages == (("user", "你好。"),)
    assert [talk.id for talk in profile_talks([person, simulated], "en")] == ["s"]


def test_what_was_simulated_on_a_persons_scenario_is_of_that_person():
    scenario = {
        "kind": "recllmsim",
        "language": "zh",
        "task": "travel",
        "task_context": "c",
        "profile": {"personality": ["冷静"]},
    }
    messages = (Message(role="user", text="你好。"),)
    simulated = Conversation(id="s", scenario=scenario, messages=messages, extra={"stored": {"user": "someone"}})
    assert [talk.user for talk in profile_talks([simulated])] == ["someone"]


def test_it_is_said_which_conversations_are_left_out_and_why():
    def one(language: str, **about) -> Conversation:
        scenario = {"kind": "recllmsim", "language": language, "task": "t", "task_context": "c", **about}
        return Conversation(id="x", scenario=scenario, messages=(Message(role="user", text="Hello."),))

    lines = left_out([
        one("en", profile={"personality": ["Calm"]}),
        one("en", profile={"personality": ["Grumpy"]}),
        one("zh", profile={"personality": ["Sulky"]}),
        one("zh", preference="1. Gender: F"),
        one("zh", profile={"personality": ["冷静"]}),
    ])  # fmt: skip
    assert lines == [
        "1 of 5 conversations are left out: they are in en, and not there in zh: --language en",
        "2 of 5 conversations are left out: they have no option of the vocabulary in their profile, such as personality "
        "['Grumpy']",
        "1 of 5 conversations are left out: they have no structured profile (`profile` of the scenario, or the label "
        "`profile_mapped`)",
    ]
