"""How a run is made: where it is written, its pace, its bounds, and which replies are kept."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from ..errors import SettingError, first_invalid
from ..nodes.calls.service import Calls, replies_outside
from ..nodes.calls.spending import Spending
from ..nodes.calls.store import Replies

T = TypeVar("T")

REPLIES = "replies.sqlite"
"""Name of the file of replies in a run folder."""
Concurrency: TypeAlias = int | Literal["auto"]
"""Conversations at the same time; `auto`: as many as the endpoints of the models bear."""


class RunSettings(BaseModel):
    """How a run is made; its fields are keyword arguments of `simulate` and `test`, and options of the commands.

    Only seed and repeats change what is simulated. The others may differ each time that a run goes on.

    Example::

        >>> from duologue import runs
        >>> runs.RunSettings(max_cost=5).concurrency
        'auto'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    out: Path | None = None
    """The run folder: each conversation is written as it ends, and the same call with the same folder goes on."""
    repeats: Annotated[int, Field(ge=1)] = 1
    """Conversations about each scenario."""
    seed: int | None = None
    """In place of that of the limits."""
    concurrency: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    """Conversations, and calls to an endpoint, at the same time; `auto`: as many as the endpoints bear."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """Maximum cost of the run in US dollars (extra `cost`), all its calls and those of before it went on included."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum tokens of the run, input and output, counted in the same way."""
    max_time: Annotated[float, Field(gt=0)] | None = None
    """Maximum seconds of this call. At each of these bounds what is under way ends in order, as `budget`."""
    replies: Path | None = None
    """The file of kept replies, in place of `replies.sqlite` in the run folder."""
    frozen: bool = False
    """Whether no model is called: a call whose reply is not kept is an error."""
    shard: str | None = None
    """`K/N`: only every N-th conversation of the plan, from the K-th on, in a folder of its own (`runs.put_together`)."""
    ray: str | None = None
    """The address of a Ray cluster (extra `ray`) that does the parts of the run: `HOST:6379`, `auto`, or `local`."""
    progress: bool | None = None
    """Whether to show how far the run is. None: in a notebook, and at the terminal of a command."""

    _calls: Calls | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, **values: Any) -> Self:
        """The settings; SettingError in one line for one that is wrong."""
        try:
            return cls(**values)
        except ValidationError as error:
            wrong = first_invalid(error)
            name = str(wrong.where[0]) if wrong.where else "settings"
            if wrong.type == "extra_forbidden":
                raise SettingError(f"{name}: is no setting of a run: it has {', '.join(cls.model_fields)}") from None
            raise SettingError(f"{name}: {wrong.reason[0].lower()}{wrong.reason[1:]}, not {wrong.value!r}") from None

    def calls(self, notify: Callable[[str], None] | None = None) -> Calls:
        """The calls of a run with this pace and these budgets; those of settings that are `shared` are always the same."""
        if self._calls is None:
            # Where prices can be looked up the cost is told, bounded or not.
            priced = find_spec("genai_prices") is not None
            spending = Spending(max_cost=self.max_cost, max_tokens=self.max_tokens, priced=priced)
            most = None if self.concurrency == "auto" else self.concurrency
            return Calls(most, spending=spending, notify=notify)
        return self._calls

    def shared(self, notify: Callable[[str], None] | None = None) -> Self:
        """The same for several runs, whose pace and budgets it holds together."""
        if self._calls is not None:
            return self
        settings = self.model_copy()
        settings._calls = self.calls(notify)
        return settings

    def kept_replies(self, beside: Path | None = None, *, versions: int = 1) -> Replies | None:
        """The replies of the run; None where nothing keeps them.

        `beside`: the folder of another run, whose users' replies are taken too. Several `versions` share the replies to
        their users also where no file keeps them.
        """
        if self.frozen and self.replies is None:
            raise SettingError("frozen: give replies, the file of kept replies that answers every call")
        others = None if beside is None or not (beside / REPLIES).is_file() else beside / REPLIES
        if self.replies is None and (outside := replies_outside()) is not None:
            return outside
        path = self.replies or (None if self.out is None else self.out / REPLIES)
        if path is None and others is None and versions == 1:
            return None
        return Replies(path, frozen=self.frozen, own=self.replies is None, beside=others)

    def part(self, plan: Sequence[T]) -> list[T]:
        """The part of the plan that `shard` names: every N-th, so that equal scenarios are spread."""
        if self.shard is None:
            return list(plan)
        shard = Shard.read(self.shard)
        return list(plan[shard.number - 1 :: shard.of])


class Shard(NamedTuple):
    """The K-th of N parts of a plan, from 1 on."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Self:
        """The shard of `K/N`; SettingError for another text."""
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise SettingError(f"shard: expected K/N with K from 1 to N, such as 2/8, not {text!r}")
        return cls(int(number), int(of))
