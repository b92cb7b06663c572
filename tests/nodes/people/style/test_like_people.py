"""The guard that makes a simulated user more like people: what it learns, which drafts it accepts, what it says."""

import asyncio
from collections import Counter
from types import SimpleNamespace

import pytest

import duologue
from duologue import nodes
from duologue.data import Attempt, Conversation, Message
from duologue.data.identity import call_seed
from duologue.data.people.pairing import STORED
from duologue.data.people.splits import part_of
from duologue.data.records import Provenance
from duologue.errors import DataError, SettingError
from duologue.graphs import Cast, agent_test
from duologue.nodes import Limits
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.people.style import LikeOptions, StyleComparison, parsed
from duologue.nodes.people.style.shares import Shares, coming_out, distance, scale_for
from duologue.nodes.people.style.traits import cells, cuts_of, traits_of
from duologue.nodes.validators.composition import may_ask, models_of
from duologue.prompts import shipped

PLAIN, ASKS, THANKS = "Fine, I take that one.", "What is it to cost me?", "Thanks, I take that one."
"""Messages of one length, so that what else they are decides."""
PEOPLE = {PLAIN: 0.6, ASKS: 0.3, THANKS: 0.1}
SIMULATOR = {PLAIN: 0.1, ASKS: 0.2, THANKS: 0.7}
OPENING = "I look for mild tea."


def drawn(shares, chance):
    """A text by its share; `chance` from 0 to 1."""
    for text, share in shares.items():
        chance -= share
        if chance < 0:
            return text
    return text


def talk(number, texts, opening=OPENING, **more):
    messages = [Message(role="user", text=opening)]
    for text in texts:
        messages += [Message(role="assistant", text="Here is one."), Message(role="user", text=text)]
    scenario = {"goal": f"tea {number}", "user": more.pop("user", f"user-{number}")}
    return Conversation(id=str(number), scenario=scenario, messages=tuple(messages), **more)


def talks(shares, count=100, **more):
    """Conversations with ten later messages each; together they have exactly these shares."""
    return [
        talk(n, [drawn(shares, (n * 10 + turn + 0.5) % 100 / 100) for turn in range(10)], **more) for n in range(count)
    ]


def state(text, *, name="c", attempts=0, first=False, turn=1, **more):
    earlier = [] if first else [{"role": "user", "text": OPENING}, {"role": "assistant", "text": "Here is one."}]
    tried = [{"number": n + 1, "text": "x", "verdict": "rejected"} for n in range(attempts)]
    return {
        "id": name,
        "scenario": {},
        "turn": turn,
        "messages": earlier,
        "attempts": tried,
        "drafts": [{"text": text}],
        **more,
    }


def judged(guard, state, **limits):
    runtime = SimpleNamespace(context=Limits(**{"question_attempts": 1_000, **limits}))
    return asyncio.run(guard(state, runtime))


def verdict(guard, text, **more):
    return judged(guard, state(text, **more))["verdicts"][0]


def accepted_text(guard, shares, name, most, seed=0):
    """The accepted draft of a simulator with these shares, and the number of its attempt."""
    for attempt in range(most):
        text = drawn(shares, call_seed(seed, name, "simulator", 0, attempt + 1) / 2**31)
        update = judged(guard, state(text, name=name, attempts=attempt), question_attempts=most + 1, seed=seed)
        if update["verdicts"][0]["accepted"]:
            return text, attempt + 1
    raise AssertionError(f"the guard rejects all of {most} drafts")


@pytest.fixture(scope="module")
def guard():
    return nodes.like(talks(PEOPLE), drafts=talks(SIMULATOR))


@pytest.mark.heavy
def test_what_is_accepted_has_the_shares_of_people(guard):
    counts = Counter(accepted_text(guard, SIMULATOR, f"talk {n}", 60)[0] for n in range(1_200))
    for text, share in PEOPLE.items():
        assert counts[text] / 1_200 == pytest.approx(share, abs=0.06)


