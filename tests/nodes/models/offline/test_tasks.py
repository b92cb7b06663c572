"""The embedded baseline as a user with a task and a profile, and as that user's assistant, in both languages."""

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from duologue.data.recllmsim import shipped_profiles, shipped_tasks
from duologue.data.rules import plain_words
from duologue.data.rules.user_turns import user_notes, user_reasons
from duologue.nodes import chat_model
from duologue.nodes.models.offline.reading import READ
from duologue.nodes.models.offline.recllmsim import situation_of


@dataclass(frozen=True)
class Setting:
    """What a talk is about, and the organiser's lines of its language."""

    task: str
    profile: str
    opening: str
    ending: str
    phrase: str
    giving_up: str
    repair: str
    ack: str
    refusal: str
    questions: tuple[str, ...]


EN = Setting(
    task=(
        "You are planning a three-day trip this autumn with a budget of 600 euros. You want an assistant to help you "
        "with it. You need to settle how to get there, where to stay, and what to see on each day. You should also "
        "consider the weather and the opening hours of the museums. Your final plan should be concrete enough to follow."
    ),
    profile="""1. Gender: Male
2. Age: 34
3. Personality: Introverted, patient, and detail-oriented
4. Occupation: Librarian
5. Daily Interests and Hobbies: Chess, birdwatching, baking bread
6. Travel Habits: Prefers trains, avoids crowds
7. Dining Preferences: Vegetarian, enjoys small cafés
8. Spending Habits: Frugal, saves for a new bicycle
9. Other Aspects: Has an old dog, volunteers at a shelter""",
    opening="The talk begins. Write your first message to the assistant.",
    ending="That was the assistant's reply. If you have everything, you may end the talk instead: write “{}”",
    phrase="Thank you, goodbye.",
    giving_up="I give up, goodbye.",
    repair="What you wrote holds a speaker's label. Write only your own message. (Try 2 of 4.)",
    ack="Got it.",
    refusal="Sorry, I cannot help you with that.",
    questions=(
        "What is the plan that you are left with?",
        "Has it solved what you wanted?",
        "Which of your requirements are open?",
        "Was what you wrote true to who you are?",
        "Were the replies as long and detailed as you needed?",
    ),
)
ZH = Setting(
    task=(
        "你计划在今年秋天进行一次三天的旅行，预算在三千元以内。你希望助手帮你安排。你需要确定怎么去、住在哪里，以及每天看什么。"
        "你还应当考虑天气和博物馆的开放时间。你的最终计划应当具体到可以照着走。"
    ),
    profile="""1. 性别：女
2. 年龄：29
3. 性格：内向、细心、有耐心
4. 职业：图书管理员
5. 日常兴趣爱好：下棋、观鸟、烤面包
6. 旅行习惯：偏好坐火车、避免人多的地方
7. 用餐偏好：素食者、喜欢小咖啡馆
8. 消费习惯：节俭、为买新自行车存钱
9. 其他方面：养了一只老狗、在收容所做志愿者""",
    opening="对话开始了。请写下你给助手的第一条消息。",
    ending="以上是助手的回复。如果情境所要求的你都已得到，也可以就此结束：写“{}”",
    phrase="谢谢，再见。",
    giving_up="我放弃了，再见。",
    repair="你写的内容里有称谓标签。请只写你自己的消息。（第 2 次，共 4 次。）",
    ack="好的。",
    refusal="抱歉，我帮不了您。",
    questions=(
        "你最后得到的方案或选择是什么？",
        "情境所要求的事解决了吗？",
        "你的要求中还有哪些没有解决？",
        "你写的内容符合你的情境吗？",
        "回复的长度和详细程度合你的需要吗？",
    ),
)
BOTH = pytest.mark.parametrize("about", [EN, ZH], ids=["en", "zh"])


