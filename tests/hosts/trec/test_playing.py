"""A run of the user simulation track: both tasks to their end, against a platform with faults, and after kills."""

import json

import httpx
import pytest
from pydantic import SecretStr

from duologue.data import load
from duologue.errors import SettingError
from duologue.hosts import trec
from duologue.hosts.trec import playing, protocol
from duologue.hosts.trec.journal import RunJournal
from duologue.hosts.trec.playing import CONVERSATIONS
from duologue.hosts.trec.protocol import Platform, PlatformError
from duologue.testing import scripted_model
from tests.hosts.trec.stand_in import HISTORIES, SCENARIOS, StandIn


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(protocol, "PAUSES", (0.0,) * 4)


def played(stand_in, task="task2", **settings):
    return trec.play(Platform("http://platform", task, "run-1", transport=stand_in.transport), **settings)


def texts(stand_in):
    return [one["text"] for one in stand_in.taken]


def test_whole_conversations_to_the_end_of_the_run(tmp_path):
    stand_in = StandIn()
    report = played(stand_in, out=tmp_path / "run")
    assert (report.messages, report.conversations, report.problems) == (6, 2, ())
    assert [one["conversation_id"] for one in stand_in.taken] == ["c0"] * 3 + ["c1"] * 3
    assert all(one["participant_name"] == "user" and one["text"].strip() for one in stand_in.taken)
    assert "recordings of talks" in stand_in.taken[0]["text"]
    assert "pictures of plants" in stand_in.taken[3]["text"]
    copy = (tmp_path / "run" / "submission.jsonl").read_text().splitlines()
    assert [json.loads(line)["utterance"]["text"] for line in copy] == texts(stand_in)
    stored = load(tmp_path / "run" / "conversations.jsonl").conversations
    assert [sum(message.role == "user" for message in one.messages) for one in stored] == [3, 3]


def test_one_message_for_each_history():
    stand_in = StandIn()
    report = played(stand_in, "task1")
    assert report.messages == len(SCENARIOS) * len(HISTORIES)
    assert report.conversations == report.messages
    assert ("POST", "/task1/run/continue") in stand_in.log


def test_the_user_ends_a_conversation_with_a_final_message():
    model = scripted_model("Talks, please.", "Thank you. <<done>>", by_call=True)
    stand_in = StandIn(budget=9)
    played(stand_in, user=model, max_turns=2)
    assert [one["is_final"] for one in stand_in.taken] == [False, True, False, True]


@pytest.mark.parametrize("form", ["chat_messages", "utterance"])
def test_older_platforms_send_the_agents_message_alone(form):
    stand_in = StandIn(form=form)
    played(stand_in)
    reference = StandIn()
    played(reference)
    assert texts(stand_in) == texts(reference)


def test_a_new_conversation_without_a_body_is_asked_for():
    stand_in = StandIn(bare=True)
    report = played(stand_in)
    assert (report.messages, report.conversations) == (6, 2)


@pytest.mark.parametrize("task", ["task1", "task2"])
@pytest.mark.parametrize("fault", ["lost", "dropped", "busy"])
@pytest.mark.parametrize("number", [1, 3, 4])
def test_no_message_is_lost_or_sent_twice(task, fault, number):
    stand_in, reference = StandIn(**{fault: (number,)}), StandIn()
    report = played(stand_in, task)
    played(reference, task)
    assert texts(stand_in) == texts(reference)
    assert report.problems == ()


def test_every_request_is_on_the_disk_before_it_is_sent(tmp_path):
    stand_in, journal, last = StandIn(), tmp_path / "run" / "steps.jsonl", []

    def looking(request):
        if request.method == "POST":
            step = json.loads(journal.read_text().splitlines()[-1])
            last.append((step["kind"], step["request"] == json.loads(request.content)))
        return stand_in.answered(request)

    trec.play(Platform("http://platform", "task2", "run-1", transport=httpx.MockTransport(looking)), out=journal.parent)
    assert last == [("sent", True)] * 7


def test_a_start_whose_answer_is_lost_is_not_taken_for_another_run():
    stand_in = StandIn(lost=(0,))
    assert played(stand_in).messages == 6


@pytest.mark.parametrize("answer", [httpx.Response(200), httpx.Response(302), httpx.Response(200, json={"a": 1})])
@pytest.mark.parametrize("step", ["start", "continue"])
def test_what_is_no_answer_is_refused_and_the_run_goes_on_later(tmp_path, step, answer):
    """As from a wrong address, or from a proxy in between."""
    stand_in, folder = StandIn(), tmp_path / "run"

    def elsewhere(request):
        if not request.url.path.endswith(step):
            return stand_in.answered(request)
        return answer if step == "start" else [stand_in.answered(request), answer][1]

    with pytest.raises(PlatformError, match=r"no scenario|no message of the agent|sends elsewhere"):
        trec.play(Platform("http://platform", "task2", "run-1", transport=httpx.MockTransport(elsewhere)), out=folder)
    assert played(stand_in, out=folder).problems == ()
    assert len(stand_in.taken) == 6


