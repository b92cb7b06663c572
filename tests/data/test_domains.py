"""What a conversation is about, in one object: the registry, plain conversations, and a third domain."""

import sys

import pytest

from duologue import data
from duologue.data import Conversation, Dataset, Domain, Format, Message, domains, simquac
from duologue.data.checks import check, known_rules
from duologue.data.domain import labelled
from duologue.data.people import paired, topic_key
from duologue.data.rules import DIALOGUE_RULES
from duologue.errors import SettingError

LOG = """== AB1: move to Monday
C: I sit at the window.
D: We cannot change fare B.
C: Please.
D: I promise it is done.
== CD2: cancel
C: Cancel it.
D: Done.
"""


@pytest.fixture
def log(tmp_path):
    (tmp_path / "counter.txt").write_text(LOG)
    return tmp_path / "counter.txt"


def test_a_domain_of_ones_own_is_found_by_the_kind_of_a_conversation_or_a_scenario(airline):
    talk = Conversation(id="a", scenario={"kind": "airline", "booking": "AB1", "goal": ""})
    assert domains.of(talk) is airline
    assert domains.of(talk.scenario) is airline
    assert domains.kinds() == ("simquac", "recllmsim", "airline")


def test_its_files_are_recognised_and_read_with_its_notes(airline, log):
    loaded = data.load(log)
    assert (loaded.kind, len(loaded), loaded.notes) == ("counter-log", 2, ("2 at the counter",))
    assert data.kind_of(log) == "counter-log"


def test_its_titles_refusals_and_source_text_stand_in_the_outline_and_the_counts(airline, log):
    first, second = map(data.outline, data.load(log))
    assert (first.title, first.topic, first.kind) == ("Booking AB1", "at the counter", "airline")
    assert (first.refused, second.refused, first.coverage) == (1, 0, 0.0)
    assert data.count(data.load(log)).side("assistant").refused == 1


def test_its_rules_are_read_by_check_and_listed_with_the_others(airline, log):
    assert "promise" in known_rules()
    (finding,) = data.checks.check(data.load(log))
    assert (finding.rule, finding.message, finding.conversation) == ("promise", 3, "log0")
    assert check(data.load(log).conversations[0], ["user-empty"]) == []


def test_conversations_are_paired_by_its_topic_key(airline, log):
    one, two = data.load(log), data.load(log)
    assert [(a.id, b.id) for a, b in paired(tuple(one), tuple(reversed(tuple(two)))).pairs] == [
        ("log0", "log0"), ("log1", "log1"),
    ]  # fmt: skip


def test_its_records_are_checked_by_it_when_they_are_loaded(airline, tmp_path):
    data.record_lines.write([Conversation(id="a", scenario={"kind": "airline"})], tmp_path / "r.jsonl")
    with pytest.raises(data.DataError, match="line 1: "):
        data.load(tmp_path / "r.jsonl")


def test_records_are_records_whatever_a_domain_takes_for_its_own(own_registry, tmp_path):
    class Greedy(Domain):
        kind = "greedy"
        formats = (Format("all", "everything", lambda source: True, lambda path: []),)

    domains.register(Greedy())
    data.record_lines.write([Conversation(id="a", scenario={})], tmp_path / "r.jsonl")
    assert data.kind_of(tmp_path / "r.jsonl") == "replay"


def test_a_domain_may_read_what_is_no_text(own_registry, tmp_path):
    class Binary(Domain):
        kind = "binary"
        formats = (Format("bin", "bytes", lambda source: source.path.read_bytes()[:1] == b"\xff", lambda path: []),)

    (tmp_path / "talks.bin").write_bytes(b"\xff\x00")
    with pytest.raises(data.DataError, match="not UTF-8"):
        data.kind_of(tmp_path / "talks.bin")
    domains.register(Binary())
    assert data.kind_of(tmp_path / "talks.bin") == "bin"


SCENARIO = {"kind": "airline", "task": "change a booking", "private": {"seat": "window"}, "wishes": ["aisle", 3]}


def test_a_kind_that_nobody_registered_is_a_plain_conversation():
    talk = Conversation(id="a", scenario=SCENARIO, messages=(Message(role="assistant", text="There is none."),))
    assert domains.of(talk) is domains.PLAIN
    row = data.outline(talk)
    assert (row.title, row.topic, row.refused, row.coverage) == ("change a booking",) * 2 + (0, None)
    assert data.count([talk]).side("assistant").refused == 0
    assert check(talk) == []
    assert topic_key(talk) == topic_key(talk.model_copy(update={"id": "b"})) is not None
    shown = [(piece.label, piece.text, piece.rows) for piece in domains.PLAIN.material(SCENARIO)]
    assert shown == [
        ("task", "change a booking", ()), ("private", "", (("seat", "window"),)), ("wishes", "aisle, 3", ()),
    ]  # fmt: skip


