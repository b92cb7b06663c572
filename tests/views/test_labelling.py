"""The conversation as people see it who label it: what is empty, what an agent called, and what no text may do."""

import pytest

from duologue.data import Attempt, Conversation, Message, ToolCall, load
from duologue.data.labels.side_by_side import by_label, comparisons
from duologue.views.labelling import labelling_html, labelling_page, side_by_side_html


def talk(*texts):
    return Conversation(id="1", scenario={"kind": "x"}, messages=texts, extra={"topic": "t"})


def test_a_message_without_a_text_is_told_to_be_empty_and_one_that_calls_a_tool_shows_the_call():
    call = ToolCall(name="find", arguments={"where": "<b>Rome</b>"}, result="<i>two</i>")
    acted = Message(
        role="assistant", text="", attempts=(Attempt(number=1, text="", verdict="accepted", tool_calls=(call,)),)
    )
    html = labelling_html(talk(Message(role="user", text="  "), acted))
    assert html.count("(empty)") == 1
    assert "find</summary>" in html
    assert "&lt;b&gt;Rome" in html
    assert "<i>" not in html


def test_a_reply_without_an_answer_has_the_same_words_on_both_sides(open_data):
    first = load(open_data / "simquac" / "teacher_sim_topics.txt").conversations
    pairs, _ = comparisons(first, by_label(first, "quac"))
    pages = [side_by_side_html(pair, switched=switched) for pair in pairs for switched in (False, True)]
    assert sum(page.count("(finds no answer)") for page in pages) > 4
    assert not [page for page in pages if "CANNOTANSWER" in page or "I cannot find" in page]


@pytest.mark.parametrize("text", ["<title>x</title>", "</script><script>x", "$x^2$ **b** :red[x]", "{item}"])
def test_no_text_is_markup_and_the_pages_script_knows_only_a_digest(text):
    html = labelling_html(talk(Message(role="user", text=text)))
    assert ("<title>" in html, "<script>" in html) == (False, False)
    with pytest.raises(ValueError, match="letters and digits"):
        labelling_page(text)
    page = labelling_page("0a1b")
    assert '"0a1b"' in page
    assert "{item}" not in page
    assert 'question = ""' in page
    assert 'question = "3"' in labelling_page("0a1b", 3)
