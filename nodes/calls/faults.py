"""What can go wrong with a call of a model: each fault by name, whose it is, and whether to ask again."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..environment import error_line

Whose: TypeAlias = Literal["endpoint", "limit", "settings", "request", "ours"]
"""`endpoint`: it may be right the next time. `limit`: too many calls, it says wait. `settings`: the key, the model's name
or the account; no call of this run can succeed. `request`: this one request is refused. `ours`: a bug."""


@dataclass(frozen=True)
class Fault:
    """Why a call gave no usable reply."""

    name: str
    """One of a closed set, such as `rate_limited`, `null_content`, `no_choices`, `timeout`, `wrong_key`."""
    whose: Whose
    detail: str
    """What the endpoint said, in one line without secrets."""
    after: float | None = None
    """Seconds that the endpoint asks to wait (Retry-After)."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.whose in ("endpoint", "limit")


class ReplyError(Exception):
    """A reply came that is none: `fault` says what is wrong with it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.name}: {fault.detail}")
        self.fault = fault


def fault_of(error: BaseException) -> Fault:
    """The fault that an error of a call stands for."""
    if isinstance(error, ReplyError):
        return error.fault
    retryable = bool(getattr(error, "is_retryable", False))
    return Fault(type(error).__name__, "endpoint" if retryable else "ours", error_line(error))
