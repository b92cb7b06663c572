"""The embedded baseline as a user with a task and a profile, and as that user's assistant, in both languages."""

import re
import time
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from duologue.data.checks import plain_words
from duologue.data.checks.user_turns import user_notes, user_reasons
from duologue.data.recllmsim import shipped_profiles, shipped_tasks
from duologue.nodes import chat_model
from duologue.nodes.models.offline.facts import facts_of
from duologue.nodes.models.offline.hearing import side_of
from duologue.nodes.models.offline.wishes import situation_of


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
)
BOTH = pytest.mark.parametrize("about", [EN, ZH], ids=["en", "zh"])


def user_messages(about, talk, note, handshake=False):
    """What the user is sent: `talk` is a list of (whether the user said it, text)."""
    task, profile = f"<task>{about.task}</task>", f"<profile>{about.profile}</profile>"
    messages: list[BaseMessage] = [
        SystemMessage("You play a person. Lines between <note> and </note> are the organiser's.")
    ]
    if handshake:
        messages += [HumanMessage(task), AIMessage(about.ack), HumanMessage(profile), AIMessage(about.ack)]
        waiting = "How to behave: stay this person."
    else:
        waiting = f"{task}\n\n{profile}\n\nHow to behave: stay this person."
    for own, text in talk:
        if own:
            messages += [HumanMessage(waiting), AIMessage(text)]
        else:
            waiting = text
    return [*messages, HumanMessage(f"{waiting}\n\n<note>{note}</note>")]


def assistant_messages(talk):
    return [SystemMessage("You help people.")] + [(HumanMessage if own else AIMessage)(text) for own, text in talk]


def next_of_user(about, talk, seed, spec="offline", note=None, **how):
    told = note or (about.ending.format(about.phrase) if talk else about.opening)
    return chat_model(spec).invoke(user_messages(about, talk, told, **how), seed=seed).text


def played(about, seed=0, turns=10, user="offline", assistant="offline", replies=None, **how):
    talk = []
    for turn in range(turns):
        said = next_of_user(about, talk, 100 * seed + turn, user, **how)
        talk.append((True, said))
        if said == about.phrase:
            break
        if replies is not None:
            talk.append((False, replies[turn % len(replies)]))
        else:
            talk.append((False, chat_model(assistant).invoke(assistant_messages(talk), seed=100 * seed + turn).text))
    return talk


def of_user(talk):
    return [text for own, text in talk if own]


def test_the_marks_tell_who_is_spoken_to():
    sides = {
        "<title>t</title><section>s</section>": "teacher",
        "<title>t</title>": "student",
        "<header>h</header>": "student",
        "<task>t</task>": "task_user",
        "<profile>p</profile>": "task_user",
        "Can you help me?": "task_assistant",
    }
    for text, side in sides.items():
        assert side_of([SystemMessage("s"), HumanMessage(text)]) == side
    assert side_of([SystemMessage("Your task stands between <task> and </task>."), HumanMessage("hm")]) != "task_user"


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
def test_a_handshake_changes_nothing_but_the_draw(about):
    """What the user acknowledges before the talk is not taken for something that it said."""
    for seed in range(5):
        first = next_of_user(about, [], seed, handshake=True)
        assert situation_of(about.task, "zh" if about is ZH else "en").opening in first


@BOTH
def test_the_user_opens_with_what_it_wants_and_not_with_all_of_it(about):
    for seed in range(10):
        opening = next_of_user(about, [], seed)
        assert ("autumn" in opening and "I am planning" in opening) or "我计划在今年秋天" in opening
        assert len(opening) < len(about.task) / 2
        assert not any(
            fact.told in opening for fact in facts_of(about.profile, "travel", "zh" if about is ZH else "en")
        )


@BOTH
def test_the_profile_comes_out_bit_by_bit(about):
    language = "zh" if about is ZH else "en"
    facts = facts_of(about.profile, "travel", language)
    assert len(facts) >= 15
    for seed in range(10):
        texts = of_user(played(about, seed))
        each = [sum(fact.told.casefold() in text.casefold() for fact in facts) for text in texts]
        assert max(each) <= 3
        assert 3 <= sum(each) < len(facts)
        assert not re.search(r"Travel Habits|Dining Preferences|旅行习惯：|用餐偏好|消费习惯：", "".join(texts))


@BOTH
def test_the_user_asks_for_everything_that_the_task_requires(about):
    wishes = situation_of(about.task, "zh" if about is ZH else "en").wishes
    assert len(wishes) >= 4
    for seed in range(10):
        said = "\n".join(of_user(played(about, seed)))
        assert all(wish.text in said for wish in wishes if wish.kind != "whole")


@BOTH
def test_the_user_never_repeats_itself_however_long_the_talk_is(about):
    talk = []
    for turn in range(30):
        note = about.ending.format("")  # no phrase is offered, so that it cannot end
        talk += [(True, next_of_user(about, talk, turn, note=note)), (False, "Yes." if about is EN else "是。")]
    assert len({plain_words(text) for text in of_user(talk)}) == 30


