"""Outcomes of conversations as JUnit XML, which CI systems read: a test case for each conversation."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..data.identity import digest
from ..data.records import Conversation
from .outcomes import SUCCESS
from .success import Outcome, outcome
from .trust import COMPUTED, Trusts

END = 6
"""Messages of a conversation's end that a failure shows."""

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no place for: control characters and halves of surrogate pairs."""


def junit(
    conversations: Iterable[Conversation],
    suite: str,
    *,
    exclude_user_faults: bool = False,
    addresses: Mapping[str, str] | None = None,
    plan: Iterable[tuple[Mapping[str, Any], int]] = (),
) -> str:
    """The XML document: `failure` for a conversation without success, `error` for one without a score, `skipped` for
    one that is excluded because the user simulator is at fault.

    `suite`: the name of the test suite. `addresses`: the page of a conversation by its id, for its failure's text.
    `plan`: scenario and ordinal of what was to be simulated, in order. The number in a case's name is the scenario's place
    in it, so that the name is the same in every run; a scenario that is not in it is numbered after it.
    The suite's property `trust in success` says how far a success that no rule computes can be trusted. Conversations are read once and not kept.
    """
    root = Element("testsuites", name="duologue")
    element = SubElement(root, "testsuite", name=xml_text(suite))
    numbers: dict[str, int] = {}
    for scenario, ordinal in plan:
        numbers.setdefault(digest(scenario, ordinal), len(numbers) + 1)
    trusts = Trusts()
    counts: dict[str, int] = dict.fromkeys(("failures", "errors", "skipped"), 0)
    seconds = 0.0
    for conversation in conversations:
        found = outcome(conversation)
        trusts.add_scores(conversation)
        number = numbers.setdefault(digest(conversation.scenario, conversation.ordinal), len(numbers) + 1)
        took = conversation.timing.seconds or 0.0
        seconds += took
        case = SubElement(
            element,
            "testcase",
            classname=xml_text(suite),
            name=xml_text(f"{number}. {found.scenario} [repeat {conversation.repeat + 1}]"),
            time=f"{took:.3f}",
        )
        kind = _kind(found, exclude_user_faults)
        if kind is not None:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
            address = (addresses or {}).get(conversation.id, "")
            _told(SubElement(case, kind), found, conversation, address)
    totals = {"tests": len(element), **counts}
    for each in (root, element):
        for name, value in totals.items():
            each.set(name, str(value))
        each.set("time", f"{seconds:.3f}")
    trust = trusts.told_score(SUCCESS)
    if trust not in ("", COMPUTED):
        properties = Element("properties")
        SubElement(properties, "property", name="trust in success", value=xml_text(trust))
        element.insert(0, properties)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _kind(found: Outcome, exclude_user_faults: bool) -> str | None:
    if exclude_user_faults and found.user_fault:
        return "skipped"
    if found.success is None:
        return "error"
    return None if found.success else "failure"


def _told(element: Element, found: Outcome, conversation: Conversation, address: str) -> None:
    skipped = element.tag == "skipped"
    reason = f"the user simulator is at fault: {found.user_fault}" if skipped else found.reason
    element.set("message", xml_text(" ".join(reason.split()) or "no success"))
    if not skipped:
        element.set("type", f"fault: {found.fault}")
    lines = [
        reason,
        f"fault: {found.fault}, stop: {conversation.stop or 'not told'}, conversation: {conversation.id}",
        *([f"page: {address}"] if address else []),
        "",
        *(f"{message.role}: {message.text}" for message in conversation.messages[-END:]),
    ]
    element.text = xml_text("\n".join(lines))


def xml_text(text: str) -> str:
    """The text without characters that an XML document cannot hold."""
    return _NO_XML.sub("", text)
