"""What else could make a difference: who answered, how long messages are, which people, which task, the same data."""

import numpy as np
import pytest

from duologue.analysis.realism import compare
from duologue.analysis.realism.statistics.cells import cells_of
from duologue.analysis.realism.statistics.correlations import correlated_pairs, effective_number
from tests.analysis.realism.sides import QUICK, row, side


@pytest.mark.heavy
def test_a_difference_that_the_assistant_makes_is_none_where_the_assistant_is_known(talk):
    """Everybody writes at length to `long` and shortly to `short`; simulated users talk to `long` more often."""

    def length(assistant, user):
        return user % 5 + (20 if assistant == "long" else 1)

    sim = side(talk, "s", ("long",), length) + side(talk, "s", ("short",), length, users=5)
    human = side(talk, "h", ("short",), length) + side(talk, "h", ("long",), length, users=5)
    report = compare(sim, human, **QUICK)
    assert report.by_assistant
    assert any("the same assistant (long, short)" in note for note in report.notes)
    assert abs(row(report, "message length").effect) < 0.3
    assert report.discriminator.auc.value < 0.6
    assert report.sim.assistants == {"long": 20, "short": 5}
    nameless = [one.model_copy(update={"extra": {"user": one.extra["user"]}}) for one in sim]
    unadjusted = compare(nameless, human, **QUICK)
    assert not unadjusted.by_assistant
    assert row(unadjusted, "message length").effect > 0.5
    assert unadjusted.discriminator.auc.value > 0.7
    (note,) = [note for note in unadjusted.notes if note.startswith("Who answered")]
    assert "not removed" in note


@pytest.mark.heavy
def test_conversations_with_an_assistant_of_one_side_alone_are_left_out_and_named(talk):
    report = compare(side(talk, "s", ("one", "other")), side(talk, "h", ("one",)), **QUICK)
    assert (report.sim.compared, report.human.compared) == (20, 20)
    assert any("the same assistant (one); 20 with others are left out" in note for note in report.notes)
    apart = compare(side(talk, "s", ("one",)), side(talk, "h", ("other",)), **QUICK)
    assert not apart.by_assistant
    assert any("whose effect is not removed" in note for note in apart.notes)
    same = compare(side(talk, "s", ("one",)), side(talk, "h", ("one",)), **QUICK)
    assert not any("Who answered" in note for note in same.notes)


@pytest.mark.heavy
def test_assistants_and_tasks_that_are_common_but_never_together_leave_nothing_to_compare(talk):
    def apart(name, length, first, second):
        return side(talk, name, ("one",), length, task=first, labels={"mood": "calm"}) + side(
            talk, name, ("other",), length, task=second, labels={"mood": "brisk"}
        )

    sim = apart("s", lambda assistant, user: 20 + user % 5, "gifts", "trips")
    human = apart("h", lambda assistant, user: user % 5, "trips", "gifts")
    report = compare(sim, human, **QUICK)
    rows = [
        one for one in report.measures if one.reason not in ("neither group has a value", "no person's conversation")
    ]
    reason = "no task and assistant in which both groups have a value"
    assert row(report, "message length").reason == row(report, "mood").reason == reason
    assert all(one.effect is None for one in rows)
    assert (report.discriminator.auc.value, report.discriminator.auc.reason) == (None, reason)


def test_categories_are_compared_within_assistants_as_measures_are(talk):
    def moods(name, calm, brisk):
        return side(talk, name, ("one",), users=calm, labels={"mood": "calm"}) + side(
            talk, name, ("other",), users=brisk, labels={"mood": "brisk"}
        )

    assert row(compare(moods("s", 20, 5), moods("h", 5, 20), **QUICK), "mood").effect == 0


@pytest.mark.heavy
def test_conversations_of_a_reference_with_the_same_assistants_are_used_and_only_others_left_out(talk):
    sides = side(talk, "s", ("one", "two")), side(talk, "h", ("one", "two"))
    reference = side(talk, "r", ("one",)) + side(talk, "r", ("other",), users=5) + side(talk, "q", ("",), users=3)
    report = compare(*sides, reference, references={"mixed": reference, "apart": reference[20:25]}, **QUICK)
    assert report.references.keys() == {"mixed"}
    assert (report.references["mixed"].compared, report.published.compared) == (20, 20)
    assert row(report, "message length").references[0].effect is not None


@pytest.mark.heavy
def test_further_people_show_how_far_people_are_from_people(talk):
    human = side(talk, "h", ("",), lambda assistant, user: user % 5)
    longer = side(talk, "r", ("",), lambda assistant, user: 6 + user % 5)
    report = compare(
        side(talk, "s", ("",), lambda assistant, user: 20), human, references={"others": longer, "<b>": human}, **QUICK
    )
    length = row(report, "message length")
    others, same = length.references
    assert (others.name, others.effect_from_people, others.effect) == ("others", 1, 1)
    assert length.between_references == others.distance_from_people > 1 > length.floor
    assert (same.effect_from_people, same.distance_from_people) == (0, 0)
    others_auc, same_auc = report.discriminator.references
    assert others_auc.from_people.value == 1
    assert same_auc.from_people.value == pytest.approx(0.5, abs=0.01)
    assert report.references["others"].users == 20


def test_a_reference_about_other_tasks_is_said_and_left_out(talk):
    sides = side(talk, "s", ("",), task="gifts"), side(talk, "h", ("",), task="gifts")
    report = compare(*sides, references={"chess": side(talk, "r", ("",), task="chess")}, **QUICK)
    assert report.references == {}
    assert any("'chess'" in note and "not compared" in note for note in report.notes)


