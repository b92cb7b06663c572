"""`duologue check`: a linter for simulated conversations."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ..data import domains, load
from ..data.checks import RULES, check_all, chosen, reading
from .output import print_json, say, stdout


def check(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
    ],
    only: Annotated[
        list[str] | None, typer.Option("--rule", help="Only this rule; may be given several times.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", help="Without this rule; may be given several times.")
    ] = None,
    fail_on: Annotated[
        Literal["error", "warning", "never"],
        typer.Option(help="Findings that give exit code 1: errors, warnings too, none."),
    ] = "error",
    most: Annotated[int, typer.Option("--most", min=0, help="Findings that are shown, a line each.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print every finding as JSON on stdout.")] = False,
) -> int:
    """Find what is wrong in conversations, without a model: each finding with its rule, place and reason."""
    left = [name for name in chosen(only or None) if name not in chosen(skip or [])]
    loaded = load(source)
    read = reading(loaded)
    left = [name for name in left if name in read]
    findings = check_all(loaded, left)
    counts = Counter(finding.rule for finding in findings)
    for line in loaded.notes:
        say(line)
    if not left:
        ruled = ", ".join(domain.kind for domain in domains.registered() if domain.rules)
        say(f"no rule reads these conversations: rules are about those of a domain ({ruled})")
    if as_json:
        print_json(
            {
                "source": str(source),
                "broken": list(loaded.broken),
                "conversations": len(loaded),
                "rules": {name: {"level": RULES[name].level, "findings": counts[name]} for name in left},
                "findings": [finding.model_dump(mode="json") for finding in findings],
            }
        )
    else:
        for finding in findings[:most]:
            place = f"{finding.path or finding.conversation} {finding.role} {finding.message}"
            stdout.print(escape(f"{place}: {finding.rule}: {finding.reason}"), soft_wrap=True)
        if len(findings) > most:
            say(f"... and {len(findings) - most} more: --most N or --json shows them")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("rule", "level", "findings", "about"):
            table.add_column(column, justify="right" if column == "findings" else "left")
        for name in left:
            table.add_row(name, RULES[name].level, str(counts[name]), escape(RULES[name].about))
        stdout.print(table)
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set()}[fail_on]
    return 1 if loaded.broken or any(finding.level in failing for finding in findings) else 0
