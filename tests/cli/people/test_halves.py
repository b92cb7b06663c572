"""Which half of the people a user is in: by the name alone, whatever part of the data was given and in which form."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import load
from duologue.data.people import of_part, part_of, user_of


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Files of eight people, as the people's study of RecLLMSim has them; all have the same profile."""
    root = tmp_path / "people"
    for number in range(8):
        file = root / f"User_{number}" / "旅行规划" / "1.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(history(f"我想去{number}个地方"), ensure_ascii=False), encoding="utf-8")
    return root


def history(text: str) -> dict[str, Any]:
    return {
        "chat_model": "gpt-4-turbo-preview",
        "history": [{"role": "user", "content": text}, {"role": "assistant", "content": "好的"}],
        "task_context": "五一出门旅行",
        "task_type": "旅行规划",
        "profile": {"background": {"职业": "学生"}},
    }


def halves(source: Path) -> dict[str, bool]:
    """Whether what each user says first is of the tuning half."""
    return {one.messages[0].text: of_part(one, "tune") for one in load(source).conversations}


def test_a_user_of_published_files_is_the_same_one_from_any_folder_or_file_and_by_any_path(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = halves(study)
    assert set(whole.values()) == {True, False}
    parts: dict[str, bool] = {}
    for number in range(8):
        folder = study / f"User_{number}"
        for source in (folder, folder / "旅行规划", folder / "旅行规划/1.json"):
            halves_of_users = halves(source)
            assert halves_of_users.items() <= whole.items(), source
            parts |= halves_of_users
    assert parts == whole
    monkeypatch.chdir(study / "User_3/旅行规划")
    for near in (Path(), Path("1.json"), Path(os.path.relpath(study / "User_3"))):
        assert halves(near).items() <= whole.items(), near


def test_files_without_their_folder_of_a_user_say_that_their_halves_rest_on_profiles(
    study: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for number in range(8):
        (study / f"User_{number}/旅行规划/1.json").rename(plain / f"{number}.json")
    loaded = load(plain)
    assert any(note.startswith("8 conversations of people stand in no folder User_k") for note in loaded.notes)
    assert len({user_of(one) for one in loaded.conversations}) == 1


@pytest.mark.parametrize(("form", "name"), [("messages", "talks.jsonl"), ("sharegpt", "talks.json")])
def test_a_user_is_in_the_same_half_after_conversion(
    duologue: Callable[..., tuple[int, str, str]], study: Path, form: str, name: str
) -> None:
    code, _, err = duologue("convert", study, name, "--to", form)
    assert code == 0, err
    assert halves(Path(name)) == halves(study)
    assert {user_of(one) for one in load(name).conversations} == {user_of(one) for one in load(study).conversations}
    again = "again.jsonl"
    assert duologue("convert", name, again, "--to", "messages")[0] == 0
    assert halves(Path(again)) == halves(study)


def test_what_was_simulated_on_a_persons_scenario_stays_in_that_persons_half_after_conversion(
    duologue: Callable[..., tuple[int, str, str]], study: Path
) -> None:
    code, _, err = duologue("simulate", "recllmsim", "--scenarios", study, "--limit", 4, "--out", "run")
    assert code == 0, err
    assert duologue("convert", "run", "made.jsonl", "--to", "messages")[0] == 0
    of_people = {user_of(one) for one in load(study).conversations}
    conversations = load("made.jsonl").conversations
    assert len(conversations) == 4
    assert {user_of(one) for one in conversations} <= of_people


def test_a_half_is_that_of_the_name_and_does_not_change() -> None:
    """These are for good: a simulator that was tuned on a user must never be judged on them."""
    assert [part_of(f"u{number}") for number in range(7)] == [*["test"] * 5, "tune", "test"]
