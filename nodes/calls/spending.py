"""What a run has spent on calls of models, and when that is too much."""

from dataclasses import dataclass, field


@dataclass
class Spending:
    """Calls and tokens of a run so far, by model."""

    calls: int = 0
    by_model: dict[str, dict[str, int]] = field(default_factory=dict)
    """By the model's name: `input_tokens`, `output_tokens`, `calls`, and what else its usage has."""

    def add(self, model: str, usage: dict[str, int]) -> None:
        """Count a reply."""
        self.calls += 1
        total = self.by_model.setdefault(model, {})
        for name, value in usage.items():
            total[name] = total.get(name, 0) + value

    def over(self) -> str | None:
        """Why nothing more may be spent, in words; None if something may."""
        return None
