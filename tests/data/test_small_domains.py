"""Domains that say little: made from values alone, and without rules of their own."""

import pytest

from duologue import data
from duologue.data import Conversation, Domain, Message, domains
from duologue.data.checks import check
from duologue.data.rules import CHAT_RULES, Rule
from duologue.errors import SettingError

THANKS = tuple(Message(role=role, text="Thank you!") for role in ("user", "assistant") * 4)


class Hotel(Domain):
    kind = "hotel"

    def title(self, scenario):
        return str(scenario.get("room", ""))


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(domains, "_domains", dict(domains._domains))
    return domains.register


def test_a_domain_without_rules_of_its_own_is_checked_by_the_rules_of_no_domain(registered):
    plain = [finding.rule for finding in check(Conversation(id="a", scenario={}, messages=THANKS))]
    registered(Hotel())
    talk = Conversation(id="a", scenario={"kind": "hotel"}, messages=THANKS)
    assert plain
    assert [finding.rule for finding in check(talk)] == plain
    assert data.checks.rules_of(talk) == dict(CHAT_RULES)


def test_a_domain_with_rules_has_these_alone_and_may_add_the_others(registered):
    late = Rule("error", "late", lambda conversation: iter([(0, "late")]))
    registered(Domain(kind="hotel", rules={"hotel-late": late}))
    registered(Domain(kind="inn", rules={**CHAT_RULES, "hotel-late": late}))
    alone, added = (
        [finding.rule for finding in check(Conversation(id="a", scenario={"kind": kind}, messages=THANKS))]
        for kind in ("hotel", "inn")
    )
    assert alone == ["hotel-late"]
    assert set(added) > {"hotel-late"}


def test_a_domain_of_values_alone_needs_no_class(registered):
    assert registered(Domain(kind="hotel", marks=("goal",))).marks == ("goal",)
    assert domains.of({"kind": "hotel"}).title({"goal": "a room"}) == "a room"
    assert Domain().marks == ()


@pytest.mark.parametrize("name", ["title", "facts", "knd"])
def test_what_is_a_method_of_a_domain_cannot_be_given_as_a_value(name):
    with pytest.raises(SettingError):
        Domain(**{name: "x"})
