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


def truth(place: int) -> int:
    return (place * 7 + place // 4) % 5 + 1


def labels_of_reply(place: int) -> dict[str, Any]:
    reason = {"reason": ("不够细致", "不可用")[place % 2]} if truth(place) <= 3 else {}
    return {"satisfaction": str(truth(place)), "guess": {"final": 6 - truth(place), "1": 3}, **reason}
