"""Labelling conversations by models and functions: what is asked, what the table holds, what a kill and a failure leave."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data
from duologue.data import Conversation, Message
from duologue.data.labels.definition import LabelDefinition
from duologue.data.labels.table import LabelTable
from duologue.data.recllmsim import combined, shipped_profiles, shipped_tasks
from duologue.data.recllmsim.dataset import write
from duologue.errors import DataError, SettingError
from duologue.prompts.label_pages import shipped_labels
from duologue.runs.store import RunError
from tests.fake_models import SeededModel
from tests.labels_by_function import first_values

MOOD = LabelDefinition.of(
    "mood", {"unit": "conversation", "parts": {"mood": {"values": ["good", "bad"]}}}, "x", "mood.md"
)
GOOD = '{"mood": "good"}'
Paid = partial(SeededModel, lines=[GOOD], tokens=(9, 1))
"""A model whose calls are counted."""
PAGE = "---\nunit: conversation\nparts:\n  mood: {values: [good, bad]}\n---\ngood: x. bad: y.\n"


@pytest.fixture
def talks() -> list[Conversation]:
    """Six simulated conversations."""
    texts = ("Where to?", "Rome.", "Thanks, a plan please!", "Day one: the forum.")
    situations = list(combined(shipped_tasks(), shipped_profiles().texts))
    return [
        Conversation(
            id=f"c{number}",
            scenario=situations[number].scenario(),
            messages=tuple(
                Message(role="assistant" if n % 2 else "user", text=f"{text} ({number})")
                for n, text in enumerate(texts)
            ),
        )
        for number in range(6)
    ]


@pytest.fixture
def source(talks: list[Conversation], tmp_path: Path) -> Path:
    """They as published files."""
    write(talks, tmp_path / "source")
    return tmp_path / "source"


def annotate(source: Any, out: Path | None, *models: Any, labels: Any = (MOOD,), **settings: Any) -> Any:
    return duologue.annotate(source, list(labels), list(models) or first_values, out=out, **settings)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_labels_stand_beside_the_data_and_are_written_back_in_the_published_shape(source: Path, tmp_path: Path) -> None:
    before = files(source)
    votes = iter(["good", "bad", "good"] * 6)
    annotate(source, tmp_path / "out", *[lambda talk, label: next(votes)] * 3, concurrency=1)
    assert files(source) == before
    rows = [json.loads(line) for line in (tmp_path / "out" / "labels.jsonl").read_text().splitlines()]
    assert [row["conversation"] for row in rows] == [talk.id for talk in data.load(source)]
    assert rows[0]["value"] == {"mood": "good"}
    assert rows[0]["votes"] == [{"mood": "good"}, {"mood": "bad"}, {"mood": "good"}]
    loaded = data.load(tmp_path / "out")
    assert (loaded.kind, loaded.annotated) == ("labels", {"mood"})
    write(loaded, tmp_path / "again")
    moods = {"final": "good", "1": "good", "2": "bad", "3": "good"}
    for name, text in files(tmp_path / "again").items():
        labelled = {**json.loads(before[name]), "mood": moods}
        assert text.decode() == json.dumps(labelled, ensure_ascii=False, indent=4)


def test_a_tie_and_a_vote_that_cannot_be_read_are_null(talks: list[Conversation]) -> None:
    mute = Paid(lines=["I would rather not."])
    done = annotate(talks[:1], None, lambda talk, label: "good", lambda talk, label: "bad", mute)
    label = done.conversations[0].labels["mood"]
    assert (label.value, label.votes, len(label.by)) == (None, ("good", "bad", None), 3)
    assert done.counts()["mood"] == {"labelled": 0, "ties": 1, "votes": 3, "refused_votes": 1}
    assert annotate(talks[:1], None, mute).refused == ("I would rather not.",)


def test_a_tie_of_one_part_is_null_and_left_alone(source: Path, tmp_path: Path) -> None:
    front = {"unit": "user turn", "parts": {"tone": {"values": ["warm", "cold"]}, "why": {"text": True}}}
    tone = LabelDefinition.of("tone", front, "x", "tone.md")
    answers = [[{"tone": value, "why": "so"}] * 2 for value in ("warm", "cold")]
    annotators = [lambda talk, label, value=value: value for value in answers]
    done = annotate(source, tmp_path / "out", *annotators, labels=[tone])
    label = done.conversations[0].messages[0].labels["tone"]
    assert label.value == {"tone": None, "why": None}
    assert [vote["tone"] for vote in label.votes] == ["warm", "cold"]
    again = data.load(tmp_path / "out").conversations[0].messages[0]
    assert again.labels["tone"] == label
    assert annotate(tmp_path / "out", None, labels=[tone]).planned == 0


def test_each_vote_is_a_call_of_its_own_and_the_same_call_again_asks_nothing(source: Path, tmp_path: Path) -> None:
    model = Paid()
    first = annotate(source, tmp_path / "out", model)
    assert len(model.sent) == len(set(model.texts)) == len(set(model.seeds)) == 18
    table = files(tmp_path / "out")
    again = annotate(source, tmp_path / "out", model)
    assert len(model.sent) == 18
    assert (again.rows, again.calls, again.tokens) == (first.rows, 18, 180)
    assert files(tmp_path / "out") == table


def test_a_text_that_has_changed_since_is_asked_about_again_and_loses_its_old_label(
    source: Path, tmp_path: Path
) -> None:
    model = Paid()
    annotate(source, tmp_path / "out", model)
    changed = next(path for path in sorted(source.rglob("*.json")) if b"Rome." in path.read_bytes())
    changed.write_bytes(changed.read_bytes().replace(b"Rome.", b"Nome."))
    assert sum("mood" in one.labels for one in data.load(tmp_path / "out")) == 5
    annotate(source, tmp_path / "out", model)
    assert len(model.sent) == 18 + 3
    assert sum("mood" in one.labels for one in data.load(tmp_path / "out")) == 6


def test_what_an_annotator_failed_at_loses_no_other_and_alone_is_asked_again(source: Path, tmp_path: Path) -> None:
    class Failing(SeededModel):
        dead: bool = True

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            if "(3)" in str(messages[-1].content) and self.dead:
                raise OSError("the line is dead")
            return super()._generate(messages, *args, **kwargs)

    model = Failing(lines=[GOOD])
    done = annotate(source, tmp_path / "out", model)
    assert (len(done.rows), done.failed) == (5, 1)
    assert "the line is dead" in done.why
    model.dead = False
    done = annotate(source, tmp_path / "out", model)
    assert (len(done.rows), done.failed, len(model.sent)) == (6, 0, 18)


def test_redoing_labels_also_what_has_the_label(source: Path, tmp_path: Path) -> None:
    annotate(source, tmp_path / "first", lambda talk, label: "bad")
    assert annotate(tmp_path / "first", None, Paid()).planned == 0
    done = annotate(tmp_path / "first", tmp_path / "second", Paid(), redo=True)
    assert {talk.labels["mood"].value for talk in done.conversations} == {"good"}
    assert {talk.labels["mood"].value for talk in data.load(tmp_path / "first")} == {"bad"}


def test_bad_input_is_one_line_before_a_call_and_before_a_folder(source: Path, tmp_path: Path) -> None:
    model, labels = Paid(), shipped_labels()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    annotate(source, tmp_path / "out", lambda talk, label: "bad")
    cases: list[tuple[str, Path, dict[str, Any]]] = [
        (r"labels of another work \(annotators\)", tmp_path / "out", {}),
        ("holds other files", tmp_path / "other", {}),
        ("have the same key", tmp_path / "new", {"labels": [labels["intent"], labels["intent_people"]]}),
        ("votes must be at least 1", tmp_path / "new", {"votes": 0}),
    ]
    for message, out, settings in cases:
        with pytest.raises((RunError, SettingError), match=message):
            annotate(source, out, model, **settings)
    with pytest.raises(SettingError, match="one vote, not 3"):
        annotate(source, None, lambda talk, label: "bad", votes=3)
    with pytest.raises(SettingError, match="give its path"):
        annotate([], tmp_path / "new", model)
    assert model.sent == []
    assert not (tmp_path / "new").exists()


def test_a_label_in_the_place_of_another_is_refused_and_replaced_only_on_demand(source: Path, tmp_path: Path) -> None:
    annotate(source, tmp_path / "out", labels=[shipped_labels()["intent"]])
    people = [shipped_labels()["intent_people"]]
    with pytest.raises(DataError, match=r"has 'intent' in another form.*--redo"):
        annotate(tmp_path / "out", None, labels=people)
    done = annotate(tmp_path / "out", None, labels=people, redo=True)
    assert isinstance(done.conversations[0].messages[0].labels["intent"].value, list)


@pytest.mark.parametrize("name", sorted(shipped_labels()))
def test_a_table_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    table = LabelTable(tmp_path, {name: shipped_labels()[name]}, ())
    table.write(tmp_path / "out")
    assert dict(LabelTable.read(tmp_path / "out").labels) == {name: shipped_labels()[name]}


@pytest.mark.parametrize("line", ["{}", '{"label": "other", "conversation": "c0"}', '{"label": "mood", "conversation": "c0", "votes": [{"mood": "odd"}]}'])  # fmt: skip
def test_a_broken_line_of_a_table_is_named(line: str, source: Path, tmp_path: Path) -> None:
    annotate(source, tmp_path / "out")
    with (tmp_path / "out" / "labels.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match=r"labels\.jsonl: line 7"):
        data.load(tmp_path / "out")


@pytest.mark.heavy
def test_a_kill_pays_at_most_the_votes_under_way_again(source: Path, tmp_path: Path, forks: Any, faulty: Any) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "mood.md").write_text(PAGE)
    endpoint = faulty(reply=GOOD)
    command = "annotate source --labels mood --labels-dir pages --model openai:m --out out --concurrency 2".split()
    kills = 0
    for at in (3, 7, 12):
        fork = forks(command, tmp_path, endpoint.environment)
        endpoint.change(kill={"pid": fork.pid, "at": at, "when": "after"})
        kills += fork.wait() == -9
    endpoint.change(kill=None)
    fork = forks(command, tmp_path, endpoint.environment)
    assert fork.wait() == 0, fork.stderr
    counts = endpoint.counts()
    assert kills >= 2
    assert counts["answered"] - counts["answered_bodies"] <= 6 * kills
    assert sum("mood" in one.labels for one in data.load(tmp_path / "out")) == 6
