"""Making profiles on disk: what is sent back, what goes on where it stopped, when it gives up."""

from pathlib import Path
from typing import Any

import pytest

from duologue.data.recllmsim import Profile, near_duplicate, read_pool, shipped_profiles
from duologue.runs.engine import blocking
from duologue.runs.profiles import END, MadeProfiles, agenerate, profiles_planned
from duologue.runs.settings import RunSettings
from duologue.runs.store import RunError
from duologue.testing import scripted_model

BO, CLEO = shipped_profiles().texts[0], shipped_profiles().texts[4]
INCOMPLETE = BO.replace("2. Age: 19\n", "")


def generate(*arguments: Any, **more: Any) -> MadeProfiles:
    return blocking(agenerate(*arguments, **more))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "pool.txt"


def test_a_model_makes_a_pool_that_can_be_read(out: Path) -> None:
    making = generate(9, out, scripted_model(*shipped_profiles().texts, by_call=True))
    pool = read_pool(out)
    assert (making.failure, making.new, len(pool), len(set(pool.texts)), making.rejected) == ("", 9, 9, 9, {})
    assert making.profiles == pool.profiles
    assert making.usage["calls"] == 9


def test_an_incomplete_proposal_is_repaired(out: Path) -> None:
    model = scripted_model(INCOMPLETE, BO, by_call=True)
    making = generate(1, out, model)
    assert (making.failure, making.rejected) == ("", {"incomplete": 1})
    assert out.read_text() == BO + END
    assert "it lacks Age." in model.sent[1][-1].text
    assert INCOMPLETE in model.texts[1]


def test_a_near_duplicate_is_refused_of_the_pool_and_of_what_was_made(out: Path) -> None:
    again = BO.replace("19", "20")
    model = scripted_model(again, CLEO, CLEO.replace("37", "38"), shipped_profiles().texts[6], by_call=True)
    making = generate(2, out, model, pool=[Profile.of(BO)])
    assert making.rejected == {"near_duplicate": 2}
    assert near_duplicate(making.profiles[1], making.profiles[:1]) is None
    assert making.coverage.profiles == 3


def test_after_its_attempts_another_person_is_asked_for_and_in_the_end_nobody(out: Path) -> None:
    model = scripted_model("I would rather not.", by_call=True)
    making = generate(3, out, model)
    assert (making.failure, making.rejected) == ("drafts were rejected too often", {"empty": 12})
    assert [len(sent) for sent in model.sent] == [2, 4, 6, 8] * 3
    assert len({sent[1].text for sent in model.sent}) == 3  # each time somebody else


def test_a_failing_model_ends_it_and_what_was_made_is_kept(out: Path) -> None:
    making = generate(3, out, scripted_model(BO, RuntimeError("no more"), by_call=True))
    assert len(making.profiles) == 1
    assert "no more" in making.failure
    assert out.read_text() == BO + END


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_same_call_goes_on_and_ends_as_one_that_never_stopped(tmp_path: Path, language: Any) -> None:
    texts, whole, parts = shipped_profiles(language).texts, tmp_path / "whole.txt", tmp_path / "parts.txt"
    generate(8, whole, scripted_model(*texts[:8], by_call=True), language=language)
    assert generate(3, parts, scripted_model(*texts[:3], by_call=True), language=language).new == 3
    parts.write_bytes(parts.read_bytes()[:-30])  # as a kill leaves it
    making = generate(8, parts, scripted_model(*texts[3:8], by_call=True), language=language)
    assert (making.new, making.failure) == (6, "")
    assert parts.read_bytes() == whole.read_bytes()


def test_a_rejected_draft_is_not_paid_for_again(out: Path) -> None:
    first = scripted_model(INCOMPLETE, RuntimeError("away"), by_call=True)
    assert "away" in generate(1, out, first).failure
    second = scripted_model(BO, by_call=True)
    assert not generate(1, out, second).failure
    assert len(second.sent) == 1
    assert INCOMPLETE in second.texts[0]


def test_a_bound_ends_it_and_counts_what_was_paid_before(out: Path) -> None:
    texts = shipped_profiles().texts[:5]
    model = scripted_model(*texts, by_call=True, tokens=(300, 50))
    bounded = {"assistant": model, "settings": RunSettings(max_tokens=1_000)}
    making = generate(5, out, **bounded)
    assert 0 < making.new < 5
    assert "1,000" in making.failure
    sent = len(model.sent)
    again = generate(5, out, assistant=model, settings=RunSettings(max_tokens=1_000))
    assert (again.new, len(model.sent)) == (0, sent)


def test_profiles_of_others_are_not_gone_on_with_and_a_plan_leaves_out_what_is_made(out: Path) -> None:
    out.write_text(BO)
    with pytest.raises(RunError, match="were not made here"):
        generate(2, out, scripted_model(BO))
    out.unlink()
    generate(2, out, scripted_model(BO, CLEO, by_call=True))
    assert profiles_planned(5, out, scripted_model(BO)).count == 3
