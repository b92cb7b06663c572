"""Small files for tests, as RecLLMSim has them."""

import json
from pathlib import Path
from typing import Any

from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation

SIMULATED: dict[str, Any] = {
    "task": "tea",
    "preference_id": 3,
    "task_context_id": 1,
    "preference": "1. Gender: Female\n2. Age: 40\n3. Personality: Calm, kind, and curious",
    "task_context": "You want to buy tea.",
    "history": [
        {"role": "user", "content": "Which tea?", "intent": "Others"},
        {"role": "assistant", "content": "Green tea.", "hallucination": {"hallucination": False, "memo": ""}},
    ],
}
HUMAN: dict[str, Any] = {
    "history": [
        {"role": "user", "content": "买什么茶？", "intent": ["推荐"]},
        {"role": "assistant", "content": "绿茶。", "hallucination": "否"},
    ],
    "task_context": "你想买茶。",
    "task_type": "买茶",
    "profile": {"gender": "Female", "age": 40, "personality": ["冷静", "友善"], "spending_habits": []},
    "questionnaire": [],
}


def put(value: Any, path: str = "one.json", **more: Any) -> Path:
    """The file of a value, as the published ones are written."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(value | more if more else value, ensure_ascii=False, indent=4), encoding="utf-8")
    return place


def fresh(**more: Any) -> Conversation:
    situation = Situation(
        task="tea", task_context="Buy tea.", task_context_id=1, preference_id=3, preference="1. Age: 40"
    )
    messages = (
        Message(role="user", text="Which?"),
        Message(role="assistant", text="Green."),
        Message(role="user", text="Thank you, goodbye.", stored=False),
    )
    return Conversation(id="abc", scenario=situation.scenario(), messages=messages).model_copy(update=more)


ANNA = """1. Gender: Female
2. Age: 31
3. Personality: Calm, direct
4. Occupation: Lorry driver
5. Daily Interests and Hobbies: Chess, swimming
6. Travel Habits: Prefers trains
7. Dining Preferences: Vegetarian
8. Spending Habits: Frugal
9. Other Aspects: Has an old dog"""
