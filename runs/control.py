"""How a run that is under way is brought to its end before its plan is done."""

from dataclasses import dataclass


@dataclass
class Control:
    """Is asked before each conversation whether to begin it; whoever holds it may end the run in order."""

    ending: str | None = None
    """Why no further conversation begins, in words; None if they do. What is under way goes on to its end."""

    closing: str | None = None
    """Why what is under way ends at its next turn too, as `budget`; None if it goes on to its end."""

    def end(self, reason: str) -> None:
        """Begin nothing new from now on."""
        self.ending = self.ending or reason
