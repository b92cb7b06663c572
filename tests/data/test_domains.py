"""What a conversation is about, in one object: the registry, plain conversations, and a third domain."""

import pytest

from duologue import data
from duologue.data import Conversation, Domain, Format, Message, domains
from duologue.data.checks import check
from duologue.data.domains import labelled
from duologue.data.people import paired, topic_key
from duologue.data.recllmsim import facts_of
from duologue.data.rules import CHAT_RULES, DIALOGUE_RULES, Rule
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


def made(kind, **members):
    """A domain of this kind with these members."""
    return type("Made", (Domain,), {"kind": kind, **members})()


def test_a_domain_of_ones_own_reads_tells_checks_and_pairs_its_conversations(airline, log):
    talk = Conversation(id="a", scenario={"kind": "airline", "booking": "AB1", "goal": ""})
    assert domains.of(talk) is domains.of(talk.scenario) is airline
    assert [domain.kind for domain in domains.registered()] == ["simquac", "recllmsim", "airline"]
    loaded = data.load(log)
    assert (loaded.kind, len(loaded)) == ("counter-log", 2)
    first, second = map(data.outline, loaded)
    assert (first.title, first.kind) == ("Booking AB1", "airline")
    assert (first.refused, second.refused, first.coverage) == (1, 0, 0.0)
    assert data.count(loaded).side("assistant").refused == 1
    (finding,) = check(loaded)
    assert (finding.rule, finding.message, finding.conversation) == ("promise", 3, "log0")
    again = tuple(reversed(tuple(data.load(log))))
    assert [(a.id, b.id) for a, b in paired(tuple(loaded), again).pairs] == [("log0", "log0"), ("log1", "log1")]


def test_records_are_records_whatever_a_domain_takes_for_its_own_and_it_may_read_what_is_no_text(
    own_registry, tmp_path
):
    binary = Format("bin", "bytes", lambda source: source.path.read_bytes()[:1] == b"\xff", lambda path: [])
    greedy = Format("all", "everything", lambda source: True, lambda path: [])
    data.record_lines.write([Conversation(id="a", scenario={})], tmp_path / "r.jsonl")
    (tmp_path / "talks.bin").write_bytes(b"\xff\x00")
    with pytest.raises(data.DataError, match="not UTF-8"):
        data.kind_of(tmp_path / "talks.bin")
    domains.register(made("binary", formats=(binary, greedy)))
    assert data.kind_of(tmp_path / "talks.bin") == "bin"
    assert data.kind_of(tmp_path / "r.jsonl") == "replay"


SCENARIO = {"kind": "airline", "task": "change a booking", "private": {"seat": "window"}, "wishes": ["aisle", 3]}


def test_a_kind_that_nobody_registered_is_a_plain_conversation():
    talk = Conversation(id="a", scenario=SCENARIO, messages=(Message(role="assistant", text="There is none."),))
    assert domains.of(talk) is domains.PLAIN
    row = data.outline(talk)
    assert (row.title, row.topic, row.refused, row.coverage) == ("change a booking",) * 2 + (0, None)
    assert check(talk) == []
    assert topic_key(talk) == topic_key(talk.model_copy(update={"id": "b"})) is not None
    shown = [(piece.label, piece.text, piece.rows) for piece in domains.PLAIN.material(SCENARIO)]
    assert shown == [
        ("task", "change a booking", ()), ("private", "", (("seat", "window"),)), ("wishes", "aisle, 3", ()),
    ]  # fmt: skip
    nested = {"success": {"refused": True, "tool_called": {"name": "book", "arguments": {"room": 12}, "times": 1}}}
    (piece,) = labelled(nested, ["success"])
    assert piece.rows == (("refused", "yes"), ("tool called", "name: book, arguments: (room: 12), times: 1"))
    assert [own.has_refusals for own in (*domains.shipped(), domains.PLAIN)] == [True, False, True]


@pytest.mark.parametrize("scenario", [{}, {"kind": 3}, {"kind": None, "title": ["x"]}, {"kind": "simquac"}])
def test_a_scenario_that_is_none_is_shown_all_the_same(scenario):
    talk = Conversation(id="a", scenario=scenario, messages=(Message(role="assistant", text="x"),))
    assert data.outline(talk).title == "Conversation a"
    assert domains.of(talk).material(scenario) in ((), domains.PLAIN.material(scenario))


@pytest.mark.parametrize(
    "unfit",
    [
        lambda: domains.register(Domain),
        lambda: domains.register("airline"),
        lambda: domains.register(made(" ")),
        lambda: domains.register(made("airline")),
        lambda: domains.register(made("made", formats=(Format("sharegpt", "", bool, list),))),
        lambda: domains.register(made("made", formats=(Format("counter-log", "", bool, list),))),
    ],
)
def test_what_cannot_be_registered_changes_nothing_and_a_kind_is_replaced_only_if_asked(airline, unfit):
    before = domains.registered()
    with pytest.raises(SettingError):
        unfit()
    assert domains.registered() == before
    assert domains.register(airline) is airline
    other = domains.register(made("airline"), replace=True)
    assert domains.of({"kind": "airline"}) is other


def test_a_domain_is_checked_by_its_own_rules_or_by_those_of_no_domain(own_registry):
    late = Rule("error", "late", lambda conversation: iter([(0, "late")]))
    thanks = tuple(Message(role=role, text="Thank you!") for role in ("user", "assistant") * 4)
    plain = [finding.rule for finding in check(Conversation(id="a", scenario={}, messages=thanks))]
    found = {}
    for kind, rules in {
        "none": CHAT_RULES, "own": {"late": late}, "both": {**CHAT_RULES, "late": late}, "talk": DIALOGUE_RULES,
    }.items():  # fmt: skip
        domains.register(made(kind, rules=rules))
        found[kind] = {f.rule for f in check(Conversation(id="a", scenario={"kind": kind}, messages=thanks))}
    assert found["none"] == set(plain) != set()
    assert found["own"] == {"late"}
    assert found["both"] == {*plain, "late"}
    assert "user-repeat" in found["talk"]


def test_a_domain_whose_data_set_is_messages_is_no_target_of_its_own(airline):
    before = set(domains.targets())
    domains.register(made("made"))
    assert set(domains.targets()) == before >= {"messages", "airline", "simquac", "recllmsim"}


def test_the_facts_are_those_of_the_profile_whichever_its_form():
    about = {"kind": "recllmsim", "task": "travel", "task_context": "Go."}
    text = "1. Age: 21\n2. Daily Interests and Hobbies: hiking, slow food, and hiking"
    assert facts_of(about | {"preference": text}) == [
        ("Age", "21"), ("Daily Interests and Hobbies", "hiking"), ("Daily Interests and Hobbies", "slow food"),
    ]  # fmt: skip
    assert facts_of(about | {"profile": {"age": 21}}) == [("Age", "21")]
    assert facts_of({"kind": "recllmsim", "preference": 3}) == facts_of({"kind": "simquac", "preference": text}) == []