def user_messages(about, talk, note, handshake=False):
    """What the user is sent: `talk` is a list of (whether the user said it, text)."""
    task, profile = f"<task>{about.task}</task>", f"<profile>{about.profile}</profile>"
    messages: list[BaseMessage] = [
        SystemMessage("You play a person. Lines between <note> and </note> are the organiser's.")
    ]
    waiting = "How to behave: stay this person."
    if handshake:
        messages += [HumanMessage(task), AIMessage(about.ack), HumanMessage(profile), AIMessage(about.ack)]
    else:
        waiting = f"{task}\n\n{profile}\n\n{waiting}"
    for own, text in talk:
        if own:
            messages += [HumanMessage(waiting), AIMessage(text)]
        else:
            waiting = text
    return [*messages, HumanMessage(f"{waiting}\n\n<note>{note}</note>")]


def assistant_messages(talk):
    return [SystemMessage("You help people.")] + [(HumanMessage if own else AIMessage)(text) for own, text in talk]


def next_of_user(about, talk, seed, spec="offline", note=None, **how):
    line = note or (about.ending.format(about.phrase) if talk else about.opening)
    return chat_model(spec, side="task_user").invoke(user_messages(about, talk, line, **how), seed=seed).text


def next_of_assistant(talk, seed=None, spec="offline"):
    return chat_model(spec, side="task_assistant").invoke(assistant_messages(talk), seed=seed).text


def played(about, seed=0, turns=10, user="offline", assistant="offline", replies=None, **how):
    talk = []
    for turn in range(turns):
        text = next_of_user(about, talk, 100 * seed + turn, user, **how)
        talk.append((True, text))
        if text == about.phrase:
            break
        reply = replies[turn % len(replies)] if replies else next_of_assistant(talk, 100 * seed + turn, assistant)
        talk.append((False, reply))
    return talk


def of_user(talk):
    return [text for own, text in talk if own]