def test_only_a_domain_that_says_when_has_refusals():
    assert [own.has_refusals for own in (*domains.SHIPPED, domains.PLAIN)] == [True, False, True]


@pytest.mark.parametrize("scenario", [{}, {"kind": 3}, {"kind": None, "title": ["x"]}, {"kind": "simquac"}])
def test_a_scenario_that_is_none_is_shown_all_the_same(scenario):
    talk = Conversation(id="a", scenario=scenario, messages=(Message(role="assistant", text="x"),))
    assert data.outline(talk).title == "Conversation a"
    assert domains.of(talk).material(scenario) in ((), domains.PLAIN.material(scenario))


def test_a_kind_has_one_domain_unless_it_is_replaced(airline):
    class Other(Domain):
        kind = "airline"

    assert domains.register(airline) is airline
    with pytest.raises(SettingError, match="airline"):
        domains.register(Other())
    other = domains.register(Other(), replace=True)
    assert domains.of({"kind": "airline"}) is other


def domain(**members):
    return type("Made", (Domain,), {"kind": "made"} | members)()


@pytest.mark.parametrize(
    "unfit",
    [
        lambda: Domain,
        lambda: "airline",
        lambda: domain(kind=" "),
        lambda: domain(formats=(Format("sharegpt", "", bool, list),)),
        lambda: domain(formats=(Format("counter-log", "", bool, list),)),
    ],
)
def test_what_cannot_be_registered_changes_nothing(airline, unfit):
    before = domains.registered()
    with pytest.raises(SettingError):
        domains.register(unfit())
    assert domains.registered() == before


def test_rules_about_any_dialogue_are_for_every_domain(own_registry):
    own = domains.register(domain(rules=DIALOGUE_RULES))
    talk = Conversation(id="a", scenario={"kind": "made"}, messages=(Message(role="assistant", text="Hello"),))
    assert [finding.rule for finding in check(talk)] == ["assistant-first"]
    assert own.rules["user-last"] is known_rules()["user-last"]


def test_the_ids_of_the_shipped_rules_stay(own_registry):
    assert " ".join(known_rules()) == (
        "span-not-slice span-case span-second-word answer-ungrounded answer-empty answer-long question-empty "
        "question-long question-lines question-list question-several question-again leaked-instruction leaked-suffix "
        "user-empty user-role-leak user-prompt-leak user-repeat user-plan user-pastes-task assistant-first "
        "same-side-again user-last error-reply hallucination label-shape "
        "empty role-slip prompt-shown assistant-like-user repeated thank-you-loop cut-off system-twice refusal same-side-twice "
        "user-leaves-early user-invents user-all-at-once user-as-assistant user-repeats-itself"
    )


@pytest.fixture
def installed(own_registry, tmp_path, monkeypatch):
    """A function that installs a package, as pip would, whose entry point is this module's `DOMAIN`."""
    names = []

    def install(name, source):
        module = name.replace("-", "_") + "_domain"
        names.append(module)
        (tmp_path / f"{module}.py").write_text(source)
        metadata = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{domains.GROUP}]\nmine = {module}:DOMAIN\n")
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    for name in names:
        sys.modules.pop(name, None)


OF_A_PACKAGE = """
from duologue.data import Domain
class Hotel(Domain):
    kind = "{kind}"
    def title(self, scenario):
        return "A room"
DOMAIN = Hotel()
"""


def test_the_domain_of_an_installed_package_is_found_when_it_is_needed(installed):
    installed("grand-hotel", OF_A_PACKAGE.format(kind="hotel"))
    assert domains.of({"kind": "simquac"}) is simquac.DOMAIN
    assert "grand_hotel_domain" not in sys.modules
    assert data.outline(Conversation(id="a", scenario={"kind": "hotel"})).title == "A room"
    assert domains.kinds() == ("simquac", "recllmsim", "hotel")


