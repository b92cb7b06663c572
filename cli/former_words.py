"""Words of the command line that were others once: former commands, options and values, with those of today."""

import shlex
from collections.abc import Sequence
from pathlib import Path

_COMMANDS = """
    repair simquac      = simquac repair
    repair              = simquac repair
    validators          = simquac validators
    readers             = simquac readers
    stats logs          = stats
    stats simquac       = simquac stats
    stats teacher       = simquac teacher
    stats baseline      = simquac baseline
    stats recllmsim     = recllmsim stats
    stats preference    = recllmsim preference
    stats judges        = recllmsim judges
    stats satisfaction  = recllmsim satisfaction
    stats intents       = recllmsim intents
    tasks               = recllmsim tasks
    profiles generate   = recllmsim profiles
    profiles identify   = recllmsim identify
    profiles            = recllmsim profiles
    testers             = validity
"""
COMMANDS = {
    former.strip(): now.strip() for former, _, now in (line.partition("=") for line in _COMMANDS.strip().splitlines())
}
"""Former commands, and those of today."""

_OPTIONS = """
    show                    --first             = --limit
    show                    --against           = --beside
    check                   --most              = --limit
    next-turn               --limit             = --sample
    annotate                --models            = --model, repeated
    agreement               --ordered           = --scale
    agreement               --worth             = --calibrate
    label                   --into              = --out
    label                   --language          = --show-language
    validity                --judge             = --rater
    tune                    --judge             = --test
    tune                    --no-judge          = --no-test
    tune                    --pages             = --search-templates
    tune                    --page              = --template-name
    tune                    --page-trials       = --template-trials
    simquac teacher         --reference         = --people
    simquac teacher         --rule              = --overlap
    simquac readers         --reader            = --model
    simquac readers         --trainable         = --model features
    simquac readers         --answers           = --journal
    simquac readers         --least-agreement   = --min-agreement
    recllmsim profiles      --assistant         = --model
    recllmsim identify      --assistant         = --with-assistant
    recllmsim identify      --labels            = --frequency
    recllmsim identify      --guesses           = --answers
    recllmsim identify      --kept              = --journal
    recllmsim judges        --judge             = --model
    recllmsim judges        --page              = --template
    recllmsim judges        --kept              = --journal
    recllmsim satisfaction  --task              = --target
    recllmsim intents       --side              = --group
"""
OPTIONS: dict[tuple[str, str], str] = {
    (" ".join(words.split()[:-1]), words.split()[-1]): now.strip()
    for words, _, now in (line.partition("=") for line in _OPTIONS.strip().splitlines())
}
"""Former options, by the command of today and the former name, and those of today."""

ARGUMENTS: dict[tuple[str, str], str] = {
    (
        "convert",
        "--out",
    ): "convert takes the file to write as its second argument: duologue convert SRC DST --to FORMAT",
}
"""Options of other commands for which a command has an argument, with the line that gives the right form."""

FORMATS = {"rich": "text", "markdown": "md"}
"""Former values of `--format`, and those of today."""


def current_command(words: Sequence[str]) -> tuple[str, str] | None:
    """The former command that the words begin with, and that of today; None for others."""
    for count in (2, 1):
        former = " ".join(words[:count])
        # `stats` is a command of today, so a word after it may be the path of conversations.
        if former in COMMANDS and not (words[0] == "stats" and Path(words[1]).exists()):
            return former, COMMANDS[former]
    return None


def typed_today(command: str, words: Sequence[str], former: str, before: Sequence[str] = ()) -> str:
    """The whole command of today for the words of a former one, quoted for a shell; `before`: options of `duologue`."""
    rest = []
    for word in words[len(former.split()) :]:
        option, equals, value = word.partition("=")
        now = OPTIONS.get((command, option), option)
        rest.append(f"{now if ' ' not in now else option}{equals}{value}")
    return shlex.join(["duologue", *before, *command.split(), *rest])


def line_about(command: str, option: str, message: str) -> str:
    """The line with the option of today, or the argument, for a former option.

    Empty for others.
    """
    if (command, option) in ARGUMENTS:
        return ARGUMENTS[command, option]
    now = OPTIONS.get((command, option))
    if now is not None:
        return f"{option} is now {now}"
    value = next((former for former in FORMATS if f"'{former}'" in message), None) if "--format" in message else None
    return f"--format {value} is now --format {FORMATS[value]}" if value is not None else ""
