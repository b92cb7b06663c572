"""Problems of a run folder, a line each: the manifest, the records, the data set, the prompt templates."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..data import domains
from ..data.files.journals import JournalReader, is_of_journal
from ..data.files.json_files import read_json
from ..data.formats.detection import CONVERSATIONS, FAILURES, MANIFEST
from ..data.formats.manifests import MEND
from ..data.formats.record_lines import StoredRun
from ..data.identity import digest
from ..data.labels.annotated_copies import FOLDER
from ..data.records import Conversation
from ..errors import DataError, DuologueError
from ..prompts import Page
from .folder import dataset, manifests
from .folder.leftovers import CARD, DATASET, PROMPTS, partials
from .folder.run_state import standing, status_lines
from .journals.journal import RunError, is_being_written

SHOWN = 5
"""Maximum of ids or files in one line."""

_OURS = re.compile(r".+\.html|calls.*\.jsonl|.+\.broken(-\d+)?")
"""Names of other files of a run: pages, replies that were kept, and what writing and mending leave behind."""

_VALUE = re.compile(rb"\d+|`[^`]*`")
"""A number or a name in the card of a data set."""


def problems(folder: str | Path) -> list[str]:
    """All problems of a run folder, a line each; none if it is whole and complete."""
    root = Path(folder)
    if not root.is_dir():
        raise RunError(f"{root}: is not a folder: give the folder of a run")
    try:
        manifest = manifests.read(root)
    except RunError as error:
        return [str(error)]
    if manifest is None:
        if not (root / CONVERSATIONS).is_file():
            raise RunError(f"{root}: has no {MANIFEST} and no {CONVERSATIONS}: give the folder of a run")
        return [f"{root / MANIFEST}: is missing: {MEND} {root} restores it from the records"]
    if is_being_written(root / CONVERSATIONS):
        # What it has written is whole only when it ends: half a line and an old data set are no flaws now.
        return [f"{root}: {line}: validate it again when the run has ended" for line in status_lines(standing(root))]
    return [*_of_manifest(root, manifest), *_of_records(root, manifest), *_of_prompts(root, manifest), *_foreign(root)]


def _of_manifest(root: Path, manifest: dict[str, Any]) -> Iterator[str]:
    if manifest.get(manifests.RESTORED):
        yield f"{root / MANIFEST}: was restored from the records: scenarios that were never begun are missing in it"
    if twice := [name for name, count in Counter(manifest["planned"]).items() if count > 1]:
        yield f"{root / MANIFEST}: plans {_some(twice)} twice"


def _of_records(root: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Problems of the lines, and of the data set, which must match them."""
    run = StoredRun(root, domains.validate)
    if not run.finished.files():
        yield f"{root / CONVERSATIONS}: is missing: --resume simulates its conversations again"
        return
    odd = [conversation.id for conversation in run.finished.iterate(run.planned) if _is_altered(conversation)]
    for _ in run.cut_short():
        pass
    for reader in (run.finished, run.failures):
        yield from (flaw.problem for flaw in reader.flaws)
        yield from (f"{path}: ends in half a line ({size} bytes)" for path, size in torn(reader))
    if odd:
        yield f"{root / CONVERSATIONS}: {_some(odd)}: not the scenario that was simulated, its digest differs"
    here = standing(root).model_copy(update={"data_set": ""})  # which is compared below
    yield from (f"{root}: {line}" for line in status_lines(here))
    yield from _of_dataset(root, manifest, run)


def _is_altered(conversation: Conversation) -> bool:
    """Whether the scenario is not the one whose digest was recorded; a credential in it is recorded as `[key]`."""
    provenance = conversation.provenance
    if provenance is None or not provenance.data or "[key]" in str(conversation.scenario):
        return False
    return provenance.data != digest(conversation.scenario)


def torn(reader: JournalReader[Any]) -> Iterator[tuple[Path, int]]:
    """The files of a journal that end in half a line, and its bytes."""
    for path in reader.files():
        size, whole = path.stat().st_size, 0
        with path.open("rb") as file:
            for line in file:
                whole += len(line) if line.endswith(b"\n") else 0
        if size > whole:
            yield path, size - whole


def _of_dataset(root: Path, manifest: dict[str, Any], run: StoredRun) -> Iterator[str]:
    """Problems of the data set, which must match the records."""
    there = root / DATASET
    if not len(run.finished):
        return
    if not there.is_dir():
        yield f"{there}: is missing: --resume writes it, {MEND} {root} too"
        return
    try:
        differing, further = compared(root, manifest, run)
    except (DuologueError, ValueError) as error:
        yield f"{there}: cannot be made from the records ({error})"
        return
    if differing:
        yield (
            f"{there}: {_some(differing)}: not what the records give: --resume writes the data set again, {MEND} {root} too"
        )
    if further:
        yield f"{there}: {_some(further)}: not of this data set"


def compared(root: Path, manifest: dict[str, Any], run: StoredRun) -> tuple[list[str], list[str]]:
    """The files of the data set that differ from the records or are missing, and foreign files.

    The data set is written once more elsewhere to compare.
    """
    with TemporaryDirectory() as place:
        dataset.write_run(Path(place), manifest, run)
        expected = _files(Path(place) / DATASET)
        present = _files(root / DATASET, {*partials(root)})
    for files in (expected, present):  # a card's words are those of the version that wrote it
        files[CARD] = b" ".join(_VALUE.findall(files.get(CARD, b"")))
    differing = [name for name in expected if expected[name] != present.get(name)]
    return differing, [name for name in present if name not in expected]


def _files(folder: Path, without: Collection[Path] = ()) -> dict[str, bytes]:
    """The content of every file below a folder, by its relative path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in without
    }


def _of_prompts(root: Path, manifest: dict[str, Any]) -> Iterator[str]:
    pages = manifest["settings"].get("prompts") or {}
    file = root / PROMPTS
    if not file.is_file():
        if pages:
            yield f"{file}: is missing: --resume writes it again"
        return
    try:
        texts = read_json(file)
    except DataError as error:
        yield str(error)
        return
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        yield f"{file}: holds no templates by name: --resume writes it again"
        return
    digests = {name: Page(name, text).digest for name, text in texts.items()}
    if differing := [name for name in pages if digests.get(name) != pages[name]]:
        yield f"{file}: {_some(differing)}: not the templates of the run, whose digests are in {MANIFEST}"


def _foreign(root: Path) -> Iterator[str]:
    half = list(partials(root))
    yield from (
        f"{path}: is half-written, by a process that was killed: --resume removes it, {MEND} {root} too"
        for path in half
    )
    for path in sorted(root.iterdir()):
        if path in half:
            continue
        ours = path.name in (MANIFEST, PROMPTS, DATASET, FOLDER) or _OURS.fullmatch(path.name)
        if not ours and not any(is_of_journal(path, name) for name in (CONVERSATIONS, FAILURES)):
            yield f"{path}: is not a file of a run"


def _some(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