def test_without_the_guard_it_has_not(guard):
    counts = Counter(drawn(SIMULATOR, call_seed(0, f"talk {n}", "simulator", 0, 1) / 2**31) for n in range(1_200))
    assert counts[THANKS] / 1_200 > 0.6


@pytest.mark.heavy
def test_few_attempts_come_as_near_as_they_can(guard):
    here = guard.manners.places["later"]
    far = distance(here.drafts.joint, here.people.joint)
    near = {}
    for most in (2, 4, 8, 60):
        scale = scale_for(here.people, here.drafts, most)
        out = coming_out(here.people, here.drafts, scale, most)
        assert sum(out.values()) == pytest.approx(1)
        near[most] = distance(out, here.people.joint)
        for other in (1.0, max(here.people.joint[cell] / here.drafts.joint[cell] for cell in out)):
            assert near[most] <= distance(coming_out(here.people, here.drafts, other, most), here.people.joint) + 1e-9
    assert far > near[2] > near[4] > near[8] > near[60]
    assert near[60] < 0.02
    tried = Counter(accepted_text(guard, SIMULATOR, f"talk {n}", 4)[0] for n in range(800))
    expected = coming_out(here.people, here.drafts, scale_for(here.people, here.drafts, 4), 4)
    for text in PEOPLE:
        assert tried[text] / 800 == pytest.approx(expected[traits_of(text, "en").cell(here.cuts)], abs=0.07)


def test_the_last_draft_is_taken_whatever_it_is(guard):
    odd = "Hello! " + "Thank you so very much! " * 40
    assert not verdict(guard, odd)["accepted"]
    for attempts, limits in (
        (2, {"question_attempts": 4}),
        (1, {"question_attempts": 2}),
        (0, {"question_attempts": 1}),
    ):
        (taken,) = judged(guard, state(odd, attempts=attempts), **limits)["verdicts"]
        assert taken["accepted"]
        assert taken["measured"]["like"]["bound"] is True
    assert not judged(guard, state(odd, attempts=1), question_attempts=4)["verdicts"][0]["accepted"]
    short = nodes.like(talks(PEOPLE), drafts=talks(SIMULATOR), most=2)
    assert not judged(short, state(odd), question_attempts=9)["verdicts"][0]["accepted"]
    assert judged(short, state(odd, attempts=1), question_attempts=9)["verdicts"][0]["accepted"]


def test_one_call_is_left_where_the_casts_rules_reject_the_draft_at_the_bound():
    odd, third = "Hello! " + "Thank you so very much! " * 40, []

    async def asker(state, runtime):
        number = nodes.state.attempt_number(state)
        return {"drafts": [{"text": "BAD" if number == 3 else odd}]}

    rule = nodes.validator(lambda draft, state: "bad" if draft["text"] == "BAD" else None)
    cast = agent_test.cast(assistant=lambda messages: "Here is one.")
    guarded = cast.replace(user_simulator=asker, question_validator=nodes.like(talks(PEOPLE), rule))
    (conversation,) = duologue.simulate(guarded, agent_test.scenarios([{"goal": "tea"}]), limits=Limits(max_turns=3))
    assert conversation.stop == "max_turns"
    for message in conversation.messages[::2]:
        third.append([attempt.reason for attempt in message.attempts])
    assert third == [["unlike_people", "unlike_people", "bad", None]] * 3