def test_a_chinese_talk_is_chinese():
    for seed in range(5):
        for _, text in played(ZH, seed):
            assert re.search(r"[\u4e00-\u9fff]", text)
            assert not re.search(r"[A-Za-z]", text)


def test_an_english_talk_is_english():
    assert not any(re.search(r"[\u4e00-\u9fff]", text) for _, text in played(EN))


@pytest.mark.parametrize(
    ("about", "reply", "thing", "because"),
    [
        (EN, "1. A luxury hotel: it has a view.\n2. A tent: cheap.", "a luxury hotel", "frugal"),
        (EN, "1. Roast chicken at the inn: good.\n2. Soup.", "roast chicken at the inn", "vegetarian"),
        (ZH, "1. 豪华酒店：有景观。\n2. 帐篷：便宜。", "豪华酒店", "节俭"),
    ],
)
def test_the_user_objects_to_what_does_not_fit_it_and_says_why(about, reply, thing, because):
    opened = [(True, next_of_user(about, [], 1)), (False, reply)]
    for seed in range(5):
        said = next_of_user(about, opened, seed).casefold()
        assert thing in said
        assert because in said
    again = [*opened, (True, next_of_user(about, opened, 0)), (False, reply)]
    assert not any(next_of_user(about, again, seed).casefold().count(thing) > 1 for seed in range(5))


def test_what_a_reply_leaves_out_is_nothing_to_object_to():
    opened = [(True, next_of_user(EN, [], 1)), (False, "1. A soup without meat: it is warm.\n2. An inn: no luxury.")]
    assert "nothing for me" not in "".join(next_of_user(EN, opened, seed) for seed in range(10))


def test_a_question_is_answered_from_the_profile():
    opened = [(True, next_of_user(EN, [], 1)), (False, "Glad to help with the trip. What may it cost?")]
    assert all(re.search("frugal|bicycle", next_of_user(EN, opened, seed)) for seed in range(10))


@BOTH
def test_a_useless_assistant_is_given_up_only_where_that_is_offered(about):
    refusal = "Sorry, I cannot help you with that." if about is EN else "抱歉，我帮不了您。"
    talk = [(True, next_of_user(about, [], 1))]
    talk += [(False, refusal), (True, next_of_user(about, [*talk, (False, refusal)], 2)), (False, refusal)]
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
    talk = played(about, 1)[:4]
    said = next_of_user(about, talk, 9, note=about.repair)
    assert said
    assert said != about.phrase
    assert "[" not in said


QUESTIONS = {
    EN: ["What is the plan that you are left with?", "Has it solved what you wanted?", "Which of your wishes are open?",
         "Was what you wrote true to who you are?", "Were the replies as long and detailed as you needed?"],
    ZH: ["你最后得到的方案或选择是什么？", "情境所要求的事解决了吗？", "你的要求中还有哪些没有解决？", "你写的内容符合你的情境吗？",
         "回复的长度和详细程度合你的需要吗？"],
}  # fmt: skip


@BOTH
def test_questions_after_the_talk_are_answered_in_a_sentence_or_two(about):
    talk = played(about, 2)
    answers = [next_of_user(about, [*talk, (False, "...")], 1, note=question) for question in QUESTIONS[about]]
    assert len(set(answers)) == len(answers)
    assert all(answer and not answer.endswith(("?", "？")) and answer != about.phrase for answer in answers)
    language = r"[\u4e00-\u9fff]" if about is ZH else r"[a-z]"
    assert all(re.search(language, answer) for answer in answers)
    asked = [*assistant_messages(talk), HumanMessage(f"<note>{QUESTIONS[about][1]}</note>")]
    assert re.search(language, chat_model("offline").invoke(asked).text)


@BOTH
def test_a_user_that_got_nothing_says_so(about):
    refusal = "Sorry, I cannot help you with that." if about is EN else "抱歉，我帮不了您。"
    talk = played(about, 2, replies=[refusal])
    assert next_of_user(about, [*talk, (False, "...")], 1, note=QUESTIONS[about][1]).startswith(("No", "没有"))


@BOTH
def test_nothing_is_said_twice_in_one_message(about):
    details = situation_of(about.task, "zh" if about is ZH else "en").details
    facts = [fact.told for fact in facts_of(about.profile, "travel", "zh" if about is ZH else "en")]
    for seed in range(20):
        for text in of_user(played(about, seed)):
            assert all(text.count(one) <= 1 for one in [*details, *facts])


def test_the_assistant_answers_from_the_talk_alone():
    asked = "I want to learn the cello in half a year. I have two hours a week. What would you suggest for practice?"
    texts = [chat_model("offline").invoke([("human", asked)], seed=seed).text for seed in range(10)]
    for text in texts:
        assert "practice" in text
        assert "two hours a week" in text or "learn the cello" in text
        assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) == 3
        assert text.count("?") == 1
        assert text.endswith("?")
    assert len(set(texts)) > 3


