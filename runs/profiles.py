"""Making profiles on disk: a pool that grows, and beside it every draft with what was said of it.

The drafts are written first: what the pool lacks of them after a kill is added when the making goes on.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from ..data.formats.journals import Codec
from ..data.recllmsim import Coverage, Profile, coverage
from ..data.text.languages import Language
from ..errors import DataError, SettingError
from ..graphs.profiles import Inventor, ProfileGraph, beginning, fuse, generation
from ..nodes.models.specs import chat_model, model_provenance
from ..nodes.profiles import ProfileLimits, ProfileState, Proposal, StopReason
from ..prompts import Library
from .journal import Appended, Journal, RunError
from .simulation import blocking

BETWEEN = "\n\n"


@dataclass(frozen=True)
class Making:
    """What became of the making of profiles."""

    path: Path
    drafts: Path
    """Every draft, accepted or not, a line each."""
    wanted: int
    profiles: tuple[Profile, ...]
    """Those in the file, made now or before."""
    new: int
    """How many of them this call made."""
    rejected: dict[str, int]
    """Rejected drafts by reason, those of earlier calls included."""
    usage: dict[str, int]
    """Tokens of all drafts."""
    coverage: Coverage
    """Of the given pool and the made profiles together."""
    stop: StopReason
    failure: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether as many profiles are there as were asked for."""
        return len(self.profiles) >= self.wanted


def generate(count: int, out: str | Path, assistant: Inventor = "offline", **settings: Any) -> Making:
    """As `agenerate`, from code that is not async; works inside a running loop too, as in a notebook."""
    return blocking(agenerate(count, out, assistant, **settings))


async def agenerate(
    count: int,
    out: str | Path,
    assistant: Inventor = "offline",
    *,
    language: Language = "en",
    pool: Sequence[Profile] = (),
    limits: ProfileLimits | None = None,
    prompts: str | Path | Library | None = None,
    watch: Callable[[int], None] | None = None,
) -> Making:
    """Make profiles until the file holds so many; what it holds already counts.

    `pool`: profiles that the new ones extend and must differ from. `watch` is told how many are kept.
    RunError if the file holds what this did not write.
    """
    if count < 1:
        raise SettingError(f"count must be at least 1, not {count}")
    limits = limits or ProfileLimits()
    model = chat_model(assistant)
    graph = generation(model, language=language, prompts=prompts)
    with _Kept(Path(out), language, model_provenance(model)) as file:
        before = len(file.kept)
        begun = beginning(count, pool, kept=file.kept, **file.going_on(limits.attempts))
        ended: dict[str, Any] = {"stop": "done"} if before >= count else {}
        if not ended:
            ended = await _made(graph, begun, limits, file, watch or (lambda kept: None))
        made = tuple(Profile.of(text) for text in file.kept)
        return Making(
            path=file.path,
            drafts=file.drafts,
            wanted=count,
            profiles=made,
            new=len(made) - before,
            rejected=dict(Counter(p.get("reason", "") for p in file.proposals if p["verdict"] == "rejected")),
            usage=_spent(file.proposals),
            coverage=coverage([*pool, *made]),
            stop=ended["stop"],
            failure=ended.get("failure"),
            notes=tuple(file.notes),
        )


async def _made(
    graph: ProfileGraph, begun: ProfileState, limits: ProfileLimits, file: "_Kept", watch: Callable[[int], None]
) -> dict[str, Any]:
    """Run the graph, writing each judged draft before the next is asked for; gives why it ended."""
    steps = fuse(begun["wanted"], limits)
    ended: dict[str, Any] = {}
    stream = graph.astream(begun, {"recursion_limit": steps}, context=limits, stream_mode="updates")
    async for updates in stream:
        for update in updates.values():
            if update and "judged" in update:
                file.keep(update["judged"])
                watch(len(file.kept))
            ended |= {key: update[key] for key in ("stop", "failure") if update and update.get(key)}
    return ended


def _spent(proposals: Sequence[Proposal]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for proposal in proposals:
        total.update(proposal.get("usage", {}))
    return {"input_tokens": total["input_tokens"], "output_tokens": total["output_tokens"], "calls": total["calls"]}


class _Kept:
    """The pool and its drafts on disk, open for one process."""

    def __init__(self, path: Path, language: Language, model: dict[str, Any]) -> None:
        self.path, self.drafts = path, path.with_suffix(".drafts.jsonl")
        self.language: Language = language
        self.proposals: list[Proposal] = []
        self.notes: list[str] = []
        if path.is_dir():
            raise RunError(f"{path}: is a folder: name a file for the profiles")
        if path.is_file() and path.stat().st_size and not self.drafts.is_file():
            raise RunError(
                f"{path}: holds profiles that were not made here: give it as the pool to extend, and another file for new ones"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{path.parent}: cannot be made ({error.strerror}): choose another folder") from None
        about = {"language": language, "model": model}
        codec = Codec(key=_key, to_plain=lambda proposal: {**proposal, **about}, from_plain=_proposal)
        self._journal = Journal.open(self.drafts, codec, busy=path)
        with ExitStack() as opened:
            opened.callback(self._journal.close)
            self._pool = Appended(path)
            opened.callback(self._pool.close)
            self._take_up()
            self._files = opened.pop_all()

    @property
    def kept(self) -> list[str]:
        return [proposal["text"] for proposal in self.proposals if proposal["verdict"] == "accepted"]

    def _take_up(self) -> None:
        """Read the drafts; the pool is made to hold those that were accepted, and nothing else."""
        if torn := self._journal.torn:
            self.notes.append(
                f"{self.drafts}: its last line was cut off in writing ({torn} bytes): it is asked for again"
            )
        for proposal in self._journal.iterate():
            language = cast(Mapping[str, Any], proposal).get("language")
            if language != self.language:
                raise RunError(f"{self.drafts}: its language is {language!r}: go on in that, or choose another file")
            self.proposals.append(proposal)
        whole = BETWEEN.join(self.kept).encode("utf-8")
        there = self.path.read_bytes()
        if not whole.startswith(there) and there.rstrip() != whole:
            raise RunError(f"{self.path}: differs from what {self.drafts} tells: choose another file for new profiles")
        if there != whole:  # a kill came between the two writes, or within the second
            self._pool.cut(0)
            self._pool.append(whole.decode("utf-8"))

    def going_on(self, attempts: int) -> dict[str, Any]:
        """The round that an earlier making was in: its rejected drafts, and its number."""
        here = [p for p in self.proposals if p["verdict"] == "rejected" and p["place"] == len(self.kept)]
        if not here:
            return {}
        round = here[-1]["round"]
        of_round = [proposal for proposal in here if proposal["round"] == round]
        return (
            {"rejected": [], "round": round + 1}
            if len(of_round) >= attempts
            else {"rejected": of_round, "round": round}
        )

    def keep(self, proposal: Proposal) -> None:
        """Write a draft down, and the profile if it is one."""
        between = BETWEEN if self.kept else ""
        self._journal.append(proposal)
        self.proposals.append(proposal)
        if proposal["verdict"] == "accepted":
            self._pool.append(between + proposal["text"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.close()


def _proposal(value: Any) -> Proposal:
    if not isinstance(value, dict) or not {"text", "verdict", "place", "round", "attempt"} <= value.keys():
        raise DataError("is no draft of a profile: choose another file for the profiles")
    return cast(Proposal, value)


def _key(proposal: Proposal) -> str:
    """A draft is known by the profile that it is for, the request for it, and the call."""
    return f"{proposal['place']}/{proposal['round']}/{proposal['attempt']}"
