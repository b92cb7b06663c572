"""Labelling many conversations: what is asked, kept, asked again and written, and what a kill leaves."""

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data, runs
from duologue.analysis.labels.reading import labels_of
from duologue.data.files import json as json_files
from duologue.data.labels.answers import is_labelled, labels_at
from duologue.data.labels.definition import LabelDefinition
from duologue.data.labels.reading import annotated_keys
from duologue.data.recllmsim import combined, shipped_profiles, shipped_tasks
from duologue.data.recllmsim.dataset import write
from duologue.errors import DataError, SettingError
from duologue.nodes.annotators import annotator
from duologue.nodes.foreign import ExitError
from duologue.prompts.label_pages import shipped_labels
from duologue.runs.store import RunError
from duologue.runs.labels.annotating import so_far, voters
from duologue.runs.labels.copies import write_copy
from tests.fake_models import SeededModel
from tests.labels_by_function import first_values

SEED = Path(__file__).parents[4] / "shared" / "seed-data"
open_data = pytest.mark.skipif(not SEED.is_dir(), reason="the open published data is not in ../shared/seed-data")
PAGE = "---\nunit: conversation\nvotes: true\nparts:\n  mood: {values: [good, bad]}\n---\ngood: x. bad: y.\n"
MOOD = LabelDefinition.of(
    "mood", {"unit": "conversation", "votes": True, "parts": {"mood": {"values": ["good", "bad"]}}}, "x", "mood.md"
)  # fmt: skip


KEYS = {"solving": "strategy_V1", "broadness": "strategy_V2", "style": "strategy_V3", "advice": "strategy_V4"}
BEHAVIOUR = [*KEYS]
SITUATIONS = list(combined(shipped_tasks(), shipped_profiles().texts))


class Killed(BaseException):
    """What ends a process."""


GOOD = '{"mood": "good"}'
Paid = partial(SeededModel, lines=[GOOD], tokens=(9, 1))
"""A model whose calls are counted."""


@pytest.fixture
def talks():
    """Six simulated conversations."""
    texts = ("Where to?", "Rome.", "Thanks, a plan please!", "Day one: the forum.")
    return [
        data.Conversation(
            id=f"c{number}",
            scenario=SITUATIONS[number].scenario(),
            messages=[
                data.Message(role="assistant" if n % 2 else "user", text=f"{text} ({number})")
                for n, text in enumerate(texts)
            ],
        )
        for number in range(6)
    ]


@pytest.fixture
def source(talks, tmp_path):
    """They as published files, and one file beside them."""
    write(talks, tmp_path / "source")
    (tmp_path / "source" / "README.txt").write_text("of six")
    return tmp_path / "source"


def annotate(source, out, *models, labels=(MOOD,), **settings):
    return duologue.annotate(source, list(labels), models or first_values, out=out, **settings)


