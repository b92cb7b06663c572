"""Users made from a source of people's turns by a spec: its options, its splits, and runs of the command."""

import sys

import pytest

import duologue
from duologue import data, runs
from duologue.data import Conversation, Message
from duologue.data.people.splits import of_part, part_of
from duologue.errors import DataError, MissingExtraError, SettingError
from duologue.graphs import agent_test
from duologue.nodes.people import ChoiceWeights, PeopleOptions, PeopleSpeaker
from duologue.nodes.people.options import parsed
from tests.nodes.people.donors import BIKE, GOAL, TEA, halves, of_user, simulate, talk, write


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_a_tuning_half_never_says_a_word_of_the_test_half(side):
    tune, test = halves()
    marked = [talk("Which tea zanzimark?", "This zanzimark.", "Why zanzimark?", "So zanzimark.", user=u) for u in test]
    plain = [talk("Which tea?", "This one.", "Why that?", "For the taste.", user=u) for u in tune]
    speaker = PeopleSpeaker.of([*marked, *plain], side, options=PeopleOptions(part="tune"))
    assert not any("zanzimark" in message.text for donor in speaker.memory.donors for message in donor.messages)
    assert {donor.user for donor in speaker.memory.donors} == set(tune)
    sides = {"user": lambda _: "Which tea zanzimark?", "assistant": lambda _: "This zanzimark."} | {side: speaker}
    cast = agent_test.cast(**sides)
    for conversation in duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}, {"goal": "zanzimark"}])):
        assert not any("zanzimark" in message.text for message in conversation.messages if message.role == side)


def test_the_halves_are_those_of_a_comparison():
    from duologue.analysis.realism import part_of as compared

    assert compared is part_of


def test_a_source_without_users_names_is_split_and_said_all_the_same():
    nameless = [
        Conversation(id=str(n), scenario={"goal": f"{GOAL} {n}"}, messages=talk(f"Which tea {n}?", "This.").messages)
        for n in "abcdefgh"
    ]
    parts = [PeopleSpeaker.of(nameless, "user", options=PeopleOptions(part=part)).memory for part in ("tune", "test")]
    assert sorted(donor.id for memory in parts for donor in memory.donors) == list("abcdefgh")
    assert of_user(simulate(nameless))


def test_of_many_conversations_those_of_drawn_users_are_the_memory(caplog):
    donors = [talk(f"Tea {n}?", "Yes.", user=f"u{n % 5}", number=n) for n in range(20)]
    part, other, whole = (
        PeopleSpeaker.of(chosen, "user", options=PeopleOptions(most=most)).memory
        for chosen, most in ((donors, 9), (donors[::-1], 9), (donors, 20))
    )
    assert [len(memory.donors) for memory in (part, other, whole)] == [8, 8, 20]
    users = {donor.user for donor in part.donors}
    assert (len(users), users) == (2, {donor.user for donor in other.donors})
    assert len(caplog.messages) == 2
    assert (
        "turns of 8 of 20 conversations are used, those of 2 of 5 users: at most 9 are (most=N)" in caplog.messages[0]
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("people:", "people: names no source"),
        ("people:nowhere.jsonl", "nowhere.jsonl: cannot be read"),
        ("people:talks.jsonl?colour=red", "'people:talks.jsonl' has no option 'colour'; there are unseen, part,"),
        ("people:talks.jsonl?unseen=maybe", "unseen must be true or false, not 'maybe'"),
        ("people:talks.jsonl?part=half", "part must be one of tune, test, all, not 'half'"),
        ("people:talks.jsonl?most=0", "most must be a whole number from 1, not 0"),
        ("people:talks.jsonl?min_users=0", "min_users must be a whole number from 1, not 0"),
        ("people:talks.jsonl?unseen", "its options are unclear"),
        ("people:empty", "empty: "),
    ],
)
def test_what_is_wrong_with_a_spec_is_said_in_one_line(spec, words, tmp_path):
    write(tmp_path / "talks.jsonl", [TEA])
    (tmp_path / "empty").mkdir()
    with pytest.raises((SettingError, DataError)) as caught:
        agent_test.cast(user=spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_spec_with_every_option_is_read():
    path, options = parsed("people:a/b c.jsonl?unseen=true&part=tune&min_users=2&mask=true&licence=1.0")
    assert str(path) == "a/b c.jsonl"
    assert options == PeopleOptions(unseen=True, part="tune", min_users=2, mask=True, licence="1.0")


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Lacks("sklearn"), *sys.meta_path])
    with pytest.raises(MissingExtraError, match=r"sklearn is not installed: pip install \"duologue\[stats\]\""):
        PeopleSpeaker.of([TEA], "user")


