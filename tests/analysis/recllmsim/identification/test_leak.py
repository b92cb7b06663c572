"""What a split by conversation is worth: whether users are known again, and what models have of it."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from duologue.analysis.over_users.estimate import ratio
from duologue.analysis.recllmsim.identification import identify, models
from duologue.analysis.recllmsim.identification.leak import gains, nearest_rows
from duologue.analysis.recllmsim.identification.metrics import METRICS
from duologue.analysis.recllmsim.identification.mixture import Mixture, folds_of
from duologue.analysis.recllmsim.identification.settings import parts

BOTH = ("conversations", "users")


def test_a_user_with_words_of_their_own_is_known_again_and_others_by_chance_alone(crowd):
    report = identify(crowd("marker"), models(["logistic"]), splits=("published", *BOTH))
    rows = {(row.split, row.reads): row for row in report.nearest.rows}
    assert set(rows) == {(split, reads) for split in ("published", "conversations") for reads in ("talk", "user")}
    row = rows["conversations", "talk"]
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
    texts = [talk.users_text for talk in talks]
    # Of those to learn from (1, 2), the nearest of 0 is its own user's; 3 has no word of either.
    (row,) = nearest_rows(talks, "published", [([1, 2], [0, 3])], {"user": texts})
    assert (row.n, row.known, row.nearest, row.chance) == (2, 0.5, 0.5, 0.25)


def test_the_published_split_is_by_the_numbers_of_the_files_in_whatever_order_they_come(talk):
    pytest.importorskip("sklearn")
    paths = [
        f"{root}User_{user}/travel/{number}.json" for root in ("", "V2/") for user in (2, 10) for number in (9, 11)
    ]
    paths += [f"V2/User_{user}/travel/1.json" for user in range(11, 40)]
    talks = [
        replace(talk("a", place, True, "x"), path=path, assistant="m" if path[0] == "V" else "")
        for place, path in enumerate(paths)
    ]
    (expected,) = parts([one.path for one in talks], "published")  # they are in that order
    test = {talks[place].path for place in expected[1]}
    for order in (talks[::-1], talks[3:] + talks[:3], sorted(talks, key=lambda one: one.path)):
        ((_, tested),) = folds_of(order, "personality", Mixture(split="published"))
        assert {order[place].path for place in tested} == test


def test_what_a_model_has_of_known_users_is_told_test_by_test(crowd):
    report = identify(crowd("marker"), models(["logistic"]), splits=BOTH)
    rows = {(row.model, row.metric): row for row in report.gains.rows}
    row = rows["logistic", "hit_1"]
    shown = {row.split: row for row in report.table.rows if (row.aspect, row.model) == ("mean", "logistic")}
    assert (row.known, row.new) == (shown["conversations"].hit_1, shown["users"].hit_1)
    prior = rows["label prior", "hit_1"]
    assert row.beyond == pytest.approx((row.known - row.new) - (prior.known - prior.new))
    assert row.beyond_low > 0
    headings = [column.name for table in report.tables() for column in table.columns]
    assert "beyond" in headings
    assert prior.beyond is None
    assert not identify(crowd("marker"), models(["logistic"])).gains.rows
    assert not identify(crowd("marker")).nearest.rows


def test_a_word_that_tells_the_label_of_anybody_is_worth_the_same_in_both_splits(crowd):
    report = identify(crowd("sign"), models(["logistic"]), splits=BOTH)
    row = next(row for row in report.gains.rows if (row.model, row.metric) == ("logistic", "hit_1"))
    assert row.known == row.new


@pytest.mark.parametrize(("most", "interval"), [(2, True), (30, False)])
def test_a_gain_has_no_interval_where_few_users_have_most_conversations(most, interval):
    items = np.array([most, most, *[1] * 8], dtype=float)
    shares = {"known": np.linspace(0.2, 1, 10), "new": np.linspace(0.6, 0.1, 10)}
    of = {name: dict.fromkeys(METRICS, ratio(share * items, items)) for name, share in shares.items()}
    splits = {"conversations": {"prior": [of["new"]], "m": [of["known"]]}, "users": {name: [of["new"]] for name in ("prior", "m")}}  # fmt: skip
    row = next(row for row in gains(splits, "prior", items, int(items.sum())) if row.model == "m")
    assert (row.beyond_low is not None) == interval
