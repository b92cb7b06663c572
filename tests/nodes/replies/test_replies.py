"""What chat models and agents answer becomes drafts: words, tools, reasoning, and what the endpoint says of them."""

from dataclasses import dataclass

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from duologue.nodes.models.faults import ReplyError
from duologue.nodes.models.flaws import check_reply
from duologue.nodes.replies.conversion import drafts_of, new_messages, plain_json


def called(text, *names, **more):
    calls = [{"name": name, "args": {"n": number}, "id": f"{name}-{number}"} for number, name in enumerate(names)]
    return AIMessage(text, tool_calls=calls, **more)


def gave(call, content, **more):
    return ToolMessage(content, tool_call_id=call, **more)


def test_a_reply_keeps_what_its_endpoint_says_of_it():
    usage = {
        "input_tokens": 9, "output_tokens": 5, "total_tokens": 14,
        "input_token_details": {"cache_read": 4}, "output_token_details": {"reasoning": 3},
    }  # fmt: skip
    about = {"finish_reason": "length", "model_name": "m-0815"}
    reply = AIMessage(
        "Who?", usage_metadata=usage, response_metadata=about, additional_kwargs={"reasoning_content": "hm"}
    )
    assert drafts_of([reply]) == [
        {
            "text": "Who?",
            "finish_reason": "length",
            "flaw": "cut_off",
            "model": "m-0815",
            "reasoning": "hm",
            "usage": {
                "input_tokens": 9,
                "output_tokens": 5,
                "calls": 1,
                "cached_tokens": 4,
                "reasoning_tokens": 3,
            },
        }
    ]


@pytest.mark.parametrize("block", [
    {"type": "reasoning", "reasoning": "first"},
    {"type": "thinking", "thinking": "first", "signature": "x"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "first"}]},
])  # fmt: skip
def test_reasoning_in_blocks_is_kept_and_never_said(block):
    (draft,) = drafts_of([AIMessage([block, {"type": "text", "text": "Who?"}])])
    assert (draft["text"], draft["reasoning"]) == ("Who?", "first")


@pytest.mark.parametrize(("name", "reason"), [("stop_reason", "max_tokens"), ("done_reason", "length")])
def test_other_endpoints_words_for_the_finish_are_known(name, reason):
    assert drafts_of([AIMessage("a", response_metadata={name: reason})])[0]["finish_reason"] == reason


def test_each_message_with_words_is_a_draft_and_tools_belong_to_the_next():
    spent = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    drafts = drafts_of(
        [
            called("Let me look.", "look_up", usage_metadata=spent),
            gave("look_up-0", '{"seat": "12A"}'),
            called("", "change", "pay", usage_metadata=spent),
            gave("pay-1", "card refused", status="error"),
            gave("change-0", "done"),
            AIMessage("It is changed.", usage_metadata=spent),
        ]
    )
    assert [draft["text"] for draft in drafts] == ["Let me look.", "It is changed."]
    assert "tool_calls" not in drafts[0]  # the words beside a call come before it
    assert drafts[1]["tool_calls"] == [
        {"name": "look_up", "arguments": {"n": 0}, "result": {"seat": "12A"}},
        {"name": "change", "arguments": {"n": 0}, "result": "done"},
        {"name": "pay", "arguments": {"n": 1}, "error": "card refused"},
    ]
    assert drafts[0]["usage"] == {"input_tokens": 6, "output_tokens": 3, "calls": 3}
    assert "usage" not in drafts[1]


def test_tools_behind_the_last_words_belong_to_them():
    (draft,) = drafts_of([AIMessage("Bye."), called("", "hang_up"), gave("hang_up-0", "[]")])
    assert (draft["text"], draft["tool_calls"]) == ("Bye.", [{"name": "hang_up", "arguments": {"n": 0}, "result": []}])


def test_tools_without_any_words_make_an_empty_draft():
    (draft,) = drafts_of([called("", "look_up"), gave("look_up-0", "12")])
    assert (draft["text"], draft["tool_calls"][0]["result"]) == ("", "12")


