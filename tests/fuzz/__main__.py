"""The fuzz: `python -m tests.fuzz --cases 2000` from the repository's root; `--only N` runs one case again and keeps it.

It prints a line of JSON for each case with a problem, and one with the number of cases at the end.
"""

import argparse
import json
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..faulty.client import Faulty
from ..forks.client import Forks
from .corpus import Corpus
from .orders import Orders
from .verdict import LEAST, LONGEST, SMALL, files_of, half_written, problems


def run(number: int, orders: Orders, forks: Forks, root: Path, keep: bool) -> dict[str, Any]:
    """Run a case; its problems, its command, and its exit code."""
    case = root / f"case-{number}"
    for name in ("home", "temporary"):
        (case / name).mkdir(parents=True)
    (work := case / "work").mkdir()
    order = orders.made(number, work)
    before, outside = files_of(case), root / f"outside-{number}"
    spoilt = {path for path in before if path.stat().st_size < SMALL and half_written(path)}
    surroundings = {"HOME": str(case / "home"), "TMPDIR": str(case / "temporary")} | order.environment
    fork = forks(
        order.arguments, work, surroundings, memory=LEAST, seconds=LONGEST, within=case, outside=outside
    )  # fmt: skip
    code = fork.wait(600)
    problem_lines = problems(fork, case, before, outside, spoilt)
    if keep:
        print(f"in {work}: duologue {shlex.join(order.arguments)}", order.environment, file=sys.stderr)
        print(fork.stdout[:2_000], fork.stderr[:4_000], sep="\n", file=sys.stderr)
        for log in (case / "temporary").glob("duologue-*.log"):
            print(log.read_text()[-4_000:], file=sys.stderr)
    else:
        shutil.rmtree(case, ignore_errors=True)
        outside.unlink(missing_ok=True)
    fork_files = (fork.stdout_path, fork.stderr_path)
    for path in fork_files:
        path.unlink(missing_ok=True)
    command = "duologue " + shlex.join(
        argument if len(argument) < 200 else f"{argument[:60]}...({len(argument)})" for argument in order.arguments
    )
    return {
        "case": number,
        "what": order.what,
        "problems": problem_lines,
        "code": code,
        "command": command.encode(errors="backslashreplace").decode(),
        **({"environment": {k: v[:100] for k, v in order.environment.items()}} if order.environment else {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--only", type=int, nargs="*", help="run these cases, show what they say, and keep their folders"
    )
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="duologue-fuzz-"))
    forks, faulty = Forks("--all"), Faulty()
    try:
        corpus = Corpus(root / "corpus", forks, faulty().environment)
        orders = Orders(corpus, faulty(status="401").port)
        numbers = arguments.only if arguments.only else range(arguments.start, arguments.start + arguments.cases)
        codes: Counter[str] = Counter()
        names: set[str] = set()
        with ThreadPoolExecutor(arguments.workers) as pool:
            for result in pool.map(lambda n: run(n, orders, forks, root, bool(arguments.only)), numbers):
                codes[str(result["code"])] += 1
                names.add(result["what"].partition(" of ")[2])
                if result["problems"]:
                    print(json.dumps(result), flush=True)
        everything = {words for words, _ in orders.commands}
        print(json.dumps({"cases": len(numbers), "codes": codes, "left_out": sorted(everything - names)}), flush=True)
    finally:
        forks.close()
        faulty.close()
        if not arguments.only:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
