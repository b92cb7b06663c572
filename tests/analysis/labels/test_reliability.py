"""Reliability marks of labels, which every table and every page shows beside the label."""

import re
from html import unescape

import pytest

from duologue import load
from duologue.analysis.labels.reliability import NOT_CALIBRATED, Trusts
from duologue.analysis.testing.success import successes
from duologue.data import Conversation, Message
from duologue.views import conversation_html, run_page

LABELLED = {"strategy_V1": {"final": {"order": "depth"}}, "strategy_human_V1": {"order": "depth"}, "mood": "good"}


def talk(number=0, labels=None, of_reply=None, **more):
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello", labels=of_reply or {}))
    about = {"kind": "messages", "digest": str(number)}
    return Conversation(id=f"c{number}", scenario=about, messages=messages, labels=labels or {}, extra={"user": f"u{number}"}, **more)  # fmt: skip


def agreeing(*, people, model):
    return [
        talk(number, {"strategy_V1": {"final": {"order": judged}}, "strategy_human_V1": {"order": human}})
        for number, (human, judged) in enumerate(zip(people, model, strict=True))
    ]


def test_a_model_s_label_is_measured_by_people_s_label_of_the_same_conversations():
    trust = Trusts.of(agreeing(people="aabbabab", model="aabbbaab")).of_label("not told", "strategy_V1", "order")
    assert trust.against == "strategy_human_V1.order"
    assert (trust.coefficient, round(trust.value, 3), trust.n) == ("kappa", 0.5, 8)
    assert trust.mark.startswith("κ 0.50 (")
    assert trust.mark.endswith(", n 8")


def test_where_kappa_says_nothing_gwet_s_coefficient_stands():
    for model in ("aaaaaa", "aaaaab"):
        trust = Trusts.of(agreeing(people="aaaaaa", model=model)).of_label("not told", "strategy_V1", "order")
        assert trust.coefficient == "AC1"
        assert trust.always == 1


def test_what_nobody_measured_is_not_calibrated_and_people_s_own_is_people_s():
    trusts = Trusts.of([talk(labels={"mood": "good", "mood_human": "good", "other": 1, "chat_model": "x"})])
    assert trusts.of_label("not told", "other").mark == NOT_CALIBRATED
    assert trusts.of_label("not told", "mood_human").mark == "people's"
    assert trusts.of_label("not told", "chat_model") is None
    assert trusts.of_label("simulated", "mood").mark == NOT_CALIBRATED  # another side's people say nothing of it


def test_what_annotators_wrote_into_a_copy_is_no_label_of_people():
    talks = [talk(labels={"mood_human": "good"})]
    assert Trusts.of(talks, ["mood_human"]).of_label("not told", "mood_human").mark == NOT_CALIBRATED


def test_labels_in_two_forms_are_not_measured_and_nothing_fails():
    trusts = Trusts.of([talk(labels={"mood": {"a": 1}, "mood_human": {"b": 1}})])
    assert trusts.of_label("not told", "mood", "a").mark == NOT_CALIBRATED


def scored(number, usage=None, human=None, value=True):
    score = {"value": value, "reason": "r"} | ({} if usage is None else {"usage": usage})
    return talk(number, {"scores": {"success": score}} | ({} if human is None else {"success_human": human}))


def test_the_success_of_a_judge_is_not_calibrated_until_people_labelled_it():
    usage = {"input_tokens": 1, "output_tokens": 1}
    assert successes([scored(0, usage)]).trust == NOT_CALIBRATED
    assert f"success: {NOT_CALIBRATED}" in successes([scored(0, usage)]).table().notes
    both = [scored(number, usage, human=number % 2 == 0, value=number % 3 == 0) for number in range(12)]
    assert successes(both).trust.startswith("κ ")
    ruled = scored(0).model_copy(update={"scenario": {"kind": "messages", "success": {"text_contains": "x"}}})
    assert successes([ruled]).trust == "computed"


def labels_shown(html):
    """Rows of the tables of labels, and scores."""
    tables = re.findall(r'<table class="labels">(.*?)</table>', html.replace("<wbr>", ""), re.S)
    rows = [row for table in tables for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)]
    return rows + re.findall(r'<p class="what score">(.*?)</p>', html, re.S)


@pytest.mark.heavy
def test_no_page_of_every_eighth_conversation_shows_a_label_without_its_trust(open_data):
    shown = load(open_data / "recllmsim_human_vs_agent").conversations
    trusts, marks = Trusts.of(shown), set()
    for conversation in (*shown[:40:8], *shown[-40::8], talk(labels=LABELLED, of_reply={"mood": 1}), scored(1)):
        rows = labels_shown(conversation_html(conversation, trusts=trusts))
        for row in rows:
            name = unescape(re.sub("<[^>]*>", "", row.partition("</th>")[0]))
            assert ('class="trust"' in row) is (name not in ("chat_model",)), row
            marks |= set(re.findall(r'class="trust" title="[^"]+">([^<]+)<', row))
    assert {"people&#39;s", NOT_CALIBRATED} < marks
    assert any(mark.startswith("κ 0.71 (0.27…0.91), n 19") for mark in marks)


def test_one_vote_of_a_label_has_no_measure_of_what_the_votes_come_to():
    voted = {"final": {"order": "a"}, "1": {"order": "a"}, "2": {"order": "b"}}
    talks = [talk(n, {"strategy_V1": voted, "strategy_human_V1": {"order": "ab"[n % 2]}}) for n in range(6)]
    rows = [
        re.sub("<[^>]*>", " ", row).split()
        for row in labels_shown(conversation_html(talks[0], trusts=Trusts.of(talks)))
    ]
    assert [" ".join(row) for row in rows] == [
        "strategy_V1.order a AC1 0.20 (-0.43…0.83), n 6", "strategy_V1.order, vote 1 a not calibrated",
        "strategy_V1.order, vote 2 b not calibrated", "strategy_human_V1.order a people&#39;s",
    ]  # fmt: skip


def test_a_label_of_one_s_own_in_a_published_file_stands_on_its_page_with_its_trust():
    both = {"values": {"mood": "good", "mood_human": "bad", "else": 3}}
    talks = [talk(n).model_copy(update={"extra": {"user": f"u{n}", "file": both}}) for n in range(6)]
    html = conversation_html(talks[0], trusts=Trusts.of(talks))
    rows = [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in labels_shown(html)]
    assert rows == ["mood good AC1 -1.00 (-1.00…-0.16), n 6", "mood_human bad people&#39;s", "else 3"]


def test_the_list_of_a_run_says_how_far_its_success_can_be_trusted():
    assert f"success: {NOT_CALIBRATED}" in run_page([scored(0), scored(1)], "run")
    assert "success: " not in run_page([talk()], "run")