def test_a_user_that_cannot_be_made_begins_no_run(tmp_path):
    stand_in = StandIn()
    with pytest.raises(SettingError, match="there is no module"):
        played(stand_in, user="nowhere:reply", out=tmp_path / "run")
    assert stand_in.log == []
    assert played(stand_in, out=tmp_path / "run").messages == 6


def test_a_user_without_an_accepted_draft_is_told_and_counted():
    said = []
    report = played(StandIn(), user=lambda messages: "<task>talks</task>", on_message=lambda *one: said.append(one))
    assert ("user", "(ends: user_rejected)") in said
    assert report.rejected == 8
    assert report.problems == ("2 messages of the user have no text",)


@pytest.mark.parametrize("task", ["task1", "task2"])
@pytest.mark.parametrize("place", [1, 2, 3, 4, 7, 8, 11, 12, -2, -4, -8])
def test_cut_off_anywhere_it_continues_with_the_same_words(tmp_path, task, place):
    """Cut after each line of the journal, as a kill leaves it, or before (-) the line of an answer, which is lost."""
    stand_in, reference = StandIn(), StandIn()
    played(reference, task, out=tmp_path / "reference")
    journal = tmp_path / "run" / "steps.jsonl"

    class KilledError(Exception):
        pass

    lines = 0
    keep = RunJournal.keep

    def keep_then_die(self, step):
        nonlocal lines
        if lines + 1 == -place:
            raise KilledError
        keep(self, step)
        lines += 1
        if lines == place:
            raise KilledError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RunJournal, "keep", keep_then_die)
        try:
            played(stand_in, task, out=tmp_path / "run")
        except KilledError:
            assert len(journal.read_text().splitlines()) == lines
    report = played(stand_in, task, out=tmp_path / "run")
    assert texts(stand_in) == texts(reference)
    assert report.problems == ()
    drafts, whole = (
        [[message.attempts for message in one.messages] for one in load(tmp_path / name / CONVERSATIONS).conversations]
        for name in ("run", "reference")
    )
    assert drafts == whole


def test_after_a_kill_no_message_is_paid_for_again(tmp_path):
    """The platform's answer to the second message is lost with the process; a model as user is asked no second time."""
    calls = []

    def words(messages):
        calls.append(len(messages))
        return f"Message {len(calls)}."

    stand_in = StandIn(dropped=(2,))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(playing._Run, "_settled", dead)
        with pytest.raises(KeyError):
            played(stand_in, out=tmp_path / "run", user=words)
    assert len(calls) == 2
    played(stand_in, out=tmp_path / "run", user=words)
    assert len(calls) == len(stand_in.taken) == 6


async def dead(self, sent):
    raise KeyError("killed")


def test_a_complete_run_is_complete_when_it_is_asked_for_again(tmp_path):
    stand_in = StandIn()
    first = played(stand_in, out=tmp_path / "run")
    assert played(stand_in, out=tmp_path / "run") == first
    assert len(stand_in.taken) == 6


def test_another_run_in_the_folder_is_refused_by_name(tmp_path):
    played(StandIn(), out=tmp_path / "run")
    with pytest.raises(SettingError, match="holds a run with task 'task2', and 'task1' is asked for"):
        played(StandIn(), "task1", out=tmp_path / "run")


def test_a_run_that_was_begun_elsewhere_is_refused():
    stand_in = StandIn()
    played(stand_in)
    with pytest.raises(PlatformError, match="was begun before"):
        played(stand_in)


def test_a_message_that_the_copy_lacks_is_a_problem():
    report = played(StandIn(forgets=(2,)))
    assert report.problems == ("1 of 6 messages of the user are not in the platform's copy",)


def test_the_token_goes_into_the_header_and_nowhere_else(tmp_path):
    """Not even if the platform says it again, in an answer or in its copy."""
    stand_in = StandIn(token="tok-9f8e7d6c5b")

    def saying_it(request):
        answer = stand_in.answered(request)
        text = answer.text.replace("may suit you", f"may suit {stand_in.token}")
        return httpx.Response(
            answer.status_code, text=text + f'{{"seen": "{stand_in.token}"}}' * ("dump" in str(request.url))
        )

    transport = httpx.MockTransport(saying_it)
    platform = Platform("http://platform", "task2", "run-1", token=SecretStr(stand_in.token), transport=transport)
    trec.play(platform, out=tmp_path / "run")
    assert len(stand_in.taken) == 6
    for path in (tmp_path / "run").iterdir():
        assert stand_in.token not in path.read_text()
    with pytest.raises(PlatformError, match=r"answers 401 .* set TREC_TOKEN"):
        played(StandIn(token="another"))


@pytest.mark.parametrize(
    ("url", "problem"),
    [("ftp://x", "is not an address"), ("http://", "is not an address"), ("http://a:b@x", "without credentials")],
)
def test_an_address_that_cannot_be_used(url, problem):
    with pytest.raises(SettingError, match=problem):
        Platform(url, "task2", "run-1")


def test_the_personas_traits_decide_on_behaviours_unless_others_are_given():
    """The first persona is concise and quickly frustrated, the second one neither."""
    plain, own = StandIn(), StandIn()
    played(plain, behaviours=[])
    played(own)
    assert texts(own)[:3] != texts(plain)[:3]
    assert texts(own)[3:] == texts(plain)[3:]
