"""Rated conversations for tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., tuple[int, str, str]]
USERS, SAID = 10, ("请坐火车去河边。", "可以走路去公园。", "建议参观博物馆。")


def write(folder: Path, label: Callable[[int], dict[str, Any]]) -> Path:
    """Two conversations of ten people, with labels of the replies by their number."""
    for number in range(2 * USERS):
        history: list[dict[str, Any]] = []
        for nth in range(2):
            place = 2 * number + nth
            history += [{"role": "user", "content": "去哪里？"}, {"role": "assistant", "content": SAID[place % 3] * (place % 4 + 1), **label(place)}]  # fmt: skip
        file = folder / "human_exp_V2" / f"User_{number // 2}" / "旅行规划" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        about = {
            "task_type": "旅行规划",
            "task_context": f"第{number}次去旅行。",
            "profile": {"gender": "Female", "age": 20},
        }
        model = {"chat_model": ("one", "two")[number % 2]}
        file.write_text(json.dumps({**model, "history": history, **about}, ensure_ascii=False), encoding="utf-8")
    return folder


def write_profiled(folder: Path) -> Path:
    """Two conversations of ten people, with profiles, satisfaction and intents."""
    for number in range(2 * USERS):
        user = number // 2
        profile = {
            "gender": "Female", "age": 20, "personality": [("冷静", "幽默")[user % 2]], "daily_interests": ["阅读"],
            "travel_habits": ["看展"], "dining_preferences": ["外卖"], "spending_habits": ["节俭", "其他"],
        }  # fmt: skip
        word, points = (("湖边散步", 5), ("马戏表演", 2))[user % 2]
        history = [
            {"role": "user", "content": f"第{number}次，推荐{word}。", "intent": [("规划", "推荐")[user % 2]]},
            {"role": "assistant", "content": f"可以去看{word}。", "satisfaction": str(points)},
        ]
        file = folder / "human_exp_V2" / f"User_{user}" / "旅行规划" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        about = {
            "task_type": "旅行规划",
            "task_context": f"第{number}次去旅行。",
            "profile": profile,
            "chat_model": "one",
        }
        file.write_text(json.dumps({**about, "history": history}, ensure_ascii=False), encoding="utf-8")
    return folder


def truth(place: int) -> int:
    return (place * 7 + place // 4) % 5 + 1


def labels_of_reply(place: int) -> dict[str, Any]:
    reason = {"reason": ("不够细致", "不可用")[place % 2]} if truth(place) <= 3 else {}
    return {"satisfaction": str(truth(place)), "guess": {"final": 6 - truth(place), "1": 3}, **reason}
