"""Whether simulated users react to a worse assistant as people do."""

import pytest

from duologue.analysis.realism.published.reactions import reactions_of
from duologue.data import Conversation, Message

pytest.importorskip("sklearn")


def talk(user, number, *texts):
    """A conversation in which the user writes these texts."""
    messages = []
    for text in texts:
        messages += [Message(role="user", text=text), Message(role="assistant", text="Here it is.")]
    return Conversation(id=f"{user}-{number}", scenario={"task": "t"}, messages=messages, extra={"user": user})


def group(side, *, thanks, users=24):
    """A conversation of each user; the first `thanks` of them thank."""
    return [
        talk(
            f"{side}{n}", f"{side}{thanks}", f"I want the train number {n}", "Thanks!" if n < thanks else "Another one"
        )
        for n in range(users)
    ]


def row(report, measure="thanks"):
    (match,) = [one for one in report.rows if one.measure == measure]
    return match


PEOPLE = group("p", thanks=20), group("p", thanks=4)


def test_a_user_who_thanks_less_as_people_do_reacts_in_the_same_direction():
    report = reactions_of((group("s", thanks=19), group("s", thanks=4)), PEOPLE, draws=400)
    thanks = row(report)
    assert thanks.human == pytest.approx(-16 / 24 / 2)  # of two messages
    assert thanks.finding == "same direction"
    assert thanks.human_low is not None
    assert thanks.human_low < thanks.human < (thanks.human_high or 0) < 0
    assert report.rows[0].human_p is not None
    assert "simulated users there: same direction" in report.verdict


@pytest.mark.parametrize(("good", "bad", "finding"), [(20, 20, "not shown"), (4, 20, "opposite"), (24, 0, "stronger")])
def test_other_reactions_are_told_from_it(good, bad, finding):
    assert row(reactions_of((group("s", thanks=good), group("s", thanks=bad)), PEOPLE, draws=400)).finding == finding


def test_a_stronger_reaction_is_one_whose_difference_is_shown():
    people = group("p", thanks=40, users=60), group("p", thanks=20, users=60)
    sim = group("s", thanks=60, users=60), group("s", thanks=0, users=60)
    assert row(reactions_of(sim, people, draws=400)).finding == "stronger"
    assert row(reactions_of(people, sim, draws=400)).finding == "weaker"


def test_only_simulated_users_react_where_people_do_not():
    same = group("p", thanks=12)
    report = reactions_of((group("s", thanks=20), group("s", thanks=2)), (same, same), draws=400)
    assert row(report).finding == "only simulated"
    assert report.verdict.startswith("People are shown to react by 0 of ")


def test_users_who_met_both_assistants_are_drawn_with_both_so_a_paired_reaction_has_a_narrow_interval():
    words = [f"{'very ' * n}long wish" for n in range(1, 25)]
    good = [talk(f"u{n}", 0, text) for n, text in enumerate(words)]
    bad = [talk(f"u{n}", 1, f"{text} now") for n, text in enumerate(words)]
    paired = row(reactions_of((good, bad), (good, bad), draws=400), "words per message")
    others = [one.model_copy(update={"extra": {"user": f"v{one.id}"}}) for one in bad]
    apart = row(reactions_of((good, others), (good, others), draws=400), "words per message")
    assert paired.human == apart.human == pytest.approx(1.0)
    assert paired.human_low is None  # all react alike
    assert paired.human_p == pytest.approx(0, abs=1e-5)
    assert apart.human_low is not None
    assert apart.human_low < -1


def test_too_few_users_give_no_interval_and_an_empty_group_no_row():
    few = group("p", thanks=3, users=7)
    assert row(reactions_of((few, few), PEOPLE, draws=50)).finding == ""
    assert reactions_of(([], few), PEOPLE, draws=50).rows == ()
