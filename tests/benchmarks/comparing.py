"""CPU of `duologue compare` on 4,000 simulated conversations and 1,000 of people: `python -m tests.benchmarks.comparing`.

They are varied from those of `../shared/seed-data`: in each copy the users have other names, and the second half of
each message of theirs is that of another one.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from duologue.data import load
from duologue.data.formats import record_lines
from duologue.data.records import Conversation, Message

SEEDS = Path("../shared/seed-data/recllmsim")
SIDES = (("simulated.jsonl", "LLM_agent_user", 4_000), ("people.jsonl", "human_exp_V2", 1_000))
CHINESE = "content_zh"
"""Key of a message's translation."""


def varied(sources: list[Conversation], count: int) -> list[Conversation]:
    """So many conversations, the first as they are."""
    texts = [_text(message) for one in sources for message in one.messages if message.role == "user"]
    return [
        _copy(sources[number % len(sources)], number // len(sources), texts[97 * number % len(texts) :] + texts)
        for number in range(count)
    ]


def _text(message: Message) -> str:
    return str(message.extra.get(CHINESE) or message.text)


def _copy(source: Conversation, copy: int, texts: list[str]) -> Conversation:
    if not copy:
        return source
    messages = []
    for message, text in zip(source.messages, texts, strict=False):
        if message.role == "user":
            own = _text(message)
            changed = own[: len(own) // 2] + text[len(text) // 2 :]
            message = message.model_copy(update={"text": changed, "extra": message.extra | {CHINESE: changed}})
        messages.append(message)
    profile = source.scenario.get("preference")
    scenario = source.scenario | ({"preference": f"{profile}\n10. Copy: {copy}"} if profile else {})
    extra = source.extra | {"path": str(source.extra["path"]).replace("User_", f"User_{copy}000")}
    return source.model_copy(
        update={"id": f"{source.id}-{copy}", "messages": tuple(messages), "scenario": scenario, "extra": extra}
    )


def main() -> None:
    """Write both sides, and print the seconds of user and system time of the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="keep conversations and report in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name, source, count in SIDES:
            record_lines.write(varied(list(load(SEEDS / source)), count), folder / name)
        files = [str(folder / name) for name, _, _ in SIDES]
        command = [sys.executable, "-m", "duologue.cli", "compare", *files, "--json"]
        before = getrusage(RUSAGE_CHILDREN)
        with (folder / "report.json").open("w") as report:
            subprocess.run(command, stdout=report, check=True)
        after = getrusage(RUSAGE_CHILDREN)
    print(f"CPU: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s")


if __name__ == "__main__":
    main()
