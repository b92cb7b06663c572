"""`duologue check`, a linter for simulated conversations, and `duologue validators`, which compares two validators."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ..data import Conversation, Domain, domains, load
from ..data.checks import RULES, Finding, chosen, reading
from ..data.checks import check as check_one
from ..data.text.terminal import on_one_line
from .output import print_json, put, say, stdout
from .tables import AsJson, Force, Form, Out, give, read_whole


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
        typer.Option(help="Exit with code 1 if there are findings of this level: errors only, warnings too, or never."),
    ] = "error",
    most: Annotated[int, typer.Option("--most", min=0, help="Show at most N findings, a line each.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print every finding as JSON on stdout.")] = False,
) -> int:
    """Check conversations by fixed rules, without a model. Each finding says which message breaks which rule, and why."""
    rules = [name for name in chosen(only or None) if name not in chosen(skip or [])]
    loaded = load(source, stream=True)
    present: dict[Domain, Conversation] = {}  # one conversation of each domain
    findings: list[Finding] = []  # those that are shown, all as JSON
    counts: Counter[str] = Counter()
    for conversation in loaded:
        present.setdefault(domains.of(conversation), conversation)
        found = check_one(conversation, rules)
        counts.update(finding.rule for finding in found)
        findings += found if as_json else found[: max(0, most - len(findings))]
    rules = [name for name in reading(present.values()) if name in rules]
    for line in loaded.notes:
        say(line)
    if not rules:
        kinds = ", ".join(domain.kind for domain in domains.registered() if domain.rules)
        say(f"no rule applies to these conversations: there are rules for conversations of the kinds {kinds}")
    if as_json:
        print_json(
            {
                "source": str(source),
                "broken": list(loaded.broken),
                "conversations": len(loaded),
                "rules": {name: {"level": RULES[name].level, "findings": counts[name]} for name in rules},
                "findings": [finding.model_dump(mode="json") for finding in findings],
            }
        )
    else:
        for finding in findings:
            position = f"{finding.path or finding.conversation} {finding.role} {finding.message}"
            put(on_one_line(f"{position}: {finding.rule}: {finding.reason}"))
        if counts.total() > len(findings):
            say(f"... and {counts.total() - len(findings)} more: --most N or --json shows them")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("rule", "level", "findings", "about"):
            table.add_column(column, justify="right" if column == "findings" else "left")
        for name in rules:
            table.add_row(name, RULES[name].level, str(counts[name]), escape(RULES[name].description))
        stdout.print(table)
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set()}[fail_on]
    return 1 if loaded.broken or any(counts[name] and RULES[name].level in failing for name in rules) else 0


def validators(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="teacher_sim_topics.txt, a data set, or a run with its drafts.")
    ],
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
) -> int:
    """Judge the same answers by the published script's rules and by ours, and count what each accepts and changes."""
    from ..analysis import Table, compare_validators

    rows = compare_validators(read_whole(source))
    table = Table.across("The same answers through two validators", rows)
    give([row.model_dump(mode="json") for row in rows], [table], as_json=as_json, form=form, out=out, force=force)
    return 0
