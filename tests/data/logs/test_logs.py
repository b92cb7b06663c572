"""Logs of models and agents: which shapes are read, and that nothing is said twice."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.logs import log_statistics
from duologue.data import Conversation, DataError, Message, load
from duologue.data.attachments import parts_of
from duologue.data.formats.dialogues import asides, further
from duologue.data.formats.turn_reading import text_of
from duologue.data.formats.turns import spoken, turns_of
from duologue.data.logs.calls import LoggedCall, together

ASKED = {"role": "user", "content": "When does it open?"}
TOLD = {"role": "assistant", "content": "At nine."}
MORE = {"role": "user", "content": "And on Sundays?"}
LAST = {"role": "assistant", "content": "It is closed."}
SYSTEM = {"role": "system", "content": "You answer for a museum."}
TALK = ["user: When does it open?", "assistant: At nine.", "user: And on Sundays?", "assistant: It is closed."]


def file(*values: Any, name: str = "log.jsonl", **how: Any) -> Path:
    path = Path(name)
    path.write_text("\n".join(json.dumps(value, **how) for value in values) + "\n", encoding="utf-8")
    return path


def only(path: Path) -> Conversation:
    (conversation,) = load(path).conversations
    return conversation


def spoken_lines(conversation: Conversation) -> list[str]:
    return [f"{message.role}: {message.text}" for message in conversation.messages]


def answer(message: dict[str, Any], reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "model": "m-1"} | more


WHOLE = [SYSTEM, ASKED, TOLD, MORE, LAST]
SHAPES: dict[str, Any] = {
    "messages": {"messages": WHOLE},
    "conversation of roles": {"conversation": WHOLE},
    "conversations of roles": {"conversations": WHOLE},
    "trajectory": {"trajectory": WHOLE},
    "sharegpt": {
        "conversations": [
            {"from": who, "value": turn["content"]}
            for who, turn in zip(("system", "human", "model", "user", "bot"), WHOLE, strict=True)
        ]
    },
    "other names": {"messages": [turn | {"role": name} for turn, name in zip(WHOLE, ("developer", "human", "gpt", "Human", "AI"), strict=True)]},
    "request and response": {"request": {"messages": WHOLE[:4]}, "response": answer(LAST)},
    "messages with choices": {"messages": WHOLE[:4]} | answer(LAST),
    "batch with body": {"custom_id": "r1", "method": "POST", "body": {"messages": WHOLE[:4]}, "response": {"status_code": 200, "body": answer(LAST)}},
    "batch input": {"custom_id": "r1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": WHOLE}},
    "preference": {"input": {"messages": WHOLE[:4]}, "preferred_output": [LAST], "non_preferred_output": [TOLD]},
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["line", "list", "object over many lines", "gzip"])
def test_a_shape_is_read_as_lines_as_a_list_as_one_object_and_zipped(shape: str, form: str) -> None:
    value = SHAPES[shape]
    path = file(*([[value]] if form == "list" else [value]), indent=2 if form.startswith("object") else None)
    if form == "gzip":
        Path("zipped.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = Path("zipped.jsonl.gz")
    assert spoken_lines(only(path)) == TALK
    (aside,) = asides(only(path))
    assert aside["system"] == "You answer for a museum."


def test_a_list_of_messages_is_one_conversation() -> None:
    assert spoken_lines(only(file(WHOLE, indent=1))) == TALK


def test_one_message_a_line_is_put_together_by_the_id_of_its_conversation() -> None:
    first = [turn | {"conversation_id": "a", "timestamp": 3} for turn in (ASKED, TOLD)]
    path = file(first[0], MORE | {"conversation_id": "b"}, first[1], LAST | {"conversation_id": "b"})
    a, b = load(path).conversations
    assert (a.id, spoken_lines(a), b.id, spoken_lines(b)) == ("a", TALK[:2], "b", TALK[2:])
    assert a.messages[0].extra["messages"]["values"]["timestamp"] == 3


def test_calls_that_send_the_history_again_are_one_conversation() -> None:
    path = file(
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(TOLD, "length", usage={"prompt_tokens": 9, "completion_tokens": 2})},
        {"request": {"messages": [SYSTEM, ASKED]}, "response": answer(LAST)},
        {"request": {"messages": WHOLE[:4]}, "response": answer(LAST, usage={"prompt_tokens": 20, "completion_tokens": 3})},
    )  # fmt: skip
    joined, alone = load(path).conversations
    assert (spoken_lines(joined), spoken_lines(alone)) == (TALK, [TALK[0], TALK[3]])
    assert further(joined)["usage"] == {"input_tokens": 29, "output_tokens": 5}
    assert joined.messages[1].extra["messages"]["values"]["finish_reason"] == "length"


def test_calls_without_a_name_are_joined_in_time_that_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(turns: Any) -> list[tuple[str, str]]:
        nonlocal read
        read += 1
        return spoken(turns)

    monkeypatch.setattr("duologue.data.logs.calls.spoken", counted)
    first = [LoggedCall([{**ASKED, "content": f"When does room {number % 50} open?"}, TOLD]) for number in range(200)]
    second = [LoggedCall([*call.turns, MORE, LAST]) for call in first]
    talks = together([*first, *second])
    assert [talk["messages"][0]["content"] for talk in talks] == [call.turns[0]["content"] for call in first]
    assert {len(talk["messages"]) for talk in talks} == {4}
    assert read < 10 * len([*first, *second])


def test_an_edit_is_looked_for_only_among_histories_that_begin_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(first: Any, second: Any) -> int:
        nonlocal compared
        compared += 1
        return 0

    monkeypatch.setattr("duologue.data.logs.calls._alike", counted)
    calls = [LoggedCall([{**ASKED, "content": f"Question {n}?"}, TOLD], conversation="c") for n in range(50)]
    (talk,) = together(calls)
    assert (len(talk["messages"]), compared) == (100, 0)


@pytest.mark.parametrize("value", [[], {}, [["a"]]], ids=str)
@pytest.mark.parametrize("key", ["message_id", "parent_id", "role", "parent_message_uuid", "current_leaf_message_uuid"])
def test_a_name_in_a_tree_that_is_no_text_is_read_over_or_refused_in_one_line(key: str, value: Any) -> None:
    nodes = [{"message_id": f"m{n}", "parent_id": f"m{n - 1}", "role": "prompter", "text": "Hi"} for n in range(2)]
    sent = [{"uuid": f"m{n}", "parent_message_uuid": f"m{n - 1}", "sender": "human", "text": "Hi"} for n in range(3)]
    for log in (
        [nodes[0], {**nodes[1], key: value}],
        [{"chat_messages": [*sent[:2], {**sent[2], key: value}], key: value}],
    ):
        refusal = ""
        try:
            load(file(log))
        except DataError as error:
            refusal = str(error)
        assert "\n" not in refusal


@pytest.mark.parametrize("instructions", [(), (0,), (1,), (0, 1)])
def test_calls_that_send_only_what_is_new_are_joined_by_their_conversation(instructions: tuple[int, ...]) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM] * (0 in instructions) + [ASKED]} | answer(TOLD),
        {"conversation_id": "c", "messages": [SYSTEM] * (1 in instructions) + [MORE]} | answer(LAST),
    )
    assert (only(path).id, spoken_lines(only(path))) == ("c", TALK)
    assert len(asides(only(path))) == bool(instructions)  # once


def test_keys_beside_the_messages_are_kept() -> None:
    value = {"id": "x", "messages": WHOLE, "metadata": {"channel": "web"}, "labels": {"solved": True}, "rating": 4}
    conversation = only(file(value))
    assert conversation.labels == {"solved": True, "rating": 4}
    assert further(conversation)["metadata"] == {"channel": "web"}


def test_a_refusal_of_the_api_is_what_the_assistant_said() -> None:
    refusal = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    assert spoken_lines(only(file({"messages": [ASKED]} | answer(refusal))))[1] == "assistant: I can't help with that."


HUMAN = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "When does it open?", "type": "human"}}  # fmt: skip
AI = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "At nine.", "type": "ai", "tool_calls": []}}  # fmt: skip


def run(number: int, kind: str, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": f"run-{number}",
        "run_type": kind,
        "name": "step",
        "inputs": inputs,
        "outputs": outputs,
        "start_time": f"2025-05-01T10:00:0{number}",
    } | more


def test_runs_of_langsmith_are_conversations_by_thread_and_say_nothing_twice() -> None:
    thread = {"extra": {"metadata": {"thread_id": "t1"}}, "session_id": "the project"}
    path = file(
        # the newest first, as the client lists them
        run(5, "chain", {"messages": [{"type": "human", "content": "And on Sundays?"}]}, {"messages": [{"type": "human", "content": "When does it open?"}, {"type": "ai", "content": "At nine."}, {"type": "human", "content": "And on Sundays?"}, {"type": "ai", "content": "It is closed."}]}, trace_id="run-5", feedback_stats={"helpful": {"n": 1, "avg": 1.0}}, **thread),
        run(2, "llm", {"messages": [[HUMAN]]}, {"generations": [[{"text": "At nine.", "message": AI}]]}, trace_id="run-1", parent_run_id="run-1", prompt_tokens=7, completion_tokens=2),
        run(3, "llm", {"messages": [{"role": "user", "content": "Make a title for: opening hours"}]}, {"role": "assistant", "content": "Opening hours"}, trace_id="run-1", parent_run_id="run-1"),
        run(1, "chain", {"messages": [HUMAN]}, {"messages": [HUMAN, AI]}, trace_id="run-1", **thread),
    )  # fmt: skip
    loaded = load(path)
    (conversation,) = loaded.conversations
    assert (loaded.kind, conversation.id, spoken_lines(conversation)) == ("langsmith", "t1", TALK)
    assert conversation.labels == {"helpful": 1.0}
    assert further(conversation)["usage"] == {"input_tokens": 7, "output_tokens": 2}
    assert further(conversation)["name"] == "step"


def test_a_run_that_has_only_answers_or_only_questions_is_one_of_langsmith() -> None:
    whole = run(1, "llm", {"messages": [ASKED]}, {"messages": [ASKED, TOLD]})
    for absent, words in (("inputs", TALK[:2]), ("outputs", TALK[:1])):
        loaded = load(file({key: value for key, value in whole.items() if key != absent}))
        assert (loaded.kind, spoken_lines(loaded.conversations[0])) == ("langsmith", words)


def test_a_message_of_results_alone_is_its_results_and_nothing_else() -> None:
    results = [{"type": "tool_call_response", "id": str(number), "response": "nine"} for number in range(2)]
    turns = turns_of({"role": "tool", "parts": results})
    assert [(turn["tool_call_id"], turn["content"]) for turn in turns] == [("0", "nine"), ("1", "nine")]
    assert turns_of({"role": "user", "parts": []}) == [{"role": "user", "content": ""}]


@pytest.mark.parametrize("messages", [[{"role": "user", "content": "Make a title for: opening hours"}], [SYSTEM]])
def test_of_the_histories_of_one_trace_that_do_not_overlap_the_longest_counts(messages: list[dict[str, str]]) -> None:
    reply = TOLD if messages != [SYSTEM] else {}
    for first in (1, 3):
        short = run(first, "llm", {"messages": messages}, reply, trace_id="t", parent_run_id="step")
        long = run(2, "llm", {"messages": [ASKED, TOLD, MORE]}, LAST, trace_id="t", parent_run_id="step")
        assert spoken_lines(only(file(short, long))) == TALK


def test_a_run_of_texts_with_its_child_runs_is_read() -> None:
    child = run(2, "llm", {"messages": [{"role": "system", "content": "Use this."}, ASKED]}, answer(TOLD), parent_run_id="run-1", trace_id="run-1")  # fmt: skip
    path = file(run(1, "chain", {"question": "When does it open?"}, {"answer": "At nine."}, child_runs=[child]))
    assert spoken_lines(only(path)) == TALK[:2]
    assert asides(only(path))[0]["system"] == "Use this."


def test_anthropic_messages_and_tool_calls_of_langsmith_are_read() -> None:
    call = {"type": "ai", "content": "", "tool_calls": [{"name": "hours", "args": {"day": "Sunday"}, "id": "c1"}]}
    path = file(
        run(1, "llm", {"system": "Be brief.", "messages": [ASKED]}, {"role": "assistant", "content": [{"type": "text", "text": "At nine."}]}, trace_id="x"),
        run(2, "chain", {"messages": [MORE]}, {"messages": [{"type": "human", "content": "And on Sundays?"}, call, {"type": "tool", "content": "closed", "tool_call_id": "c1"}, {"type": "ai", "content": "It is closed."}]}, trace_id="y"),
    )  # fmt: skip
    x, y = load(path).conversations
    assert (spoken_lines(x), spoken_lines(y)) == (TALK[:2], TALK[2:])
    (calling,) = y.messages[-1].tool_calls
    assert (calling.name, calling.arguments, calling.result) == ("hours", {"day": "Sunday"}, "closed")


def parts(turn: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": turn["role"], "parts": [{"type": "text", "content": turn["content"]}]} | more


def span(trace: str, number: int, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span of OTLP; a value that is no text, number or flag as OTLP nests it."""

    def typed(value: Any) -> dict[str, Any]:
        match value:
            case str():
                return {"stringValue": value}
            case int():
                return {"intValue": str(value)}
            case list():
                return {"arrayValue": {"values": [typed(item) for item in value]}}
            case _:
                return {
                    "kvlistValue": {"values": [{"key": key, "value": typed(inner)} for key, inner in value.items()]}
                }

    pairs = [{"key": key, "value": typed(value)} for key, value in attributes.items()]
    return {"traceId": trace, "spanId": str(number), "name": "chat m-1", "startTimeUnixNano": str(number), "attributes": pairs}  # fmt: skip


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


