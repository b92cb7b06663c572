"""Shared fixtures: people who rated their conversations."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Thirty people with three conversations each, and their satisfaction: the longer the reply, the better."""
    path = tmp_path / "people.jsonl"
    lines = []
    for number in range(30):
        for talk in range(3):
            reply = "Day one: the harbour. " * (talk + 1)
            messages = [
                {"role": "user", "content": f"Plan {talk + 2} days in town {number}."},
                {"role": "assistant", "content": reply, "labels": {"satisfaction": str(2 + talk)}},
                {"role": "user", "content": "More about the harbour."},
                {"role": "assistant", "content": reply, "labels": {"satisfaction": str(2 + talk)}},
            ]
            goal = f"Plan {talk + 2} days in a town"
            lines.append(
                {"id": f"p{number}-{talk}", "user": f"u{number}", "goal": goal, "task": "trip", "messages": messages}
            )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
