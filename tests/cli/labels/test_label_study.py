"""What people work on, without the page: a study's batches, limits, and guesses of profiles that are told in a table."""

import json

import pytest

from duologue import data
from duologue.analysis.recllmsim.prediction import profile_talks
from duologue.analysis.recllmsim.vocabulary import VOCABULARY
from duologue.data.labels.answers import Item
from duologue.data.labels.side_by_side import STUDY, quiz
from duologue.data.records import Json
from duologue.prompts.label_pages import shipped_labels
from duologue.runs.people_labels import AnswerFiles
from duologue.studies.labelling import LabellingSettings, LabelWork
from duologue.studies.side_by_side import StudyWork

SAYS = {"A": "first", "B": "second"}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """What opens a study of four conversations in batches of two for a person."""
    monkeypatch.chdir(tmp_path)
    for side, answer in (("a", "It was built in 1900."), ("b", "In 1901, I think.")):
        lines = []
        for number in range(4):
            messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": answer}]
            lines.append(json.dumps({"id": f"{side}{number}", "topic": f"t{number}", "messages": messages}))
        (tmp_path / f"{side}.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "study.yaml").write_text(
        "first: {name: ours, source: a.jsonl}\nsecond: {name: theirs, source: b.jsonl}\nlabellers: 1\nbatch_size: 2\nseed: 1\n"
    )

    def opening(by, **changed):
        return StudyWork(
            LabellingSettings(study=tmp_path / "study.yaml", answers=tmp_path / "answers", by=by, **changed)
        )

    return opening


def answer(work, preferred="first", **changed):
    """Answer what waits first: this side in every respect, unless another is named."""
    item = work.waiting[0]
    value = {f"1 {aspect}": preferred for aspect in ("correctness", "naturalness", "completeness")}
    values = {
        **value,
        "preference": preferred,
        "why": "x",
        **{name.replace("_", " "): value for name, value in changed.items()},
    }
    work.answer(item, work.form_value(item, values))


def pass_quiz(work, wrong=0):
    """Answer the quiz, the first questions wrong."""
    right = [answer for _, answer in quiz().questions]
    opposite = {"yes": "no", "no": "yes"}
    value = {str(n): opposite[answer] if n <= wrong else answer for n, answer in enumerate(right, start=1)}
    work.answer(work.waiting[0], value)


def test_three_quarters_of_the_quiz_admit_and_less_does_not(study):
    ann = study("ann")
    pass_quiz(ann, wrong=2)
    assert (ann.refusal(), len(ann.waiting)) == ("", 2)
    assert ann.answers.standing["quiz", "quiz", None].value["1"] == "yes"
    ben = study("ben")
    pass_quiz(ben, wrong=3)
    assert ben.refusal().startswith("62% of the quiz was answered right, 75% are needed")
    assert ben.waiting == []


def test_all_people_see_a_conversation_with_the_same_side_as_a(study):
    switched = {}
    for by in ("ann", "ben"):
        work = study(by)
        pass_quiz(work)
        switched[by] = [work.stored(Item(label=STUDY, conversation=f"a{n}"), {})["switched"] for n in range(4)]
    assert switched["ann"] == switched["ben"]
    assert len(set(switched["ann"])) == 2


def test_a_pass_mark_of_0_leaves_the_quiz_out(study, tmp_path):
    with (tmp_path / "study.yaml").open("a") as file:
        file.write("pass_mark: 0\n")
    work = study("ann")
    assert ({item.label for item in work.waiting}, work.refusal()) == ({"side_by_side"}, "")


def test_a_limit_takes_no_more_than_is_shown_and_the_same_call_again_takes_nothing_new(study):
    ann = study("ann", limit=2)
    pass_quiz(ann)
    answer(ann)
    assert (len(ann.items), ann.waiting) == (2, [])
    ann.answers.close()
    assert study("ann", limit=2).waiting == []
    ben = study("ben")
    pass_quiz(ben)
    for _ in range(3):
        answer(ben)
    assert len(ben.items) == 4, "the quiz, and the three that ann has not taken"


