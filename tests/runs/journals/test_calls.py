"""The call journal: what was paid for is not paid again, and a recorded run runs without its endpoint."""

import json
import os
import re
from typing import Any

import pytest
from langchain_core.exceptions import ModelInvalidRequestError
from langchain_core.messages import HumanMessage

import duologue
from duologue import nodes, runs
from duologue.graphs import simquac
from duologue.nodes.calls.service import Calls
from duologue.nodes.calls.store import Call, Replies, SentRequest, StoredReply
from duologue.runs import CallFile, Conduct, RunError
from duologue.testing import scripted_model
from tests.fake_models import PaidModel
from tests.runs.journals.recorded_runs import LIMITS, cast, plain, simulated


@pytest.fixture
def whole(tmp_path, topics):
    """An undisturbed run, and the number of its calls."""
    till: list[int] = []
    return plain(simulated(cast(till), topics, tmp_path / "whole")), len(till)


def test_what_was_paid_before_a_run_broke_off_is_not_paid_again(tmp_path, topics, whole):
    undisturbed, calls = whole
    till: list[int] = []
    for most in range(5, calls, 7):
        simulated(cast(till, most), topics, tmp_path / "broken", resume=most > 5)
        assert len(till) == most
    conversations = simulated(cast(till), topics, tmp_path / "broken", resume=True)
    assert plain(conversations) == undisturbed
    assert len(till) == calls


def test_the_journal_is_dropped_when_the_run_is_complete_unless_it_is_to_be_kept(tmp_path, topics):
    simulated(cast([], 9), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    assert journal.is_file()
    simulated(cast([]), topics, tmp_path / "run", resume=True, conduct=Conduct(keep_calls=True))
    assert journal.is_file()
    simulated(cast([]), topics, tmp_path / "run", resume=True)
    assert not journal.exists()


def test_a_reply_to_something_else_is_not_used_and_the_run_says_so(tmp_path, topics, caplog):
    till: list[int] = []
    paid_cast = cast(till, 9)
    simulated(paid_cast, topics, tmp_path / "run")
    lines = (tmp_path / "run/calls.jsonl").read_text().splitlines()
    changed = [re.sub(r'("digest": ?")', r"\1other", line) for line in lines]
    (tmp_path / "run/calls.jsonl").write_text("\n".join(changed) + "\n")
    till.clear()
    summary = duologue.runs.blocking(
        runs.arun(cast(till), simquac.scenarios(topics(4)), tmp_path / "run", limits=LIMITS, resume=True)
    )
    assert summary.complete
    assert any("kept replies were not used" in note for note in summary.notes)


def test_a_broken_line_of_the_journal_is_asked_again(tmp_path, topics, whole):
    undisturbed, calls = whole
    till: list[int] = []
    simulated(cast(till, 12), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"{\xff\n", *lines[3:], b'{"cut off']))
    assert plain(simulated(cast(till), topics, tmp_path / "run", resume=True)) == undisturbed
    assert len(till) == calls