class Lacks:
    """Finds no package of this name."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_no_conversation_or_no_turn_of_the_side_is_said_so():
    with pytest.raises(DataError, match="holds no conversation"):
        PeopleSpeaker.of([], "user")
    silent = Conversation(id="1", scenario={"goal": GOAL}, messages=(Message(role="user", text="Hello?"),))
    with pytest.raises(DataError, match="none of its conversations has a message of the assistant"):
        PeopleSpeaker.of([silent], "assistant")
    with pytest.raises(DataError, match="no turn of the user is left with min_users=2"):
        PeopleSpeaker.of([talk("I am 30.", "Yes.")], "user", options=PeopleOptions(min_users=2))


def test_a_weight_below_nothing_is_refused():
    with pytest.raises(SettingError, match="people: stay must be a number, 0 or more, not -1"):
        ChoiceWeights(stay=-1)


def test_a_user_that_replaces_another_ends_by_itself(tmp_path):
    write(tmp_path / "talks.jsonl", [TEA])
    cast = agent_test.cast(assistant=lambda _: "Camomile tea is mild.").replace(user_simulator="people:talks.jsonl")
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}]))
    assert of_user(conversation) == [TEA.messages[n].text for n in (0, 2, 4)]
    assert conversation.stop == "user_ended"


def test_a_run_draws_from_a_file_and_its_card_says_so(tmp_path):
    write(tmp_path / "talks.jsonl", [TEA, BIKE])
    cast = agent_test.cast(user="people:talks.jsonl?licence=CC-BY-4.0", assistant="people:talks.jsonl")
    runs.blocking(runs.arun(cast, agent_test.scenarios([{"goal": GOAL}]), tmp_path / "run"))
    (conversation,) = duologue.load(tmp_path / "run")
    assert conversation.provenance.nodes["user_simulator"].label == "people:talks.jsonl?licence=CC-BY-4.0"
    assert all(message.extra["people"]["source"] == "talks.jsonl" for message in conversation.messages)
    card = (tmp_path / "run" / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "The words of the user are **people's own words**" in card
    assert "Their licence: CC-BY-4.0." in card
    assert "The words of the assistant are **recorded replies**" in card
    assert "No person wrote" not in card
    assert "synthetic" not in card


def test_a_spec_gives_weights_beside_its_options(tmp_path):
    data.record_lines.write([TEA, BIKE], tmp_path / "talks.jsonl")
    speaker = PeopleSpeaker.of_spec(f"people:{tmp_path / 'talks.jsonl'}?stay=0.25&spread=0&mask=true", "user")
    assert (speaker.weights, speaker.options) == (ChoiceWeights(stay=0.25, spread=0), PeopleOptions(mask=True))
    for wrong in ("stay=-1", "stay=much", "stay=true", "stay=1e999"):
        with pytest.raises(SettingError, match="people: stay must be a number, 0 or more"):
            PeopleSpeaker.of_spec(f"people:{tmp_path / 'talks.jsonl'}?{wrong}", "user")


def test_about_half_of_the_users_are_in_each_part():
    many = [talk("Which tea?", "Camomile.", user=f"user {number}") for number in range(200)]
    parts = {part: [one.id for one in many if of_part(one, part)] for part in ("tune", "test")}
    assert not set(parts["tune"]) & set(parts["test"])
    assert min(map(len, parts.values())) > 25