@pytest.mark.parametrize("as_text", [True, False])
def test_spans_of_the_genai_conventions_are_conversations_by_id(as_text: bool) -> None:
    written = json.dumps if as_text else lambda value: value
    first = {
        "gen_ai.conversation.id": "conv",
        "gen_ai.system_instructions": written([{"type": "text", "content": "You answer for a museum."}]),
        "gen_ai.input.messages": written([parts(ASKED)]),
        "gen_ai.output.messages": written([parts(TOLD, finish_reason="stop")]),
        "gen_ai.usage.input_tokens": 7,
    }
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "hours", "arguments": {"day": 7}}], "finish_reason": "tool_call"}  # fmt: skip
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "closed"}]}
    history = [parts(ASKED), parts(TOLD), parts(MORE)]
    second = {"gen_ai.conversation.id": "conv", "gen_ai.input.messages": written(history), "gen_ai.output.messages": written([call])}  # fmt: skip
    third = second | {"gen_ai.input.messages": written([*history, call, result]), "gen_ai.output.messages": written([parts(LAST)]), "gen_ai.response.finish_reasons": ["length"]}  # fmt: skip
    path = file(otlp(span("b", 3, third), span("b", 2, second)), otlp(span("a", 1, first)))
    conversation = only(path)
    assert (load(path).kind, conversation.id, spoken_lines(conversation)) == ("opentelemetry", "conv", TALK)
    (calling,) = conversation.messages[-1].tool_calls
    assert (calling.name, calling.arguments, calling.result) == ("hours", {"day": 7}, "closed")
    assert further(conversation)["usage"] == {"input_tokens": 7}
    assert conversation.messages[-1].extra["messages"]["values"]["finish_reason"] == "length"