def test_a_reply_is_on_the_disk_when_its_file_is_closed(tmp_path, monkeypatch):
    from langchain_core.messages import HumanMessage

    from duologue.nodes.calls.store import Call, SentRequest, StoredReply

    synced = []
    file = CallFile.recording(tmp_path / "calls.jsonl")
    file.keep(Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")]), StoredReply({}))
    monkeypatch.setattr(os, "fsync", synced.append)
    file.close()
    assert len(synced) == 1


async def test_a_turn_of_an_agent_that_failed_is_not_kept(tmp_path):
    file = CallFile.recording(tmp_path / "calls.jsonl")
    for outcome in ({"failed": "timeout"}, {"drafts": []}):

        async def ask(outcome=outcome):
            return outcome

        call = Call(0, "c1", "assistant")
        assert (
            await Calls(replies=Replies(file)).update({"agent": "a"}, [HumanMessage("Now?")], call, 1, ask) == outcome
        )
    file.close()
    assert file.path.read_text().count('"reply"') == 1


def test_the_second_file_of_calls_is_on_the_disk_and_closed_with_the_first(tmp_path, monkeypatch):
    from langchain_core.messages import HumanMessage

    from duologue.nodes.calls.store import Call, SentRequest, StoredReply

    synced = []
    file, copy = (CallFile.recording(tmp_path / name) for name in ("calls.jsonl", "copy.jsonl"))
    file.copy = copy
    file.keep(Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")]), StoredReply({}))
    monkeypatch.setattr(os, "fsync", synced.append)
    file.sync()
    file.sync()  # nothing is left to write
    assert len(synced) == 2
    file.close()
    CallFile.recording(copy.path).close()  # its lock is free


def test_a_second_file_that_lacks_a_reply_gets_it_when_the_first_is_asked_for_it(tmp_path):
    key, sent = Call(0, "c1", "user").key(1), SentRequest.of({"m": 1}, [HumanMessage("Hello.")])
    file = CallFile.recording(tmp_path / "calls.jsonl")
    file.keep(key, sent, StoredReply({"content": "Yes."}))
    file.close()
    for _ in range(2):
        file, file.copy = (CallFile.recording(tmp_path / name) for name in ("calls.jsonl", "copy.jsonl"))
        assert file.find(key, sent).value == {"content": "Yes."}
        file.close()
    assert (tmp_path / "copy.jsonl").read_text().count('"reply"') == 1


def test_a_score_whose_judge_failed_is_asked_again_on_resume(tmp_path, topics):
    closed, is_open = (
        scripted_model(ModelInvalidRequestError("not now")),
        scripted_model('{"reason": "fine", "value": true}'),
    )

    def judged(model):
        return cast(till).replace(closing=nodes.scoring(polite=nodes.judged(model, "Is it polite?")))

    till: list[int] = []
    scenarios = simquac.scenarios(topics(2))
    work = runs.arun(judged(closed), scenarios, tmp_path / "run", limits=LIMITS)
    summary = runs.blocking(work)
    assert (summary.finished, summary.unanswered, summary.complete) == (2, 2, False)
    paid = len(till)
    summary = runs.blocking(runs.arun(judged(is_open), scenarios, tmp_path / "run", limits=LIMITS, resume=True))
    assert (summary.finished, summary.unanswered, summary.complete) == (2, 0, True)
    assert len(till) == paid
    assert len(is_open.sent) == 2


@pytest.mark.parametrize("recorded", ["first", "second"])
def test_a_run_that_is_recorded_in_one_of_its_parts_pays_nothing_twice(tmp_path, topics, whole, recorded):
    undisturbed, calls = whole
    till: list[int] = []
    record = Conduct(record=tmp_path / "calls.jsonl")
    simulated(cast(till, most=calls // 2), topics, tmp_path / "run", conduct=record if recorded == "first" else None)
    more = record if recorded == "second" else None
    resumed = simulated(cast(till), topics, tmp_path / "run", resume=True, conduct=more)
    assert plain(resumed) == undisturbed
    assert len(till) == calls
    assert not (tmp_path / "run" / "calls.jsonl").exists()


def test_what_is_begun_anew_does_not_use_what_was_kept_before_and_goes_on_after_a_kill(tmp_path):
    first, second = Call(0, "c1", "user").key(1), Call(0, "c1", "user", 1).key(1)
    sent, path = SentRequest.of({"m": 1}, [HumanMessage("Now?")]), tmp_path / "calls.jsonl"

    def opened():
        """The file, and its copy, which does not use them either."""
        opened_file = CallFile.recording(path)
        opened_file.copy = CallFile.recording(tmp_path / "copy.jsonl")
        return opened_file

    file = opened()
    file.keep(first, sent, StoredReply({"content": "old"}))
    file.begin_anew({"c1"})
    assert file.find(first, sent) is None
    file.keep(first, sent, StoredReply({"content": "new"}))
    file.close()  # as a kill leaves it: the conversation is not over
    file = opened()
    file.begin_anew({"c1"})
    assert file.find(first, sent).value == {"content": "new"}
    file.keep(second, sent, StoredReply({"content": "and on"}))
    file.forget("c1")
    file.close()
    file = opened()
    assert file.find(second, sent).value == {"content": "and on"}
    file.begin_anew({"c1"})
    assert file.find(first, sent) is None
    assert file.find(second, sent) is None
    assert [paid.reply for paid in file.paid] == ["new", "old", "and on"]
    assert path.read_text().count('"message"') == 1  # what was sent stands there once
    file.close()


def test_a_bound_of_tokens_counts_what_was_spent_before_also_where_no_usage_is_reported(tmp_path, topics):
    class Silent(PaidModel):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
            result = super()._generate(messages, stop, run_manager, **more)
            result.generations[0].message.usage_metadata = None
            return result

    till: list[int] = []

    def resumed(resume, tokens):
        silent = simquac.cast(user=Silent(side="student", till=till), assistant=Silent(side="teacher", till=till))
        conduct = Conduct(max_run_tokens=tokens)
        scenarios = simquac.scenarios(topics(4))
        work = runs.arun(
            silent, scenarios, tmp_path / "run", limits=LIMITS, resume=resume, concurrency=1, conduct=conduct
        )
        return runs.blocking(work)

    assert not resumed(False, 2000).complete
    paid = len(till)
    assert paid > 3
    assert "is reached" in str(resumed(True, 2000).stopped)
    assert len(till) <= paid + 3  # what finished conversations have sent is estimated
    assert resumed(True, 10**6).complete


@pytest.mark.parametrize("harm", [lambda path: os.truncate(path, 0), os.remove], ids=["cut", "removed"])
def test_a_run_whose_replies_cannot_be_kept_ends_at_once_and_pays_no_more(tmp_path, topics, harm):
    class Till(list[int]):
        def append(self, one):
            super().append(one)
            if len(self) == 3:
                harm(tmp_path / "run/calls.jsonl")

    till = Till()
    with pytest.raises(RunError, match=r"calls\.jsonl: was (cut|removed)"):
        simulated(cast(till), topics, tmp_path / "run", concurrency=1)
    assert len(till) == 3


@pytest.mark.parametrize(
    "spoiled",
    [
        *({"reply": reply} for reply in ({"usage_metadata": {}}, {"content": 5}, {"response_metadata": 5})),
        *({"to": 5}, {"sent": None}, {"turn": "x"}),
    ],
)
def test_a_line_that_is_no_call_is_passed_over_and_the_good_one_before_it_stands(tmp_path, topics, whole, spoiled):
    undisturbed, calls = whole
    till: list[int] = []
    simulated(cast(till, 12), topics, tmp_path / "run")
    journal = tmp_path / "run/calls.jsonl"
    call_lines = [json.loads(line) for line in journal.read_text().splitlines()]
    call = next(line for line in call_lines if "reply" in line)
    with journal.open("a") as file:
        file.write(json.dumps(call | spoiled) + "\n")
    assert plain(simulated(cast(till), topics, tmp_path / "run", resume=True)) == undisturbed
    assert len(till) == calls


def test_the_last_turn_of_a_side_is_asked_again_and_no_other(tmp_path, steps):
    path = tmp_path / "calls.jsonl"
    keys = [
        Call(0, "c", role, turn).key(attempt) for role in ("user", "assistant") for turn in (0, 1) for attempt in (1, 2)
    ]
    file, sent = CallFile.recording(path), SentRequest.of({"m": 1}, [HumanMessage("Now?")])
    others = [Call(0, f"other {number}", "user").key(1) for number in range(50)]
    for key in keys + others:
        file.keep(key, sent, StoredReply({"content": "x"}))
    file.close()
    file = CallFile.recording(path)
    file.ask_again("c", "user")
    again = [key for key in keys if file.find(key, sent) is None]
    assert again == [key for key in keys if (key.role, key.turn) == ("user", 1)]
    assert steps(file.ask_again, "other 1", "user") < 20  # not all calls are looked at again
    file.ask_again("unknown", "user")
    assert all(file.find(key, sent) for key in keys if key.role == "assistant")
    file.close()
