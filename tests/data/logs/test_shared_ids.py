"""Conversations of a log whose lines share an id: each has an id of its own, whatever the order of lines."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import Loaded, load, messages, record_lines


def line(name: str, text: str, **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}]
    return {"id": name, "messages": turns, **more}


def written(values: list[dict[str, Any]], name: str = "log.jsonl") -> Path:
    path = Path(name)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def texts(loaded: Loaded) -> dict[str, str]:
    return {talk.id: talk.messages[0].text for talk in loaded}


SHARED = [line("7", "Is there tea?"), line("7", "Is there rye bread?"), line("8", "Are you open?")]


def test_different_conversations_with_one_id_have_ids_of_their_own_and_a_note() -> None:
    loaded = load(written(SHARED))
    first, second, other = texts(loaded)
    assert first.startswith("7-")
    assert second.startswith("7-")
    assert (len({first, second}), other) == (2, "8")
    (note,) = loaded.notes
    assert note.startswith("2 conversations share 1 id and differ: a digest of the content follows the id, such as 7-")


@pytest.mark.heavy
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["tea", "rye", "oat"])), min_size=1, max_size=9),
    st.randoms(),
)
def test_ids_do_not_depend_on_the_order_of_lines(pairs: list[tuple[str, str]], draws: random.Random) -> None:
    values = [line(name, text) for name, text in pairs]
    before, note = sorted((talk.id, talk.messages[0].text) for talk in load(written(values))), load("log.jsonl").notes
    draws.shuffle(values)
    again = load(written(values))
    assert sorted((talk.id, talk.messages[0].text) for talk in again) == before
    assert again.notes == note
    assert len({name for name, _ in before}) == len(set(pairs)), "one id, one content"


def test_copies_keep_their_id() -> None:
    copies = [line("7", "Is there tea?")] * 2
    assert [talk.id for talk in load(written(copies))] == ["7", "7"]
    ids = [talk.id for talk in load(written([*copies, *SHARED]))]
    assert (ids.count(ids[0]), len(set(ids)), "7" in ids) == (3, 3, False)


def test_files_of_a_folder_that_share_ids_do_not_share_conversations() -> None:
    Path("logs").mkdir()
    for number, value in enumerate(SHARED[:2]):
        written([value], f"logs/{number}.jsonl")
    loaded = load("logs")
    assert sorted(texts(loaded).values()) == ["Is there rye bread?", "Is there tea?"]
    assert loaded.files == ("0.jsonl", "1.jsonl")


def test_they_keep_these_ids_when_they_are_written() -> None:
    messages.write(load(written([*SHARED, {**line("7", "No key first"), "channel": "web"}])), "again.jsonl")
    assert texts(load("again.jsonl")) == texts(load("log.jsonl"))


def test_records_that_share_an_id_are_separated_too_also_where_they_stay_on_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talks = [talk.model_copy(update={"id": "7"}) for talk in load(written(SHARED))]
    record_lines.write(talks, "records.jsonl")
    held = texts(load("records.jsonl"))
    assert len(held) == 3
    monkeypatch.setattr("duologue.data.loading.IN_MEMORY", 2)
    stored = load("records.jsonl")
    assert texts(stored) == held
