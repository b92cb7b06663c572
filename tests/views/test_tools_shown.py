"""What stands behind a message on its page: tools, kept channels, reasoning, the model, memory, an own reason."""

from duologue.data import Attempt, Conversation, Message, ToolCall, Usage
from duologue.data.records import NodeInfo, Provenance
from duologue.views import conversation_page, run_page
from duologue.views.pairs import pair_html


def talk(text="look_up", **more):
    call = ToolCall(name=text, arguments={text: [1, text]}, result={text: text})
    failed = ToolCall(name="pay", error=text)
    details = {"tool_calls": (call, failed), "kept": {text: [text]}, "reasoning": text, "model": text}
    rejected = Attempt(text="no", verdict="rejected", reason="cut_off", finish_reason="length", **details)
    accepted = Attempt(
        number=2,
        text="Your seat is 12A.",
        verdict="accepted",
        finish_reason="stop",
        usage=Usage(input_tokens=900, cached_tokens=800, output_tokens=50, reasoning_tokens=40),
        **details,
    )
    settings = {
        "id": "a",
        "scenario": {"kind": "airline"},
        "messages": (
            Message(role="user", text="Where do I sit?"),
            Message(role="assistant", text="Your seat is 12A.", attempts=(rejected, accepted)),
        ),
        "stop": "airline:transferred",
        "provenance": Provenance(
            cast="airline",
            nodes={"assistant": NodeInfo.of("assistant", {"name": "AgentSpeaker", "agent": "clerk"})},
            stop_reasons={"airline:transferred": "assistant"},
        ),
        "memory": {"user": {text: text}},
    }
    return Conversation(**(settings | more))


def words(page, tags):
    return " ".join("".join(tags(page).text).split())


def test_tools_and_all_that_an_endpoint_says_stand_behind_the_message(tags):
    page = conversation_page(talk())
    text = words(page, tags)
    for phrase in (
        "2 tool calls: look_up, pay", '{ "look_up": [ 1, "look_up" ] }', "result", "error: look_up",
        "kept from the agent's state: look_up", "reasoning", "served by look_up", "finished by length",
        "950 tokens, 800 of them cached, 40 of them reasoning", "it ended as transferred (airline; fault: assistant)",
        "Memory of the user", "draft 1: rejected, cut off",
    ):  # fmt: skip
        assert phrase in text, phrase
    assert page.count('<details class="tools">') == 2  # of the draft that was rejected, and of the one that stands
    assert "finished by stop" not in text


def test_a_run_counts_tool_calls_and_a_pair_says_whose_reason_ended_it(tags):
    assert "tool calls 0 4" in " ".join(" ".join(tags(run_page([talk()], "a run")).text).split())
    pair = words(pair_html(talk(), talk(stop=None), ("one", "two"), "p"), tags)
    assert "it ended as transferred (airline; fault: assistant)" in pair
    assert "why it ended is not recorded" in pair


def test_what_an_endpoint_did_before_a_reply_stands_behind_the_message_and_is_counted(tags):
    attempt = Attempt(text="a", verdict="accepted", flaw="cut_off", retried={"rate_limited": 2, "null_content": 1})
    message = Message(role="user", text="a", attempts=(attempt,))
    conversation = Conversation(id="a", scenario={"kind": "airline"}, messages=(message,))
    retries = "flaw: cut off; called again after 2 × rate limited, 1 × null content"
    assert retries in words(conversation_page(conversation), tags)
    assert "user called again after</dt><dd>rate limited 2, null content 1</dd>" in run_page([conversation], "a run")


def test_hostile_tools_stay_text(tags, hostile_text):
    page = conversation_page(talk(hostile_text))
    page.encode("utf-8")
    assert tags(page).tags == tags(conversation_page(talk("plain"))).tags


def test_what_a_judge_said_and_cost_is_shown_as_text(tags):
    usage = Usage(input_tokens=50, output_tokens=10)
    judged = Attempt(
        text="no", verdict="rejected", reason="rude", judging=usage, explanation="<script>x</script> is rude"
    )
    message = Message(role="user", text="Hello", attempts=(judged, Attempt(number=2, text="Hello", verdict="accepted")))
    conversation = talk(messages=(message,))
    page = conversation_page(conversation)
    assert "judged with 60 tokens: <script>x</script> is rude" in words(page, tags)
    assert "<script>x" not in page
    assert "judging tokens" in words(run_page([conversation], "run"), tags)