def test_of_the_spans_of_calls_without_a_parent_in_one_trace_the_longest_history_counts() -> None:
    first = {"gen_ai.input.messages": [parts(MORE)], "gen_ai.output.messages": [parts(TOLD)]}
    second = {"gen_ai.input.messages": [*map(parts, WHOLE[1:4])], "gen_ai.output.messages": [parts(LAST)]}
    assert spoken_lines(only(file(otlp(span("t", 1, first), span("t", 2, second))))) == TALK


def test_what_the_console_exporter_writes_is_read_and_openinference_too() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "session.id": "s",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When does it open?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.text": "At nine.",
        "llm.token_count.prompt": 7,
    }
    context = {"trace_id": "0x1", "span_id": "0x2"}
    one = {"name": "llm", "context": context, "parent_id": None, "start_time": "2025-05-01T10:00:00Z", "attributes": attributes, "events": []}  # fmt: skip
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": {"gen_ai.input.messages": json.dumps([parts(MORE)]), "gen_ai.output.messages": json.dumps([parts(LAST)])}}  # fmt: skip
    two = one | {"attributes": {"session.id": "s"}, "events": [event], "context": {"trace_id": "0x3"}, "start_time": "2025-05-01T10:00:01Z"}  # fmt: skip
    path = file(one, {"name": "GET /", "context": context, "attributes": {"http.route": "/"}}, two, indent=4)
    assert (only(path).id, spoken_lines(only(path))) == ("s", TALK)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (otlp(span("a", 1, {"http.route": "/"})), "capture message content"),
        (run(1, "tool", {"x": 1}, {"y": 2}), "export them with inputs and outputs"),
        ({"a": 1}, "known format (it begins with a); the smallest line"),
        ([1, 2], "`duologue check --form` lists what was looked for"),
        ({"mapping": {"a": {"message": None}, "b": 3}}, "(it begins with mapping)"),
    ],
)
def test_a_file_without_messages_is_told_in_one_line(value: Any, problem: str, fault: Callable[..., str]) -> None:
    assert problem in fault(load, file(value))


