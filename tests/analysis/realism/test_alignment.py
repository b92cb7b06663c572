"""The published features, their alignment, the calibration of outcomes, and the agreement of ratings."""

import pytest

from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.published.alignment import aligned, dice
from duologue.analysis.realism.published.features import DIMENSIONS, FEATURES
from duologue.data import Conversation, Message

pytest.importorskip("sklearn")


def talk(*texts, user="u", number=0, scenario=None, success=None, rating=None):
    """A conversation in which the user writes these texts."""
    messages = []
    for text in texts:
        messages += [Message(role="user", text=text), Message(role="assistant", text="Here it is.")]
    labels = {} if success is None else {"scores": {"success": {"value": success, "reason": ""}}}
    labels |= {} if rating is None else {"satisfaction": rating}
    return Conversation(
        id=f"{user}-{number}",
        scenario={"task": "t", **(scenario or {})},
        messages=messages,
        labels=labels,
        extra={"user": user},
    )


def values(*texts):
    """Each feature of a conversation with these texts of the user."""
    (transcript,) = transcripts_of([talk(*texts)], "en")
    return {measure.name: measure.values([transcript])[0] for measure in FEATURES}


def test_there_are_nineteen_features_in_four_dimensions():
    assert [sum(measure.family == name for measure in FEATURES) for name in DIMENSIONS] == [8, 3, 5, 3]


def test_each_feature_is_what_its_definition_says():
    of = values(
        "Please change my booking QX4821 to 2027-05-03, if you can.",
        "Ok.",
        "That is not right, I already told you. This is ridiculous and useless!",
        "What do you mean? Maybe another day instead. However, I definitely want it.",
    )
    assert of["words per message"] == pytest.approx(37 / 4, abs=1.5)
    assert of["short messages"] == 0.25
    assert of["polite messages"] == 0.25
    assert of["formal messages"] == 0.25
    assert of["bare acknowledgements"] == 0.25
    assert of["identifiers per message"] == 0.5
    assert of["pushback"] == of["emotion"] == of["accusation"] == 0.25
    assert of["questions of clarification"] == of["information seeking"] == 0.25
    assert of["uncertainty"] == of["certainty"] == of["change of plan"] == 0.25
    assert of["assistant's phrases"] == of["repetition"] == 0
    assert 0.2 < of["front loading"] < 0.6
    again = values(*["I want the red one now"] * 4)
    assert again["repetition"] == 1
    assert again["variation of length"] == 0
    assert values("How may I help you with that?")["assistant's phrases"] == 1


@pytest.mark.parametrize(
    ("feature", "texts", "value"),
    [
        ("short messages", ("Yes please now", "Yes please do so"), 0.5),
        ("repetition", ("I want tea",) * 3, 0),
        ("repetition", (*("I want tea",) * 4, "Thanks"), 0.8),
        ("front loading", ("one two", "three", "four", "five six"), 0.5),
        ("variation of length", ("one", "one two three"), 0.5),
        ("identifiers per message", ("Order #AB12 of ann@host.example, 2027-05-03, and AB-1234.", "No."), 2),
        ("information seeking", ("Is there tea？", "Good."), 0.5),
    ],
)
def test_a_feature_at_the_bound_of_its_definition(feature, texts, value):
    assert values(*texts)[feature] == pytest.approx(value)


def test_the_interval_is_over_both_sides_and_people_are_halved_apart():
    sim = [talk(*["Book it"] * 2, "Please" if n % 2 else "Now", user=f"s{n}", number=n) for n in range(16)]
    human = people(16, "Please book it")
    rows = {row.feature: row for row in aligned(sim, human, draws=80, halvings=20).rows}
    polite = rows["polite messages"]
    assert polite.value == pytest.approx(2 * (1 / 6) / (7 / 6))
    assert polite.low is not None
    assert polite.high is not None
    assert polite.low < polite.value < polite.high < 0.6
    halves = {row.feature: row.people for row in aligned(human, sim, draws=8, halvings=20).rows}
    between = halves["polite messages"]
    assert between is not None
    assert 0.5 < between < 1


def test_a_difficulty_at_a_bound_is_in_the_bin_above():
    scenarios = [{"task": f"t{n}", "task_context": f"c{n}", "difficulty": 0.1 if n else 0.2} for n in range(2)]
    sides = [[talk("Book it", user=f"{n}", scenario=one, success=bool(n) is side) for n, one in enumerate(scenarios)]
             for side in (True, False)]  # fmt: skip
    assert aligned(*sides, draws=8, halvings=2).errors[0].value == 1.0  # one bin for both: their errors would cancel


def test_dice_is_one_for_equal_means_and_zero_where_one_side_never_does_it():
    assert (dice(0, 0), dice(2, 2), dice(0, 1)) == (1.0, 1.0, 0.0)
    assert dice(1, 3) == 0.5


def people(count, *texts, **more):
    """As many users with one conversation each."""
    return [talk(*texts, user=f"u{n}", number=n, **more) for n in range(count)]


def test_equal_sides_are_aligned_and_a_polite_one_is_not_in_the_dimension_of_communication():
    human = people(16, "Change the flight to Monday", "No, to Tuesday")
    same = aligned(human, human, draws=40, halvings=10)
    assert {row.value for row in same.rows} == {1.0}
    assert {row.people for row in same.rows} == {1.0}
    polite = people(16, "Please change the flight to Monday", "No, to Tuesday please")
    rows = {(row.dimension, row.feature): row for row in aligned(polite, human, draws=40, halvings=10).rows}
    row = rows["communication style", "polite messages"]
    assert (row.sim, row.human, row.value) == (1.0, 0.0, 0.0)
    mean = rows["communication style", "mean of the dimension"].value
    assert mean is not None
    assert 0.7 < mean < 0.95


def test_the_calibration_error_is_over_five_bins_of_difficulty():
    sim, human = [], []
    for number in range(10):
        hard = number >= 5
        scenario = {"task": f"t{number}", "task_context": f"c{number}", "difficulty": 0.9 if hard else 0.1}
        sim.append(talk("Book it", user=f"s{number}", scenario=scenario, success=True))
        human.append(talk("Book it", user=f"h{number}", scenario=scenario, success=not hard))
    (error, *_) = aligned(sim, human, draws=50, halvings=2).errors
    assert (error.of, error.tasks, error.value) == ("success (ECE)", 10, 0.5)
    # Errors of one sign in one bin and of the other in another do not cancel.
    turned = [one.model_copy(update={"labels": talk("x", success=n >= 5).labels}) for n, one in enumerate(sim)]
    assert aligned(turned, human, draws=50, halvings=2).errors[0].value == 1.0


def test_the_absolute_error_of_a_rating_is_over_tasks():
    sim = [talk("Book it", user=f"s{n}", scenario={"task_context": f"c{n}"}, rating=5) for n in range(9)]
    human = [talk("Book it", user=f"h{n}", scenario={"task_context": f"c{n}"}, rating=3 + n % 2) for n in range(9)]
    errors = {error.of: error for error in aligned(sim, human, draws=50, halvings=2).errors}
    error = errors["satisfaction (MAE)"]
    assert error.value == pytest.approx((2 * 5 + 1 * 4) / 9)
    assert error.tasks == 9
    assert errors["success (ECE)"].reason == "no task has it on both sides"


def test_sides_without_a_conversation_give_no_row_and_no_error():
    report = aligned([], people(3, "Hi"))
    assert report.rows == ()
    assert report.notes
