"""The labels in a list of conversations: filters by label, value and dispute, each beside its trust, all of it as data."""

import json
import re

import pytest

from duologue.analysis.labels.reliability import NOT_CALIBRATED, Trusts
from duologue.data import Conversation, Message
from duologue.views import run_page, write_run
from duologue.views.labels.filters import listed_labels
from duologue.views.shown_conversation import ShownConversation

DIFFER, TIE, OTHERWISE = 1, 2, 4


def talk(number=0, labels=None, of_reply=None, extra=None):
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello", labels=of_reply or {}))
    about = {"kind": "messages", "digest": str(number)}
    return Conversation(id=f"c{number}", scenario=about, messages=messages, labels=labels or {}, extra={"user": f"u{number}"} | (extra or {}))  # fmt: skip


def voted(final, *votes):
    return {"final": {"order": final}} | {str(n): {"order": vote} for n, vote in enumerate(votes, start=1)}


def shown_labels(talks, trusts):
    return listed_labels([ShownConversation(one, trusts) for one in talks], trusts)


def listed(*talks, models=()):
    return {label.name: label for label in shown_labels(talks, Trusts.of(talks, models))}


def test_each_part_of_a_label_is_listed_with_its_values_as_the_data_writes_them():
    labels = listed(
        talk(0, {"strategy_V1": voted("BreadthDepth", "BreadthDepth")}), talk(1, {"strategy_V1": voted("Depth")})
    )
    assert [*labels] == ["strategy_V1.order"]
    assert labels["strategy_V1.order"].plain() == {
        "name": "strategy_V1.order", "trust": NOT_CALIBRATED, "values": ["BreadthDepth", "Depth"],
        "rows": [[0, [[0, 1]], 0, [], ""], [1, [[1, 1]], 0, [], ""]],
    }  # fmt: skip


def test_votes_that_differ_a_tie_and_people_who_say_otherwise_are_told_apart():
    label = listed(
        talk(0, {"strategy_V1": voted("Depth", "Depth", "Depth", "Breadth")}),
        talk(1, {"strategy_V1": voted(None, "Depth", "Breadth")}),
        talk(2, {"strategy_V1": voted("Depth", "Depth", "Depth"), "strategy_human_V1": {"order": "Breadth"}}),
        talk(3, {"strategy_V1": voted("Depth", "Depth", "Depth"), "strategy_human_V1": {"order": "depth"}}),
    )["strategy_V1.order"]
    assert label.disputes == {0: DIFFER, 1: DIFFER | TIE, 2: OTHERWISE}
    assert label.people == {2: "Breadth"}


def test_of_messages_the_disputed_ones_are_named():
    one = talk(0, of_reply={"mood": {"final": "good", "1": "good", "2": "bad", "3": "good"}})
    label = listed(one, talk(1, of_reply={"mood": "bad"}))["mood"]
    assert (label.messages, label.disputes) == ({0: [1]}, {0: DIFFER})
    assert label.values == {"good": 1, "bad": 1}


def test_a_label_of_a_conversation_and_one_of_messages_of_the_same_name_are_two():
    assert [*listed(talk(0, {"mood": "good"}, {"mood": "bad"}))] == ["mood", "mood of messages"]


@pytest.mark.heavy
def test_the_label_that_people_gave_under_another_name_is_compared(open_data):
    from duologue import load

    talks = load(open_data / "recllmsim_human_vs_agent").conversations
    labels = {label.name: label for label in shown_labels(talks, Trusts.of(talks))}
    judged = labels["satisfaction.diversity"]
    assert sum(bits & OTHERWISE > 0 for bits in judged.disputes.values()) == 60  # of 233, an accuracy of .74
    assert all(label.trust for label in labels.values())


def test_texts_facts_and_the_success_are_no_filters():
    labels = {"memo": "x" * 80, "chat_model": "m", "scores": {"success": {"value": True}, "polite": {"value": 0.5}}}
    assert [*listed(talk(0, labels))] == ["scores.polite"]
    assert listed(*(talk(n, {"title": f"title {n}"}) for n in range(70))) == {}


def test_a_label_of_one_s_own_that_a_reader_leaves_aside_is_listed_once_it_is_known_for_one():
    aside = {"file": {"values": {"mood": "good", "other": 3}}}
    assert [*listed(talk(0, extra=aside), models=["mood"])] == ["mood"]
    assert listed(talk(0, extra=aside)) == {}
    both = {"file": {"values": {"mood": "good", "mood_human": "bad"}}}
    assert listed(talk(0, extra=both))["mood"].disputes == {0: OTHERWISE}


EVIL = "</script><img src=x onerror=alert(1)>&\"'\u2028"


@pytest.mark.parametrize("in_folder", [False, True])
def test_names_and_values_of_labels_are_never_markup(tmp_path, in_folder):
    talks = [talk(0, {EVIL: {"of" + EVIL: EVIL}, "mood": EVIL}), talk(1, {"mood": "good"})]
    page = run_page(talks, "x")
    if in_folder:
        page = write_run(talks, tmp_path / "p.html", "x", in_one_file=1).read_text(encoding="utf-8")
    assert "<img" not in page
    labels = json.loads(re.search(r'<script type="application/json" class="labelled">(.*?)</script>', page, re.S)[1])
    assert [label["name"] for label in labels] == [f"{EVIL}.of{EVIL}", "mood"]
    assert labels[1]["values"] == sorted([" ".join(EVIL.split()), "good"])


def test_a_list_without_labels_has_no_filter_for_them():
    page = run_page([talk()], "x")
    assert 'name="label"' not in page
    assert 'class="labelled">[' not in page


def test_every_label_that_can_be_chosen_stands_in_the_page_with_its_trust():
    page = run_page(
        [talk(n, {"strategy_V1": voted("Depth"), "strategy_human_V1": {"order": "Depth"}}) for n in range(6)], "x"
    )
    rows = dict(
        re.findall(
            r'<tr><th scope="row" dir="auto">([^<]*)</th>.*?<small class="trust">([^<]*)</small>',
            page.replace("<wbr>", ""),
        )
    )
    assert rows == {"strategy_V1.order": "source not told", "strategy_human_V1.order": "people&#39;s"}