def test_the_weights_average_1_over_the_known_drafts_where_few_are_like_people():
    """Nine of ten drafts are a list with thanks, which no person writes; p / q averages .62 over them."""
    number = 60
    far = (
        "Thanks a lot! That is great!\n1. Which is the best of them all?\n2. And which one is the cheapest of them all?"
    )
    texts = [drawn(PEOPLE, n / 100) if n % 10 == 0 else far for n in range(number)]
    own = [talk(n // 10, texts[n : n + 10]) for n in range(0, number, 10)]
    place = StyleComparison.of(talks(PEOPLE), "en", drafts=own).places["later"]
    opinions = [place.opinion(traits_of(text, "en"), 3) for text in texts]
    assert sum(opinion.weight or 0 for opinion in opinions) / number == pytest.approx(1)
    assert place.mean_ratio == pytest.approx(0.62, abs=0.01)
    assert opinions[0].weight > 1 > opinions[1].weight


def test_weight_probability_and_draw_are_measured(guard):
    like = verdict(guard, THANKS)["measured"]["like"]
    assert (like["place"], like["characters"], like["has"]) == ("later", len(THANKS), ["thanks"])
    assert like["people"] == pytest.approx(0.1, abs=0.02)
    assert like["drafts"] == pytest.approx(0.7, abs=0.02)
    ratio = like["people"] / like["drafts"]
    assert like["weight"] == pytest.approx(ratio / guard.manners.places["later"].mean_ratio, rel=1e-4)
    assert 0 < like["accept"] < 1
    assert 0 <= like["draw"] < 1
    assert "bound" not in like


def test_the_draw_is_of_seed_conversation_turn_and_attempt_alone(guard):
    def draw(**more):
        seed = more.pop("seed", 0)
        return judged(guard, state(PLAIN, **more), seed=seed)["verdicts"][0]["measured"]["like"]["draw"]

    assert draw() == draw()
    assert len({draw(), draw(seed=1), draw(name="d"), draw(turn=2), draw(attempts=1)}) == 5


def test_the_casts_own_reasons_come_first():
    only_plain = nodes.validator(lambda draft, state: None if draft["text"] == PLAIN else "no_plain")
    guard = nodes.like(talks(PEOPLE), only_plain, drafts=talks(SIMULATOR))
    assert verdict(guard, THANKS) == {"accepted": False, "reason": "no_plain"}
    assert "measured" in verdict(guard, PLAIN)


def test_a_message_that_ends_the_conversation_is_not_judged(guard):
    async def ends(state, runtime):
        return {"verdicts": [{"accepted": True, "stored": False}], "stop": "user_ended"}

    update = judged(nodes.like(talks(PEOPLE), ends), state("Thank you! Bye!"))
    assert update == {"verdicts": [{"accepted": True, "stored": False}], "stop": "user_ended"}
    assert judged(guard, state("Thank you! Bye!", stop="user_ended"))["verdicts"] == [{"accepted": True}]


def test_an_image_without_words_is_not_judged(guard):
    image = {"text": "", "parts": [{"type": "image", "url": "data:image/png;base64,AA=="}]}
    assert judged(guard, {**state(""), "drafts": [image]})["verdicts"] == [{"accepted": True}]


def test_the_first_message_is_judged_by_first_messages(guard):
    first = verdict(guard, OPENING, first=True)["measured"]["like"]
    later = verdict(guard, OPENING)["measured"]["like"]
    assert (first["place"], later["place"]) == ("first", "later")
    assert first["people"] > 0.9 > 0.7 > later["people"]


def test_several_messages_of_one_reply_are_judged_one_by_one(guard):
    two = {**state(PLAIN, first=True), "drafts": [{"text": OPENING}, {"text": PLAIN}]}
    places = [verdict["measured"]["like"]["place"] for verdict in judged(guard, two)["verdicts"]]
    assert places == ["first", "later"]


LONG = "I would like to hear a lot more about everything that there is to know of this one tea."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (THANKS, "Of 100 messages that people write here 10 thank, and yours is one of these: leave the thanks out."),
        (LONG, f"People write about 22 characters here, and your message has {len(LONG)}: write a shorter one."),
        ("Hello, I take that one.", "Of 100 messages that people write here 0 begin with a greeting, and yours is one"),
        ("Yes! I take that one.", "Of 100 messages that people write here 0 have an exclamation mark"),
        ("1. This one\n2. Not that", "Of 100 messages that people write here 0 have a list or numbered points"),
    ],
)  # fmt: skip
def test_the_words_name_what_is_least_like_people_with_peoples_number(text, words):
    # The simulator's shares are unknown: drafts are against people's commonest value.
    guard = nodes.like(talks(PEOPLE))
    tried = [verdict(guard, text, name=f"c{n}") for n in range(200)]
    (repair,) = {verdict["repair"] for verdict in tried if not verdict["accepted"]}
    assert repair.startswith(words)
    assert {verdict["reason"] for verdict in tried if not verdict["accepted"]} == {"unlike_people"}