def test_what_the_api_of_langsmith_is_sent_is_put_together_by_run() -> None:
    begun = {"id": "r", "run_type": "llm", "inputs": {"messages": [ASKED]}, "outputs": None}
    path = file({"post": [begun], "patch": [{"id": "r", "outputs": {"choices": [{"message": TOLD}]}}]})
    assert spoken_lines(only(path)) == TALK[:2]


def test_a_prompt_of_the_older_completions_is_a_users_message() -> None:
    request = {"model": "m", "prompt": ["When does it open?"]}
    path = file({"request": request, "response": {"choices": [{"text": "At nine.", "finish_reason": "stop"}]}})
    assert spoken_lines(only(path)) == TALK[:2]


def test_a_recorded_exchange_whose_body_is_a_stream_goes_on_with_the_one_before() -> None:
    def stream(*blocks: dict[str, Any]) -> str:
        events: list[Any] = [{"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}]
        for number, block in enumerate(blocks):
            events.append({"type": "content_block_start", "index": number, "content_block": block})
        events.append({"type": "message_stop"})
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)

    use = {"type": "tool_use", "id": "t", "name": "hours", "input": {}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "9"}]}
    path = file(
        {"request": {"body": {"messages": [ASKED]}}, "response": {"body": stream(use)}},
        {
            "request": {"body": {"messages": [ASKED, {"role": "assistant", "content": [use]}, result]}},
            "response": {"body": stream({"type": "text", "text": "At nine."})},
        },
    )
    talk = only(path)
    assert spoken_lines(talk) == TALK[:2]
    assert [(call.name, call.result) for call in talk.messages[1].tool_calls] == [("hours", "9")]


