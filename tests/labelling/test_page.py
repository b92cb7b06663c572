"""The page of `duologue label`, without a browser: what each click does."""

import json
from pathlib import Path

import pytest

from duologue import data, labelling
from duologue.data import Conversation, Message
from duologue.data.labels.side_by_side import quiz
from duologue.runs.people_labels import AnswerFiles, answers_of

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]  # Streamlit is an extra with warnings of its own
PAGE = """---
title: What happened
unit: conversation
parts:
  outcome: {values: [good, bad]}
  reason: {values: [slow, wrong, rude], several: [1, 2], only_if: {outcome: [bad]}}
---
good: done. bad: not done.
"""


@pytest.fixture
def app(tmp_path, monkeypatch):
    testing = pytest.importorskip(
        "streamlit.testing.v1", reason='streamlit is not installed: pip install "duologue[ui]"'
    )
    import streamlit

    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "ending.md").write_text(PAGE)
    messages = (Message(role="user", text="![x](http://evil.test/x.png) **hi**"),)
    labels = {"ending": {"outcome": "bad", "reason": ["rude"]}}
    conversations = [
        Conversation(id=f"{n}abc", scenario={"kind": "x"}, messages=messages, labels=labels) for n in range(2)
    ]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")

    def opening(token="t0ken", **changed):
        settings = {
            "source": "talks.jsonl",
            "labels": ["ending"],
            "labels_dir": "pages",
            "answers": "answers",
            "by": "ann",
        }
        monkeypatch.setenv(labelling.SETTINGS, json.dumps(settings | changed))
        monkeypatch.setenv(labelling.TOKEN, "t0ken")
        streamlit.cache_resource.clear()
        one = testing.AppTest.from_file(Path(labelling.__file__).with_name("app.py"), default_timeout=120)
        if token:
            one.query_params["token"] = token
        return one.run()

    return opening


def control(kind, app, name):
    """The control of a name, whichever thing it is about."""
    (element,) = [candidate for candidate in getattr(app, kind) if str(candidate.key).partition(" ")[2] == name]
    return element


def press(app, *keys):
    for key in keys:
        control("button", app, key).click().run()
        assert not app.exception
    return app


def conversation(app):
    """The HTML of the conversation that the page shows."""
    (html,) = [element.proto.body for element in app.get("html") if "<article" in element.proto.body]
    return html


def shown(app):
    return "\n".join(element.value for element in [*app.text, *app.subheader, *app.success, *app.markdown])


@pytest.mark.parametrize("token", ["", "another"])
def test_without_the_token_of_the_address_the_page_shows_nothing(app, token, tmp_path):
    page = app(token=token)
    assert [error.value for error in page.error] == ["Open the address that the command printed, with its token."]
    assert not page.button
    assert not page.get("html")
    assert not (tmp_path / "answers").exists()


def test_a_choice_opens_the_next_part_and_the_answer_is_saved_with_what_applies(app):
    page = press(app(), "outcome=bad", "reason=wrong", "reason=slow", "next reason", "save")
    press(page, "outcome=good", "save")
    assert [answer.value for answer in answers_of("answers")["ann"]] == [
        {"outcome": "bad", "reason": ["wrong", "slow"]},
        {"outcome": "good"},
    ]
    assert "All 2 are labelled" in shown(page)


def test_an_answer_cannot_be_saved_before_it_is_whole(app):
    page = press(app(), "outcome=bad")
    assert control("button", page, "save").disabled
    assert control("button", page, "next reason").disabled


def test_the_datas_own_label_is_shown_only_after_the_answer(app):
    page = app()
    assert "Label in the data" not in shown(page)
    press(page, "outcome=good")
    assert "Label in the data" not in shown(page)
    press(page, "save")
    assert "Label in the data: outcome bad; reason rude" in shown(page)
    assert not answers_of("answers")["ann"][0].model_shown


def test_undo_brings_the_answer_back_as_it_was_given(app):
    page = press(app(), "outcome=bad", "reason=wrong", "next reason", "save", "undo")
    assert answers_of("answers")["ann"] == []
    assert not control("button", page, "save").disabled
    press(page, "open outcome", "outcome=good", "save")
    assert [answer.value for answer in answers_of("answers")["ann"]] == [{"outcome": "good"}]


