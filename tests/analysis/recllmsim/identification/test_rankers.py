"""What ranks options without learning: models, rules, people."""

import json
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.recllmsim.identification import VOCABULARY, Mixture, Ranker, by_words, identify, read_guesses
from duologue.analysis.recllmsim.identification.ranking import ranked_scores, ranking_of
from duologue.errors import DataError


def test_a_ranker_is_scored_by_its_order(crowd, values):
    ranked = ranked_scores(("Calm", "Patient", "Humorous"), "personality")
    assert [ranked[VOCABULARY["personality"].index(name)] for name in ("Calm", "Patient", "Humorous")] == [
        1,
        0.99,
        0.98,
    ]
    assert ranked.sum() == pytest.approx(2.97)
    always = Ranker("always", lambda _: {"personality": ("Humorous", "Calm", "Patient")})
    row = values(identify(crowd("sign"), (), [always]))["users", "always"]
    assert (row.hit_1, row.hit_3, row.recall_3, row.exact) == (0.5, 1, 1, 0)


def test_the_rules_read_what_the_user_says_and_nothing_else(talk):
    conversation = talk("u", 0, True, "We bake bread, then visit a museum; the museum is near.")
    options = by_words(conversation)
    assert options["travel_habits"][0] == "Visiting museums"
    assert "Cooking" in options["daily_interests"]
    assert by_words(talk("u", 0, True, "Hm."))["dining_preferences"] == ()


def test_peoples_guesses_are_a_row_and_the_last_of_a_person_counts(tmp_path: Path, crowd, values):
    talks = crowd("sign")
    lines = []
    for talk in talks:
        wrong = {"label": "profile", "conversation": talk.id, "by": "a", "value": {"personality": ["Patient"]}}
        right = {**wrong, "value": {"Personality": [talk.labels["personality"][0], "冷静", "nothing known"]}}
        lines += [wrong, right]
    taken = {"label": "profile", "conversation": talks[0].id, "by": "a", "value": {}, "undone": True}
    other = {"label": "rating", "conversation": talks[1].id, "by": "a", "value": {}}
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in [*lines, taken, other])
    (tmp_path / "answers_a.jsonl").write_text(text, encoding="utf-8")
    guesses = read_guesses(tmp_path)
    row = values(identify(talks, guesses=guesses))["users", "people's guesses"]
    assert (row.n, row.hit_1, row.recall_1) == (len(talks) - 1, 1, 1)
    one = {"conversation": talks[0].id, "by": "a"}
    each = [
        {**one, "label": f"profile_{aspect}", "value": {f"profile_{aspect}": ["Calm", "Vegan"]}}
        for aspect in ("personality", "dining_preferences")
    ]
    (tmp_path / "answers_a.jsonl").write_text("\n".join(map(json.dumps, each)), encoding="utf-8")
    assert read_guesses(tmp_path)[0]["id", talks[0].id] == {"personality": ("Calm",), "dining_preferences": ("Vegan",)}
    gone = {**each[0], "value": {}, "undone": True}
    (tmp_path / "answers_a.jsonl").write_text("\n".join(map(json.dumps, [*each, gone])), encoding="utf-8")
    assert read_guesses(tmp_path)[0]["id", talks[0].id] == {"dining_preferences": ("Vegan",)}
    assert ranking_of({"dining": ["x"], "personality": ["冷静", "Calm"]}) == {"personality": ("Calm",)}
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="has no guess"):
        read_guesses(empty)


def test_only_what_is_tested_is_ranked(crowd):
    talks = [*crowd("sign"), *crowd("sign", "simulated", "s")]
    heard = []

    def rank(one):
        heard.append(one.user)
        return {}

    identify(talks, (), [Ranker("silent", rank)], splits=("published",))
    assert len(heard) == 20
    assert all(user.startswith("u") for user in heard)
    heard.clear()
    identify(talks, (), [Ranker("silent", rank)], mixture=Mixture(setting="sim"))
    assert len(heard) == 96
    assert all(user.startswith("s") for user in heard)


def test_a_guess_is_compared_with_the_prior_of_what_people_guessed(crowd, values):
    talks = crowd("sign")
    humorous = [talk for talk in talks if talk.labels["personality"] == ("Humorous",)]
    guesses = [{("id", talk.id): {"personality": ("Humorous",)} for talk in humorous[:12]}]
    rows = values(identify(talks, guesses=guesses))
    row, prior = rows["users", "people's guesses"], rows["users", "label prior, guessed"]
    assert (row.n, prior.n, row.hit_1) == (12, 12, 1)
    assert prior.hit_1 < 1
    report = identify(talks, guesses=guesses)
    (measured,) = [
        metric for metric in report.metrics.rows
        if (metric.model, metric.aspect, metric.metric) == ("people's guesses", "personality", "hit_1")
    ]  # fmt: skip
    assert (measured.users, measured.reason) == (3, "no interval: 3 users, 8 are needed")
    both = identify(talks, guesses=guesses, splits=("users", "conversations"))
    assert {gain.model for gain in both.gains.rows} == {"label prior"}
    assert ranking_of({"personality": ["Nonsense"], "daily_interests": ["阅读", "x"]}) == {
        "daily_interests": ("Reading",)
    }