@pytest.mark.parametrize("text", ["1e5", "0.10", "12345", '"q"', "true", "null", " 7", "{no", "[1e999]"])
def test_a_tools_text_that_is_no_object_or_list_is_recorded_as_it_was_written(text):
    (draft,) = drafts_of([called("", "look_up"), gave("look_up-0", text)])
    assert draft["tool_calls"][0]["result"] == text


def test_calls_of_the_same_id_have_their_results_in_order():
    def same(number):
        return AIMessage("", tool_calls=[{"name": "look_up", "args": {"n": number}, "id": "call_0"}])

    (draft,) = drafts_of(
        [same(1), gave("call_0", "first"), same(2), gave("call_0", "second"), same(3), AIMessage("Found.")]
    )
    paired = [(call["arguments"]["n"], call.get("result"), call.get("error")) for call in draft["tool_calls"]]
    assert paired == [(1, "first", None), (2, "second", None), (3, None, "no result came")]


def test_what_answers_a_malformed_call_is_not_given_to_the_next_call_of_its_id():
    broken = {"name": "pay", "args": "{", "id": "call_0", "error": None, "type": "invalid_tool_call"}
    mended = AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "call_0"}])
    (draft,) = drafts_of(
        [AIMessage("", invalid_tool_calls=[broken]), gave("call_0", "write JSON", status="error"), mended,
         gave("call_0", "paid"), AIMessage("Done.")]
    )  # fmt: skip
    assert draft["tool_calls"] == [
        {"name": "pay", "error": "malformed call: { (answered: write JSON)"},
        {"name": "pay", "arguments": {}, "result": "paid"},
    ]


def test_a_call_that_nothing_came_of_and_a_malformed_one_are_errors():
    broken = {"name": "pay", "args": '{"n": ', "id": "x", "error": "no JSON", "type": "invalid_tool_call"}
    (draft,) = drafts_of([AIMessage("", tool_calls=called("", "look_up").tool_calls, invalid_tool_calls=[broken])])
    assert [call["error"] for call in draft["tool_calls"]] == ["no result came", 'malformed call: no JSON: {"n": ']


def test_thoughts_in_tags_beside_a_call_are_reasoning_and_no_message():
    (draft,) = drafts_of([called("<think>first</think>", "look_up"), gave("look_up-0", "1"), AIMessage("Found.")])
    assert draft["text"] == "Found."
    assert "first" in draft["reasoning"]
    (alone,) = drafts_of([AIMessage("<think>first</think>")])
    assert (alone["text"], alone["raw"]) == ("", "<think>first</think>")


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands():
    call = {"name": "a\ud800", "args": {"b\ud800": "\ud800"}, "id": "1"}
    reply = AIMessage("c\ud800", tool_calls=[call], additional_kwargs={"reasoning_content": "\ud800"})
    str(drafts_of([reply, gave("1", "\ud800")])).encode("utf-8")


SENT = [SystemMessage("s"), HumanMessage("Who?"), AIMessage("Three keepers."), HumanMessage("When?")]
NEW = AIMessage("Three keepers.")


def copies(messages, **more):
    return [message.model_copy(update=more) for message in messages]


@pytest.mark.parametrize(
    "answered",
    [
        [*SENT, NEW],
        [NEW],
        [*copies(SENT), NEW],
        [*copies(SENT[1:]), NEW],
        [SystemMessage("other"), *copies(SENT[1:], id="given by the server"), NEW],
    ],
    ids=["the same objects", "new ones alone", "copies", "without the system message", "with other ids"],
)
def test_what_an_agent_added_is_told_from_what_it_was_sent(answered):
    assert new_messages(answered, SENT) == [NEW]


def test_what_an_agent_added_is_told_by_ids_though_it_cut_and_summed_up_the_talk():
    sent = [message.model_copy(update={"id": str(number)}) for number, message in enumerate(SENT)]
    assert new_messages([AIMessage("So far: keepers.", id="sum"), *copies(sent[3:]), NEW], sent) == [NEW]
    assert new_messages(copies(sent), sent) == []