@pytest.mark.heavy
def test_effects_of_opposite_sign_between_tasks_stand_beside_each_other(talk):
    def texts(often):
        return lambda assistant, user: 20 if (user % 8 == 0) is not often else 1

    sim = side(talk, "s", ("",), texts(True), users=40, task="gifts") + side(
        talk, "s", ("",), texts(False), users=40, task="trips"
    )
    human = side(talk, "h", ("",), texts(False), users=40, task="gifts") + side(
        talk, "h", ("",), texts(True), users=40, task="trips"
    )
    length = row(compare(sim, human, **QUICK), "message length")
    assert abs(length.effect) < 0.1
    assert length.task_effects == (pytest.approx(-0.75, abs=0.1), pytest.approx(0.75, abs=0.1))


@pytest.mark.heavy
def test_a_side_against_itself_is_said_and_nothing_is_told_apart(talk):
    people = side(talk, "h", ("",), lambda assistant, user: user % 7, thanks=lambda assistant, user: user % 3 == 0)
    report = compare(people, people, **QUICK)
    assert any("The conversations of the two sides are the same" in note for note in report.notes)
    assert all(row.effect in (0, None) and row.p in (1, None) for row in report.measures)
    auc = report.discriminator.auc
    assert auc.value == pytest.approx(0.5, abs=0.01)
    assert auc.low <= 0.5 <= auc.high
    renamed = [one.model_copy(update={"extra": {"user": f"x{one.extra['user']}"}}) for one in people]
    assert compare(people, renamed, **QUICK).discriminator.auc.value == pytest.approx(0.5, abs=0.01)


def test_measures_that_go_together_count_as_fewer():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(200, 1))
    users = [(n < 100, str(n)) for n in range(200)]

    def number(values):
        return effective_number(cells_of(values, users, ["t"] * 200), range(values.shape[1]))

    assert number(np.concatenate([one, one, one], axis=1)) == pytest.approx(1)
    assert number(rng.normal(size=(200, 3))) == pytest.approx(3, abs=0.2)
    apart = rng.normal(size=(200, 3)) + 5 * np.array([side for side, _ in users])[:, None]
    assert number(apart) == pytest.approx(3, abs=0.2)
    assert number(one) is None


def test_pairs_of_measures_that_go_together_are_named_with_their_correlation():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 200, 1))
    values = np.concatenate([one, -np.exp(one), other, np.ones((200, 1)), one + other], axis=1)
    values += 9 * (np.arange(200) < 100)[:, None]  # a difference of the sides is no correlation
    both = cells_of(values, [(n < 100, str(n)) for n in range(200)], ["t"] * 200)
    names = ["a", "against a", "b", "constant", "sum"]
    first, *others = correlated_pairs(both, range(5), names)
    assert (first.first, first.second, first.value) == ("a", "against a", pytest.approx(-1))
    assert {(pair.first, pair.second) for pair in others} == {("a", "sum"), ("against a", "sum"), ("b", "sum")}
    assert all(0.5 <= abs(pair.value) < 0.9 for pair in others)
    assert correlated_pairs(both, [2, 3], names) == correlated_pairs(both, [], names) == ()


@pytest.mark.heavy
def test_the_report_names_its_correlated_measures(talk):
    def polite(assistant, user):
        return user % 3 == 0

    sides = [side(talk, name, ("",), lambda assistant, user: user % 5, thanks=polite, users=30) for name in "sh"]
    report = compare(*sides, **QUICK)
    pairs = {frozenset((pair.first, pair.second)): pair.value for pair in report.correlated}
    assert pairs[frozenset(("thanks", "exclamation"))] == pytest.approx(1)
    assert [abs(pair.value) for pair in report.correlated] == sorted((abs(v) for v in pairs.values()), reverse=True)


def test_five_users_a_side_get_an_effect_and_the_reason_why_there_is_no_interval(talk):
    report = compare(side(talk, "s", ("",), users=5), side(talk, "h", ("",), lambda a, user: 9, users=5), **QUICK)
    length = row(report, "message length")
    assert (length.effect, length.ci_low, length.effect_high) == (-1, None, None)
    assert length.no_interval.startswith("too few users for an interval")
    assert report.discriminator.auc.reason == "too few users for an interval"


@pytest.mark.heavy
def test_halves_of_people_without_an_auc_tell_why(talk):
    def floor(sim, human):
        return compare(sim, human, **QUICK).discriminator.floor

    varied = side(talk, "s", ("",), lambda assistant, user: user % 5)
    equal = [talk("a plan", "ok", user=f"h{n}", id=f"h{n}") for n in range(20)]
    shared = "human-human baseline: the sides share conversations of all users: none can be held out"
    assert floor(varied, equal).reason == shared
    constant = [talk(f"a plan {word}", "ok", user=word, id=word) for word in (f"{a}{b}" for a in "abcd" for b in "xyz")]
    nothing = floor(constant, constant)
    assert nothing.value is None
    assert nothing.reason == "human-human baseline: no measure with a value in both groups differs"
    assert floor(varied, varied[:3]).reason == "too few people for a human-human baseline"
    assert floor(varied, varied).value is not None


@pytest.mark.heavy
def test_users_who_share_nearly_all_conversations_have_no_auc(talk):
    people = [talk(f"I want plan {n}{'!' * (n % 3)}", "ok", user=f"h{n}", id=f"h{n}") for n in range(14)]

    def auc(shared):
        first = [talk(one.messages[0].text, "ok", user="s0", id=one.id) for one in people[:shared]]
        others = [talk(f"Another plan {n}{'?' * (n % 3)}", "ok", user=f"s{n}", id=f"s{n}") for n in range(1, 14)]
        return compare(first + others, people, **QUICK).discriminator.auc

    assert (auc(10).value, auc(14).value) == (None, None)
    assert auc(10).reason == "users who share conversations are held out together, and fewer than ten can be"
    assert auc(1).value is not None
