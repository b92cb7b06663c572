"""`duologue check`: a linter for conversations."""

from collections import Counter
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.markup import escape

from ..analysis.attempts import DraftCount
from ..data import Conversation, Domain, Loaded, domains
from ..data.checks import check as check_one
from ..data.checks import chosen, known_rules, rules_of
from ..data.loading import load
from ..data.rules import Finding
from ..data.rules.user_faults import has_user_brief
from ..data.text.terminal import names_in, on_one_line
from . import options
from .options import argument, option
from .printing import plain_table, print_json, put, say, stdout


def check_command(
    sources: Annotated[list[Path], argument("SRC...", "Run folders, data sets' files or folders of such files.")],
    rule: Annotated[list[str] | None, option("Only these; may be repeated.", metavar="NAME,...")] = None,
    skip: Annotated[list[str] | None, option("All but these.", metavar="NAME,...")] = None,
    fail_on: Annotated[Literal["error", "warning", "never"], option("Exit with code 1 at these.")] = "error",
    limit: Annotated[int, option("Print the first N findings; default: 20.", min=0, metavar="N")] = 20,
    skip_broken: options.SkipBroken = False,
    as_json: options.Json = False,
) -> int:
    """Check conversations by fixed rules.

    A linter without a model: each finding names a message, the rule that it breaks, and why.
    """
    left_out = chosen(names_in(skip or ()))
    rules = [name for name in chosen(names_in(rule or ()) or None) if name not in left_out]
    reports: list[dict[str, Any]] = []
    failing = {"error": {"error"}, "warning": {"error", "warning"}, "never": set[str]()}[fail_on]
    code = 0
    for source in sources:
        if len(sources) > 1 and not as_json:
            put(f"{source}:")
        report = _report(source, rules, limit, skip_broken, as_json)
        reports.append(report)
        broken_rules = [name for name, row in report["rules"].items() if row["findings"] and row["level"] in failing]
        code = 1 if report["broken"] or broken_rules else code
    if as_json:
        print_json(reports if len(reports) > 1 else reports[0])
    return code


def _report(source: Path, rules: list[str], limit: int, skip_broken: bool, as_json: bool) -> dict[str, Any]:
    """Check a source, and print what was found unless it is asked for as JSON; gives the findings as JSON."""
    loaded = load(source, skip_broken=skip_broken)
    present: dict[tuple[Domain, bool], Conversation] = {}  # one conversation of each domain
    findings: list[Finding] = []  # those that are shown, all as JSON
    counts: Counter[str] = Counter()
    drafts = DraftCount()
    for conversation, file in zip(loaded, loaded.files or repeat(""), strict=False):
        drafts.add(conversation)
        present.setdefault((domains.of(conversation), has_user_brief(conversation.scenario)), conversation)
        of_conversation = [_placed(finding, file) for finding in check_one(conversation, rules)]
        counts.update(finding.rule for finding in of_conversation)
        findings += of_conversation if as_json else of_conversation[: max(0, limit - len(findings))]
    applying = dict.fromkeys(name for conversation in present.values() for name in rules_of(conversation))
    rules = [name for name in applying if name in rules]
    say(*loaded.notes)
    if not rules:
        kinds = ", ".join(domain.kind for domain in domains.registered() if domain.rules)
        say(f"no rule applies to these conversations: there are rules for conversations of the kinds {kinds}")
    if not as_json:
        _put(loaded, findings, counts, rules)
        put(*(side.line for side in drafts.sides))
    known = known_rules()
    return {
        "source": str(source),
        "form": loaded.kind,
        "broken": list(loaded.broken),
        "conversations": len(loaded),
        "rules": {name: {"level": known[name].level, "findings": counts[name]} for name in rules},
        "drafts": [side.model_dump(mode="json") for side in drafts.sides],
        "findings": [finding.model_dump(mode="json") for finding in findings] if as_json else [],
    }


def _put(loaded: Loaded, findings: list[Finding], counts: Counter[str], rules: list[str]) -> None:
    """Print the first findings, and the number of each rule's."""
    for finding in findings:
        put(on_one_line(_line(finding, of_files=bool(loaded.files))))
    if counts.total() > len(findings):
        say(f"... and {counts.total() - len(findings)} more: --limit N or --json shows them")
    if rules and not counts.total():
        put(f"no finding in {len(loaded)} conversation{'' if len(loaded) == 1 else 's'}, by {len(rules)} rules:")
    known = known_rules()
    table = plain_table("rule")
    for column in ("level", "findings", "about"):
        table.add_column(column, justify="right" if column == "findings" else "left")
    for name in rules:
        table.add_row(name, known[name].level, str(counts[name]), escape(known[name].description))
    stdout.print(table)


def _placed(finding: Finding, file: str) -> Finding:
    """The finding with the file of its conversation, where the folder that was read has several."""
    return finding.model_copy(update={"path": finding.path or file}) if file else finding


def _line(finding: Finding, *, of_files: bool) -> str:
    whose = finding.path or finding.conversation
    if of_files:  # a file of many conversations does not name one
        whose = f"{finding.path} {finding.conversation}"
    return f"{whose} {finding.role} {finding.message}: {finding.rule}: {finding.reason}"