def test_a_request_whose_body_is_a_list_is_no_request(fault: Callable[..., str]) -> None:
    assert "is not in a known format" in fault(load, file({"request": {"body": []}, "response": {"body": []}}))


def test_a_line_that_lacks_messages_is_named(fault: Callable[..., str]) -> None:
    assert "line 2" in fault(load, file({"messages": [ASKED]} | answer(TOLD), {"a": 1}))


def test_a_damaged_gzip_file_is_named(fault: Callable[..., str]) -> None:
    Path("log.jsonl.gz").write_bytes(gzip.compress(b"{}")[:-9])
    assert "damaged" in fault(load, "log.jsonl.gz")


@pytest.mark.parametrize(
    ("user", "assistant"),
    [("Customer", "Agent"), ("visitor", "customer_service"), ("client", "operator"), ("用户", "客服")],
)
def test_the_names_that_customer_services_give_the_sides_are_read(tmp_path, user, assistant):
    lines = [{"conversation_id": "1", "role": role, "content": "x"} for role in (user, assistant)]
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (talk,) = load(tmp_path / "chat.jsonl")
    assert [message.role for message in talk.messages] == ["user", "assistant"]


def test_a_pair_of_names_of_nodes_is_no_message():
    assert turns_of(["agent", "tools"]) == []
    assert turns_of(["user", "hello"]) == [{"role": "user", "content": "hello"}]