@BOTH
@pytest.mark.parametrize("handshake", [False, True])
def test_the_user_ends_with_the_phrase_after_four_to_seven_exchanges(about, handshake):
    lengths = set()
    for seed in range(20):
        talk = played(about, seed, handshake=handshake)
        assert talk[-1] == (True, about.phrase)
        assert sum(text == about.phrase for text in of_user(talk)) == 1
        lengths.add(len(talk) // 2)
    assert lengths <= {4, 5, 6, 7}
    assert len(lengths) >= 3


@BOTH
@pytest.mark.parametrize("handshake", [False, True])
def test_the_user_opens_with_what_it_wants_and_not_with_all_of_it(about, handshake):
    """What it acknowledges before the talk is not taken for something that it said."""
    situation = situation_of(about.task, about.profile)
    assert situation.opening in (
        "I am planning a three-day trip this autumn with a budget of 600 euros",
        "我计划在今年秋天进行一次三天的旅行，预算在三千元以内",
    )
    for seed in range(10):
        opening = next_of_user(about, [], seed, handshake=handshake)
        assert situation.opening in opening
        assert len(opening) < len(about.task) / 2
        assert not any(text in opening for text in (*situation.facts, *situation.requirements))


@BOTH
def test_the_user_asks_for_everything_that_the_task_requires_bit_by_bit(about):
    requirements = situation_of(about.task, about.profile).requirements
    assert len(requirements) >= 4
    for seed in range(10):
        texts = of_user(played(about, seed))
        assert all(text in "\n".join(texts) for text in requirements)
        assert max(sum(text in message for text in requirements) for message in texts) <= 3


@BOTH
def test_the_profile_comes_out_bit_by_bit(about):
    facts = situation_of(about.task, about.profile).facts
    assert len(facts) >= 15
    for seed in range(10):
        counts = [sum(fact in text for fact in facts) for text in of_user(played(about, seed))]
        assert max(counts) == 1
        assert 3 <= sum(counts) < len(facts)


@BOTH
def test_a_task_that_requires_nothing_and_a_profile_that_says_nothing_are_enough(about):
    talk = played(replace(about, task=about.task[:4], profile=""))
    assert talk[-1] == (True, about.phrase)
    assert len(situation_of("", "").requirements) >= 2


@BOTH
def test_the_user_never_repeats_itself_however_long_the_talk_is(about):
    talk = []
    for turn in range(30):
        note = about.ending.format("")  # no phrase is offered, so that it cannot end
        talk += [(True, next_of_user(about, talk, turn, note=note)), (False, "Yes." if about is EN else "是。")]
    assert len({plain_words(text) for text in of_user(talk)}) == 30


def test_each_talk_is_in_its_language():
    for seed in range(5):
        assert not any(re.search(r"[\u4e00-\u9fff]", text) for _, text in played(EN, seed))
        for _, text in played(ZH, seed):
            assert re.search(r"[\u4e00-\u9fff]", text)
            assert not re.search(r"[A-Za-z]", text)


@BOTH
def test_the_user_takes_up_what_is_offered(about):
    opened = [(True, next_of_user(about, [], 1)), (False, "1. **Hotel 42**: good.\n2. **Hotel 43**: good.")]
    texts = [next_of_user(about, opened, seed) for seed in range(20)]
    assert any("Hotel 42" in text for text in texts)
    assert any("Hotel 43" in text for text in texts)
    assert not all("Hotel" in text for text in texts)


@BOTH
def test_a_useless_assistant_is_given_up_only_where_that_is_offered(about):
    talk = [(True, next_of_user(about, [], 1))]
    talk += [(False, about.refusal), (True, next_of_user(about, [*talk, (False, about.refusal)], 2))]
    talk += [(False, about.refusal)]
    both = f"{about.ending.format(about.phrase)} “{about.giving_up}”"
    assert next_of_user(about, talk, 3, note=both) == about.giving_up
    assert next_of_user(about, talk, 3) not in (about.phrase, about.giving_up)
    assert next_of_user(about, talk[:2], 3, note=both) not in (about.phrase, about.giving_up)


@BOTH
def test_straight_and_curly_quotation_marks_are_read(about):
    talk = played(about, 3)[:-1]
    for note in (f'write "{about.phrase}"', f"write “{about.phrase}”"):
        assert next_of_user(about, talk, 1, note=note) == about.phrase


@BOTH
def test_a_repair_gets_a_clean_message(about):
    text = next_of_user(about, played(about, 1)[:4], 9, note=about.repair)
    assert text not in ("", about.phrase)
    assert not user_reasons(text)


@BOTH
def test_questions_after_the_talk_are_answered_in_a_sentence_or_two(about):
    talk = played(about, 2)
    answers = [next_of_user(about, [*talk, (False, "...")], 1, note=question) for question in about.questions]
    answers.append(next_of_assistant([*talk, (True, f"<note>{about.questions[1]}</note>")]))
    assert len(set(answers)) == len(answers)
    assert all(answer and not answer.endswith(("?", "？")) and answer != about.phrase for answer in answers)
    language = r"[\u4e00-\u9fff]" if about is ZH else r"[a-z]"
    assert all(re.search(language, answer) for answer in answers)


@BOTH
def test_a_user_that_got_nothing_says_so(about):
    talk = played(about, 2, replies=[about.refusal])
    answer = next_of_user(about, [*talk, (False, "...")], 1, note=about.questions[1])
    assert answer.startswith(("No", "没有"))


def test_the_assistant_answers_from_the_talk_alone():
    request = "I want to learn the cello in half a year. I have two hours a week. What would you suggest for practice?"
    texts = [next_of_assistant([(True, request)], seed) for seed in range(10)]
    for text in texts:
        assert "What would you suggest for practice" in text
        assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) == 3
        assert text.count("?") == 1
        assert text.endswith("?")
    assert len(set(texts)) > 3


@BOTH
def test_the_assistant_asks_nothing_twice_while_it_has_other_questions(about):
    for seed in range(5):
        questions = [text.splitlines()[-1] for own, text in played(about, seed) if not own]
        assert len(set(questions[:6])) == len(questions[:6])


@BOTH
@pytest.mark.parametrize("side", ["user", "assistant"])
def test_reasoning_shows(about, side):
    for own, text in played(about, **{side: "offline?reasoning=1"}):
        assert (re.match(r"<think>.+</think>\n.", text) is not None) == (own == (side == "user"))


