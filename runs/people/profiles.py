"""Making user profiles on disk: a file of profiles that grows, and beside it every draft with its verdict.

Drafts are written first. If the process is killed in between, the next call adds the missing profiles.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...data.files.folders import make_folder
from ...data.files.journals import Codec
from ...data.recllmsim import Coverage, Profile, coverage
from ...data.text.languages import Language
from ...errors import DataError, SettingError
from ...graphs.profiles import Inventor, ProfileGraph, beginning, fuse, generation
from ...nodes.calls.service import CallService
from ...nodes.models.specs import chat_model, model_provenance
from ...nodes.profiles.generation import ProfileLimits, ProfileState, ProfileStopReason, Proposal
from ...prompts import Library
from ..engine.control import Control, default_control
from ..engine.event_loop import waiting
from ..journals.journal import AppendedFile, Closing, Journal, RunError, making

BETWEEN = "\n\n"


@dataclass(frozen=True)
class MadeProfiles:
    """The result of making profiles."""

    path: Path
    drafts: Path
    """File of every draft, accepted or not, a line each."""
    target: int
    profiles: tuple[Profile, ...]
    """All profiles in the file, from this call or earlier ones."""
    new: int
    """How many of them this call made."""
    rejected: dict[str, int]
    """Rejected drafts by reason, with those of earlier calls."""
    usage: dict[str, int]
    """Tokens of all drafts."""
    coverage: Coverage
    """Of the pool and the made profiles together."""
    stop: ProfileStopReason | None
    """None if whoever holds the control of runs ended it."""
    failure: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the file holds at least `target` profiles."""
        return len(self.profiles) >= self.target


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
) -> MadeProfiles:
    """Make profiles until the file holds `count` of them; those of earlier calls count.

    `pool`: existing profiles, from which the new ones must differ. `watch` is called with the number kept so far.
    RunError if the file holds profiles that were not made here.
    """
    if count < 1:
        raise SettingError(f"count must be at least 1, not {count}")
    limits = limits or ProfileLimits()
    model = chat_model(assistant)
    graph = generation(model, language=language, prompts=prompts)
    with _ProfileFiles(Path(out), language, model_provenance(model)) as file:
        before = len(file.profile_texts)
        state = beginning(count, pool, accepted=file.profile_texts, **file.going_on(limits.attempts))
        end: dict[str, Any] = {"stop": "done"} if before >= count else {}
        if not end:
            control = default_control()
            with CallService(control.pace).active():  # one gate for all calls
                end = await _run(graph, state, limits, file, control, watch or (lambda number: None))
        profiles = tuple(Profile.of(text) for text in file.profile_texts)
        return MadeProfiles(
            path=file.path,
            drafts=file.drafts,
            target=count,
            profiles=profiles,
            new=len(profiles) - before,
            rejected=dict(Counter(p.get("reason", "") for p in file.proposals if p["verdict"] == "rejected")),
            usage=_spent(file.proposals),
            coverage=coverage([*pool, *profiles]),
            stop=end.get("stop"),
            failure=end.get("failure"),
            notes=tuple(file.notes),
        )


@waiting(agenerate)
def generate() -> None:
    """As `agenerate`, from code that is not async; works inside a running loop too, as in a notebook."""


async def _run(
    graph: ProfileGraph,
    state: ProfileState,
    limits: ProfileLimits,
    file: "_ProfileFiles",
    control: Control,
    watch: Callable[[int], None],
) -> dict[str, Any]:
    """Run the graph and write each judged draft before the next call; gives `stop` and perhaps `failure`."""
    steps = fuse(state["wanted"], limits)
    end: dict[str, Any] = {}
    stream = graph.astream(state, {"recursion_limit": steps}, context=limits, stream_mode="updates")
    async for updates in stream:
        for update in updates.values():
            if update and "judged" in update:
                file.keep(update["judged"])
                watch(len(file.profile_texts))
            end |= {key: update[key] for key in ("stop", "failure") if update and update.get(key)}
        if not control.begins:
            break
    return end


def _spent(proposals: Sequence[Proposal]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for proposal in proposals:
        total.update(proposal.get("usage", {}))
    return {"input_tokens": total["input_tokens"], "output_tokens": total["output_tokens"], "calls": total["calls"]}


class _ProfileFiles(Closing):
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
        with making(path.parent):
            make_folder(path.parent)
        origin = {"language": language, "model": model}
        codec = Codec(key=_key, to_plain=lambda proposal: {**proposal, **origin}, from_plain=_proposal)
        self._journal = Journal.open(self.drafts, codec, busy=path)
        with ExitStack() as opened:
            opened.callback(self._journal.close)
            self._pool = AppendedFile(path)
            opened.callback(self._pool.close)
            self._take_up()
            self._files = opened.pop_all()

    @property
    def profile_texts(self) -> list[str]:
        return [proposal["text"] for proposal in self.proposals if proposal["verdict"] == "accepted"]

    def _take_up(self) -> None:
        """Read the drafts, and write again what the file of profiles lacks of the accepted ones."""
        if torn := self._journal.torn:
            self.notes.append(
                f"{self.drafts}: its last line was cut off in writing ({torn} bytes): it is asked for again"
            )
        for proposal in self._journal.iterate():
            language = cast(Mapping[str, Any], proposal).get("language")
            if language != self.language:
                raise RunError(f"{self.drafts}: its language is {language!r}: go on in that, or choose another file")
            self.proposals.append(proposal)
        whole = BETWEEN.join(self.profile_texts).encode("utf-8")
        written = self.path.read_bytes()
        if not whole.startswith(written) and written.rstrip() != whole:
            raise RunError(
                f"{self.path}: differs from the accepted drafts in {self.drafts}: choose another file for new profiles"
            )
        if written != whole:  # the process was killed between the two writes, or within the second
            self._pool.cut(0)
            self._pool.append(whole.decode("utf-8"))

    def going_on(self, attempts: int) -> dict[str, Any]:
        """Number and rejected drafts of the round in which an earlier call ended."""
        rejected = [p for p in self.proposals if p["verdict"] == "rejected" and p["place"] == len(self.profile_texts)]
        if not rejected:
            return {}
        round = rejected[-1]["round"]
        of_round = [proposal for proposal in rejected if proposal["round"] == round]
        return (
            {"rejected": [], "round": round + 1}
            if len(of_round) >= attempts
            else {"rejected": of_round, "round": round}
        )

    def keep(self, proposal: Proposal) -> None:
        """Write a draft down, and the profile if it was accepted."""
        between = BETWEEN if self.profile_texts else ""
        self._journal.append(proposal)
        self.proposals.append(proposal)
        if proposal["verdict"] == "accepted":
            self._pool.append(between + proposal["text"])

    def close(self) -> None:
        self._files.close()


def _proposal(value: Any) -> Proposal:
    if not isinstance(value, dict) or not {"text", "verdict", "place", "round", "attempt"} <= value.keys():
        raise DataError("is not a draft of a profile: choose another file for the profiles")
    return cast(Proposal, value)


def _key(proposal: Proposal) -> str:
    """A draft's key: which profile it is for, the round, and the attempt in that round."""
    return f"{proposal['place']}/{proposal['round']}/{proposal['attempt']}"
