"""Nearness of simulated users to people's next turns, as a function for notebooks and scripts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.files.json import dumps, write_lines, write_text
from ..data.files.paths import make_folder
from .sources import StudySource, conversations_of

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..analysis.bits import BitsReport
    from ..analysis.next_turn import Benchmark, NextTurnReport
    from ..data import Conversation
    from ..data.people import NextTurn, UserPart
    from ..graphs import Cast
    from ..runs.ask import Runs
    from ..runs.settings import RunSettings


REPORT, TURNS, BITS = "next_turn.json", "turns.jsonl", "bits.jsonl"


@dataclass(frozen=True)
class NextTurnStudy:
    """Simulated users that are asked for people's next turns: the fields are parameters of `next_turn`."""

    people: "Sequence[Conversation]"
    users: Mapping[str, Any]
    """By name: anything that a cast takes as its user."""
    part: "UserPart" = "all"
    limit: int | None = None
    seed: int = 0
    cast: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    bits: str | None = None
    """The language model of this machine by which the bits of messages are counted."""

    @cached_property
    def casts(self) -> "dict[str, Cast]":
        """The cast of each user."""
        from ..graphs.single_turn import cast_for

        moments = self._all.moments
        return {name: cast_for(moments, user, self.cast, **self.settings) for name, user in self.users.items()}

    @cached_property
    def benchmark(self) -> "Benchmark":
        """The moments at which the users can be asked."""
        from ..graphs.single_turn import state_of

        if not self.casts:
            return self._all
        name = next(iter(self.casts.values())).name
        return self._all.askable(lambda moment: state_of(moment, name) is not None)

    def retrieval_based(self) -> "tuple[list[NextTurn] | None, list[str]]":
        """The turns of retrieval-based users, and notes."""
        from ..runs.next_turn import said_from_people

        return said_from_people(self.benchmark.moments, self.people, self.cast, seed=self.seed)

    @cached_property
    def runs(self) -> "Runs":
        """The run of each user, by the name of its folder."""
        from ..runs.ask import Runs
        from ..runs.next_turn import folder_name, turns_run

        casts, moments = self.casts, self.benchmark.moments
        return Runs({folder_name(name): turns_run(cast, moments, self.seed) for name, cast in casts.items()}, self.out)

    async def turns(self, settings: "RunSettings | None" = None) -> "dict[str, list[NextTurn]]":
        """The turns of all users, one user after the other."""
        from ..runs.next_turn import folder_name, turns_in

        talks = await self.runs.conversations(settings)
        moments = self.benchmark.moments
        return {name: turns_in(cast, moments, talks[folder_name(name)]) for name, cast in self.casts.items()}

    def report(
        self,
        turns: "Mapping[str, Sequence[NextTurn]]",
        retrieval_based: "tuple[Sequence[NextTurn] | None, Sequence[str]]" = (None, ()),
        watch: Callable[[int, int], object] = lambda done, planned: None,
    ) -> "tuple[NextTurnReport, list[Path]]":
        """The report, and the files that were written into `out`: it, and a line for each row and moment.

        `watch`: called with how many costs in bits are known, and of how many.
        """
        from ..analysis.next_turn import RETRIEVED

        baseline_turns, notes = retrieval_based
        baseline = {} if baseline_turns is None else {RETRIEVED: baseline_turns}
        rows = self.benchmark.rows({**baseline, **turns})
        report = self.benchmark.report(rows, notes)
        if self.bits is not None:
            report = report.model_copy(update={"bits": self._bits({**baseline, **turns}, watch)})
        if self.out is None:
            return report, []
        make_folder(self.out)
        write_text(self.out / REPORT, dumps(report.model_dump(mode="json"), indent=2) + "\n")
        write_lines(self.out / TURNS, self.benchmark.lines(rows))
        return report, [self.out / REPORT, self.out / TURNS]

    def _bits(self, turns: "Mapping[str, Sequence[NextTurn]]", watch: Callable[[int, int], object]) -> "BitsReport":
        from ..analysis.bits import KeptCosts, Ledger
        from ..analysis.language_model import LanguageModel
        from ..nodes.models.openai import file_of

        model = LanguageModel(file_of((self.bits or "").removeprefix("local:")))
        if self.out is not None:
            make_folder(self.out)
        kept = KeptCosts(None if self.out is None else self.out / BITS)
        simulated = {name: {one.key: one.text for one in own} for name, own in turns.items()}
        return Ledger(model, self.benchmark.moments, self.people, self.seed, kept).report(simulated, watch)

    @cached_property
    def _all(self) -> "Benchmark":
        from ..analysis.next_turn import Benchmark

        return Benchmark.of(self.people, part=self.part, limit=self.limit, seed=self.seed)


def next_turn(
    source: "StudySource",
    user: "Mapping[str, Any] | Sequence[str] | str" = (),
    *,
    out: str | Path | None = None,
    part: "UserPart" = "all",
    limit: int | None = None,
    seed: int = 0,
    cast: str | None = None,
    run: Any = None,
    baseline: bool = True,
    bits: str | None = None,
    **settings: Any,
) -> "NextTurnReport":
    """Compare the next turns of simulated users with those of people; `duologue next-turn` as a function.

    Needs the extra `stats`, for Chinese also `zh`.

    Args:
        source: People's conversations, or a path that `load` reads.
        user: Model identifiers, or users by name: anything that a cast takes as its user.
        out: A folder for every turn; the same call continues what it holds.
        part: Take only users of this split of the people: `tune`, `test` or `all`.
        limit: Number of conversations, drawn with the seed; None: all.
        seed: Seed of the draws and of all calls.
        cast: The cast whose user is asked; default: the cast of the conversations' kind.
        run: `runs.RunSettings` of the calls; one set of bounds holds for all users.
        baseline: Whether to ask also retrieval-based users, with messages of other people.
        bits: A language model of this machine, `local:smollm2`, a GGUF file or a folder of transformers: count the bits of
            people's and users' messages under it, and what scenario and history explain. Needs the extra `readers`.
        settings: Settings of the cast.

    Returns:
        The report, whose `table()` a notebook shows.

    Raises:
        DataError: No turn of a user is left.
        RunError: The folder holds turns of other settings.

    Example::

        >>> duologue.next_turn("human_exp_V2", ["offline"], part="test").table()  # doctest: +SKIP
    """
    from ..runs.loop import blocking

    users = [user] if isinstance(user, str) else user
    study = NextTurnStudy(
        conversations_of(source),
        dict(users) if isinstance(users, Mapping) else {name: name for name in users},
        part,
        limit,
        seed,
        cast,
        settings,
        None if out is None else Path(out),
        bits,
    )
    retrieval_based = study.retrieval_based() if baseline else (None, [])
    return study.report(blocking(study.turns(run)), retrieval_based)[0]
