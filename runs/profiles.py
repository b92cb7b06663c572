"""User profiles that a model writes, to a number and a coverage of kinds of people: RecUserSim's second mode."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from ..data.files.paths import check_replaceable, make_folder
from ..data.recllmsim import Coverage, Profile, coverage
from ..data.records import Attempt, Usage
from ..data.text.languages import Language
from ..errors import SettingError
from ..graphs.casts.registry import library
from ..nodes.models.specs import chat_model
from ..nodes.profiles import ATTEMPTS, ROUNDS, ProfileMaker
from ..nodes.requests import RequestAnswer
from .ask import ask_all
from .plan import CallPlan
from .settings import REPLIES, RunSettings
from .store import RunError, making

END = "\n\n"
"""What stands behind each profile in the file: one without it was cut off in writing."""


@dataclass(frozen=True)
class MadeProfiles:
    """The result of making profiles."""

    profiles: tuple[Profile, ...]
    """All profiles in the file, from this call or earlier ones."""
    new: int
    """How many of them this call made."""
    rejected: dict[str, int]
    """Rejected drafts of this call by reason."""
    usage: dict[str, int]
    """Tokens and calls for the drafts of this call."""
    coverage: Coverage
    """Of the pool and the made profiles together."""
    failure: str = ""
    """Why it ended before all were made, in one line; empty if they are."""


async def agenerate(
    count: int,
    out: str | Path,
    assistant: str | BaseChatModel,
    *,
    language: Language = "en",
    pool: Sequence[Profile] = (),
    seed: int = 0,
    settings: RunSettings | None = None,
) -> MadeProfiles:
    """Make profiles until the file holds `count` of them; those of earlier calls count.

    The same call goes on where it stopped: replies are kept in a file beside the profiles.

    Args:
        count: Profiles that the file is to have.
        out: The file, of profiles with an empty line behind each.
        assistant: The model that writes them.
        language: Their language.
        pool: Existing profiles, from which the new ones must differ.
        seed: That of all calls.
        settings: Pace and bounds of the calls.

    Raises:
        SettingError: The count or the model cannot be used.
        RunError: The file cannot be written, or holds profiles that were not made here.
    """
    if count < 1:
        raise SettingError(f"count must be at least 1, not {count}")
    path = Path(out)
    model = chat_model(assistant)
    made = [*map(Profile.of, _take_up(path))]
    before = len(made)
    maker = ProfileMaker(model, library("profiles", None, language), seed, language, pool)
    attempts, lost = list[Attempt](), list[RequestAnswer[Profile]]()

    async def invent(_: int) -> bool:
        answer = await maker.next(made)
        attempts.extend(answer.attempts)
        if answer.value is None:
            lost.append(answer)
            control.calls().end("no further profile")
            return False
        text = answer.value.text(language)
        _append(path, text)
        made.append(Profile.of(text))
        return True

    missing = {str(place): place for place in range(before, count)}
    own = {"replies": replies_of(path), "concurrency": 1}
    control = (settings or RunSettings()).model_copy(update=own).shared()
    _, why = await ask_all(missing, invent, control)
    if len(made) < count and lost:
        why = lost[0].error or "drafts were rejected too often"
    usage = sum((one.usage for one in attempts if one.usage is not None), Usage.none())
    return MadeProfiles(
        profiles=tuple(made),
        new=len(made) - before,
        rejected=dict(Counter(str(one.reason) for one in attempts if one.verdict == "rejected")),
        usage={name: getattr(usage, name) for name in ("input_tokens", "output_tokens", "calls")},
        coverage=coverage([*pool, *made]),
        failure="" if len(made) >= count else why,
    )


def profiles_planned(
    count: int,
    out: str | Path,
    assistant: str | BaseChatModel,
    *,
    language: Language = "en",
    pool: Sequence[Profile] = (),
) -> CallPlan:
    """The plan of `agenerate`, whose parameters it has: of the profiles that the file lacks."""
    path = Path(out)
    kept = _texts(path.read_bytes().decode("utf-8")) if path.is_file() else []
    number = max(0, count - len(kept))
    each, most = f"each asked for up to {ATTEMPTS} times", number * ATTEMPTS * ROUNDS
    return CallPlan(number, "profiles", number, most, each)


def replies_of(path: Path) -> Path:
    """The file of replies beside a file of profiles."""
    return path.with_suffix(f".{REPLIES}")


def _take_up(path: Path) -> list[str]:
    """The profiles that the file has; one that was cut off in writing is removed, and asked for again."""
    check_replaceable(path)
    if path.is_dir():
        raise RunError(f"{path}: is a folder: name a file for the profiles")
    if path.is_file() and path.stat().st_size and not replies_of(path).is_file():
        raise RunError(
            f"{path}: holds profiles that were not made here: give it as the pool to extend, and another file for new ones"
        )
    with making(path.parent):
        make_folder(path.parent)
        text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        texts = _texts(text)
        if text != (whole := "".join(one + END for one in texts)):
            path.write_text(whole, encoding="utf-8", newline="")
    return texts


def _append(path: Path, profile: str) -> None:
    with making(path.parent), path.open("a", encoding="utf-8", newline="") as file:
        file.write(profile + END)


def _texts(text: str) -> list[str]:
    return text.split(END)[:-1]
