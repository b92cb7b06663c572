"""What each command works on one message, section or profile of a megabyte that is made to be slow.

`python -m tests.benchmarks.long_texts` from the repository's root; `--only check --text '('` tries less. It prints a line
for each command and text that takes more than `--over` seconds of CPU beyond the same command on a short text, and the
largest of each command at the end. Nothing is asserted: a clock differs by machine.
"""

import argparse
import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..forks.client import Fork, Forks

LENGTH = 1_000_000
"""Bytes of a text."""
PIECES = (
    *(
        "x",
        "A",
        "7",
        " ",
        "\n",
        "\t",
        "\r\n",
        ".",
        ",",
        "?",
        "!",
        "-",
        "_",
        "*",
        "#",
        "`",
        "~",
        "|",
        "=",
        ":",
        "'",
        '"',
        "\\",
        "/",
    ),
    *(
        "(",
        ")",
        "()",
        "[",
        "]",
        "[]",
        "[a](",
        "{",
        "}",
        "{{",
        "<",
        ">",
        "<b>",
        "</",
        "<!--",
        "<think>",
        "<think></think>",
        "</think>",
    ),
    *(
        "a b ",
        "a ",
        "a. ",
        "A. ",
        "A.B.",
        "Mr. ",
        "(a. ",
        '"a. ',
        "a? ",
        "a! ",
        "... ",
        "?! ",
        "a\n",
        "a\n\n",
        "- a\n",
        "1. a\n",
        "1) ",
    ),
    *(
        "1. Age: 3\n",
        "User: a\n",
        "user:",
        "Assistant: a\n",
        "System:",
        "> a\n",
        "```\n",
        "    a\n",
        "| a | b |\n",
        "|-",
        "**a",
        "*a ",
    ),
    *(
        "sorry",
        "Sorry, ",
        "I cannot ",
        "thank you ",
        "I'm ",
        "what ",
        "I ",
        "not ",
        "no, ",
        "the ",
        "bye ",
        "a@b.",
        "http://a.b/ ",
    ),
    *(
        "&amp;",
        "1,",
        "1.",
        "1 ",
        "$1",
        "12:30 ",
        "a-b",
        "a'",
        "a" * 40 + " ",
        "\u0301",
        "e\u0301",
        "\u200d",
        "👨\u200d👩",
        "🙂",
        "ß",
        "İ",
    ),
    *(
        "漢",
        "漢字",
        "漢。",
        "。",
        "，",
        "“",
        "《",
        "谢谢",
        "不",
        "你好吗？",
        "漢 ",
        "한국",
        "ภาษา",
        "\u202e",
        "\ufeff",
        "\ufffd",
        "\x01",
        "Ａ",
    ),
    *('{"a":', '[{"a":[', '"a",', '{"a":1}\n', "${a}", "{a}", "%s", "{% a %}", "a=b;", "a" + " " * 50),
)
"""What a text repeats."""


