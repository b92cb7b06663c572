"""The embedded baseline as a user with a task and a profile, and as that user's assistant, in both languages."""

import re

import pytest
from langchain_core.messages import AIMessage, HumanMessage

import duologue
from duologue.data.recllmsim import combined, shipped_profiles, shipped_tasks
from duologue.data.rules.guards import is_repeat, plain_words, user_reasons
from duologue.graphs import recllmsim
from duologue.nodes import Limits, chat_model
from duologue.nodes.models.offline.reading import READ
from duologue.nodes.models.offline.recllmsim import situation_of

PHRASES = {"en": ("Thank you, goodbye.", "I give up, goodbye."), "zh": ("谢谢，再见。", "我放弃了，再见。")}
REFUSALS = {"en": "Sorry, I cannot help you with that.", "zh": "抱歉，我帮不了您。"}
BOTH = pytest.mark.parametrize("language", PHRASES)


def talks(language, count=12, seed=0, turns=10, **settings):
    """Conversations about the shipped tasks with the shipped profiles."""
    tasks, profiles = shipped_tasks(language), shipped_profiles(language).texts
    about = combined({task: contexts[-1:] for task, contexts in tasks.items()}, profiles)[:: len(profiles) + 1]
    cast = recllmsim.cast(language=language, **settings)
    return duologue.simulate(cast, recllmsim.scenarios(about[:count]), limits=Limits(max_turns=turns, seed=seed))


def of(conversation, role="user"):
    return [message.text for message in conversation.messages if message.role == role]


@BOTH
@pytest.mark.parametrize("handshake", [False, True])
def test_the_user_opens_with_its_wish_tells_the_rest_bit_by_bit_and_ends_with_the_phrase(language, handshake):
    lengths = set()
    for conversation in talks(language, handshake=handshake):
        task, profile = (str(conversation.scenario[key]) for key in ("task_context", "preference"))
        situation, texts, replies = situation_of(task, profile), of(conversation), of(conversation, "assistant")
        assert len(situation.requirements) >= 2
        assert situation.opening in texts[0]
        assert not any(text in texts[0] for text in (*situation.facts, *situation.requirements))
        assert all(text in "\n".join(texts) for text in situation.requirements)
        assert max(sum(text in message for text in situation.requirements) for message in texts) <= 3
        assert max(sum(fact in text for fact in situation.facts) for text in texts) <= 1
        assert (conversation.stop, texts[-1], texts.count(texts[-1])) == ("user_ended", PHRASES[language][0], 1)
        for place, text in enumerate(texts):
            assert not user_reasons(text)
            assert not is_repeat(text, texts[:place])
        is_chinese = [bool(re.search(r"[\u4e00-\u9fff]", text)) for text in (*texts, *replies)]
        assert set(is_chinese) == {language == "zh"}
        lengths.add(len(replies))
    assert lengths <= {4, 5, 6, 7}
    assert len(lengths) >= 2


@BOTH
def test_equal_seeds_play_the_same_and_other_seeds_another_talk(language):
    first, again, other = ([of(one) for one in talks(language, count=3, seed=seed)] for seed in (4, 4, 5))
    assert first == again
    assert all(one != another for one, another in zip(first, other, strict=True))


@BOTH
def test_a_useless_assistant_is_given_up_only_where_that_is_offered(language):
    refusing = {"assistant": lambda messages: REFUSALS[language], "count": 2, "turns": 30}
    for patient, impatient in zip(
        talks(language, **refusing), talks(language, **refusing, may_give_up=True), strict=True
    ):
        assert (impatient.stop, of(impatient)[-1], len(of(impatient))) == ("user_gave_up", PHRASES[language][1], 3)
        assert patient.stop != "user_gave_up"
        assert len({plain_words(text) for text in of(patient)}) == len(of(patient)) > 3  # it never repeats itself


@BOTH
def test_questions_after_the_talk_are_answered_in_a_sentence_or_two(language):
    served, refused = (
        talks(language, count=1, turns=4, post_questions=True, **more)[0].labels["post_questions"].value
        for more in ({}, {"assistant": lambda messages: REFUSALS[language]})
    )
    answers = [one["response"] for exchanges in served.values() for one in exchanges]
    assert len(set(answers)) >= 6
    assert all(answer and not answer.endswith(("?", "？")) for answer in answers)
    assert any(one["response"].startswith(("No", "没有")) for one in refused["user"])


@BOTH
def test_each_misbehaviour_shows_on_its_side_alone(language):
    for name in ("role_leak", "prompt_leak"):
        (leaking,) = talks(language, count=1, user=f"offline?{name}=1")
        assert {attempt.reason for attempt in leaking.attempts("user")} == {name}
    (said, echoed) = (talks(language, count=1, **{side: "offline?repeat=1"})[0] for side in ("user", "assistant"))
    assert len({*of(said)}) == len({*of(echoed, "assistant")}) == 1
    (silent,) = talks(language, count=1, assistant="offline?empty=1")
    assert {attempt.reason for attempt in silent.attempts("assistant")} == {"empty"}
    (thinking,) = talks(language, count=1, user="offline?reasoning=1")
    assert {attempt.cleaned for attempt in thinking.attempts("user")} == {("reasoning",)}
    of_others = "offline?two_questions=1&paraphrase=1&background=1"
    assert of(talks(language, count=1, user=of_others)[0]) == of(talks(language, count=1)[0])


def replies(task, profile, texts, note, spec="offline"):
    """What each side says in reply to messages by turns, whatever they are."""
    said = [(AIMessage if number % 2 else HumanMessage)(text) for number, text in enumerate(texts)]
    about = HumanMessage(f"<task>{task}</task>\n\n<profile>{profile}</profile>")
    sent = {
        "task_user": [about, *said, HumanMessage(f"<note>{note}</note>")],
        "task_assistant": [*said, HumanMessage(note)],
    }
    return [str(chat_model(spec, side=side).invoke(messages, seed=1).text) for side, messages in sent.items()]


@pytest.mark.parametrize(
    "piece", ["<note>", "1. ", "你需要、", "a,", " ", "？", "Can you? ", "x", "“", "**", "I want to "]
)
def test_long_and_hostile_texts_are_answered_after_a_bounded_part_of_them(piece):
    long = piece * (200_000 // len(piece))
    task, profile = f"You want {long}", f"1. Gender: {long}\n2. {long}: {long}"
    assert situation_of(task, profile) == situation_of(task[:READ], profile[:READ])
    for texts in ([], ["Hello", long], [long, f"1. {long}"]):
        assert all(len(text) < 3_000 for text in replies(task, profile, texts, f"write “{piece}”"))
