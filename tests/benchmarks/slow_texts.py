"""How time grows with texts that are made to be slow: `make bench`, or `python tests/benchmarks/slow_texts.py`.

The suite counts what the package does, line by line. What a regular expression does inside only a clock shows: for
each function and text this prints the seconds for a text and for one of four times its length, and their ratio. About 4 is linear;
16 is quadratic. Nothing is asserted, since no two machines, and no two moments of one, agree; small times say little.
"""

from collections.abc import Callable
from time import perf_counter

from duologue.data.grounding import ground, is_refusal, token_index
from duologue.data.recllmsim.profiles import lines_of, proposed_profile
from duologue.data.simquac.domain import question_reasons
from duologue.data.text.cleaning import clean
from duologue.data.text.sentence_splitting import sentences

LENGTH = 20_000
"""Characters of the shorter text, about."""

FUNCTIONS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "clean": (clean, ("<think>", "</think><think>", "a: <think>b</think>", "\"'", " ", "**", ":")),
    "question_reasons": (lambda text: question_reasons(text, earlier=[text]), ("1) ", " 1. x", " ", "a ", "?")),
    "is_refusal": (is_refusal, ("sorry", "'\"", "I'm ", " ")),
    "lines_of": (lambda text: list(lines_of(f"a: b{text}c")), (" ", " ,", "\n", "1.", "1. Age: 3\n")),
    "proposed_profile": (lambda text: proposed_profile(f"1. Age: {text}x", []), (" ", "* ", "1", ": ", "不", ", ")),
    "sentences": (sentences.__wrapped__, (".", "a. ", "(a. ", '"a. ', "\\", "x", "... ")),
    "ground": (lambda text: ground(text + " z", text), ("(", "(a", "a. ", "a (x) ", "中。", '"a" ', "a\n")),
}
"""Each function with what its texts repeat."""


def seconds(function: Callable[[str], object], text: str) -> float:
    """The best of three calls, none of which finds what another one kept."""
    times = []
    for _ in range(3):
        token_index.cache_clear()
        sentences.cache_clear()
        began = perf_counter()
        function(text)
        times.append(perf_counter() - began)
    return min(times)


def main() -> None:
    """Print a line for each function and text."""
    print(f"{'function':18}{'repeated':24}{'seconds':>10}{'of 4 times':>12}{'ratio':>8}")
    for name, (function, pieces) in FUNCTIONS.items():
        for piece in pieces:
            short = piece * (LENGTH // len(piece))
            once, four = seconds(function, short), seconds(function, short * 4)
            print(f"{name:18}{piece!r:24}{once:10.4f}{four:12.4f}{four / once:8.1f}", flush=True)


if __name__ == "__main__":
    main()
