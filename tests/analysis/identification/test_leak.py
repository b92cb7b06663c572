"""What a split by conversation is worth: whether users are known again, and what models have of it."""

import pytest

pytest.importorskip("sklearn")

from duologue.analysis.identification import identify, models
from duologue.analysis.identification.leak import nearest_rows

BOTH = ("conversations", "users")


def test_a_user_with_words_of_their_own_is_known_again_and_others_by_chance_alone(crowd):
    report = identify(crowd("marker"), models(["logistic"]), splits=("published", *BOTH))
    found = {(row.split, row.reads): row for row in report.nearest.rows}
    assert set(found) == {(split, reads) for split in ("published", "conversations") for reads in ("talk", "user")}
    row = found["conversations", "talk"]
    assert (row.n, row.nearest) == (96, row.known)
    assert row.known >= 0.95
    assert row.chance <= 0.05
    report = identify(crowd("sign"), models(["logistic"]), splits=("conversations",))
    for row in report.nearest.rows:
        assert row.nearest == pytest.approx(row.chance * 2, abs=0.03)  # half of the users say the same


def test_the_share_of_nearest_talks_is_the_one_counted_by_hand(talk):
    talks = [
        talk("a", 0, True, "one two"),
        talk("a", 1, True, "one"),
        talk("b", 0, True, "three"),
        talk("c", 0, True, "zebra"),
    ]
    texts = [each.users_text for each in talks]
    # Of those to learn from (1, 2), the nearest of 0 is its own user's; 3 has no word of either.
    (row,) = nearest_rows(talks, "published", [([1, 2], [0, 3])], {"user": texts}, 0)
    assert (row.n, row.known, row.nearest, row.chance) == (2, 0.5, 0.5, 0.25)


def test_what_a_model_has_of_known_users_is_told_test_by_test(crowd):
    report = identify(crowd("marker"), models(["logistic"]), splits=BOTH)
    found = {(row.model, row.metric): row for row in report.gains.rows}
    row = found["logistic", "hit_1"]
    shown = {each.split: each for each in report.table.rows if (each.aspect, each.model) == ("mean", "logistic")}
    assert (row.known, row.new) == (shown["conversations"].hit_1, shown["users"].hit_1)
    assert row.gain == pytest.approx(row.known - row.new)
    prior = found["label prior", "hit_1"]
    assert row.beyond == pytest.approx(row.gain - prior.gain)
    assert row.beyond_low > 0
    assert prior.beyond is None
    assert not identify(crowd("marker"), models(["logistic"])).gains.rows
    assert not identify(crowd("marker")).nearest.rows


def test_a_word_that_tells_the_label_of_anybody_is_worth_the_same_in_both_splits(crowd):
    report = identify(crowd("sign"), models(["logistic"]), splits=BOTH)
    row = next(row for row in report.gains.rows if (row.model, row.metric) == ("logistic", "hit_1"))
    assert row.gain == 0
