"""Logs of Inspect that are written and read again, and logs that Inspect itself writes: nothing of either is lost."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from duologue.data import Attempt, Conversation, DataError, Message, Part, Span, ToolCall, Usage, domains, load
from duologue.data.identity import conversation_id
from duologue.data.records import Failure, PromptRecord, Provenance, Timing, Unsaid

write = domains.targets()["inspect"]
SCRIPTS = "Où ? 营业吗 هل هو मंगल 𐤀 👩‍👧 e\u0301 \u2028 \x00 <b>&amp;</b>"
PICTURE = Part(type="image", url="data:image/png;base64,iVBORw0KGgo=", mime_type="image/png")
ROOMS = ToolCall(name="rooms", arguments={"nights": 2}, result={"rooms": [1, None]})
TALK = Conversation(
    id="talk/1",
    scenario={"kind": "support", "goal": "a room", "success": {"solved": True}},
    messages=(
        Message(role="user", text=SCRIPTS, parts=(PICTURE, Part(type="file", file_id="f-1"))),
        Message(
            role="assistant",
            text="Two.",
            spans=(Span(text="Two", start=4),),
            labels={"mood": "calm"},
            attempts=(
                Attempt(text="No.", verdict="rejected", reason="too_short", tool_calls=(ROOMS,)),
                Attempt(
                    number=2,
                    text="Two.",
                    verdict="accepted",
                    model="m",
                    usage=Usage(input_tokens=9, output_tokens=3, cached_tokens=1),
                    reasoning="I count.",
                    prompt=PromptRecord(name="assistant/ask"),
                    tool_calls=(ROOMS, ToolCall(name="rooms", error="no room left")),
                ),
            ),
        ),
        Message(role="user", text="", attempts=(Attempt(text="", verdict="unjudged", tool_calls=(ROOMS,)),)),
        Message(role="user", text="Bye!", stored=False),
    ),
    unsaid=(Unsaid(role="user", after=3, attempts=(Attempt(text="x", verdict="rejected", reason="empty"),)),),
    stop="model_failed",
    failure=Failure(node="assistant", error="TimeoutError: late", frames=("shop.py:3 in book",)),
    timing=Timing(started="2026-01-02T03:04:05+00:00", seconds=1.5),
    labels={"scores": {"success": {"value": False, "reason": "no booking"}, "odd": {"value": None, "error": "E"}}},
    extra={"asides": [{"at": 0, "system": "Be brief."}], "path": [1, {"b": None}]},
)


def samples(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        return list(json.loads(path.read_text())["samples"])
    with zipfile.ZipFile(path) as archive:
        return [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]


@pytest.mark.parametrize("name", ["out.eval", "out.json"])
def test_a_conversation_comes_back_as_it_was(name):
    assert write(iter([TALK]), Path(name)) == []
    loaded = load(name)
    assert (loaded.kind, list(loaded)) == ("inspect", [TALK])
    assert loaded.notes == ("1 system message is kept apart",)


def test_inspect_gets_the_messages_the_calls_the_drafts_and_the_scores_in_its_own_form():
    write([TALK], Path("out.eval"))
    (sample,) = samples(Path("out.eval"))
    turns = [(turn["role"], turn.get("tool_call_id") or len(turn.get("tool_calls", []))) for turn in sample["messages"]]
    assert turns == [
        ("system", 0), ("user", 0), ("assistant", 2), ("tool", "call_1"), ("tool", "call_2"), ("assistant", 0), ("user", 0),
    ]  # fmt: skip
    system, asked, called, rooms, failed, told, _ = sample["messages"]
    assert (system["content"], asked["content"][0]["text"]) == ("Be brief.", SCRIPTS)
    assert [block["type"] for block in asked["content"]] == ["text", "image", "data"]
    assert called["tool_calls"][0] == {"id": "call_1", "function": "rooms", "arguments": {"nights": 2}}
    assert (rooms["content"], failed["error"]["message"]) == ('{"rooms": [1, null]}', "no room left")
    assert told["content"] == [{"type": "reasoning", "reasoning": "I count."}, {"type": "text", "text": "Two."}]
    drafts = [{"text": "No.", "reason": "too_short"}]
    assert told["metadata"] == {"rejected_drafts": drafts, "labels": {"mood": "calm"}}
    assert sample["scores"] == {"success": {"value": False, "explanation": "no booking"}}
    assert sample["error"]["message"] == "assistant: TimeoutError: late"
    assert sample["role_usage"]["assistant"]["total_tokens"] == 12
    assert sample["output"]["choices"][0]["message"]["content"] == told["content"]


def test_the_header_names_the_task_and_the_share_of_each_score():
    scores = [{"scores": {"success": {"value": value}}} for value in (True, True, False)]
    talks = [Conversation(id=str(number), scenario={}, labels=labels) for number, labels in enumerate([*scores, {}])]
    write(talks, Path("out.eval"))
    with zipfile.ZipFile("out.eval") as archive:
        header = json.loads(archive.read("header.json"))
        summaries = json.loads(archive.read("summaries.json"))
    (score,) = header["results"]["scores"]
    assert (score["scored_samples"], score["unscored_samples"]) == (3, 1)
    assert score["metrics"]["mean"]["value"] == pytest.approx(2 / 3)
    assert (header["eval"]["created"], len(summaries)) == ("1970-01-01T00:00:00+00:00", 4)


def test_repeats_of_a_scenario_are_epochs_of_one_sample():
    made = Provenance(cast="agent_test")
    talks = [
        Conversation(id=conversation_id("agent_test", {"goal": "tea"}, 0, repeat), scenario={"goal": "tea"}, repeat=repeat, provenance=made)
        for repeat in range(3)
    ]  # fmt: skip
    write([*talks, talks[0]], Path("out.eval"))
    assert [(sample["id"], sample["epoch"]) for sample in samples(Path("out.eval"))] == [
        (talks[0].id, epoch) for epoch in (1, 2, 3, 4)
    ]
    assert [talk.id for talk in load("out.eval")] == [talk.id for talk in [*talks, talks[0]]]


def test_half_of_a_surrogate_pair_comes_back_although_inspect_cannot_read_it():
    talk = Conversation(id="1", scenario={}, messages=(Message(role="user", text="half \ud83d"),))
    for name in ("out.eval", "out.json"):
        write([talk], Path(name))
        (sample,) = samples(Path(name))
        assert sample["messages"][0]["content"] == "half \ufffd"
        assert list(load(name)) == [talk]


def test_equal_conversations_give_equal_files_and_none_gives_a_log_without_samples():
    for name in ("a.eval", "b.eval"):
        write([TALK], Path(name))
    assert Path("a.eval").read_bytes() == Path("b.eval").read_bytes()
    write([], Path("none.eval"))
    with pytest.raises(DataError, match="without samples"):
        load("none.eval")


def test_a_message_that_was_edited_in_the_log_is_read_and_the_record_is_not():
    write([TALK], Path("out.json"))
    log = json.loads(Path("out.json").read_text())
    log["samples"][0]["messages"][5]["content"] = "Three."
    Path("out.json").write_text(json.dumps(log))
    loaded = load("out.json")
    assert loaded[0].messages[1].text == "Three."
    assert "1 samples are read by their messages: its messages are not those of the record in its store" in loaded.notes
    log["samples"][0]["store"]["duologue"] = {"id": 3}
    Path("out.json").write_text(json.dumps(log))
    assert "the record in its store is not one of this version" in load("out.json").notes[0]


def packed(sample: dict[str, Any], path: Path, content: bytes | None = None) -> None:
    """An archive as Inspect writes it, compressed with Zstandard."""
    text = json.dumps(sample).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", content or zstandard.ZstdCompressor().compress(text))
        (entry,) = archive.infolist()
        entry.compress_type, entry.file_size = 93, len(text)


SAMPLE = {"id": 1, "epoch": 1, "input": "x", "messages": [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": "Yes."}]}  # fmt: skip


def test_an_archive_compressed_with_zstandard_is_read_and_a_damaged_one_is_one_line():
    scores = {"scores": {"match": {"value": "C"}, "missing": {"value": float("nan")}}}
    packed(SAMPLE | scores, Path("log.eval"))
    (talk,) = load("log.eval")
    assert ([message.text for message in talk.messages], talk.labels) == (["Is it open?", "Yes."], {"match": "C"})
    packed(SAMPLE, Path("log.eval"), b"no frame")
    with pytest.raises(DataError, match=r"samples/1_epoch_1\.json: cannot be unpacked .*convert the log with"):
        load("log.eval")


def test_a_missing_score_is_read_in_a_log_of_one_object_too():
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [SAMPLE | {"scores": {"a": {"value": float("nan")}}}]}  # fmt: skip
    Path("log.json").write_text(json.dumps(log, indent=1))
    loaded = load("log.json")
    assert (loaded.kind, loaded[0].labels) == ("inspect", {})
    Path("log.json").write_text(json.dumps(log)[:-3])
    with pytest.raises(DataError):
        load("log.json")


def test_a_name_that_inspect_would_not_open_is_one_line():
    with pytest.raises(DataError, match=r"out\.log: .*let it end with \.eval or \.json"):
        write([TALK], Path("out.log"))


def test_a_tool_that_the_provider_ran_is_a_call_with_its_result_and_pictures_of_results_stay():
    used = {"type": "tool_use", "tool_type": "web_search", "id": "w1", "name": "search", "arguments": '{"q": "tea"}', "result": "Ten shops."}  # fmt: skip
    looked = {"role": "assistant", "content": [used, used | {"id": "w2", "error": "late"}], "tool_calls": [{"id": "c", "function": "look", "arguments": {}}]}  # fmt: skip
    seen = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "A map."}, {"type": "image", "image": "a.png"}]}  # fmt: skip
    sample = SAMPLE | {"messages": [SAMPLE["messages"][0], looked, seen, {"role": "assistant", "content": "Ten."}]}
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]}
    Path("log.json").write_text(json.dumps(log))
    ((_, answer),) = [talk.messages for talk in load("log.json")]
    assert answer.text == "Ten."
    assert [(call.arguments, call.result, call.error) for call in answer.tool_calls] == [
        ({"q": "tea"}, "Ten shops.", None), ({"q": "tea"}, None, "late"), ({}, "A map.", None),
    ]  # fmt: skip
    assert [part.url for call in answer.tool_calls for part in call.parts] == ["a.png"]