@BOTH
def test_the_assistant_asks_nothing_twice_while_it_has_other_questions(about):
    for seed in range(5):
        asked = [text.splitlines()[-1] for own, text in played(about, seed) if not own]
        assert len(set(asked[:6])) == len(asked[:6])


def test_the_assistant_leaves_out_what_the_user_cannot_eat():
    talk = [("human", "I want to cook a dinner. I am vegetarian. What about the dishes?")]
    assert not any(
        re.search("chicken|beef", chat_model("offline").invoke(talk, seed=seed).text, re.I) for seed in range(20)
    )


@pytest.mark.parametrize(
    ("side", "misbehaviour", "sign"),
    [
        ("assistant", "reasoning", r"<think>.+</think>\n."),
        ("user", "reasoning", r"<think>.+</think>\n."),
    ],
)
@BOTH
def test_each_misbehaviour_shows(about, side, misbehaviour, sign):
    for text in (text for own, text in played(about, **{side: f"offline?{misbehaviour}=1"}) if own == (side == "user")):
        assert re.search(sign, text, re.MULTILINE), text


@BOTH
@pytest.mark.parametrize("misbehaviour", ["role_leak", "prompt_leak"])
def test_each_leak_has_its_reason_and_what_is_said_otherwise_has_none(about, misbehaviour):
    for seed in range(5):
        assert all(
            misbehaviour in user_reasons(text)
            for text in of_user(played(about, seed, user=f"offline?{misbehaviour}=1"))
        )
        assert not any(user_reasons(text) for text in of_user(played(about, seed)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_tasks_are_played_with_the_shipped_profiles(language):
    lines, profiles = ZH if language == "zh" else EN, shipped_profiles(language).texts
    for number, (task, contexts) in enumerate(shipped_tasks(language).items()):
        about = replace(lines, task=contexts[-1], profile=profiles[number % len(profiles)])
        talk = played(about, number)
        texts = of_user(talk)
        assert talk[-1] == (True, about.phrase), task
        assert len(situation_of(about.task, language).wishes) >= 2
        replies = ["", *(text for own, text in talk if not own)]
        for place, text in enumerate(texts):
            assert not user_reasons(text)
            assert not user_notes(text, texts[:place], replies[place])


@BOTH
def test_the_user_can_be_told_to_repeat_itself_and_to_say_nothing(about):
    talk = played(about, 1)[:4]
    assert {next_of_user(about, talk, seed, "offline?repeat=1") for seed in range(20)} == set(of_user(talk))
    assert next_of_user(about, [], 0, "offline?repeat=1")  # nothing was said that could be repeated
    assert next_of_user(about, talk, 0, "offline?empty=1") == ""


@BOTH
def test_the_rate_is_the_share_of_calls_on_both_sides_from_the_first_message_on(about):
    talk = played(about, 1)
    for place in (0, 2):
        for own in (True, False):
            begun = talk[:place] if own else talk[: place + 1]
            messages = user_messages(about, begun, about.opening) if own else assistant_messages(begun)
            plain, sloppy = chat_model("offline"), chat_model("offline?misbehave=0.2")
            odd = sum(plain.invoke(messages, seed=s).text != sloppy.invoke(messages, seed=s).text for s in range(150))
            assert 18 <= odd <= 42, (place, own, odd)  # 30, give or take two and a half of its standard deviations


def test_what_another_side_does_wrong_has_no_effect():
    spec = "offline?two_questions=1&paraphrase=1&background=1"
    assert played(EN, user=spec, assistant=spec) == played(EN)


@BOTH
def test_equal_seeds_play_the_same_and_other_seeds_another_talk(about):
    assert played(about, 4) == played(about, 4)
    assert len({tuple(played(about, seed)) for seed in range(6)}) == 6


@given(st.text(), st.text(), st.lists(st.text(), max_size=4), st.text())
@settings(max_examples=150)
def test_nothing_that_it_is_sent_breaks_it(task, profile, said, note):
    about = Setting(task, profile, note, note, "x", "x", note, "ok")
    talk = [(place % 2 == 0, text) for place, text in enumerate(said)]
    for spec in ("offline", "offline?misbehave=1"):
        assert isinstance(next_of_user(about, talk, 1, spec, note=note), str)
        assert isinstance(chat_model(spec).invoke(assistant_messages(talk)).text, str)


@pytest.mark.parametrize(
    "piece",
    ["<note>", "1. ", "vegan, ", "你需要、", "and ", "a,", " ", "？", "I am (", "Can you? ", "能", "x", "“", "**"],
)
def test_long_and_hostile_texts_take_no_longer_than_their_length(piece):
    long = piece * (200_000 // len(piece))
    about = Setting(f"You want {long}", f"1. Gender: {long}\n2. {long}: {long}", "", "", "", "", "", "")
    began = time.monotonic()
    for talk in ([], [(True, "Hello"), (False, long)], [(True, long), (False, f"1. {long}")]):
        assert isinstance(next_of_user(about, talk, 1, note=f"write “{piece}”"), str)
        assert isinstance(chat_model("offline").invoke(assistant_messages([*talk, (True, long)])).text, str)
    assert time.monotonic() - began < 10