def test_of_an_unknown_role_only_the_role_is_told_with_a_line_that_is_read(tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"conversation_id": "1", "role": "Kunde", "content": "x"}\n')
    with pytest.raises(DataError) as raised:
        load(tmp_path / "chat.jsonl")
    assert "not the role 'Kunde'" in str(raised.value)
    assert '{"conversation_id": "1", "role": "user", "content": "Hello"} (docs/start/logs.md)' in str(raised.value)
    assert "OpenTelemetry" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich möchte bitte einen Flug nach Bern buchen, und zwar für morgen.", "other"),
        ("Je voudrais un billet pour Berne, est-ce que vous avez une place?", "other"),
        ("Сколько стоит билет?", "other"),
        ("チェスのルールを教えてください", "other"),
        ("I would like to fly to Bern, via Le Bourget.", "en"),
        ("QX4821", "en"),
        ("我想订一张票", "zh"),
        ("123", "not told"),
    ],
)
def test_a_language_that_is_neither_english_nor_chinese_is_another_one(text, language):
    talk = Conversation(id="a", scenario={}, messages=(Message(role="user", text=text),))
    assert log_statistics("x", [talk]).languages == {language: 1}


def test_a_call_whose_message_is_no_object_is_one_line() -> None:
    calls = [{"request": {"messages": [ASKED, "hello"]}, "response": answer(TOLD)} for _ in range(2)]
    with pytest.raises(DataError, match=r"log\.jsonl"):
        load(file(*calls))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "human", "data": {"content": "When does it open?"}},
        {"type": "constructor", "id": ["messages", "HumanMessage"], "kwargs": {"content": "When does it open?"}},
    ],
)
def test_a_message_of_langchain_has_its_side_by_its_class_alone(value: dict[str, Any]) -> None:
    assert turns_of(value) == [ASKED]


def test_calls_of_tools_in_attributes_with_numbers_are_calls() -> None:
    name = "gen_ai.completion.0.message.tool_calls.0.function"
    asked = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "When does it open?"}
    said = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "At nine."}
    called = {f"{name}.name": "hours", f"{name}.arguments": '{"day": 1}'}
    (call,) = only(file(otlp(span("a", 1, asked | said | called)))).messages[-1].tool_calls
    assert (call.name, call.arguments) == ("hours", {"day": 1})


def test_parts_that_are_not_text_become_blocks_of_their_kind() -> None:
    picture = {"type": "blob", "mime_type": "image/png", "content": "aGk="}
    (turn,) = turns_of({"role": "user", "parts": [{"type": "text", "content": "Look:"}, picture]})
    image = {"type": "media", "base64": "aGk=", "mime_type": "image/png"}
    assert turn["content"] == [{"type": "text", "text": "Look:"}, image]
    (part,) = parts_of(turn["content"])
    assert (part.type, part.url) == ("image", "data:image/png;base64,aGk=")


