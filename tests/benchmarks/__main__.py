"""`make bench`: measures, and prints a table of ratios beside their targets. Asserts nothing."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from . import table
from .parts import PARTS, Round, one_round, pages_from
from .processes import Loopback


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def measured_parts(
    names: list[str], rounds: int, *, tiny: bool, keep: Callable[[dict[str, list[Round]]], None]
) -> dict[str, list[Round]]:
    """The rounds of each part; `keep` is given all so far after each round."""
    parts: dict[str, list[Round]] = {}
    with Loopback() as endpoint:
        pages = pages_from(endpoint.port)
        for part in PARTS:
            if names and part.name not in names:
                continue
            count = rounds if tiny else part.rounds or rounds
            for number in range(count):
                say(f"{part.name}: {part.told}: round {number + 1} of {count}")
                parts.setdefault(part.name, []).append(one_round(part, endpoint.port, pages, tiny=tiny, say=say))
                keep(parts)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("--only", action="append", choices=names, default=[], help="only this part; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each part (5)")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument("--read", type=Path, action="append", default=[], help="measure nothing, read such files")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--small", action="store_true", help="little work, only to see that everything works")
    arguments = parser.parse_args()
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}

    def keep(found: dict[str, list[Round]]) -> None:
        if arguments.json:
            partial = arguments.json.with_name(f"{arguments.json.name}.partial")
            partial.write_text(json.dumps({"machine": machine, "parts": found}) + "\n")
            partial.replace(arguments.json)

    if arguments.read:
        found = {name: part for path in arguments.read for name, part in json.loads(path.read_text())["parts"].items()}
    else:
        found = measured_parts(arguments.only, arguments.rounds, tiny=arguments.small, keep=keep)
    keep(found)
    print(table.markdown(found) if arguments.markdown else table.plain(found))
    if not arguments.markdown:
        print()
        print(table.absolute(found))


if __name__ == "__main__":
    main()