def test_a_limit_of_labels_is_of_what_is_seen_and_counts_what_is_answered(tmp_path):
    votes: Json = {
        "final": None,
        "1": "AllInOne",
        "2": "StepByStep",
    }
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "way.md").write_text(
        "---\nunit: conversation\nparts: {problem_solving: {values: [AllInOne, StepByStep]}}\n---\nHow.\n"
    )
    messages = (data.Message(role="user", text="hello"),)
    conversations = [
        data.Conversation(
            id=f"{n}", scenario={"kind": "x"}, messages=messages, labels={"problem_solving": votes} if n == 3 else {}
        )
        for n in range(5)
    ]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    settings = LabellingSettings(
        source=tmp_path / "talks.jsonl",
        labels=("way",),
        labels_dir=tmp_path / "pages",
        answers=tmp_path / "a",
        by="ann",
        limit=2,
    )
    work = LabelWork(settings)
    assert len(work.items) == 2
    assert work.items[0].conversation == "3", "what is disputed comes first, before the rest is cut off"
    first = [item.conversation for item in work.items]
    for item in work.waiting:
        work.answer(item, {"problem_solving": "AllInOne"})
    work.answers.close()
    with AnswerFiles(tmp_path / "a", "ben") as ben:  # now others are disputed, which come first
        others = [one.id for one in conversations if one.id not in first]
        for name in others:
            ben.put(Item(label="way", conversation=name).answered({"problem_solving": "AllInOne"}, "ben"))
        with AnswerFiles(tmp_path / "a", "cem") as cem:
            for name in others:
                cem.put(Item(label="way", conversation=name).answered({"problem_solving": "StepByStep"}, "cem"))
    again = LabelWork(settings)
    assert (again.waiting, len(again.items)) == ([], 2)
    again.answers.close()
    more = LabelWork(settings.model_copy(update={"limit": 3}))
    assert len(more.waiting) == 1
    more.answers.close()


@pytest.mark.heavy
def test_peoples_ranked_guesses_are_a_row_of_the_table_of_identification(open_data, tmp_path, monkeypatch, duologue):
    monkeypatch.chdir(tmp_path)
    source = open_data / "recllmsim" / "human_exp_V2"
    talks = {profile_talk.id: profile_talk for profile_talk in profile_talks(data.load(source).conversations)[0]}
    names = tuple(f"profile_{aspect}" for aspect in VOCABULARY)
    for by, place in (("ann", 0), ("ben", 1)):  # who tells an option of the profile first, and who tells it second
        work = LabelWork(LabellingSettings(source=source, labels=names, answers=tmp_path / "answers", by=by))
        for item in [one for one in work.waiting if one.conversation in talks]:
            choices = shipped_labels()[item.label].parts[item.label].choices
            own = talks[item.conversation].labels.get(item.label.removeprefix("profile_"), ())
            right = [option for option in own if option in choices][:1]
            wrong = [choice for choice in choices if choice not in own]
            work.answer(item, {item.label: [*wrong[: place if right else 0], *right, *wrong[2:5]][:4]})
        work.answers.close()
    with (tmp_path / "answers" / "ben.jsonl").open("a") as file:
        file.write('{"label": "prof')  # a server that was killed
    shares = {}
    for by in ("ann", "ben"):
        (tmp_path / by).mkdir()
        (tmp_path / by / f"{by}.jsonl").write_bytes((tmp_path / "answers" / f"{by}.jsonl").read_bytes())
        code, out, _ = duologue("papers", "recllmsim", "predict", source, "--model", by, "--json")
        assert code == 0
        rows = [row for row in json.loads(out)["aspects"] if (row["model"], row["split"]) == (f"people: {by}", "users")]
        shares[by] = {row["aspect"]: (row["n"], row["hit_1"], row["hit_3"]) for row in rows}
    for aspect, (n, first, third) in shares["ann"].items():
        assert 0.8 < first == third <= 1, "in some profiles the only option is Others, which nobody can guess"
        assert shares["ben"][aspect] == (n, 0, third)
