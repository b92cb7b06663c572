"""A plan in parts: every N-th conversation in a folder of its own, and such folders put together again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..data.files.json import replacing_bytes, write_json
from ..data.formats.source import CONVERSATIONS, FAILURES, MANIFEST
from ..errors import SettingError
from .folder import manifests
from .folder.leftovers import PROMPTS
from .journals.calls import CALLS
from .journals.journal import RunError

T = TypeVar("T")


class Shard(NamedTuple):
    """The K-th of N parts of a plan, from 1 on."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Shard":
        """The shard of `K/N`; SettingError for another text."""
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise SettingError(f"shard: expected K/N with K from 1 to N, such as 2/8, not {text!r}")
        return cls(int(number), int(of))

    def part(self, plan: Sequence[T]) -> list[T]:
        """Every N-th of a plan, so that equal scenarios are spread."""
        return list(plan[self.number - 1 :: self.of])


def put_together(folders: Sequence[Path], out: Path) -> int:
    """Make one run folder of those of several shards; gives the number of its conversations.

    The same command without `--shard` goes on there: it simulates what is missing, and writes the data set. RunError if
    the folders are of different runs, or hold the same conversation.
    """
    parts = list[dict[str, Any]]()
    for folder in folders:
        manifest = manifests.read(folder)
        if manifest is None:
            raise RunError(f"{folder}: is no run folder")
        parts.append(manifest)
        for key in ("settings", "cast"):
            if difference := manifests.first_difference(parts[0].get(key), manifest.get(key), key):
                name, was, now = difference
                raise RunError(
                    f"{folder}: is of another run than {folders[0]}: {name} is {manifests.short(now)}, not {manifests.short(was)}"
                )
    planned = _planned(parts)
    if len(set(planned)) < len(planned):
        raise RunError(
            f"{folders[-1]}: plans conversations that another of the folders plans too: give each shard once"
        )
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise RunError(f"{out}: holds files already: choose a new folder")
    whole = {key: value for key, value in parts[0].items() if key != "shard"} | {"planned": planned, "data": []}
    again = sorted({name for part in parts for name in part.get("again", ())})
    write_json(out / MANIFEST, whole | ({"again": again} if again else {}), end="\n")
    (out / PROMPTS).write_bytes((folders[0] / PROMPTS).read_bytes())
    for name in (CONVERSATIONS, FAILURES, CALLS):
        files = [folder / name for folder in folders if (folder / name).is_file()]
        if files:
            with replacing_bytes(out / name) as file:
                file.writelines(_lines(files, has_head=name == CALLS))
    return len(planned)


def _planned(parts: Sequence[dict[str, Any]]) -> list[str]:
    """The plan of all; where each is a shard of the same number, in the order of the whole plan."""
    shards = [tuple(part.get("shard") or ()) for part in parts]
    numbers = {shard[1] for shard in shards if shard}
    if all(shards) and len(numbers) == 1:
        places = {
            number - 1 + place * of: name
            for (number, of), part in zip(shards, parts, strict=True)
            for place, name in enumerate(part["planned"])
        }
        if len(places) == sum(len(part["planned"]) for part in parts):
            return [places[place] for place in sorted(places)]
    return [name for part in parts for name in part["planned"]]


def _lines(files: Sequence[Path], *, has_head: bool) -> Iterator[bytes]:
    """The whole lines of the files; a journal of calls begins with a line that says what it is."""
    for number, path in enumerate(files):
        with path.open("rb") as file:
            for place, line in enumerate(file):
                if line.endswith(b"\n") and not (has_head and number and not place):
                    yield line