def test_the_words_are_in_the_language_of_the_cast():
    chinese = [talk(n, ["好的，就这个。"] * 3, opening="我想买一种淡茶。") for n in range(40)]
    guard = nodes.like(chinese)
    assert guard.manners.language == "zh"
    rejection = verdict(guard, "非常感谢你！" * 30, name="c")
    assert rejection["repair"] == "人们在这里写的 100 条消息中有 0 条道谢，你的消息也是这样：请不要道谢。"


def test_no_word_of_the_source_is_in_what_is_said():
    marked = [talk(n, [f"Marigold{n} it is, quoth zzyzx."] * 3, opening="Zzyzx marigold?") for n in range(40)]
    guard = nodes.like(marked, drafts=talks(SIMULATOR))
    verdicts = [
        verdict(guard, text, name=f"c{n}", first=first)
        for n in range(50)
        for text in (LONG, THANKS)
        for first in (True, False)
    ]
    assert any(not verdict["accepted"] for verdict in verdicts)
    assert "zzyzx" not in str(verdicts).lower() + str(guard.provenance()).lower()
    assert "marigold" not in str(verdicts).lower()


def test_every_trait_has_its_two_pages_in_both_languages():
    for language in ("en", "zh"):
        pages = shipped("like", language)
        names = {
            f"user/like_{way}_{trait}" for way in ("with", "without") for trait in nodes.people.style.traits.TRAITS
        }
        assert set(pages.pages) == names | {"user/like_shorter", "user/like_longer", "user/repair_unlike_people"}
        assert all(page.gaps == {"number"} for name, page in pages.pages.items() if name in names)


def test_without_drafts_a_draft_is_as_likely_as_its_rarest_trait():
    guard = nodes.like(talks(PEOPLE))
    like = verdict(guard, THANKS)["measured"]["like"]
    assert like["accept"] == pytest.approx(0.1 / 0.9, abs=0.02)
    assert "weight" not in like
    assert "drafts" not in like
    assert guard.provenance()["drafts"] == "unknown"
    assert "is unknown" in guard.remarks()[0]
    assert not nodes.like(talks(PEOPLE), drafts=talks(SIMULATOR)).remarks()


def test_a_draft_that_neither_side_is_known_for_is_not_taken_for_peoples(guard):
    for first in (True, False):
        like = verdict(guard, "Hello! " + "Thank you so very much! " * 40, first=first)["measured"]["like"]
        assert like["accept"] < 0.05


def test_a_simulator_that_people_never_write_like_is_told_of():
    odd = "Hello! " + "Thank you so very much! " * 40
    guard = nodes.like(talks(PEOPLE), drafts=[talk(n, [odd] * 3, opening=odd) for n in range(40)])
    (remark,) = guard.remarks()
    assert remark.startswith("--like conversations: of 100 drafts of conversations about")


def test_only_the_asked_part_of_the_people_teaches():
    marker = "Marker! " * 30
    both = [talk(n, [marker if part_of(f"user-{n}") == "test" else PLAIN] * 10, user=f"user-{n}") for n in range(60)]
    tune = nodes.like(both, part="tune")
    assert tune.manners.people.digest == nodes.like([one for one in both if PLAIN in str(one)]).manners.people.digest
    assert verdict(tune, marker)["measured"]["like"]["people"] < 0.01
    assert verdict(nodes.like(both), marker)["measured"]["like"]["people"] > 0.2
    with pytest.raises(DataError, match="of the part 'test'"):
        nodes.like([one for one in both if PLAIN in str(one)], part="test")


