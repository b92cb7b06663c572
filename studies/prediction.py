"""Nearness of simulated users to people's next turns, as a function for notebooks and scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sources import StudySource, conversations_of

if TYPE_CHECKING:
    from ..analysis.next_turn import NextTurnReport
    from ..analysis.realism.report import UserPartName


def next_turn(
    source: "StudySource",
    user: "Mapping[str, Any] | Sequence[str] | str" = (),
    *,
    published: "StudySource | None" = None,
    out: str | Path | None = None,
    part: "UserPartName" = "all",
    limit: int | None = None,
    seed: int = 0,
    cast: str | None = None,
    attempts: int | None = None,
    embeddings: Any = None,
    conduct: Any = None,
    baseline: bool = True,
    **settings: Any,
) -> "NextTurnReport":
    """Nearness of simulated users to people's next turns: a report, whose `table()` a notebook shows.

    `source`: people's conversations, a path that `load` reads or conversations; so is `published`, simulated users of an
    earlier study. `user`: specs, or users by name: whatever a cast takes as its user. `out`: a folder for every turn, from
    which the same call goes on. `part`, `limit`, `seed`: as for `analysis.next_turn.Benchmark.of`; `attempts`, `conduct`: as
    for `runs.people.next_turn.next_turns`. `cast`: whose user is asked, with its `settings`; default: the cast of the
    conversations' kind. `baseline`: ask also users made from people, who say what others of them said. `embeddings`:
    LangChain `Embeddings`, for a similarity of meanings. Needs the extra `stats`, for Chinese also `zh`.

    Example::

        >>> duologue.next_turn("human_exp_V2", ["offline"], part="test").table()  # doctest: +SKIP
    """
    from ..analysis.next_turn import Benchmark, write
    from ..graphs.single_turn import cast_for, state_of
    from ..runs import Conduct
    from ..runs.people.next_turn import folder_name, next_turns
    from ..runs.people.retrieval import said_from_people

    users_or_names = [user] if isinstance(user, str) else user
    users = dict(users_or_names) if isinstance(users_or_names, Mapping) else {name: name for name in users_or_names}
    earlier = None if published is None else conversations_of(published)
    people = conversations_of(source)
    benchmark = Benchmark.of(people, earlier, part=part, limit=limit, seed=seed)
    casts = {name: cast_for(benchmark.moments, speaker, cast, **settings) for name, speaker in users.items()}
    if casts:
        spoken = next(iter(casts.values())).name
        benchmark = benchmark.askable(lambda moment: state_of(moment, spoken) is not None)
    conduct = conduct or Conduct()
    conduct = replace(conduct, control=conduct.controlled())  # one set of bounds for all users
    predictions = {
        name: next_turns(
            simulator,
            benchmark.moments,
            seed=seed,
            attempts=attempts,
            out=None if out is None else Path(out) / folder_name(name),
            conduct=conduct,
        )
        for name, simulator in casts.items()
    }
    retrieval_based, notes = said_from_people(benchmark.moments, people, cast, seed=seed) if baseline else (None, [])
    rows = benchmark.judged(
        predictions, None if embeddings is None else embeddings.embed_documents, retrieval_based=retrieval_based
    )
    report = benchmark.report(rows, notes)
    if out is not None:
        write(report, rows, Path(out))
    return report
