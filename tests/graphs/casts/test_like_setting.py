"""The setting `like` of casts: the filter behind the cast's own validator, its pages, and its record."""

import json
import re
from pathlib import Path

import pytest

import duologue
from duologue import runs
from duologue.errors import DataError, SettingError
from duologue.graphs import Cast, agent_test, casts, conversation, recllmsim, simquac, single_turn
from duologue.graphs.casts.settings import CastSettings
from duologue.graphs.casts.style_filter import guard_of
from duologue.graphs.serving import contexts
from duologue.nodes import LikePeople, Limits
from duologue.nodes.validators.composition import Observing

WORDY = "Hello! Thank you so very much for this! It is of such a great help to me that I cannot say how much!"
GOALS = [{"goal": f"tea {n}"} for n in range(4)]


def lines(name, texts, count=30, language="en"):
    opening = {"en": "I look for a mild tea.", "zh": "我想买一种淡茶。"}[language]
    with open(name, "w", encoding="utf-8") as file:
        for number in range(count):
            turns = [("user", opening), ("assistant", "Here is one."), ("user", texts[number % len(texts)])]
            messages = [{"role": role, "content": text} for role, text in turns]
            file.write(json.dumps({"id": str(number), "user": f"user-{number}", "messages": messages}) + "\n")


@pytest.fixture(autouse=True)
def files(tmp_path):
    lines("talks.jsonl", ["Fine, that one.", "What is it to cost?"])
    lines("zh.jsonl", ["好的，就这个。", "多少钱？"], language="zh")
    lines("wordy.jsonl", [WORDY, "Fine, that one."])


def cast(**settings):
    return agent_test.cast(user=lambda messages: WORDY, assistant=lambda messages: "Here is one.", **settings)


def pages_of(cast):
    return cast.user_prompt_selector.pages


def simulated(cast, **limits):
    within = Limits(**{"max_turns": 2, **limits})
    return duologue.simulate(cast, agent_test.scenarios(GOALS), limits=within)


def test_a_rejected_draft_is_asked_again_with_the_words_for_what_to_change():
    (conversation, *_) = simulated(cast(like="talks.jsonl"))
    first, second = conversation.messages[0].attempts[:2]
    assert (first.verdict, first.reason) == ("rejected", "unlike_people")
    assert second.prompt.name == "user/repair_unlike_people"
    assert second.prompt.text.startswith("That is not how people write here. Of 100 messages that people write here 0 ")
    assert second.prompt.text.endswith("Keep what the message is about. (Try 2 of 4.)")
    assert conversation.stop == "max_turns"


@pytest.mark.parametrize("name", ["agent_test", "recllmsim", "simquac"])
def test_every_cast_with_a_user_has_the_setting(name):
    like_cast = casts.find(name)(like="talks.jsonl?most=3")
    guard = guard_of(like_cast)
    assert isinstance(guard, LikePeople)
    assert guard.most == 3
    assert type(guard.node) is type(casts.find(name)().question_validator)
    assert "user/repair_unlike_people" in like_cast.pages
    assert "user/repair_unlike_people" in pages_of(like_cast)
    assert like_cast.spec.settings == {"like": "talks.jsonl?most=3"}
    assert not like_cast.live


def test_the_users_cast_of_ones_own_has_it_too():
    factory = casts.CastFactory(
        "own", lambda settings: Cast(name="own", user_simulator=plain, assistant=plain), CastSettings
    )
    own_cast = factory(like="talks.jsonl")
    assert isinstance(own_cast.question_validator, LikePeople)
    assert "user/repair_unlike_people" in pages_of(own_cast)
    assert guard_of(factory()) is None


async def plain(state, runtime):
    return {"drafts": [{"text": "Fine."}]}


def test_off_by_default_nothing_of_a_cast_is_another():
    plain_cast = cast()
    assert guard_of(plain_cast) is None
    assert not [name for name in plain_cast.pages if "like" in name]
    assert "like" not in str(plain_cast.plain())
    assert not any(attempt.measured for one in simulated(plain_cast) for attempt in one.attempts())


def test_a_replayed_user_is_only_measured():
    replayed = agent_test.cast(user="replay:wordy.jsonl", assistant="replay:wordy.jsonl", like="talks.jsonl")
    assert isinstance(replayed.question_validator, Observing)
    stored = duologue.load("wordy.jsonl").conversations
    conversations = duologue.simulate(
        replayed, [{"scenario": one.scenario, "ordinal": one.ordinal} for one in stored[:4]]
    )
    drafts = [attempt for one in conversations for attempt in one.attempts("user")]
    assert {attempt.number for attempt in drafts} == {1}
    assert {attempt.verdict for attempt in drafts} == {"accepted", "observed"}
    assert all("accept" in attempt.measured["like"] for attempt in drafts)


