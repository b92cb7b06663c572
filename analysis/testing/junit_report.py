"""Outcomes of conversations as JUnit XML, which CI systems read: a test case for each conversation."""

import re
from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...data.records import Conversation
from ..attempts import sent_although_rejected
from ..labels.reliability import COMPUTED, Trusts
from ..outcomes import SUCCESS, Crashes, Outcome, outcome, tool_error_lines, was_begun
from .failed_conversations import reason_and_end, user_fault_line
from .failure_sites import cause_of
from .plan import CaseNames, PlannedConversation
from .result_text import at_message

END = 6
"""Messages of a conversation's end that a failure shows."""

SENT = "replies sent although rejected"
"""Name of the property with their number."""
NOT_BEGUN = "it was not begun: the run ended before"
"""Message of a planned conversation that was not begun."""
NOT_ENDED = "the test did not end"
"""Message of the report that a test begins with: it stays if the process is killed."""

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no place for: control characters and halves of surrogate pairs."""


def junit(
    conversations: Iterable[Conversation],
    suite: str,
    *,
    exclude_user_faults: bool = False,
    addresses: Mapping[str, str] | None = None,
    plan: Iterable[PlannedConversation] = (),
    crashes: Crashes = "unscored",
    verdict: str = "",
    ending: str = "",
    notes: Iterable[str] = (),
    properties: Mapping[str, str] | None = None,
) -> str:
    """The conversations as a JUnit XML document.

    `failure` stands for a conversation without success. `error` stands for one without a score, also for one that was
    cut short or not begun. `skipped` stands for one that is excluded because the user simulator is at fault.

    - `suite`: the name of the test suite;
    - `addresses`: the page of a conversation by its id, for its failure's text;
    - `plan`: the conversations to simulate, in order. Those without a record were not begun;
    - `crashes`: what a conversation counts as in which the agent crashed;
    - `ending`: why the run ended, for those that it cut short;
    - `verdict`: a line for the suite's property of that name; `properties`: more of them; `notes`: lines for its output.

    Two further properties are `trust in success`, the reliability of a success that no rule computes, and `replies sent
    although rejected`, their number, if any. Conversations are read once and not kept.
    """
    root = Element("testsuites", name="duologue")
    element = SubElement(root, "testsuite", name=xml_text(suite))
    names = CaseNames(plan)
    trusts = Trusts()
    counts: dict[str, int] = dict.fromkeys(("failures", "errors", "skipped"), 0)
    seconds, sent = 0.0, 0

    def case_of(name: str, taken: float) -> Element:
        return SubElement(element, "testcase", classname=xml_text(suite), name=xml_text(name), time=f"{taken:.3f}")

    def without(name: str) -> None:
        counts["errors"] += 1
        SubElement(case_of(name, 0.0), "error", message=NOT_BEGUN, type="fault: infrastructure")

    for conversation in conversations:
        name = names.name(conversation)
        if not was_begun(conversation):
            without(name)
            continue
        result = outcome(conversation, crashes, ending)
        trusts.add_scores(conversation)
        seconds += conversation.timing.seconds or 0.0
        sent += sent_although_rejected(conversation)
        case = case_of(name, conversation.timing.seconds or 0.0)
        kind = _kind(result, exclude_user_faults)
        if kind is not None:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
            address = (addresses or {}).get(conversation.id, "")
            _describe(SubElement(case, kind), result, conversation, address)
    for planned in names.open:
        without(names.of_plan(planned))
    totals = {"tests": len(element), **counts}
    for xml_element in (root, element):
        for name, value in totals.items():
            xml_element.set(name, str(value))
        xml_element.set("time", f"{seconds:.3f}")
    trust = trusts.mark_of_score(SUCCESS)
    values = {
        "verdict": verdict,
        SENT: str(sent) if sent else "",
        "trust in success": "" if trust == COMPUTED else trust,
        **(properties or {}),
    }
    if present := [(name, text) for name, text in values.items() if text]:
        element.insert(0, added := Element("properties"))
        for name, text in present:
            SubElement(added, "property", name=name, value=xml_text(text))
    if lines := "\n".join(notes):
        SubElement(element, "system-out").text = xml_text(lines)
    return _document(root)


def _kind(result: Outcome, exclude_user_faults: bool) -> str | None:
    if exclude_user_faults and result.user_fault:
        return "skipped"
    if result.success is None:
        return "error"
    return None if result.success else "failure"


def _describe(element: Element, result: Outcome, conversation: Conversation, address: str) -> None:
    skipped = element.tag == "skipped"
    reason = f"the user simulator is at fault: {result.user_fault}" if skipped else result.reason
    message = reason if skipped else reason_and_end(reason, conversation.stop)
    element.set("message", xml_text(" ".join(message.split())))
    if not skipped:
        element.set("type", f"fault: {result.fault}")
    cause = cause_of(conversation, result) if element.tag == "failure" else None
    lines = [
        reason,
        *([f"group: {cause.name}{at_message(cause.message)}"] if cause else []),
        f"fault: {result.fault}, stop: {conversation.stop or 'not told'}, conversation: {conversation.id}",
        *filter(None, [user_fault_line(result)]),
        *(f"at {frame}" for frame in result.frames),
        *tool_error_lines(result.tool_errors, reason),
        *([f"page: {address}"] if address else []),
        "",
        *(f"{message.role}: {message.text}" for message in conversation.messages[-END:]),
    ]
    element.text = xml_text("\n".join(lines))


def unended(suite: str, line: str = NOT_ENDED) -> str:
    """The JUnit report of a test that has not ended, or has not begun: one error, with this line."""
    root = Element("testsuites", name="duologue", tests="1", failures="0", errors="1", skipped="0")
    element = SubElement(root, "testsuite", {**root.attrib, "name": xml_text(suite)})
    case = SubElement(element, "testcase", classname=xml_text(suite), name="the test as a whole")
    SubElement(case, "error", message=xml_text(line))
    return _document(root)


def _document(root: Element) -> str:
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def xml_text(text: str) -> str:
    """The text without characters that an XML document cannot hold."""
    return _NO_XML.sub("", text)