def test_a_click_that_comes_late_is_not_about_the_next_conversation(app):
    page = app()
    late = control("button", page, "outcome=bad").key
    press(page, "outcome=good", "save")
    assert late not in [button.key for button in page.button]
    assert "outcome=bad" in [str(button.key).partition(" ")[2] for button in page.button]


def test_a_person_who_has_another_page_open_is_told_so_in_one_line(app):
    with AnswerFiles("answers", "ann"):
        page = app()
    (error,) = page.error
    assert "ann has another page open" in error.value
    assert not page.exception


def test_nothing_of_a_conversation_is_markdown(app):
    page = app()
    assert "evil.test" not in shown(page)
    html = conversation(page)
    assert "![x](http://evil.test/x.png)" in html
    assert "<img" not in html


def test_who_guesses_the_profile_does_not_see_it_and_ranks_three_to_five(app, tmp_path):
    scenario = {
        "kind": "recllmsim",
        "language": "en",
        "task": "t",
        "task_context": "c",
        "preference": "1. Gender: Female",
    }
    data.record_lines.write(
        [Conversation(id="1", scenario=scenario, messages=(Message(role="user", text="hello"),))],
        tmp_path / "who.jsonl",
    )
    page = app(source="who.jsonl", labels=["profile_personality"], labels_dir=None)
    html = conversation(page)
    assert "hello" in html
    assert "Female" not in html
    press(page, "profile_personality=Calm", "profile_personality=Patient")
    assert control("button", page, "next profile_personality").disabled
    press(
        page,
        "profile_personality=Friendly",
        "profile_personality=Calm",
        "profile_personality=Calm",
        "next profile_personality",
    )
    assert "profile_personality: Patient, Friendly, Calm" in [button.label for button in page.button]


@pytest.fixture
def study(app, tmp_path):
    """A page of a study of two conversations, whose second question is answered alike."""
    for side, answers in (("a", ("It was built in 1900.", "By a smith.")), ("b", ("In 1901, I think.", "By a smith."))):
        lines = []
        for number in range(2):
            messages = [
                {"role": role, "content": text}
                for place, answer in enumerate(answers)
                for role, text in (("user", f"What about {place}?"), ("assistant", answer))
            ]
            lines.append(json.dumps({"id": f"{side}{number}", "topic": f"t{number}", "messages": messages}))
        (tmp_path / f"{side}.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "study.yaml").write_text(
        "first: {name: ours, source: a.jsonl}\nsecond: {name: theirs, source: b.jsonl}\nlabellers: 1\nbatch_size: 1\n"
    )

    def opening(by="ann"):
        return app(source=None, labels=[], labels_dir=None, study="study.yaml", by=by)

    return opening


def side_of(page, text):
    """A or B: the side on which the page shows a text."""
    html = conversation(page)
    return "A" if html.index(text) < html.index(">B</p>") else "B"


def answer_quiz(page, right=True):
    """The right answers to the quiz, or only the wrong ones."""
    for number, (_, answer) in enumerate(quiz().questions, start=1):
        press(page, f"{number}={answer if right else 'no' if answer == 'yes' else 'yes'}")
    return press(page, "save")


def answer_sides(page, preferred):
    """The answers of somebody who prefers the side that says this in every respect."""
    side = side_of(page, preferred)
    press(
        page, *(f"1 {aspect}={side}" for aspect in ("correctness", "naturalness", "completeness")), f"preference={side}"
    )
    control("text_area", page, "text why").set_value("It is sure.")
    return press(page, "next why", "save")


def test_a_study_asks_about_what_differs_after_the_quiz_and_keeps_the_sides_apart(study):
    page = study()
    assert "Ten samples" in conversation(page)
    answer_quiz(page)
    assert not [button for button in page.button if " open 2 " in str(button.key)], "the second answers are alike"
    for _ in range(2):
        answer_sides(page, "It was built in 1900.")
    assert "All 3 are labelled" in shown(page)
    answers = answers_of("answers")["ann"]
    assert [answer.label for answer in answers] == ["quiz", "side_by_side", "side_by_side"]
    assert [answer.value["preference"] for answer in answers[1:]] == ["first"] * 2


def test_who_fails_the_quiz_may_not_go_on(study):
    page = answer_quiz(study(), right=False)
    assert "0% of the quiz was answered right" in page.warning[0].value
    assert [answer.label for answer in answers_of("answers")["ann"]] == ["quiz"]