def test_a_user_made_from_people_says_another_turn_instead():
    lines("many.jsonl", [WORDY, "Fine, that one.", "What is it?", "It is for me.", "Give me the other."], 60)
    conversations = simulated(
        agent_test.cast(user="people:many.jsonl", assistant=lambda messages: "Here is one.", like="talks.jsonl"), seed=3
    )
    drafts = [attempt for one in conversations for attempt in one.attempts("user")]
    assert all("like" in attempt.measured for attempt in drafts if attempt.verdict != "unjudged")
    for one in conversations:
        for message in one.messages:
            texts = [attempt.text for attempt in message.attempts]
            assert len(set(texts)) == len(texts)


@pytest.mark.heavy
def test_the_order_and_the_processes_change_no_byte(tmp_path):
    like_cast = agent_test.cast(like="talks.jsonl?drafts=wordy.jsonl")
    scenarios = agent_test.scenarios([{"goal": f"tea {n}"} for n in range(6)])
    alone = duologue.simulate(like_cast, scenarios, limits=Limits(max_turns=3))
    behind = duologue.simulate(like_cast, list(reversed(scenarios)), limits=Limits(max_turns=3))
    runs.simulate(
        like_cast, scenarios, out=tmp_path / "two", limits=Limits(max_turns=3), conduct=runs.Conduct(processes=2)
    )
    divided = duologue.load(tmp_path / "two").conversations
    plain_records = [
        {one.id: one.without_timing().plain() for one in conversations} for conversations in (alone, behind, divided)
    ]
    assert plain_records[0] == plain_records[1] == plain_records[2]
    assert any(attempt.verdict == "rejected" for one in alone for attempt in one.attempts("user"))


def test_a_run_does_not_go_on_with_other_people(tmp_path):
    def run(**more):
        runs.simulate(agent_test.cast(like="talks.jsonl"), agent_test.scenarios(GOALS), out=tmp_path / "run", **more)

    run(limits=Limits(max_turns=1))
    validator = json.loads((tmp_path / "run/manifest.json").read_text())["settings"]["nodes"]["question_validator"]
    assert (validator["name"], validator["like"], validator["users"], validator["drafts"]) == (
        "LikePeople",
        "talks.jsonl",
        30,
        "unknown",
    )
    assert validator["after"]["name"] == "UserValidator"
    run(limits=Limits(max_turns=1), resume=True)
    lines("talks.jsonl", ["Fine, that two.", "What is it to cost?"])
    with pytest.raises(runs.RunError, match=r"question_validator\.digest"):
        run(limits=Limits(max_turns=1), resume=True)


def test_ones_own_page_takes_the_place_of_the_shipped_one(tmp_path):
    (tmp_path / "pages/user").mkdir(parents=True)
    (tmp_path / "pages/user/repair_unlike_people.md").write_text("So not. {{ repair }} {{ attempt }}/{{ attempts }}")
    (conversation, *_) = simulated(cast(like="talks.jsonl", prompts="pages"))
    assert conversation.messages[0].attempts[1].prompt.text.startswith("So not. Of 100 messages")


def test_chinese_people_need_a_chinese_cast():
    with pytest.raises(DataError, match="its people write zh, and the language of the cast is en: give --language zh"):
        recllmsim.cast(like="zh.jsonl")
    guard = guard_of(recllmsim.cast(like="zh.jsonl", language="zh"))
    assert guard.manners.language == "zh"
    with pytest.raises(DataError, match="the language of the cast is en"):
        simquac.cast(like="zh.jsonl")


def test_the_published_rules_reject_nothing_of_ours():
    with pytest.raises(SettingError, match="as_published uses only the published rules"):
        simquac.cast(like="talks.jsonl", as_published=True)
    assert isinstance(recllmsim.as_published(like="talks.jsonl").question_validator, Observing)


def test_a_run_on_a_server_reads_no_file_elsewhere(tmp_path):
    context = contexts.context_of("agent_test", agent_test.AgentTestSettings)
    for spec in ("/etc/talks", "talks.jsonl?drafts=/etc/run", "../talks"):
        with pytest.raises(SettingError, match="lies outside the server's working folder"):
            contexts.chosen(context(like=spec))  # type: ignore[call-arg]
    assert contexts.chosen(context(like="talks.jsonl")) == {"like": "talks.jsonl"}  # type: ignore[call-arg]


def test_the_page_of_a_conversation_tells_weight_and_probability(tmp_path):
    (conversation, *_) = simulated(cast(like="talks.jsonl?drafts=wordy.jsonl"))
    duologue.show(conversation, out=tmp_path / "page.html")
    page = Path(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<b>unlike people</b>" in page
    assert "accepted with probability" in page
    assert re.search(r", weight \d\.?\de-\d\d: accepted with probability \d", page)
    assert "and accepted in any case" in page


def test_the_user_who_is_asked_for_the_next_turn_may_have_it():
    asking_cast = single_turn.asking(
        single_turn.cast_for([], "offline", "agent_test", language="en", like="talks.jsonl")
    )
    assert guard_of(asking_cast) is not None


def test_the_graph_draws_with_the_guard():
    assert "question_validator" in str(conversation(cast(like="talks.jsonl")).get_graph().draw_mermaid())