@pytest.mark.parametrize(
    "source",
    [
        "raise RuntimeError('no licence\\nfor sk-1234')",
        "import nowhere_at_all",
        "import sys; sys.exit()",
        "DOMAIN = 3",
        OF_A_PACKAGE.format(kind="simquac"),
    ],
)
def test_a_broken_domain_of_a_package_is_one_warning_that_names_the_package(installed, caplog, source):
    installed("grand-hotel", source)
    assert domains.of({"kind": "hotel"}) is domains.PLAIN
    assert domains.of({"kind": "hotel"}) is domains.PLAIN
    (record,) = caplog.records
    line = record.getMessage()
    assert "grand-hotel" in line
    assert "\n" not in line
    assert "sk-1234" not in line


def test_a_domain_whose_data_set_is_messages_is_no_target_of_its_own(airline):
    before = set(domains.targets())
    domains.register(domain())
    assert set(domains.targets()) == before
    assert "messages" in before
    assert domain().dataset == Dataset(
        "messages.jsonl", "the conversations as JSON lines of messages", data.messages.write
    )


def test_the_facts_are_those_of_the_profile_whichever_its_form():
    def facts(scenario):
        return domains.of(scenario).facts(scenario)

    about = {"kind": "recllmsim", "task": "travel", "task_context": "Go."}
    text = "1. Age: 21\n2. Daily Interests and Hobbies: hiking, slow food, and hiking"
    assert facts(about | {"preference": text}) == (
        ("Age", "21"), ("Daily Interests and Hobbies", "hiking"), ("Daily Interests and Hobbies", "slow food"),
    )  # fmt: skip
    assert facts(about | {"profile": {"age": 21}}) == (("Age", "21"),)
    assert facts({"kind": "recllmsim", "preference": 3}) == facts({"kind": "simquac", "preference": text}) == ()


def test_a_nested_scenario_is_told_with_its_keys_and_its_flags() -> None:
    scenario = {"success": {"refused": True, "tool_called": {"name": "book", "arguments": {"room": 12}, "times": 1}}}
    (piece,) = labelled(scenario, ["success"])
    assert piece.rows == (("refused", "yes"), ("tool called", "name: book, arguments: (room: 12), times: 1"))


def test_a_domain_of_ones_own_tells_how_its_conversations_go_and_what_its_profiles_are(own_registry):
    from duologue.data.domain import TYPICAL, TypicalConversation
    from duologue.data.labels.definition import LabelDefinition
    from duologue.data.labels.units import WHOLE, text_of
    from duologue.runs.planning.cast_calls import _talk

    class Hotel(data.Domain):
        kind = "hotel"
        typical = TypicalConversation(3, {"user": (1, 2, 3), "assistant": (4, 5, 6)}, "as at our desk")

        def profile_text(self, scenario):
            return f"guest {scenario['profile']['name']}"

    data.domains.register(Hotel())
    guest = {"kind": "hotel", "profile": {"name": "Ann"}}
    assert _talk([{"scenario": guest}] * 2).known_by == "as at our desk"
    assert _talk([{"scenario": guest}, {"scenario": {"kind": "other"}}]) == TYPICAL
    label = LabelDefinition.of("p", {"unit": "profile", "values": ["a"]}, "x", "p.md")
    assert text_of(data.Conversation(id="1", scenario=guest, messages=()), label, WHOLE) == "guest Ann"


def test_a_domain_of_ones_own_brings_the_texts_of_its_labels_and_the_notes_among_them(own_registry):
    from duologue.analysis.labels.reliability import Trusts
    from duologue.data.labels.definition import LabelDefinition
    from duologue.data.labels.reading import annotations_of
    from duologue.data.labels.units import WHOLE, text_of

    class Hotel(data.Domain):
        kind = "hotel"
        label_notes = data.LabelNotes(
            facts=frozenset({"desk"}), beside={"because": "stars"}, others=frozenset({"booking"})
        )

        def label_text(self, scenario, unit):
            return scenario["wish"] if unit == "context" else super().label_text(scenario, unit)

    labels = {"desk": "north", "because": "late", "booking": "a room", "stars_human": 3, "stars": 3, "topic_id": 7}
    talk = Conversation(id="1", scenario={"kind": "hotel", "wish": "a view"}, messages=(), labels=labels)
    label = LabelDefinition.of("c", {"unit": "context", "values": ["a"]}, "x", "c.md")
    assert text_of(talk, label, WHOLE) == ""
    assert {"desk", "because", "booking"} <= annotations_of(talk).keys()
    domains.register(Hotel())
    assert text_of(talk, label, WHOLE) == "a view"
    assert annotations_of(talk) == {"stars human": ["3"], "stars": ["3"]}  # and what other domains name as notes
    trusts = Trusts.of([talk])
    assert trusts.of_label("not told", "desk") is None
    assert trusts.of_label("not told", "because").label == "stars"
