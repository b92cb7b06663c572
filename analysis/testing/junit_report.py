"""Outcomes of conversations as JUnit XML, which CI systems read: a test case for each conversation."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...data.identity import digest
from ...data.records import Conversation
from ..attempts import sent_although_rejected
from ..labels.reliability import COMPUTED, Trusts
from ..outcomes import SUCCESS, Crashes
from .success import Outcome, outcome

END = 6
"""Messages of a conversation's end that a failure shows."""

SENT = "replies sent although rejected"
"""Name of the property with their number."""
NOT_BEGUN = "it was not begun: the run ended before"
"""Message of a planned conversation that was not begun."""

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no place for: control characters and halves of surrogate pairs."""


def junit(
    conversations: Iterable[Conversation],
    suite: str,
    *,
    exclude_user_faults: bool = False,
    addresses: Mapping[str, str] | None = None,
    plan: Iterable[tuple[Any, ...]] = (),
    crashes: Crashes = "unscored",
) -> str:
    """The conversations as a JUnit XML document.

    `failure` stands for a conversation without success, `error` for one without a score, also for one that was cut short
    or not begun, `skipped` for one that is excluded because the user simulator is at fault.

    `suite`: the name of the test suite. `addresses`: the page of a conversation by its id, for its failure's text.
    `plan`: scenario, ordinal and repeat of what was to be simulated, in order. The number in a case's name is the
    scenario's place in it, so that the name is the same in every run; a scenario that is not in it is numbered after it.
    `crashes`: what a conversation counts as in which the agent crashed.
    What is in the plan and not among the conversations was not begun; a plan without repeats does not tell.
    The suite's property `trust in success` says how far a success that no rule computes can be trusted, and `replies sent
    although rejected` how many there are, if any. Conversations are read once and not kept.
    """
    root = Element("testsuites", name="duologue")
    element = SubElement(root, "testsuite", name=xml_text(suite))
    numbers: dict[str, int] = {}
    missing: dict[tuple[str, int], tuple[Any, int]] = {}
    for scenario, ordinal, *repeats in plan:
        name = digest(scenario, ordinal)
        numbers.setdefault(name, len(numbers) + 1)
        for repeat in repeats:
            missing[name, repeat] = (scenario, ordinal)
    trusts = Trusts()
    counts: dict[str, int] = dict.fromkeys(("failures", "errors", "skipped"), 0)
    seconds, sent = 0.0, 0

    def case_of(conversation: Conversation, result: Outcome) -> Element:
        name = digest(conversation.scenario, conversation.ordinal)
        number = numbers.setdefault(name, len(numbers) + 1)
        missing.pop((name, conversation.repeat), None)
        return SubElement(
            element,
            "testcase",
            classname=xml_text(suite),
            name=xml_text(f"{number}. {result.scenario} [repeat {conversation.repeat + 1}]"),
            time=f"{conversation.timing.seconds or 0.0:.3f}",
        )

    for conversation in conversations:
        result = outcome(conversation, crashes)
        trusts.add_scores(conversation)
        seconds += conversation.timing.seconds or 0.0
        sent += sent_although_rejected(conversation)
        case = case_of(conversation, result)
        kind = _kind(result, exclude_user_faults)
        if kind is not None:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
            address = (addresses or {}).get(conversation.id, "")
            _describe(SubElement(case, kind), result, conversation, address)
    for (name, repeat), (scenario, ordinal) in list(missing.items()):
        counts["errors"] += 1
        conversation = Conversation(id=name, scenario=scenario, ordinal=ordinal, repeat=repeat)
        SubElement(
            case_of(conversation, outcome(conversation)), "error", message=NOT_BEGUN, type="fault: infrastructure"
        )
    totals = {"tests": len(element), **counts}
    for xml_element in (root, element):
        for name, value in totals.items():
            xml_element.set(name, str(value))
        xml_element.set("time", f"{seconds:.3f}")
    trust = trusts.mark_of_score(SUCCESS)
    values = {SENT: str(sent) if sent else "", "trust in success": "" if trust == COMPUTED else trust}
    if any(values.values()):
        properties = Element("properties")
        for name, text in values.items():
            if text:
                SubElement(properties, "property", name=name, value=xml_text(text))
        element.insert(0, properties)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _kind(result: Outcome, exclude_user_faults: bool) -> str | None:
    if exclude_user_faults and result.user_fault:
        return "skipped"
    if result.success is None:
        return "error"
    return None if result.success else "failure"


def _describe(element: Element, result: Outcome, conversation: Conversation, address: str) -> None:
    skipped = element.tag == "skipped"
    reason = f"the user simulator is at fault: {result.user_fault}" if skipped else result.reason
    element.set("message", xml_text(" ".join(reason.split()) or "no success"))
    if not skipped:
        element.set("type", f"fault: {result.fault}")
    lines = [
        reason,
        f"fault: {result.fault}, stop: {conversation.stop or 'not told'}, conversation: {conversation.id}",
        *(f"at {frame}" for frame in result.frames),
        *([f"page: {address}"] if address else []),
        "",
        *(f"{message.role}: {message.text}" for message in conversation.messages[-END:]),
    ]
    element.text = xml_text("\n".join(lines))


def xml_text(text: str) -> str:
    """The text without characters that an XML document cannot hold."""
    return _NO_XML.sub("", text)
