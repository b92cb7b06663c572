"""Conversations of a large source, whose content stays on disk and is read whenever something of it is asked for."""

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from ..records import Conversation

RECENT = 64
"""Conversations of a source that stay in memory, those that were read last."""


class StoredConversation(Conversation):
    """A conversation of which only the id, and what a copy changes, is in memory; the rest is on disk.

    It is used like any other one. Its content is read again whenever enough others were read since.
    """

    __slots__ = ("_place", "_read")
    if TYPE_CHECKING:
        _place: Any
        _read: Callable[[Any], Conversation]

    @classmethod
    def at(cls, place: object, name: str, read: Callable[[Any], Conversation]) -> Self:
        """The conversation of this id that `read` gives for the place."""
        return cls._of({"id": name}, place, read)

    @classmethod
    def _of(cls, present: dict[str, Any], place: object, read: Callable[[Any], Conversation]) -> Self:
        self = cls.__new__(cls)
        parts = {"__dict__": present, "__pydantic_fields_set__": _ID, "_place": place, "_read": read}
        for name, value in (parts | {"__pydantic_extra__": None, "__pydantic_private__": None}).items():
            object.__setattr__(self, name, value)
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in Conversation.model_fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._read(self._place), name)

    @property
    def whole(self) -> Conversation:
        """The conversation with its content, as a record in memory."""
        whole = self._read(self._place)
        changed = len(self.__dict__) > 1 or self.id != whole.id
        return whole.model_copy(update=self.__dict__) if changed else whole

    def model_copy(self, *, update: Any = None, deep: bool = False) -> Any:
        """A copy whose other content stays on disk."""
        if deep:
            return self.whole.model_copy(update=update, deep=True)
        return self._of({**self.__dict__, **(update or {})}, self._place, self._read)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """As of a conversation in memory."""
        return self.whole.model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        """As of a conversation in memory."""
        return self.whole.model_dump_json(**options)

    def __eq__(self, other: object) -> bool:
        return self is other or self.whole == (other.whole if isinstance(other, StoredConversation) else other)

    __hash__ = None  # type: ignore[assignment]  # as a conversation in memory, whose scenario has no hash

    def __copy__(self) -> Any:
        return self.model_copy()

    def __deepcopy__(self, memo: Any = None) -> Any:
        return self.whole.__deepcopy__(memo)

    def __reduce__(self) -> Any:
        return copy, (self.whole,)


_ID = {"id"}


def recent(read: Callable[[Any], Conversation]) -> Callable[[Any], Conversation]:
    """A reader of conversations by place that holds those that were read last."""
    return lru_cache(maxsize=RECENT)(read)