@pytest.mark.parametrize("before", [[ASKED], [ASKED, {"role": "tool", "content": "nine"}, SYSTEM]])
@pytest.mark.parametrize("again", [[SYSTEM, TOLD, MORE], [ASKED, TOLD, MORE]])
def test_calls_that_send_a_part_of_the_history_are_joined_where_they_overlap(before: Any, again: Any) -> None:
    path = file(
        {"conversation_id": "c", "messages": [SYSTEM, *before], "response": TOLD},
        {"conversation_id": "c", "messages": again} | answer(LAST),
        {"conversation_id": "c", "messages": [ASKED]} | answer(TOLD, "length"),
    )
    conversation = only(path)
    assert spoken_lines(conversation) == TALK
    assert conversation.messages[1].extra["messages"]["values"]["finish_reason"] == "length"
    assert ("nine" in str(asides(conversation))) == (len(before) > 1)


def test_instructions_that_stand_apart_from_the_messages_come_before_them() -> None:
    sent = {"gen_ai.system_instructions": parts(SYSTEM)["parts"], "gen_ai.input.messages": [parts(ASKED)]}
    (conversation,) = load(file(otlp(span("a", 1, sent | {"gen_ai.output.messages": [parts(TOLD)]})))).conversations
    assert [aside["system"] for aside in asides(conversation)] == ["You answer for a museum."]


def test_code_that_gemini_ran_is_not_one_of_the_words_of_its_message() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
    parts = [code, {"codeExecutionResult": {"output": "2"}}, {"text": "It is 2."}]
    (turn,) = turns_of({"role": "model", "parts": parts})
    assert text_of(turn["content"]) == "It is 2."
    assert [part.text for part in parts_of(turn["content"])] == ["1 + 1", "2"]


def test_calls_of_a_trace_whose_messages_no_other_has_are_counted() -> None:
    def spans(*words: tuple[str, str]) -> dict[str, Any]:
        messages = [
            {
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": asked}]}],
                "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}],
            }
            for asked, answer in words
        ]
        texts = ({name: json.dumps(value) for name, value in inner.items()} for inner in messages)
        return otlp(*(span("t", number, inner) for number, inner in enumerate(texts)))

    assert len(load(file(spans(("Open?", "At nine."), ("Open?", "At nine."))))) == 1
    assert load("log.jsonl").notes == ()
    loaded = load(file(spans(("Open?", "At nine."), ("A poem?", "Roses."), ("A song?", "La."))))
    assert len(loaded) == 1
    assert loaded.notes == ("2 calls of a trace with messages of their own left out",)


def test_after_an_edited_message_only_what_is_new_is_added() -> None:
    edited, other = {"role": "user", "content": "And on Mondays?"}, {"role": "assistant", "content": "At ten."}
    after = {"role": "user", "content": "Thanks."}
    calls = [
        ([ASKED], TOLD),
        ([ASKED, TOLD, MORE], LAST),
        ([ASKED, TOLD, edited], other),
        ([ASKED, TOLD, edited, other, after], None),
    ]
    lines = [{"session_id": "s", "request": {"messages": sent}, "response": reply} for sent, reply in calls]
    texts = [*TALK, "user: And on Mondays?", "assistant: At ten.", "user: Thanks."]
    assert spoken_lines(only(file(*lines))) == texts


def test_a_message_of_an_unknown_role_in_a_trace_is_not_left_out_silently(fault: Callable[..., str]) -> None:
    odd = {"role": "narrator", "content": "It rains."}
    run = {
        "id": "r",
        "run_type": "llm",
        "inputs": {"messages": [ASKED, odd]},
        "outputs": {"choices": [{"message": TOLD}]},
    }
    span_of = {
        "gen_ai.input.messages": json.dumps([parts(ASKED), parts(odd)]),
        "gen_ai.output.messages": json.dumps([parts(TOLD)]),
    }
    gemini = {
        "contents": [
            {"role": "user", "parts": [{"text": "Open?"}]},
            {"role": "narrator", "parts": [{"text": "It rains."}]},
        ]
    }
    for value in (run, otlp(span("t", 1, span_of)), gemini):
        assert "message 1: needs a 'role'" in fault(load, file(value))
