"""Progress of a run on stderr: conversations, turns, rejections, tokens."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich import progress as bars

from ..data.records import Conversation
from .output import stderr

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..nodes.state import State


class Progress:
    """A progress bar on the terminal; nothing if stderr is no terminal."""

    def __init__(self, planned: int, *, quiet: bool = False) -> None:
        self.turns = self.rejected = self.tokens = 0
        self._seen: dict[str, tuple[int, int]] = {}
        self._bar = bars.Progress(
            bars.TextColumn("{task.completed}/{task.total} conversations"),
            bars.BarColumn(),
            bars.TextColumn("{task.description}"),
            bars.TimeElapsedColumn(),
            console=stderr,
            transient=True,
            disable=quiet or not stderr.is_terminal,
        )
        self._task = self._bar.add_task(self._line(), total=planned)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def watch(self, state: "State") -> None:
        """Count a state's new turns and rejections."""
        name = str(state.get("id", ""))
        turns, attempts = self._seen.get(name, (0, 0))
        now_turns = int(state.get("turn", 0)) - int(state.get("opened", 0))
        now_attempts = len(state.get("attempts", []))
        if (turns, attempts) == (now_turns, now_attempts):
            return
        self.turns += now_turns - turns
        self.rejected += max(0, now_attempts - attempts)
        self._seen[name] = (now_turns, now_attempts)
        self._bar.update(self._task, description=self._line())

    def keep(self, conversation: Conversation) -> None:
        """Count a conversation that is over."""
        self._seen.pop(conversation.id, None)
        self.tokens += conversation.usage.tokens
        self._bar.update(self._task, advance=1, description=self._line())

    def _line(self) -> str:
        return f"{self.turns} turns, {self.rejected} rejected, {self.tokens} tokens"