def files(folder, *, without=()):
    """Every file with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not set(without) & set(path.relative_to(folder).parts)
    }


def test_a_copy_has_the_votes_in_the_published_shape_and_the_source_stays(source, tmp_path):
    before = files(source)
    votes = iter(["good", "bad", "good"] * 6)
    models = [lambda talk, label: next(votes)] * 3
    annotate(source, tmp_path / "out", *models, concurrency=1)
    assert files(source) == before
    copied = files(tmp_path / "out", without=["annotation"])
    assert copied.keys() == before.keys()
    assert copied["README.txt"] == b"of six"
    for name, was in before.items():
        if name.endswith(".json"):
            moods = {"final": {"mood": "good"}, "1": {"mood": "good"}, "2": {"mood": "bad"}, "3": {"mood": "good"}}
            labelled = {**json.loads(was), "mood": moods}
            assert copied[name].decode() == json.dumps(labelled, ensure_ascii=False, indent=4)


def test_a_tie_is_null_in_a_file_and_a_vote_that_cannot_be_read_too(talks):
    mute = Paid(lines=["I would rather not."])
    done = runs.annotate(talks[:1], [MOOD], [lambda talk, label: "good", lambda talk, label: "bad", mute])
    assert done[0].labels["mood"] == {
        "final": {"mood": None}, "1": {"mood": "good"}, "2": {"mood": "bad"}, "3": None
    }  # fmt: skip


def test_a_tie_of_a_label_that_stores_no_votes_is_null_too_and_left_alone(source, tmp_path):
    front = {"unit": "user turn", "parts": {"tone": {"values": ["warm", "cold"]}, "why": {"text": True}}}
    tone = LabelDefinition.of("tone", front, "x", "tone.md")
    answers = [[{"tone": value, "why": "so"}] * 2 for value in ("warm", "cold")]
    annotators = [lambda talk, label, value=value: value for value in answers]
    (first, *_) = annotate(source, tmp_path / "out", *annotators, labels=[tone])
    assert first.messages[0].labels["tone"] == {"final": None, "1": "warm", "2": "cold"}
    assert "why" not in first.messages[0].labels
    (again, *_) = data.load(tmp_path / "out").conversations
    assert is_labelled(again, tone, 0)
    assert tone.value_in(labels_at(again, tone, 0)) is None
    (label,) = [label for (place, _), label in labels_of(again, "tone").items() if place == 0]
    assert (label.value, label.votes) == (None, ("warm", "cold"))
    calls = []
    annotate(tmp_path / "out", tmp_path / "next", lambda talk, label: calls.append(talk), labels=[tone])
    assert not calls


def test_a_vote_that_cannot_be_read_is_kept_with_its_words_and_its_usage_and_no_prompt(talks, tmp_path):
    model = Paid()
    annotations = asyncio.run(
        runs.aannotate(talks[:1], [shipped_labels()["conflict"]], [annotator(model)], votes=2, out=tmp_path)
    )
    lines = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text().splitlines()]
    assert len(lines) == 1
    assert [vote["values"] for vote in lines[0]["votes"]] == [{"-1": None}] * 2
    for attempt in lines[0]["votes"][1]["attempts"]:
        assert (attempt["text"], attempt["usage"]["input_tokens"]) == ('{"mood": "good"}', 9)
        assert set(attempt["prompt"]) == {"name", "digest"}
    assert annotations.missing == 0  # it is an answer, and not asked for again


def test_each_vote_is_a_call_of_its_own_and_nothing_is_asked_twice(source, tmp_path):
    model = Paid()
    annotate(source, tmp_path / "out", model)
    assert len(model.sent) == len(set(model.texts)) == 18
    annotate(source, tmp_path / "out", model)
    assert len(model.sent) == 18
    assert sorted(files(tmp_path / "out" / "annotation")) == ["settings.jsonl", "votes.jsonl"]


def test_votes_on_a_text_that_has_changed_since_are_asked_for_again(source, tmp_path):
    model = Paid()
    annotate(source, tmp_path / "out", model)
    changed = next(path for path in sorted(source.rglob("*.json")) if b"Rome." in path.read_bytes())
    changed.write_bytes(changed.read_bytes().replace(b"Rome.", b"Nome."))
    annotate(source, tmp_path / "out", model)
    assert len(model.sent) == 18 + 3


def test_a_file_that_changes_while_it_is_annotated_gets_no_label(source, tmp_path):
    loaded = data.load(source)
    talk = loaded.conversations[0]
    path = source / talk.extra["path"]
    path.write_bytes(path.read_bytes().replace(b"Rome.", b"Nome."))
    with pytest.raises(DataError, match="changed while it was annotated"):
        write_copy(loaded, tmp_path / "out", {talk.id: {-1: {"labels": {"mood": "good"}}}})


@dataclass
class Killing:
    """An annotator that is killed once, when a vote has been paid for."""

    own: Any
    at: int
    calls: int = 0

    def provenance(self):
        return self.own.provenance()

    async def __call__(self, question):
        opinion = await self.own(question)
        self.calls += 1
        if self.calls == self.at:
            raise Killed
        return opinion


@pytest.mark.parametrize("at", [1, 2, 5, 9, 18])
def test_a_work_that_is_killed_goes_on_and_pays_no_reply_twice(source, tmp_path, at):
    whole, model = Paid(), Paid()
    annotate(source, tmp_path / "whole", whole, concurrency=2)
    killing = [Killing(annotator(model), at)] * 3
    with pytest.raises(ExitError, match="has ended with Killed"):
        annotate(source, tmp_path / "out", *killing, concurrency=2)
    assert 0 < len(model.sent) <= 18
    annotate(source, tmp_path / "out", *killing, concurrency=2)
    assert sorted(model.texts) == sorted(whole.texts)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_votes_stand_in_the_order_of_the_conversations_whichever_came_first(source, tmp_path):
    begun = []

    async def last_first(talk, label):
        begun.append(talk.id)
        for _ in range(200 - 20 * len(begun)):
            await asyncio.sleep(0)
        return "good"

    annotate(source, tmp_path / "out", last_first, concurrency=6)
    votes = tmp_path / "out" / "annotation" / "votes.jsonl"
    conversations = data.load(source).conversations
    assert [json.loads(line)["conversation"] for line in votes.read_text().splitlines()] == [
        talk.id for talk in conversations
    ]
    lines = votes.read_text().splitlines(keepends=True)
    votes.write_text("".join(lines[::-1]))
    annotate(source, tmp_path / "out", last_first, concurrency=6)
    assert votes.read_text() == "".join(lines)


def test_work_that_was_interrupted_before_it_began_has_nothing(talks, tmp_path):
    annotations = so_far(talks, [MOOD], [annotator(Paid())], out=tmp_path / "annotation")
    assert (annotations.missing, annotations.stopped) == (6, "interrupted")
    assert not (tmp_path / "annotation").exists()


def test_what_an_annotator_failed_at_loses_no_other_and_alone_is_asked_again(source, tmp_path):
    class Failing(SeededModel):
        dead: bool = True

        def _generate(self, messages, *args, **kwargs):
            if "(3)" in str(messages[-1].content) and self.dead:
                raise OSError("the line is dead")
            return super()._generate(messages, *args, **kwargs)

    model = Failing(lines=[GOOD])
    done = annotate(source, tmp_path / "out", model)
    assert sum("mood" in talk.labels for talk in done) == 5
    assert len(model.sent) == 15
    model.dead = False
    done = annotate(source, tmp_path / "out", model)
    assert sum("mood" in talk.labels for talk in done) == 6
    assert len(model.sent) == 18


def test_a_copy_whose_writing_broke_off_is_whole_or_as_it_was_and_is_finished_by_resuming(
    source, tmp_path, monkeypatch
):
    model, written = Paid(), []

    def broken(path, text):
        if len(written) == 3:
            raise Killed
        written.append(path)
        json_files.write_text(path, text)

    monkeypatch.setattr("duologue.runs.labels.copies.write_text", broken)
    with pytest.raises(Killed):
        annotate(source, tmp_path / "out", model)
    assert files(tmp_path / "out", without=["annotation"]) == {}
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.undo()
    annotate(source, tmp_path / "out", model)
    assert len(model.sent) == 18
    assert len(files(tmp_path / "out", without=["annotation"])) == 7


def test_redoing_asks_anew_with_other_seeds_and_replaces_what_is_there(source, tmp_path):
    annotate(source, tmp_path / "first", lambda talk, label: "bad")
    model = Paid()
    annotate(tmp_path / "first", tmp_path / "second", model)
    assert model.sent == []  # all have the label
    done = annotate(tmp_path / "first", tmp_path / "third", model, redo=["mood"])
    assert {talk.labels["mood"]["final"]["mood"] for talk in done} == {"good"}
    annotate(tmp_path / "first", tmp_path / "third", model, redo=["mood"])
    assert len(model.seeds) == len(set(model.seeds)) == 36
    annotate(tmp_path / "first", tmp_path / "third", model, redo=["mood"])
    assert len(model.seeds) == 36


def test_bad_input_is_one_line_before_a_call_and_before_a_folder(source, tmp_path):
    model, labels = Paid(), shipped_labels()
    annotate(source, tmp_path / "out", lambda talk, label: "bad")
    for message, settings in {
        "go on with": {"out": tmp_path / "out"},
        "made with other annotators": {"out": tmp_path / "out", "resume": True},
        "the two is in the other": {"out": source / "copy"},
        "stored under the same key": {"labels": [labels["intent"], labels["intent_people"]]},
        "not one of the requested labels": {"redo": ["intent"]},
        "votes must be at least 1": {"votes": 0},
    }.items():
        with pytest.raises((RunError, SettingError), match=message):
            annotate(source, *[settings.pop("out", tmp_path / "new")], model, **settings)
    with pytest.raises(SettingError, match="one vote, not 3"):
        voters([annotator(lambda talk, label: "bad")], 3)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="holds other files"):
        annotate(source, tmp_path / "other", model)
    assert model.sent == []
    assert not (tmp_path / "new").exists()


def test_a_copy_of_another_source_is_not_gone_on_with_and_stays_as_it_is(source, talks, tmp_path):
    model = Paid()
    annotate(source, tmp_path / "out", model)
    before = files(tmp_path / "out")
    other = [talk.model_copy(update={"id": f"d{n}", "extra": {}}) for n, talk in enumerate(talks)]
    write([other[0].model_copy(update={"scenario": SITUATIONS[9].scenario()})], tmp_path / "other")
    reworded = [
        talk.model_copy(update={"messages": tuple(m.model_copy(update={"text": m.text + "!"}) for m in talk.messages)})
        for talk in talks
    ]
    write(reworded, tmp_path / "reworded")
    for error, redo, resume in (
        (r"another source, which has .*give that source", [], True),
        ("another", ["mood"], False),
    ):
        with pytest.raises(RunError, match=error):
            annotate(tmp_path / "other", tmp_path / "out", model, redo=redo, resume=resume)
    with pytest.raises(RunError, match="has the same words here"):
        annotate(tmp_path / "reworded", tmp_path / "out", model)
    assert files(tmp_path / "out") == before
    assert len(model.sent) == 18


def test_a_copy_tells_the_keys_that_annotators_wrote_also_of_a_page_of_ones_own(source, tmp_path):
    own = LabelDefinition.of(
        "own", {"unit": "assistant turn", "parts": {"satisfaction": {"scale": [1, 5]}}}, "x", "own.md"
    )
    annotate(
        source, tmp_path / "out", lambda talk, label: "bad" if label.name == "mood" else [3, 3], labels=[MOOD, own]
    )
    assert annotated_keys(tmp_path / "out") == {"mood", "satisfaction"}
    assert annotated_keys(source) == frozenset()


def test_a_label_that_the_copy_has_must_be_named_again_when_another_is_added(source, tmp_path):
    annotate(source, tmp_path / "out", lambda talk, label: "bad")
    intent = shipped_labels()["intent"]
    with pytest.raises(RunError, match="has the label 'mood' too, which the copy would lose: add it to --labels"):
        annotate(source, tmp_path / "out", labels=[intent])
    answers = {"mood": "bad", "intent": ["Search", "Search"]}
    done = annotate(source, tmp_path / "more", lambda talk, label: answers[label.name])
    done = annotate(
        source, tmp_path / "more", lambda talk, label: answers[label.name], labels=[MOOD, intent]
    )
    assert "mood" in done[0].labels
    assert done[0].messages[0].labels["intent"] == "Search"


@pytest.mark.parametrize(
    ("unit", "key"), [("turn", "content"), ("conversation", "history"), ("preference", "preference"), ("reason", "why")]
)
def test_a_label_where_the_data_itself_stands_is_refused(source, tmp_path, unit, key):
    label = LabelDefinition.of("own", {"unit": unit, "parts": {key: {"values": ["a", "b"]}}}, "x", "own.md")
    with pytest.raises(SettingError, match=f"would be stored as '{key}', where the data itself stands"):
        runs.annotate([], [label], lambda talk, label: "a")
    assert not (tmp_path / "out").exists()


def test_a_label_in_the_place_of_another_is_refused_and_not_written_over(source, tmp_path):
    annotate(source, tmp_path / "out", labels=[shipped_labels()["intent"]])
    with pytest.raises(DataError, match=r"has 'intent' in another form.*--redo intent_people"):
        annotate(tmp_path / "out", tmp_path / "next", labels=[shipped_labels()["intent_people"]])
    done = annotate(
        tmp_path / "out", tmp_path / "next", labels=[shipped_labels()["intent_people"]], redo=["intent_people"]
    )
    assert isinstance(done[0].messages[0].labels["intent"], list)
    assert "intent_zh" in done[0].messages[0].labels  # it is of the other label, and stays


def test_a_run_keeps_its_records(tmp_path):
    conversations = duologue.simulate(
        duologue.graphs.recllmsim.cast(), duologue.graphs.recllmsim.scenarios(SITUATIONS[:3]), out=tmp_path / "run"
    )
    annotate(tmp_path / "run", tmp_path / "out", labels=[shipped_labels()["style"], shipped_labels()["advice"]])
    again = data.load(tmp_path / "out")
    assert again.kind == "run"
    assert len(again) == len(conversations) == 3
    for talk, was in zip(again, data.load(tmp_path / "run"), strict=True):
        assert set(talk.labels) - set(was.labels) == {"style", "advice"}
        bare = talk.model_copy(update={"labels": was.labels})
        assert bare == was


@pytest.mark.heavy
@open_data
def test_labels_that_are_stripped_from_open_files_come_back_in_published_shape(tmp_path):
    names = {
        "LLM_agent_user": ["intent", "satisfaction_conversation", "profile_mapped", *BEHAVIOUR],
        "real_human_user": ["intent_people", *BEHAVIOUR],
        "human_exp_V2": ["satisfaction", *BEHAVIOUR],
    }
    for side, label_names in names.items():
        labels = [shipped_labels()[name] for name in label_names]
        published = {}
        for path in sorted((SEED / "recllmsim_human_vs_agent" / side).glob("**/*.json"))[:12]:
            before = json.loads(path.read_text(encoding="utf-8"))
            published[str(path.relative_to(SEED / "recllmsim_human_vs_agent"))] = before
            keys = {key for label in labels if not label.of_messages for key in label.keys} | set(KEYS.values())
            keys_of_turns = {key for label in labels if label.of_messages for key in label.keys}
            bare = {key: value for key, value in before.items() if key not in keys}
            bare["history"] = [
                {key: value for key, value in turn.items() if key not in keys_of_turns} for turn in before["history"]
            ]
            target = tmp_path / "source" / side / path.relative_to(SEED / "recllmsim_human_vs_agent" / side)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(bare, ensure_ascii=False, indent=4), encoding="utf-8")
        annotate(tmp_path / "source" / side, tmp_path / "out" / side, *[first_values] * 3, labels=labels)
        for name, before in published.items():
            after = json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))
            assert shape(after) == shape(before), name
            for label in labels:
                holders = after["history"] if label.of_messages else [after]
                for holder in holders:
                    if label.role in (None, holder.get("role")):
                        holder = {**holder, label.name: holder.get(KEYS.get(label.name, label.name))}
                        for vote in "123" if label.votes else ["final"]:
                            assert label.problems(label.value_in(holder, vote)) == []
                        tied = [name for name, part in (label.value_in(holder) or {}).items() if part is None]
                        assert tied == []  # it is null in the file, and no value


def shape(value, key=""):
    """Keys and kinds of values.

    A final value may be null in a tie, so only its keys count. A list of words is its kind only, and reasons are left
    out, which not every turn has.
    """
    if key == "final":
        return list(value)
    if isinstance(value, dict):
        return {name: shape(inner, name) for name, inner in value.items() if name != "reason"}
    if isinstance(value, list) and key not in ("history",):
        return [shape(value[0])] if value else []
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__
