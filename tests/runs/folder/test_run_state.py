"""How a run stands: being written, killed, cut short, failed; the same in every place that tells it."""

import asyncio
import json

import pytest

from duologue import runs
from duologue.data.formats import record_lines
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.replies import draft
from duologue.runs.engine.control import Control
from duologue.runs.folder.run_state import standing, status_lines
from duologue.runs.listing import listed

LIMITS = Limits(max_turns=2)


@pytest.fixture
def run(tmp_path, topics):
    """A function that runs or resumes four topics in a folder.

    `speak` gets the number of each call of the user, and may wait or fail.
    """

    def simulated(speak=lambda number: None, *, control=None, count=4):
        number = 0

        async def user(state, runtime):
            nonlocal number
            number += 1
            if asyncio.iscoroutine(done := speak(number)):
                await done
            return {"drafts": [draft(f"Who lived there {len(state.get('messages', []))} years ago?")]}

        cast = simquac.cast().replace(user_simulator=user)
        return runs.arun(
            cast,
            simquac.scenarios(topics(count)),
            tmp_path / "r",
            limits=LIMITS,
            resume=True,
            concurrency=1,
            conduct=runs.Conduct(control=control),
        )

    return simulated


def fail(number):
    raise RuntimeError(f"no line {number}" if number < 4 else "status 503")


async def test_a_run_that_is_being_written_is_told_as_such_and_nothing_of_it_is_wrong(tmp_path, run):
    reached, go = asyncio.Event(), asyncio.Event()

    async def wait(number):
        if number == 4:
            reached.set()
            await go.wait()

    task = asyncio.create_task(run(wait))
    await reached.wait()
    (one,) = listed([tmp_path])
    assert (one.being_written, one.complete, one.finished, one.missing) == (True, False, 1, 3)
    assert status_lines(one) == ["being written now, 1 of 4 conversations finished so far"]
    go.set()
    assert (await task).complete
    assert (standing(tmp_path / "r").being_written, status_lines(standing(tmp_path / "r"))) == (False, [])


async def test_a_look_at_a_run_does_not_keep_one_from_beginning(tmp_path, run, monkeypatch):
    from duologue.runs.journals import journal

    await run()
    tries = []

    def lock(handle):
        tries.append(handle)
        if len(tries) == 1:
            raise BlockingIOError

    monkeypatch.setattr(journal, "_lock", lock)
    assert (await run()).complete


def test_what_a_killed_run_lacks_is_told_with_what_to_do(tmp_path, run):
    """As a kill leaves it: the first conversation is whole, of the others there are replies alone."""
    control = Control()
    asyncio.run(run(lambda number: control.end("enough") if number == 3 else None, control=control))
    one = standing(tmp_path / "r")
    assert (one.finished, one.missing, one.failed, one.cancelled, one.kept_replies) == (2, 2, 0, 0, 0)
    again = f"its command with --out {tmp_path / 'r'} --resume"
    assert status_lines(one) == [f"was stopped, 2 conversations missing: {again} asks for them"]
    done = [conversation.id for conversation in record_lines.found_in(tmp_path / "r").iterate()]
    left = [name for name in record_lines.StoredRun(tmp_path / "r").planned if name not in done]
    calls = [
        *(
            {"conversation": name, "reply": {"content": "Hm.", "usage_metadata": {"input_tokens": 1}}}
            for name in (done[0], left[0], left[0], left[1])
        ),
        {"conversation": left[1], "anew": True},
        {"conversation": left[1], "message": "reply", "value": {}},
    ]
    text = "".join(json.dumps(call) + "\n" for call in calls) + '{"conversation": "half'
    (tmp_path / "r/calls.jsonl").write_text(text)
    paid_line = "2 replies that were paid are kept in calls.jsonl for unfinished conversations: --resume does not pay them again"
    assert status_lines(standing(tmp_path / "r"))[1:] == [paid_line]


@pytest.mark.parametrize(
    ("replies", "line"),
    [
        ([{"drafts": [{"text": "Hm."}]}] * 2, "2 replies are kept in {}: --resume does not ask for them again"),
        ([{"content": "Hm."}], "1 reply is kept in {}: --resume does not ask for it again"),
        ([{"content": "Hm.", "usage_metadata": {"total_tokens": 3}}, {"content": "Hm."}],
         "2 replies, 1 of them paid, are kept in {}: --resume does not pay them again"),
        ([{"drafts": [{"text": "Hm.", "usage": {"input_tokens": 3}}]}],
         "1 reply that was paid is kept in {}: --resume does not pay it again"),
    ],
)  # fmt: skip
def test_replies_of_rules_and_functions_were_not_paid(tmp_path, run, replies, line):
    control = Control()
    asyncio.run(run(lambda number: control.end("enough") if number == 3 else None, control=control))
    done = {conversation.id for conversation in record_lines.found_in(tmp_path / "r").iterate()}
    (left, *_) = [name for name in record_lines.StoredRun(tmp_path / "r").planned if name not in done]
    calls = "".join(json.dumps({"conversation": left, "reply": reply}) + "\n" for reply in replies)
    (tmp_path / "r/calls.jsonl").write_text(calls)
    assert line.format("calls.jsonl for unfinished conversations") in status_lines(standing(tmp_path / "r"))


def test_reasons_of_failures_are_grouped_and_the_cancelled_are_counted_apart(tmp_path, run):
    async def interrupted():
        async def speak(number):
            if number < 5:
                fail(number)
            task.cancel()
            await asyncio.sleep(60)

        task = asyncio.create_task(run(speak, count=5))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    one = standing(tmp_path / "r")
    assert (one.failed, one.cancelled, one.missing) == (4, 1, 5)
    assert list(one.reasons.values()) == [3, 1]
    lines = status_lines(one)
    assert lines[0].startswith("was stopped, 5 conversations missing (4 failed, 1 cancelled): ")
    assert [line.split(":")[0] for line in lines[1:]] == ["failed, 3 conversations", "failed, 1 conversation"]
    assert "RuntimeError: status 503 (test_run_state.py, line " in lines[2]


def test_conversations_that_a_bound_of_the_run_cut_short_are_told_beside_finished_ones_and_do_not_count_as_such(
    tmp_path, run
):
    control = Control()
    summary = asyncio.run(
        run(lambda number: control.cut("--max-time is over") if number == 3 else None, control=control)
    )
    cut = "1 of 4 finished, 1 was cut short by the run's bound"
    assert (summary.cut_by_run, summary.status_line, cut in repr(summary)) == (1, cut, True)
    one = standing(tmp_path / "r")
    assert (one.finished, one.cut_by_run, one.missing) == (summary.finished, 1, summary.missing) == (1, 1, 2)
    assert one.stops == {"max_turns": 1, "budget": 1}
    assert any("1 conversation cut short by the run's bound; continue: " in line for line in status_lines(one))
    assert asyncio.run(run()).status_line == "4 of 4 finished"
    assert standing(tmp_path / "r").complete


def test_a_run_begins_once_however_often_it_is_resumed(tmp_path, run, monkeypatch):
    control = Control()
    asyncio.run(run(lambda number: control.end("enough"), control=control))
    manifest = tmp_path / "r/manifest.json"
    changed = json.loads(manifest.read_text()) | {"begun": "2020-02-02T20:20:00+00:00"}
    manifest.write_text(json.dumps(changed))
    asyncio.run(run())
    assert standing(tmp_path / "r").date == "2020-02-02T20:20:00+00:00"