def test_drafts_on_scenarios_of_the_other_half_do_not_teach_either():
    name = next(f"user-{n}" for n in range(60) if part_of(f"user-{n}") == "test")
    run = Provenance(cast="x")
    leaked = [talk(n, ["Marker! " * 30] * 10, provenance=run, extra={STORED: {"user": name}}) for n in range(60)]
    plain = talks(SIMULATOR, provenance=run)
    people = talks(PEOPLE)
    assert nodes.like(people, part="tune", drafts=[*plain, *leaked]).manners.drafts == nodes.like(people, part="tune", drafts=plain).manners.drafts  # fmt: skip
    with pytest.raises(DataError, match="has 0 drafts"):
        nodes.like(people, part="tune", drafts=leaked)


def test_drafts_that_a_guard_rejected_teach_and_those_of_the_casts_rules_do_not():
    def tried(text, reason):
        return Attempt(number=1, text=text, verdict="rejected", reason=reason)

    stands = Attempt(number=2, text=PLAIN, verdict="accepted")
    message = Message(role="user", text=PLAIN, attempts=(tried(THANKS, "unlike_people"), tried(ASKS, "repeat"), stands))
    run = [Conversation(id=str(n), scenario={}, messages=(message,)) for n in range(60)]
    learnt = nodes.like(talks(PEOPLE), drafts=run).manners
    assert learnt.drafts.messages == 120
    here = learnt.places["first"]
    assert here.drafts.marginals[1][1] == pytest.approx(0.5, abs=0.02)  # thanks
    assert here.drafts.marginals[4][1] < 0.05  # questions


def test_a_run_of_simulated_users_is_no_source_of_people():
    with pytest.raises(DataError, match="holds no conversation of people"):
        nodes.like(talks(SIMULATOR, provenance=Provenance(cast="x")))


@pytest.mark.parametrize(
    ("source", "more", "line"),
    [
        (talks(PEOPLE, 4), {}, "conversations: has 44 messages of people in the language en, and 50 is the minimum"),
        ([], {}, "conversations: holds no conversation of people"),
        (
            talks(PEOPLE),
            {"language": "zh"},
            "its people write en, and the language of the cast is zh: give --language en",
        ),
        (talks(PEOPLE), {"drafts": talks(PEOPLE, 2)}, "drafts conversations: has 22 drafts of the user"),
    ],
)
def test_a_source_that_cannot_teach_is_one_line(source, more, line):
    with pytest.raises(DataError) as caught:
        nodes.like(source, **more)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_few_first_messages_are_learnt_with_the_later_ones():
    few = [talk(n, [PLAIN] * 20) for n in range(10)]
    guard = nodes.like(few)
    assert guard.manners.pooled
    assert any("taken together" in remark for remark in guard.remarks())


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("", "names no source"),
        ("?part=tune", "names no source"),
        ("talks?part=half", "part must be one of tune, learn, select, test, all"),
        ("talks?most=0", "most must be a whole number from 1, not 0"),
        ("talks?most=many", "most must be a whole number"),
        ("talks?colour=red", "has no option 'colour'; there are part, drafts, most"),
        ("talks?part", "its options are unclear"),
        ("talks?drafts=", "drafts names no path"),
    ],
)
def test_a_setting_that_is_none_is_one_line(spec, line):
    with pytest.raises(SettingError) as caught:
        parsed(spec)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_setting_gives_path_and_options():
    path, options = parsed("a:b/talks?part=tune&drafts=out/7&most=3")
    assert (str(path), options) == ("a:b/talks", LikeOptions("tune", "out/7", 3))
    assert parsed("talks?drafts=7")[1].drafts == "7"