def words(most: int) -> str:
    """Different words, with a full stop after each ninth."""
    return "".join(f"w{n}{'. W' if n % 9 == 0 else ' '}" for n in range(most // 7))[:most]


def texts() -> dict[str, str]:
    """The texts by name."""
    found = {repr(piece): piece * (LENGTH // len(piece.encode())) for piece in PIECES}
    nested = LENGTH // 2
    found |= {f"{a}...{b}": a * nested + b * nested for a, b in ("()", "[]", "{}", "<>", "“”")}
    found["different words"] = words(LENGTH)
    found["different lines"] = words(LENGTH).replace(" ", "\n")
    found["a line and x"] = "What is it? " + "x" * LENGTH
    return found


Place = Callable[[Any, str], None]


def _message(number: int) -> Place:
    def put(record: Any, text: str) -> None:
        message = record["messages"][number]
        message["text"] = message["attempts"][-1]["text"] = text
        message["spans"] = []

    return put


def _scenario(key: str) -> Place:
    def put(record: Any, text: str) -> None:
        record["scenario"][key] = text

    return put


PLACES: dict[str, dict[str, Place]] = {
    "simquac": {"user": _message(2), "assistant": _message(1), "section": _scenario("section")},
    "recllmsim": {"user": _message(2), "assistant": _message(1), "preference": _scenario("preference")},
}
LOOKS = (
    *("show SRC --out page.html", "check SRC", "agreement SRC SRC --between a,b"),
    *(f"convert SRC made{n}{end} --to {form}" for n, (form, end) in enumerate(
        (("sharegpt", ".json"), ("messages", ".jsonl"), ("replay", ".jsonl")))),
    *("label SRC --labels intent --write a.csv"),
    "next-turn SRC --user offline --out next",
)  # fmt: skip
COMMANDS = {
    "simquac": (
        *LOOKS, "convert SRC made.json --to simquac", "convert SRC made_q.jsonl --to quac",
        "convert SRC made_s.jsonl --to squad_v2", "papers simquac stats SRC", "papers simquac teacher SRC", "papers simquac validators SRC",
        "papers simquac readers SRC --model offline", "papers simquac repair as_simquac.json --out repaired.json", "papers simquac baseline as_simquac.json",
        "simulate simquac --scenarios SRC --max-turns 1 --out again",
        "simulate simquac --scenarios SRC --user replay:SRC --assistant replay:SRC --out again",
    ),
    "recllmsim": (
        *LOOKS, "convert SRC made_r --to recllmsim", "papers recllmsim stats SRC", "papers recllmsim predict SRC",
        "papers recllmsim intents SRC", "papers recllmsim satisfaction SRC", "compare SRC SRC --out compared",
        "validity SRC --user offline --out valid",
        "simulate recllmsim --scenarios SRC --max-turns 1 --out again",
        "simulate recllmsim --scenarios SRC --user replay:SRC --assistant replay:SRC --out again",
    ),
}  # fmt: skip


class Sources:
    """Runs with one long text, made in a folder."""

    def __init__(self, root: Path, forks: Forks) -> None:
        self.root, self.forks = root, forks
        for cast in PLACES:
            done = forks(["simulate", cast, "--limit", "1", "--max-turns", "2", "--out", cast, "--yes"], root)
            assert done.wait() == 0, done.stderr

    def made(self, folder: Path, cast: str, place: str, text: str) -> None:
        """The run SRC in a folder."""
        shutil.copytree(self.root / cast, folder / "SRC")
        path = folder / "SRC" / "conversations.jsonl"
        record = json.loads(path.read_text())
        PLACES[cast][place](record, text)
        path.write_text(json.dumps(record, ensure_ascii=False) + "\n")
        if cast == "simquac":
            self.forks("convert SRC as_simquac.json --to simquac".split(), folder).wait()


def measured(
    cast: str, place: str, text: str, root: Path, sources: Sources, only: list[str], seconds: int
) -> Iterator[tuple[str, Fork]]:
    """Each command of a cast on a text, with the fork in which it ran."""
    folder = Path(tempfile.mkdtemp(dir=root))
    sources.made(folder, cast, place, text)
    for command in COMMANDS[cast]:
        if command.startswith(tuple(only)):
            fork = sources.forks(command.split(), folder, memory=3 << 30, seconds=seconds)
            fork.wait()
            yield command, fork
    shutil.rmtree(folder)
    for path in root.glob(f"{folder.name}.*"):
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="commands that begin with one of these")
    parser.add_argument("--text", nargs="*", default=[""], help="texts with one of these in their name")
    parser.add_argument("--cast", choices=list(PLACES))
    parser.add_argument("--place", default="")
    parser.add_argument("--over", type=float, default=2.0)
    parser.add_argument("--seconds", type=int, default=20, help="the bound of a command")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    root, forks = Path(tempfile.mkdtemp(prefix="duologue-long-")), Forks("--all")
    most: dict[str, tuple[float, str]] = {}
    try:
        sources = Sources(root, forks)
        cases = [
            (cast, place, name, text)
            for (name, text), cast in itertools.product({"": "short"}.items() | texts().items(), PLACES)
            for place in PLACES[cast]
            if any(part in name for part in arguments.text)
            and arguments.cast in (None, cast)
            and arguments.place in place
        ]
        usual: dict[tuple[str, str, str], float] = {}
        for cast, places in PLACES.items():
            for place in places:
                if arguments.cast in (None, cast) and arguments.place in place:
                    for command, fork in measured(
                        cast, place, "What is a short text?", root, sources, arguments.only, 20
                    ):
                        usual[cast, place, command] = fork.worked

        def tried(case: tuple[str, str, str, str]) -> None:
            cast, place, name, text = case
            for command, fork in measured(cast, place, text, root, sources, arguments.only, arguments.seconds):
                beyond = fork.worked - usual[cast, place, command]
                key = f"{cast}: {command}"
                most[key] = max(most.get(key, (0.0, "")), (beyond, f"{name} as {place}"))
                if beyond > arguments.over or fork.code not in (0, 1, 2):
                    last = (fork.stderr.strip().splitlines() or [""])[-1][:150] if fork.code not in (0, 1) else ""
                    print(
                        f"{beyond:6.1f} s {fork.kilobytes / 1000:6.0f} MB code {fork.code} {key} | {name} as {place} {last}",
                        flush=True,
                    )

        with ThreadPoolExecutor(arguments.workers) as pool:
            list(pool.map(tried, cases))
    finally:
        forks.close()
        shutil.rmtree(root, ignore_errors=True)
    for key, (seconds, where) in most.items():
        print(f"{seconds:6.2f} s at most: {key} ({where})")


if __name__ == "__main__":
    main()
