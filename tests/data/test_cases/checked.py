"""Reading of a `success` as a run does, without a model that judges."""

from typing import Any

from duologue.nodes.scorers.success import success_of


def check(success: Any) -> None:
    """Raise SettingError unless the success can be read; a judgement counts as one by the user."""
    success_of(_without_judge(success))


def _without_judge(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_judge(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        "solved" if key == "judged" else key: True if key == "judged" else _without_judge(one)
        for key, one in value.items()
    }