def test_shares_are_smoothed_towards_independent_traits():
    cuts = cuts_of([3, 3, 3, 9])
    counted = [traits_of(text, "en").cell(cuts) for text in ("Yes", "Why") for _ in range(50)]
    shares = Shares.of(counted, len(cuts) + 1)
    assert sum(shares.joint.values()) == pytest.approx(1)
    assert set(shares.joint) == set(cells(len(cuts) + 1))
    assert min(shares.joint.values()) > 0
    assert all(sum(marginal) == pytest.approx(1) for marginal in shares.marginals)


def test_what_is_learnt_is_told_by_its_digest():
    provenance = nodes.like(talks(PEOPLE), drafts=talks(SIMULATOR)).provenance()
    assert (provenance["like"], provenance["messages"], provenance["users"], provenance["drafts_counted"]) == (
        "conversations",
        1_100,
        100,
        1_100,
    )
    assert provenance["digest"] == StyleComparison.of(list(reversed(talks(PEOPLE))), "en").people.digest
    assert provenance["digest"] != nodes.like(talks(SIMULATOR)).provenance()["digest"]


def test_how_far_messages_are_from_people_is_one_number_for_each_place():
    manners = nodes.like(talks(PEOPLE)).manners
    assert manners.distance(talks(PEOPLE)) == pytest.approx({"first": 0, "later": 0}, abs=1e-9)
    apart = manners.distance(talks(SIMULATOR))
    assert apart["later"] == pytest.approx(0.6, abs=0.02)  # thanks .7 for .1
    assert manners.distance([talk(1, [])]).keys() == {"first"}


async def test_what_was_measured_stays_beside_another_validator(guard):
    both = nodes.every(guard, nodes.accept_all)
    runtime = SimpleNamespace(context=Limits(question_attempts=1))
    (joined,) = (await both(state(PLAIN), runtime))["verdicts"]
    assert joined["accepted"]
    assert "weight" in joined["measured"]["like"]


def test_a_judge_within_the_guard_is_found():
    model = ScriptedModel(lines=['{"reason": null}'])
    judge = nodes.judge(model, "Is {{ draft }} odd?", {"odd": "It is odd."})
    guard = nodes.like(talks(PEOPLE), judge)
    assert list(models_of(guard)) == [model]
    assert may_ask(guard)


async def test_the_guard_conforms_to_the_contract_of_its_place(guard):
    await nodes.conformance.conforms("question_validator", guard)


@pytest.mark.heavy
def test_a_conversation_with_the_guard_records_every_draft_and_never_ends_by_it():
    async def asker(state, runtime):
        number = nodes.state.attempt_number(state)
        text = drawn(SIMULATOR, call_seed(runtime.context.seed, state["id"], "asker", state["turn"], number) / 2**31)
        return {"drafts": [{"text": text}]}

    guard = nodes.like(talks(PEOPLE), drafts=talks(SIMULATOR))
    cast: Cast = agent_test.cast(assistant=lambda messages: "Here is one.").replace(
        user_simulator=asker, question_validator=guard
    )
    conversations = duologue.simulate(cast, agent_test.scenarios([{"goal": f"tea {n}"} for n in range(12)]))
    assert {one.stop for one in conversations} == {"max_turns"}
    drafts = [attempt for one in conversations for attempt in one.attempts("user")]
    assert all("like" in attempt.measured for attempt in drafts)
    assert {attempt.reason for attempt in drafts if attempt.verdict == "rejected"} == {"unlike_people"}
    bound = [attempt for attempt in drafts if "bound" in attempt.measured["like"]]
    assert bound
    assert {attempt.number for attempt in bound} == {3}
    for attempt in drafts:
        like = attempt.measured["like"]
        assert (attempt.verdict == "accepted") == (like["draw"] < like["accept"] or "bound" in like)
