"""The result of a test as one list of lines and tables, which terminal, Markdown, page and notebook draw: the verdict first."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ...data.text.terminal import on_one_line
from ..estimates import Estimate
from ..tables import Column, Table, markdown_text
from .failures import FailureGroup
from .pairs import changed_lines, measure_table, paired_lines, scenario_table
from .success import ScenarioSuccess, Successes

LONGEST = 400
"""Longest text of a line in Markdown, in characters."""
NAMED = 5
"""Conversations that are named in a line."""
SLOW = 0.5
"""Seconds of an agent's turn from which they are worth a word."""


class Line(NamedTuple):
    """A line of a result."""

    text: str
    kind: Literal["verdict", "text", "heading", "item", "detail"] = "text"
    conversation: str = ""
    """Id of the conversation that it is about."""
    message: int | None = None
    """The number of the message in it."""

    @property
    def place(self) -> str:
        """Conversation and message, in words."""
        return self.conversation if self.message is None else f"{self.conversation}, message {self.message}"


Part: TypeAlias = Line | Table


class Room(NamedTuple):
    """How much of a result is shown."""

    groups: int = 20
    rows: int = 100
    frames: int = 5


TERMINAL = Room(groups=5, rows=10, frames=2)


def report(result: Successes, room: Room = Room()) -> Iterator[Part]:  # noqa: B008 - it is immutable
    """The result in the order in which every place shows it, without advice and how to resume."""
    verdict, *lines = verdict_lines(result)
    yield Line(verdict, "verdict")
    yield from map(Line, lines)
    if (compared := result.against) is not None:
        yield scenario_table(compared)
        if compared.measures:
            yield measure_table(compared)
        yield from (Line(line, "item") for line in changed_lines(compared))
    if any(result.faults.values()):
        yield Line(f"whose fault: {', '.join(f'{whose} {count}' for whose, count in result.faults.items() if count)}")
    yield from _groups(result, room)
    if result.against is None or room is not TERMINAL:
        yield scenario_success_table(result, room.rows)
    if result.users:
        yield user_table(result)
    yield from map(Line, (*measure_lines(result), *result.notes))


def headline(result: Successes) -> list[str]:
    """The verdict and the notes, where only they are shown."""
    return [*verdict_lines(result), *result.notes, *result.advice]


def verdict_lines(result: Successes) -> list[str]:
    """Verdict and counts, share and interval, pass^k, and the comparison with another version."""
    success = result.success
    lines = [summary_line(result)]
    if success.value is not None:
        counted = result.scored - len(result.left_out)
        lines.append(f"{result.successes} of {in_number(counted, 'scored ')} succeeded: {number_line(success)}")
    if result.left_out:
        named = ", ".join(result.left_out[:NAMED]) + ", ..." * (len(result.left_out) > NAMED)
        lines.append(f"left out, since the user simulator or the infrastructure was at fault: {named}")
    if (judge := result.judge) is not None:
        lines.append(
            f"judge and people agree on {judge.agreed} of {judge.labelled} labelled conversations, kappa "
            f"{number_line(judge.kappa)}; share by the judge {judge.judged:.2f}, rectified {number_line(judge.rectified)}"
        )
    if (floor := result.floor) is not None:
        lines.append(
            f"floor: an agent that only says it cannot help succeeds in {floor.refusing} of {floor.scenarios} "
            f"scenario{'s' * (floor.scenarios != 1)}, one that says nothing in {floor.silent}"
        )
    if (first := result.first_draft) is not None and first.value is not None:
        lines.append(f"at first draft, without a rejected one: {number_line(first)}")
    if result.bounds is not None:
        low, high = result.bounds
        lines.append(
            f"of all {in_number(result.planned)} {low:.2f} succeed if those without a score fail, {high:.2f} if they succeed"
        )
    hats = [(k, hat) for k in few(result.pass_hat) if k > 1 and (hat := result.pass_hat[k]).value is not None]
    if hats:
        lines.append(", ".join(f"pass^{k} {_with_ends(hat)}" for k, hat in hats))
    return lines + (paired_lines(result.against) if result.against is not None else [])


