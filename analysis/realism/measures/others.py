"""Overlap of a conversation with those of all, or of some, other users about the same task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ....data.identity import digest
from .transcripts import Keys, UserTranscript

Parts = Callable[[UserTranscript], Keys]
_Integers = NDArray[np.int64]
_Mixed = NDArray[np.uint64]


def shared_with_others(
    transcripts: Sequence[UserTranscript], kinds: Sequence[Parts], others: Mapping[str, int] | None = None
) -> list[list[float | None]]:
    """For each kind of parts and conversation the mean share that another user's conversation of the task has.

    Without `others` the mean goes over all conversations of other users about the task. Its expectation does not
    depend on their number, but its distribution does: with few others there are more zeros.

    `others`: for two sides with different numbers of users. It gives for each task how many other users are drawn for
    each conversation, one conversation of each. All are taken if there are fewer, or if the task is not in it. The draw
    depends only on names and texts, and is the same for all kinds. None without parts, or without others.
    """
    values: list[list[float | None]] = [[None] * len(transcripts) for _ in kinds]
    by_task: dict[str, list[int]] = {}
    for place, transcript in enumerate(transcripts):
        by_task.setdefault(transcript.task, []).append(place)
    for task, places in by_task.items():
        group = [transcripts[place] for place in places]
        tables = [table_of([parts(transcript) for transcript in group]) for parts in kinds]
        _, users = np.unique([transcript.cluster for transcript in group], return_inverse=True)
        counts = (
            [_with_all(table, users) for table in tables]
            if others is None
            else _with_drawn(tables, users, group, others.get(task))
        )
        for of_kind, table, (shared, compared) in zip(values, tables, counts, strict=True):
            sizes = np.diff(table.indptr)
            for row, place in enumerate(places):
                if sizes[row] and compared[row]:
                    of_kind[place] = int(shared[row]) / int(sizes[row]) / int(compared[row])
    return values


def table_of(parts_of: Sequence[Keys]) -> Any:
    """Conversation x part, sparse: 1 where the conversation has the part."""
    different, columns = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts_of]), return_inverse=True)
    starts = np.cumsum([0, *map(len, parts_of)])
    ones = np.ones(len(columns), dtype=np.int64)
    return sparse.csr_array((ones, columns, starts), shape=(len(parts_of), len(different)))


def _with_all(table: Any, users: _Integers) -> tuple[_Integers, _Integers]:
    """For each conversation its parts in all conversations of other users, added up; and how many these are."""
    count = len(users)
    of_user = sparse.csr_array((np.ones(count, dtype=np.int64), (users, np.arange(count)))) @ table
    own = table.multiply(of_user[users]).sum(axis=1)
    return table @ table.sum(axis=0) - own, count - np.bincount(users)[users]


def _with_drawn(
    tables: Sequence[Any], users: _Integers, group: Sequence[UserTranscript], others: int | None
) -> list[tuple[_Integers, _Integers]]:
    """The same of each table over one conversation of each of some other users, drawn anew for each conversation."""
    texts = np.array([_key(t.cluster, t.conversation.id, t.texts) for t in group], dtype=np.uint64)
    names = np.zeros(int(users.max()) + 1, dtype=np.uint64)
    names[users] = [_key(transcript.cluster) for transcript in group]
    drawn = len(names) - 1 if others is None else min(max(others, 0), len(names) - 1)
    shared = np.zeros((len(tables), len(group)), dtype=np.int64)
    having = [np.zeros(table.shape[1], dtype=bool) for table in tables]
    of_users = np.argsort(users, kind="stable")
    begins = np.searchsorted(users[of_users], np.arange(len(names) + 1))
    for row in range(len(group)):
        keys = _mixed(names ^ _mixed(texts[row : row + 1]))
        keys[users[row]] = np.iinfo(np.uint64).max  # no other user
        candidates = _joined(of_users, begins, np.argpartition(keys, max(drawn - 1, 0))[:drawn])
        by_user = candidates[np.lexsort((_mixed(texts[candidates] ^ texts[row]), users[candidates]))]
        one_of_each = by_user[np.flatnonzero(np.diff(users[by_user], prepend=-1))]
        # Only the parts of those that are drawn: all with all would take the square of their number.
        for of_kind, table, has in zip(shared, tables, having, strict=True):
            own = table.indices[table.indptr[row] : table.indptr[row + 1]]
            has[own] = True
            of_kind[row] = np.count_nonzero(has[_joined(table.indices, table.indptr, one_of_each)])
            has[own] = False
    return [(of_kind, np.full(len(group), drawn, dtype=np.int64)) for of_kind in shared]


def _joined(values: _Integers, begins: _Integers, rows: _Integers) -> _Integers:
    """The values of some rows, one after the other; row n lies from `begins[n]` to `begins[n + 1]`."""
    sizes = begins[rows + 1] - begins[rows]
    joined: _Integers = values[np.repeat(begins[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())]
    return joined


def _key(*parts: Any) -> int:
    return int(digest("others", *parts)[:16], 16)


def _mixed(keys: _Mixed) -> _Mixed:
    """Keys that look random, equal ones for equal keys (the last step of SplitMix64; Steele et al. 2014)."""
    keys = keys ^ (keys >> np.uint64(30))
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)
    return keys