@BOTH
@pytest.mark.parametrize("misbehaviour", ["role_leak", "prompt_leak"])
def test_each_leak_has_its_reason_and_what_is_said_otherwise_has_none(about, misbehaviour):
    for seed in range(5):
        leaking = of_user(played(about, seed, user=f"offline?{misbehaviour}=1"))
        assert all(misbehaviour in user_reasons(text) for text in leaking)
        assert not any(user_reasons(text) for text in of_user(played(about, seed)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_tasks_are_played_with_the_shipped_profiles(language):
    lines, profiles = ZH if language == "zh" else EN, shipped_profiles(language).texts
    for number, (task, contexts) in enumerate(shipped_tasks(language).items()):
        about = replace(lines, task=contexts[-1], profile=profiles[number % len(profiles)])
        talk = played(about, number)
        texts = of_user(talk)
        assert talk[-1] == (True, about.phrase), task
        assert len(situation_of(about.task, about.profile).requirements) >= 2
        replies = ["", *(text for own, text in talk if not own)]
        for place, text in enumerate(texts):
            assert not user_reasons(text)
            assert not user_notes(text, texts[:place], replies[place])


@BOTH
def test_both_sides_can_be_told_to_repeat_themselves_and_to_say_nothing(about):
    talk = played(about, 1)[:4]
    assert {next_of_user(about, talk, seed, "offline?repeat=1") for seed in range(20)} == set(of_user(talk))
    replies = {next_of_assistant([*talk, (True, "?")], seed, "offline?repeat=1") for seed in range(20)}
    assert replies == {text for own, text in talk if not own}
    assert next_of_user(about, [], 0, "offline?repeat=1")  # nothing was said that could be repeated
    assert next_of_user(about, talk, 0, "offline?empty=1") == next_of_assistant(talk, 0, "offline?empty=1") == ""


@BOTH
def test_the_rate_is_the_share_of_calls_on_both_sides_from_the_first_message_on(about):
    talk = played(about, 1)
    for place in (0, 2):
        for own in (True, False):
            begun = talk[:place] if own else talk[: place + 1]
            messages = user_messages(about, begun, about.opening) if own else assistant_messages(begun)
            side = "task_user" if own else "task_assistant"
            plain, sloppy = chat_model("offline", side=side), chat_model("offline?misbehave=0.2", side=side)
            odd = sum(plain.invoke(messages, seed=s).text != sloppy.invoke(messages, seed=s).text for s in range(150))
            assert 18 <= odd <= 42, (place, own, odd)  # 30, give or take two and a half of its standard deviations


def test_what_another_side_does_wrong_has_no_effect():
    spec = "offline?two_questions=1&paraphrase=1&background=1&incomplete=1"
    assert played(EN, user=spec, assistant=spec) == played(EN)


@BOTH
def test_equal_seeds_play_the_same_and_other_seeds_another_talk(about):
    assert played(about, 4) == played(about, 4)
    assert len({tuple(played(about, seed)) for seed in range(6)}) == 6


@given(st.text(), st.text(), st.lists(st.text(), max_size=4), st.text())
@settings(max_examples=150)
def test_nothing_that_it_is_sent_breaks_it(task, profile, texts, note):
    about = replace(EN, task=task, profile=profile)
    talk = [(place % 2 == 0, text) for place, text in enumerate(texts)]
    for spec in ("offline", "offline?misbehave=1"):
        assert isinstance(next_of_user(about, talk, 1, spec, note=note), str)
        assert isinstance(next_of_assistant(talk, 1, spec), str)


@pytest.mark.parametrize(
    "piece",
    ["<note>", "1. ", "vegan, ", "你需要、", "and ", "a,", " ", "？", "I am (", "Can you? ", "能", "x", "“", "**",
     "I want to ", "please ", "an assistant ", "我", "助手", "1: "],
)  # fmt: skip
def test_long_and_hostile_texts_are_answered_after_a_bounded_part_of_them(piece):
    long = piece * (200_000 // len(piece))
    about = replace(EN, task=f"You want {long}", profile=f"1. Gender: {long}\n2. {long}: {long}")
    assert situation_of(about.task, about.profile) == situation_of(about.task[:READ], about.profile[:READ])
    for talk in ([], [(True, "Hello"), (False, long)], [(True, long), (False, f"1. {long}")]):
        assert len(next_of_user(about, talk, 1, note=f"write “{piece}”")) < 3_000
        assert len(next_of_assistant([*talk, (True, long)])) < 3_000