@pytest.mark.parametrize("new", [[], [NEW], [AIMessage("Let me look."), NEW]])
def test_what_an_agent_added_is_told_though_it_returns_only_the_end_of_the_talk(new):
    assert new_messages([*copies(SENT[2:]), *new], SENT) == new
    assert new_messages([HumanMessage("So far: keepers."), SystemMessage("s"), *copies(SENT[3:]), *new], SENT) == new


def test_an_agent_that_says_again_what_it_was_sent_last_as_its_own_has_said_it():
    sent = [HumanMessage("Who?"), AIMessage("Three keepers.")]
    assert new_messages([AIMessage("Three keepers.")], sent) == [AIMessage("Three keepers.")]


class Booking(BaseModel):
    seat: str


@dataclass
class Basket:
    items: list


def test_what_an_agent_keeps_becomes_plain_json():
    value = {"a": (Booking(seat="1A"), Basket([Booking(seat="2B"), 1.5, None, True]))}
    assert plain_json(value) == {"a": [{"seat": "1A"}, {"items": [{"seat": "2B"}, 1.5, None, True]}]}
    assert plain_json(HumanMessage("x"))["content"] == "x"


@pytest.mark.parametrize("value", [{1: 2}, {1, 2}, object(), float("nan"), b"x", {"a": [lambda: 0]}])
def test_what_is_no_json_is_no_plain_json(value):
    with pytest.raises(TypeError):
        plain_json(value)


@pytest.mark.parametrize(
    ("about", "flaw"),
    [
        ({"stop_reason": "max_tokens"}, "cut_off"),
        ({"stop_reason": "end_turn"}, None),
        ({"stop_reason": "refusal"}, "refusal"),
        ({"stop_reason": "model_context_window_exceeded"}, "cut_off"),
        ({"done_reason": "length"}, "cut_off"),
        ({"finish_reason": "MAX_TOKENS"}, "cut_off"),
        ({"finish_reason": "SAFETY"}, "content_filter"),
        ({"finish_reason": "FinishReason.PROHIBITED_CONTENT"}, "content_filter"),
        ({"finish_reason": "STOP"}, None),
        ({"stopReason": "guardrail_intervened"}, "content_filter"),
        ({"finish_reason": "model_length"}, "cut_off"),
        ({}, None),
    ],
)
def test_every_provider_tells_a_flaw_in_its_own_words(about, flaw):
    assert drafts_of([AIMessage("a", response_metadata=about)])[0].get("flaw") == flaw


def test_a_reply_that_only_calls_tools_is_not_empty_and_one_that_says_nothing_is():
    call = {"name": "look", "args": {}, "id": "1"}
    assert "flaw" not in drafts_of([AIMessage("", tool_calls=[call])])[0]
    assert drafts_of([AIMessage("")])[0]["flaw"] == "empty"


def test_a_usage_below_zero_is_never_counted():
    odd = AIMessage("a", usage_metadata={"input_tokens": -5, "output_tokens": 2, "total_tokens": -3})
    sound = AIMessage("b", usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7})
    first, second = drafts_of([odd, sound])
    assert (first["usage"], first["flaw"]) == ({"input_tokens": 5, "output_tokens": 2, "calls": 2}, "odd_usage")
    assert "flaw" not in second


@pytest.mark.parametrize(
    ("message", "nothing"),
    [
        (AIMessage("", response_metadata={"model_name": "m"}), True),
        (AIMessage("", response_metadata={"finish_reason": "stop"}), False),
        (AIMessage("", response_metadata={"model_name": "m", "prompt_feedback": {"block_reason": 1}}), False),
        (AIMessage("a", response_metadata={"model_name": "m"}), False),
        (AIMessage("", response_metadata={"model_name": "m"}, additional_kwargs={"refusal": "no"}), False),
        (AIMessage(""), False),
    ],
)
def test_a_providers_message_of_nothing_at_all_is_the_endpoints_fault(message, nothing):
    if not nothing:
        return check_reply(message)
    with pytest.raises(ReplyError, match="null_content"):
        check_reply(message)
