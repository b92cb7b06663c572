"""A file of profiles that grows, and beside it every draft with its verdict.

Drafts are written first. If the process is killed in between, the next call adds the missing profiles. While profiles
are missing a third file has the replies of the model, so none is paid for twice.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from ...data.files.journals import Codec
from ...data.files.paths import check_replaceable, make_folder
from ...data.text.languages import Language
from ...errors import DataError
from ...nodes.profiles import ProfileMaker, Proposal
from ..asking.store import AnswerStore
from ..journals.journal import AppendedFile, Closing, Journal, RunError, making

BETWEEN = "\n\n"


class ProfileFiles(Closing):
    """The pool and its drafts on disk, open for one process."""

    def __init__(self, path: Path, language: Language, model: dict[str, Any]) -> None:
        self.path, self.drafts = path, drafts_of(path)
        self.language: Language = language
        self.notes: list[str] = []
        check_replaceable(path)
        if path.is_dir():
            raise RunError(f"{path}: is a folder: name a file for the profiles")
        if path.is_file() and path.stat().st_size and not self.drafts.is_file():
            raise RunError(
                f"{path}: holds profiles that were not made here: give it as the pool to extend, and another file for new ones"
            )
        with making(path.parent):
            make_folder(path.parent)
        codec = drafts_codec({"language": language, "model": model})
        self._journal = Journal.open(self.drafts, codec, busy=path)
        self.store = AnswerStore(codec, path.parent, path.with_suffix(".calls.jsonl").name, self._journal)
        with ExitStack() as opened:
            opened.callback(self._journal.close)
            self._pool = AppendedFile(path)
            opened.callback(self._pool.close)
            self._take_up()
            self._files = opened.pop_all()

    @property
    def proposals(self) -> list[Proposal]:
        """Every draft so far."""
        return list(self.store.done.values())

    def _take_up(self) -> None:
        """Read the drafts, and write again what the file of profiles lacks of the accepted ones."""
        if torn := self._journal.torn:
            self.notes.append(
                f"{self.drafts}: its last line was cut off in writing ({torn} bytes): it is asked for again"
            )
        self.store.take_up(self._journal)
        for proposal in self.proposals:
            language = cast(Mapping[str, Any], proposal).get("language")
            if language != self.language:
                raise RunError(f"{self.drafts}: its language is {language!r}: go on in that, or choose another file")
        self.profile_texts = accepted_texts(self.proposals)
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

    def add(self, proposal: Proposal) -> None:
        """Write the profile of a draft that is written down, if it was accepted."""
        if proposal["verdict"] == "accepted":
            self._pool.append((BETWEEN if self.profile_texts else "") + proposal["text"])
            self.profile_texts.append(proposal["text"])

    def close(self) -> None:
        """Close both files."""
        self._files.close()


def drafts_of(path: Path) -> Path:
    """The file of the drafts beside a file of profiles."""
    return path.with_suffix(".drafts.jsonl")


def accepted_texts(proposals: Sequence[Proposal]) -> list[str]:
    """The profiles among the drafts."""
    return [proposal["text"] for proposal in proposals if proposal["verdict"] == "accepted"]


def drafts_codec(origin: Mapping[str, Any]) -> Codec[Proposal]:
    """How drafts are written, with their language and model, and read."""
    return Codec(_key, lambda proposal: {**proposal, **origin}, _proposal, lambda proposal: True)


def _proposal(value: Any) -> Proposal:
    if not isinstance(value, dict) or not {"text", "verdict", "place", "round", "attempt"} <= value.keys():
        raise DataError("is not a draft of a profile: choose another file for the profiles")
    usage = value.get("usage")
    if not isinstance(usage, dict) or not all(type(count) is int for count in usage.values()):
        value.pop("usage", None)
    return cast(Proposal, value)


def _key(proposal: Proposal) -> str:
    """A draft's key: which profile it is for, the round, and the attempt in that round."""
    return f"{proposal['place']}/{proposal['round']}/{proposal['attempt']}"


def key_of_next(maker: ProfileMaker) -> str:
    """The key of the draft that is asked for first."""
    return f"{len(maker.kept)}/{maker.round}/{len(maker.rejected) + 1}"
