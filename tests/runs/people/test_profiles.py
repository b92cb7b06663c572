"""Making profiles on disk: what is kept, what is sent back, what a kill leaves, when it gives up."""

import json
import os
import signal
import time

import pytest

from duologue import runs
from duologue.data.recllmsim import Profile, near_duplicate, read_pool, shipped_profiles
from duologue.nodes.profiles import ProfileLimits
from duologue.runs.people.profiles import profiles_planned
from duologue.testing import scripted_model

BO, CLEO = shipped_profiles().texts[0], shipped_profiles().texts[4]
INCOMPLETE = BO.replace("2. Age: 19\n", "")


def drafts(path):
    return [json.loads(line) for line in path.with_suffix(".drafts.jsonl").read_text().splitlines()]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "pool.txt"


def test_the_offline_model_makes_a_pool_that_can_be_read(out):
    making = runs.profiles.generate(17, out)
    pool = read_pool(out)
    assert making.complete
    assert (making.stop, making.new, len(pool), pool.distinct, making.rejected) == ("done", 17, 17, 17, {})
    assert making.profiles == pool.profiles
    assert sum(making.coverage.ages.values()) == 17
    assert making.coverage.lacking == {}  # every kind was asked for
    assert making.usage["calls"] == 17


@pytest.mark.parametrize("usage", [5, [], "x", {"input_tokens": "many"}, {"input_tokens": None}, {"input_tokens": [1]}])
def test_a_usage_on_disk_that_is_none_counts_as_none(out, usage):
    runs.profiles.generate(2, out)
    first, second = drafts(out)
    lines = [json.dumps({**first, "usage": usage}), json.dumps(second)]
    out.with_suffix(".drafts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    making = runs.profiles.generate(2, out)
    assert (making.new, making.usage["calls"]) == (0, 1)


@pytest.mark.parametrize("usage", ["usage_odd", "usage_negative", "usage_null"])
def test_a_usage_in_a_reply_that_is_none_counts_as_none(out, usage, faulty, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a.key")
    monkeypatch.setenv("OPENAI_BASE_URL", faulty(reply=BO, faults={usage: 1.0}).url)
    making = runs.profiles.generate(1, out, "openai:m")
    assert (making.new, making.usage["input_tokens"]) == (1, 0)


def test_an_incomplete_proposal_is_repaired(out):
    model = scripted_model(INCOMPLETE, BO, by_call=True)
    making = runs.profiles.generate(1, out, model)
    assert making.complete
    assert out.read_text() == BO
    assert [(draft["verdict"], draft.get("reason")) for draft in drafts(out)] == [
        ("rejected", "incomplete"), ("accepted", None)
    ]  # fmt: skip
    assert "it lacks Age." in model.sent[1][-1].text
    assert INCOMPLETE in model.texts[1]


def test_a_near_duplicate_is_refused_of_the_pool_and_of_what_was_made(out):
    again = BO.replace("19", "20")
    model = scripted_model(again, CLEO, CLEO.replace("37", "38"), shipped_profiles().texts[6], by_call=True)
    making = runs.profiles.generate(2, out, model, pool=[Profile.of(BO)])
    assert making.rejected == {"near_duplicate": 2}
    assert [BO in model.sent[1][-1].text, CLEO in model.sent[3][-1].text] == [True, True]
    assert near_duplicate(making.profiles[1], making.profiles[:1]) is None
    assert making.coverage.profiles == 3


def test_after_its_attempts_another_person_is_asked_for_and_in_the_end_nobody(out):
    model = scripted_model("I would rather not.", by_call=True)
    making = runs.profiles.generate(3, out, model, limits=ProfileLimits(attempts=2, rounds=3))
    assert (making.stop, making.complete, len(making.profiles)) == ("attempts_spent", False, 0)
    assert making.rejected == {"empty": 6}
    assert [(draft["round"], draft["attempt"]) for draft in drafts(out)] == [
        (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)
    ]  # fmt: skip
    assert [len(sent) for sent in model.sent] == [2, 4] * 3
    assert len({sent[1].text for sent in model.sent}) == 3  # each time somebody else
    more = runs.profiles.generate(1, out, scripted_model(BO, by_call=True), limits=ProfileLimits(attempts=2))
    assert more.complete
    assert drafts(out)[-1]["round"] == 3


def test_a_failing_model_ends_it_and_what_was_made_is_kept(out):
    making = runs.profiles.generate(3, out, scripted_model(BO, RuntimeError("no more"), by_call=True))
    assert (making.stop, len(making.profiles)) == ("model_failed", 1)
    assert "no more" in making.failure
    assert out.read_text() == BO


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_same_command_goes_on_and_ends_as_one_that_never_stopped(tmp_path, language):
    model = "offline?misbehave=0.5"
    whole = tmp_path / "whole.txt"
    runs.profiles.generate(8, whole, model, language=language)
    parts = tmp_path / "parts.txt"
    journal, lines = (
        parts.with_suffix(".drafts.jsonl"),
        whole.with_suffix(".drafts.jsonl").read_bytes().splitlines(True),
    )
    for cut in (1, 4, 7, len(lines) - 1):  # as a kill leaves it: some lines, half a line, half a profile
        journal.write_bytes(b"".join(lines[:cut]) + lines[cut][:20])
        parts.write_bytes(whole.read_bytes()[: 100 * cut])
        profile_count = sum(b'"verdict": "accepted"' in line for line in lines[:cut])
        parts.write_bytes(b"\n\n".join(whole.read_bytes().split(b"\n\n")[:profile_count])[:-3])
        making = runs.profiles.generate(8, parts, model, language=language)
        assert making.complete
        assert "cut off" in making.notes[0]
        assert parts.read_bytes() == whole.read_bytes()
        assert journal.read_bytes() == b"".join(lines)
    assert runs.profiles.generate(8, parts, model, language=language).new == 0


@pytest.mark.heavy
def test_a_killed_process_leaves_what_the_next_one_goes_on_with(forks, tmp_path):
    whole, killed = tmp_path / "whole.txt", tmp_path / "killed.txt"
    runs.profiles.generate(40, whole, "offline?misbehave=0.3")
    command = ("papers", "recllmsim", "profiles", "40", "--model", "offline?misbehave=0.3", "--out", killed)
    fork = forks(command, tmp_path)
    journal = killed.with_suffix(".drafts.jsonl")
    while not fork.over and not (journal.exists() and journal.stat().st_size > 10_000):
        time.sleep(0.01)
    fork.kill()
    assert fork.wait() == -9
    assert forks.run(*command, cwd=tmp_path).returncode == 0
    assert killed.read_bytes() == whole.read_bytes()


def test_seeds_decide(tmp_path):
    texts = []
    for number, seed in enumerate((1, 1, 2)):
        out = tmp_path / f"{number}.txt"
        runs.profiles.generate(3, out, limits=ProfileLimits(seed=seed))
        texts.append(out.read_text())
    assert texts[0] == texts[1] != texts[2]


def test_a_file_that_was_not_made_here_is_left_alone(out):
    out.write_text(BO)
    with pytest.raises(runs.RunError, match="not made here"):
        runs.profiles.generate(2, out)
    assert out.read_text() == BO
    out.unlink()
    runs.profiles.generate(1, out)
    out.write_text(CLEO)
    with pytest.raises(runs.RunError, match="differs from the accepted drafts"):
        runs.profiles.generate(2, out)
    out.unlink()
    out.mkdir()
    with pytest.raises(runs.RunError, match="is a folder"):
        runs.profiles.generate(2, out)


def test_one_file_has_one_language_and_one_writer(out):
    runs.profiles.generate(1, out)
    with pytest.raises(runs.RunError, match="its language is 'en'"):
        runs.profiles.generate(2, out, language="zh")
    journal = out.with_suffix(".drafts.jsonl")
    journal.write_text("[1]\n")
    with pytest.raises(ValueError, match=r"line 1: is not a draft of a profile"):
        runs.profiles.generate(2, out)


def test_somebodys_own_validator_and_pages_take_their_places(out, tmp_path):
    page = tmp_path / "pages" / "assistant" / "first.md"
    page.parent.mkdir(parents=True)
    page.write_text("Somebody {{ gender }}, {{ age }}, {{ occupation }}, {{ traits }}, please.")
    model = scripted_model(BO, by_call=True)
    runs.profiles.generate(1, out, model, prompts=tmp_path / "pages")
    assert model.sent[0][1].text.startswith("Somebody ")


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_after_a_signal_the_next_command_pays_for_no_reply_again(forks, faulty, tmp_path, number):
    endpoint = faulty(latency=0.05, misbehave=0.4)
    out = tmp_path / "pool.txt"
    command = ("papers", "recllmsim", "profiles", "8", "--model", "openai:m", "--out", out)
    fork = forks(command, tmp_path, endpoint.environment)
    while not fork.over and endpoint.counts()["requests"] < 5:
        time.sleep(0.01)
    os.kill(fork.pid, number)
    fork.wait()
    before = len(drafts(out))
    assert 0 < before < 8
    assert forks.run(*command, cwd=tmp_path, environment=endpoint.environment).returncode == 0
    assert 0 <= endpoint.counts()["requests"] - len(drafts(out)) <= 1  # the call that was under way
    assert not out.with_suffix(".calls.jsonl").exists()


def test_a_bound_ends_it_after_the_draft_that_was_paid_for_and_holds_over_later_calls(out):
    model = scripted_model(INCOMPLETE, BO, CLEO, by_call=True, tokens=(900, 100))
    bounded = runs.Conduct(max_run_tokens=2600)
    making = runs.profiles.generate(2, out, model, conduct=bounded)
    assert (making.stop, len(making.profiles), len(drafts(out)), len(model.sent)) == (None, 1, 2, 2)
    assert making.stopped.startswith("--max-tokens 2,600 is reached, with 2,000 tokens: ")
    again = runs.profiles.generate(2, out, model, conduct=bounded)
    assert again.stopped.partition(":")[0] == making.stopped.partition(":")[0]
    assert len(model.sent) == 2
    making = runs.profiles.generate(2, out, model)
    assert (making.complete, making.stopped, len(model.sent)) == (True, None, 3)


def test_recorded_calls_make_the_same_profiles_again_without_a_model(out, tmp_path):
    model = scripted_model(INCOMPLETE, BO, CLEO, by_call=True)
    runs.profiles.generate(2, out, model, record=tmp_path / "calls.jsonl")
    again = tmp_path / "again.txt"
    replay = runs.Conduct(replay_calls=tmp_path / "calls.jsonl")
    silent = scripted_model("No.", by_call=True)
    making = runs.profiles.generate(2, again, silent, conduct=replay)
    assert (making.complete, again.read_text(), silent.sent) == (True, out.read_text(), [])


def test_a_plan_is_of_the_profiles_that_the_file_lacks_and_bounds_what_they_take(out):
    model = "offline?misbehave=0.5"
    limits = ProfileLimits(attempts=4, rounds=2)
    runs.profiles.generate(2, out, model, limits=limits)
    plan = profiles_planned(12, out, model, limits=limits)
    assert (plan.count, plan.usual, plan.most, plan.calls_models) == (10, 10, 80, False)
    usage = runs.profiles.generate(2, out, model, limits=limits).usage
    more = runs.profiles.generate(12, out, model, limits=limits).usage
    low, about, high = plan.estimated().tokens
    spent = sum(more[name] - usage[name] for name in ("input_tokens", "output_tokens"))
    assert low < about < high
    assert low < spent < high