def summary_line(result: Successes) -> str:
    """The verdict and its reasons, and what became of the planned conversations."""
    parts = (
        (result.unscored, "without a score"),
        (result.cut_short, "cut short"),
        (result.not_begun, "not begun"),
    )
    counts = f"{in_number(result.planned)} planned, {result.scored} scored"
    counts = ", ".join([counts, *(f"{count} {what}" for count, what in parts if count)])
    if result.passed is None:
        return counts
    if not result.passed:
        return f"not passed ({'; '.join(result.not_passed_because)}): {counts}"
    compared = result.against
    unset = compared is not None and compared.margin is None and compared.suite.shown == "worse"
    worse = f", although it is worse than {compared.old_name} (no --fail-if-worse)" if compared and unset else ""
    return f"passed{worse}: {counts}"


def number_line(one: Estimate) -> str:
    """A share with its interval, or with the reason why there is none."""
    if one.value is None:
        return one.reason
    certainty = one.reason if one.low is None else f"95 % interval {one.low:.2f} to {one.high:.2f}"
    return f"{one.value:.2f} ({certainty})"


def _with_ends(one: Estimate) -> str:
    return f"{one.value:.2f}" if one.low is None else f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"


def few(numbers: Sequence[int] | dict[int, Estimate]) -> list[int]:
    """The powers of two among the numbers, and the greatest: 1, 2, 4, 8 and 15 of 1 to 15."""
    ordered = sorted(numbers)
    return [number for number in ordered if number & (number - 1) == 0 or number == ordered[-1]]


def in_number(conversations: int, which: str = "") -> str:
    """A number of conversations in words."""
    return f"{conversations} {which}conversation{'s' * (conversations != 1)}"


def measure_lines(result: Successes) -> Iterator[str]:
    """Turns, tokens, seconds and cost, in a line; none where nothing was said."""
    means = {name: one.value for name, one in result.measures.items() if one.value}
    words = {"turns": "{:.1f} turns", "tokens": "{:.0f} tokens", "turn seconds": "{:.1f} s a turn of the agent"}
    parts = [words[name].format(value) for name, value in means.items() if name != "turn seconds" or value >= SLOW]
    if result.cost:
        parts.append(f"{result.cost:.4f} US dollars in all")
    if parts:
        yield f"a conversation has {', '.join(parts)}"


def group_line(group: FailureGroup, result: Successes) -> str:
    """How many of the conversations without success have the group's cause, in how many scenarios, and whose fault it is."""
    where = f", in {group.scenarios} scenarios" if group.scenarios > 1 else ""
    return f"{group.conversations} of {len(result.failures)}: {group.name} (fault: {group.fault}{where})"


def _groups(result: Successes, room: Room) -> Iterator[Line]:
    """The groups of failures, the largest first, each with its shortest conversation."""
    if not result.groups:
        return
    yield Line("Groups of failures", "heading")
    for group in result.groups[: room.groups]:
        yield Line(group_line(group, result), "item", group.first.id, group.first.cause.message)
        yield Line(group.first.reason, "detail")
        if group.first.cause.because:
            yield Line(group.first.cause.whose, "detail")
        yield from (Line(line, "detail") for line in group.first.details[: room.frames])
    if (more := len(result.groups) - room.groups) > 0:
        yield Line(f"{more} more groups", "item")


