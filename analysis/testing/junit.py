"""Outcomes of conversations as JUnit XML, which CI systems read: a test case for each conversation."""

import re
from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...data.records import Conversation
from ..outcomes import Outcome, details_of, in_words, outcome, scenario_key, title_of, was_begun
from .success import PlannedConversation

END = 6
"""Messages of a conversation's end that a failure shows."""
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
    addresses: Mapping[str, str] | None = None,
    plan: Iterable[PlannedConversation] = (),
    ending: str = "",
    notes: Iterable[str] = (),
    properties: Mapping[str, str] | None = None,
) -> str:
    """The conversations as a JUnit XML document, read once and not kept.

    `failure` stands for a conversation without success, `error` for one without a score, also for one that was cut
    short or not begun.

    - `suite`: the name of the test suite;
    - `addresses`: the page of a conversation by its id, for its failure's text;
    - `plan`: the conversations to simulate, in order. Those without a record were not begun;
    - `ending`: why the run ended, for those that it cut short;
    - `properties`: of the suite, such as its verdict; `notes`: lines for its output.
    """
    root = Element("testsuites", name="duologue")
    element = SubElement(root, "testsuite", name=xml_text(suite))
    names = _CaseNames(plan)
    seconds = 0.0

    def case_of(name: str, taken: float) -> Element:
        return SubElement(element, "testcase", classname=xml_text(suite), name=xml_text(name), time=f"{taken:.3f}")

    def without(name: str) -> None:
        SubElement(case_of(name, 0.0), "error", message=NOT_BEGUN, type="fault: infrastructure")

    for conversation in conversations:
        name, taken = names.name(conversation), conversation.timing.seconds or 0.0
        if not was_begun(conversation):
            without(name)
            continue
        result, case = outcome(conversation, ending), case_of(name, taken)
        seconds += taken
        if not result.success:
            element_of = SubElement(case, "error" if result.success is None else "failure")
            _describe(element_of, result, conversation, (addresses or {}).get(conversation.id, ""))
    for planned in names.open:
        without(names.of_plan(planned))
    totals = {"tests": len(element), **{f"{kind}s": len([*element.iter(kind)]) for kind in ("failure", "error")}}
    for xml_element in (root, element):
        for name, value in {**totals, "skipped": 0}.items():
            xml_element.set(name, str(value))
        xml_element.set("time", f"{seconds:.3f}")
    if present := [(name, text) for name, text in (properties or {}).items() if text]:
        element.insert(0, added := Element("properties"))
        for name, text in present:
            SubElement(added, "property", name=name, value=xml_text(text))
    if lines := "\n".join(notes):
        SubElement(element, "system-out").text = xml_text(lines)
    return _document(root)


def _describe(element: Element, result: Outcome, conversation: Conversation, address: str) -> None:
    element.set("message", xml_text(" ".join(in_words(result, conversation.stop).split())))
    element.set("type", f"fault: {result.fault}")
    group = [f"fault: {result.fault}"]
    if result.cause is not None:
        place = "" if result.cause.message is None else f", message {result.cause.message}"
        group = [f"group: {result.cause.group}{place}", result.cause.whose]
    lines = [
        in_words(result, conversation.stop),
        *group,
        f"stop: {conversation.stop or 'not told'}, conversation: {conversation.id}",
        *details_of(result),
        *([f"page: {address}"] if address else []),
        "",
        *(f"{message.role}: {message.text}" for message in conversation.messages[-END:]),
    ]
    element.text = xml_text("\n".join(lines))


class _CaseNames:
    """The names of conversations as test cases: the number of the scenario, its title, and the repeat.

    They are those of the plan, so that a name is the same in every run. Equal scenarios that are given twice are repeats
    of one. A conversation that is not in the plan is numbered after it.
    """

    def __init__(self, plan: Iterable[PlannedConversation] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._repeats: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self.open: dict[str, PlannedConversation] = {}
        """Planned conversations, by id, whose name was not asked for."""
        for one in plan:
            self._names[one.id] = self._next(one.scenario, one.title)
            self.open[one.id] = one

    def name(self, conversation: Conversation) -> str:
        self.open.pop(conversation.id, None)
        return self._names.get(conversation.id) or self._next(scenario_key(conversation), title_of(conversation))

    def of_plan(self, name: str) -> str:
        return self._names[name]

    def _next(self, scenario: str, title: str) -> str:
        number = self._numbers.setdefault(scenario, len(self._numbers) + 1)
        self._repeats[scenario] = repeat = self._repeats.get(scenario, 0) + 1
        return f"{number}. {title} [repeat {repeat}]"


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