def scenario_success_table(result: Successes, rows: int | None = None) -> Table:
    """A row for each scenario; of more than `rows` those with the least success."""
    lacking = ("left out", "unscored", "cut short", "not begun")
    present = [name for name in lacking if any(getattr(row, name.replace(" ", "_")) for row in result.scenarios)]
    shown: Sequence[ScenarioSuccess] = result.scenarios
    if rows is not None and len(shown) > rows:
        shown = sorted(shown, key=lambda row: -1.0 if row.share is None else row.share)[:rows]
    left = len(result.scenarios) - len(shown)
    return Table.of(
        "Success by scenario",
        (
            Column(name="scenario"),
            Column(name="conversations", kind="count"),
            Column(name="successes", kind="count"),
            Column(name="share", kind="number", places=2),
            *(Column(name=name, kind="count") for name in present),
        ),
        shown,
        [f"{left} scenarios with as much success or more are left out here"] if left else (),
    )


def user_table(result: Successes) -> Table:
    """A row for each kind of user."""
    names = ("share", "low", "high", "difference", "from", "to", "adjusted p")
    rows = []
    for one in result.users:
        pair = one.against_plain
        difference = pair.ends if pair else (None, None, None)
        rows.append((one.user, one.success.n, *one.success.ends, *difference, one.adjusted_p))
    notes = ["difference: the share less that of the plain user, in pairs by scenario; from, to: its 95 % interval"]
    reasons = dict.fromkeys(one.success.reason for one in result.users if one.success.reason)
    return Table(
        title="Success by user",
        columns=(
            Column(name="user"),
            Column(name="conversations", kind="count"),
            *(Column(name=name, kind="number", places=2) for name in names),
        ),
        rows=tuple(rows),
        notes=(*notes, *reasons),
    )


def resuming(result: Successes, again: str, end: str = "") -> str:
    """The line that resumes an incomplete run; empty if it would simulate nothing.

    `again`: the call or the command. `end`: why the run ended, if something ended it.
    """
    counts = result.counts
    parts = (
        (result.not_begun, "not begun"),
        (result.cut_short, "cut short"),
        (counts.get("error", 0), "ended by an error or could not be scored"),
    )
    lacking = ", ".join(f"{count} {what}" for count, what in parts if count)
    # The same code would end in the same way.
    is_own = any(counts.get(name) for name in ("crashed", "silent")) or any(one.frames for one in result.failures)
    mended = ", once it is mended; with another folder, if it is in the agent's own file"
    go_on = f"continue{mended * is_own}: {again}"
    return "; ".join(filter(None, (end, lacking, go_on))) if lacking else ""


# Markdown


def markdown(result: Successes, title: str, address: Callable[[str], str] | None = None) -> str:
    """The result as Markdown, for the page of a CI job; every text from a model or a file is escaped.

    `address`: the page of a conversation by its id, relative to the run folder; None: there is no page.
    """
    blocks: list[str] = []
    listed = False
    for part in (*report(result), *map(Line, filter(None, (*result.advice, result.resume)))):
        is_listed = isinstance(part, Line) and part.kind in ("item", "detail")
        text = part.to_markdown() if isinstance(part, Table) else _marked(part, title, address)
        if is_listed and listed:
            blocks[-1] += f"\n{text}"
        else:
            blocks.append(text.rstrip("\n"))
        listed = is_listed
    return "\n\n".join(blocks) + "\n"


def _marked(line: Line, title: str, address: Callable[[str], str] | None) -> str:
    text = _text(line.text)
    if line.kind == "verdict":
        return heading(title, line.text)
    if line.kind == "heading":
        return f"### {text}"
    if line.conversation:
        place = _text(line.place)
        anchor = f"/{line.message}" if line.message is not None else ""
        text += f"; shortest: {place if address is None else f'[{place}]({address(line.conversation)}{anchor})'}"
    return {"item": f"- {text}", "detail": f"  - {text}"}.get(line.kind, text)


def heading(title: str, verdict: str) -> str:
    """The title, and the verdict in bold."""
    return f"## {_text(title)}\n\n**{_text(verdict)}**\n"


def _text(text: str) -> str:
    line = on_one_line(text)
    return markdown_text(line if len(line) <= LONGEST else line[: LONGEST - 1] + "…")
