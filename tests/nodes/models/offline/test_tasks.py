"""The embedded baseline as a user with a task and a profile, and as that user's assistant, in both languages."""

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
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
5. Hobbies: Chess, birdwatching, baking bread
6. Travel Habits: Prefers trains, avoids crowds, vegetarian, enjoys small cafés, has an old dog, helps at a shelter""",
    opening="The talk begins. Write your first message to the assistant.",
    ending="That was the assistant's reply. If you have everything, you may end the talk instead: write “{}”",
    phrase="Thank you, goodbye.",
    giving_up="I give up, goodbye.",
    refusal="Sorry, I cannot help you with that.",
    questions=(
        "What is the plan that you are left with?",
        "Has it solved what you wanted?",
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
6. 旅行习惯：偏好坐火车、避免人多的地方、素食者、喜欢小咖啡馆、养了一只老狗、在收容所做志愿者""",
    opening="对话开始了。请写下你给助手的第一条消息。",
    ending="以上是助手的回复。如果情境所要求的你都已得到，也可以就此结束：写“{}”",
    phrase="谢谢，再见。",
    giving_up="我放弃了，再见。",
    refusal="抱歉，我帮不了您。",
    questions=(
        "你最后得到的方案或选择是什么？",
        "情境所要求的事解决了吗？",
    ),
)
BOTH = pytest.mark.parametrize("about", [EN, ZH], ids=["en", "zh"])


def user_messages(about, talk, note):
    """What the user is sent: `talk` is a list of (whether the user said it, text)."""
    messages: list[BaseMessage] = [
        SystemMessage("You play a person. Lines between <note> and </note> are the organiser's.")
    ]
    waiting = f"<task>{about.task}</task>\n\n<profile>{about.profile}</profile>\n\nHow to behave: stay this person."
    for own, text in talk:
        if own:
            messages += [HumanMessage(waiting), AIMessage(text)]
        else:
            waiting = text
    return [*messages, HumanMessage(f"{waiting}\n\n<note>{note}</note>")]


def next_of_user(about, talk, seed, spec="offline", note=None):
    line = note or (about.ending.format(about.phrase) if talk else about.opening)
    return chat_model(spec, side="task_user").invoke(user_messages(about, talk, line), seed=seed).text


def next_of_assistant(talk, seed=None, spec="offline"):
    messages = [SystemMessage("You help people.")] + [(HumanMessage if own else AIMessage)(text) for own, text in talk]
    return chat_model(spec, side="task_assistant").invoke(messages, seed=seed).text


def played(about, seed=0, user="offline", assistant="offline", replies=None):
    talk = []
    for turn in range(10):
        text = next_of_user(about, talk, 100 * seed + turn, user)
        talk.append((True, text))
        if text == about.phrase:
            break
        reply = replies[turn % len(replies)] if replies else next_of_assistant(talk, 100 * seed + turn, assistant)
        talk.append((False, reply))
    return talk


def of_user(talk):
    return [text for own, text in talk if own]


@BOTH
def test_the_user_opens_with_its_wish_tells_the_rest_bit_by_bit_and_ends_with_the_phrase(about):
    situation, lengths = situation_of(about.task, about.profile), set()
    assert len(situation.requirements) >= 4
    assert len(situation.facts) >= 10
    for seed in range(15):
        talk = played(about, seed)
        opening, *_ = texts = of_user(talk)
        assert situation.opening in opening
        assert len(opening) < len(about.task) / 2
        assert not any(text in opening for text in (*situation.facts, *situation.requirements))
        assert all(text in "\n".join(texts) for text in situation.requirements)
        assert max(sum(text in message for text in situation.requirements) for message in texts) <= 3
        facts = [sum(fact in text for fact in situation.facts) for text in texts]
        assert (max(facts), 3 <= sum(facts) < len(situation.facts)) == (1, True)
        assert (talk[-1], texts.count(about.phrase)) == ((True, about.phrase), 1)
        lengths.add(len(talk) // 2)
    assert lengths <= {4, 5, 6, 7}
    assert len(lengths) >= 3
    assert played(about, 4) == played(about, 4)
    assert len({tuple(played(about, seed)) for seed in range(6)}) == 6


@BOTH
def test_the_user_never_repeats_itself_however_long_the_talk_is(about):
    talk = []
    for turn in range(30):
        note = about.ending.format("")  # no phrase is offered, so that it cannot end
        talk += [(True, next_of_user(about, talk, turn, note=note)), (False, "Yes." if about is EN else "是。")]
    assert len({plain_words(text) for text in of_user(talk)}) == 30


def test_each_talk_is_in_its_language():
    assert not any(re.search(r"[\u4e00-\u9fff]", text) for _, text in played(EN, 1))
    assert all(re.search(r"[\u4e00-\u9fff]", text) and not re.search(r"[A-Za-z]", text) for _, text in played(ZH, 1))


@BOTH
def test_the_user_takes_up_what_is_offered(about):
    opened = [(True, next_of_user(about, [], 1)), (False, "1. **Hotel 42**: good.\n2. **Hotel 43**: good.")]
    texts = [next_of_user(about, opened, seed) for seed in range(20)]
    assert [any(name in text for text in texts) for name in ("Hotel 42", "Hotel 43")] == [True, True]
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
def test_questions_after_the_talk_are_answered_in_a_sentence_or_two(about):
    talk = played(about, 2)
    answers = [next_of_user(about, [*talk, (False, "...")], 1, note=question) for question in about.questions]
    answers.append(next_of_assistant([*talk, (True, f"<note>{about.questions[1]}</note>")]))
    assert len(set(answers)) == len(answers)
    assert all(answer and not answer.endswith(("?", "？")) and answer != about.phrase for answer in answers)
    refused = played(about, 2, replies=[about.refusal])
    answer = next_of_user(about, [*refused, (False, "...")], 1, note=about.questions[1])
    assert answer.startswith(("No", "没有"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_shipped_tasks_are_played_with_the_shipped_profiles(language):
    lines, profiles = ZH if language == "zh" else EN, shipped_profiles(language).texts
    for number, (task, contexts) in enumerate(shipped_tasks(language).items()):
        about = replace(lines, task=contexts[-1], profile=profiles[number % len(profiles)])
        talk = played(about, number)
        texts = of_user(talk)
        assert talk[-1] == (True, about.phrase), task
        replies = ["", *(text for own, text in talk if not own)]
        for place, text in enumerate(texts):
            assert not user_reasons(text)
            assert not user_notes(text, texts[:place], replies[place])


@BOTH
def test_each_misbehaviour_shows_on_its_side_alone(about):
    for name in ("role_leak", "prompt_leak"):
        assert all(name in user_reasons(text) for text in of_user(played(about, 1, user=f"offline?{name}=1")))
    talk = played(about, 1)[:4]
    assert {next_of_user(about, talk, seed, "offline?repeat=1") for seed in range(20)} == set(of_user(talk))
    replies = {next_of_assistant([*talk, (True, "?")], seed, "offline?repeat=1") for seed in range(20)}
    assert replies == {text for own, text in talk if not own}
    assert next_of_user(about, [], 0, "offline?repeat=1")  # nothing was said that could be repeated
    assert next_of_user(about, talk, 0, "offline?empty=1") == next_of_assistant(talk, 0, "offline?empty=1") == ""
    of_others = "offline?two_questions=1&paraphrase=1&background=1&incomplete=1"
    assert played(about, user=of_others, assistant=of_others) == played(about)


@given(st.text(), st.text(), st.lists(st.text(), max_size=4), st.text())
def test_nothing_that_it_is_sent_breaks_it(task, profile, texts, note):
    about = replace(EN, task=task, profile=profile)
    talk = [(place % 2 == 0, text) for place, text in enumerate(texts)]
    for spec in ("offline", "offline?misbehave=1"):
        assert isinstance(next_of_user(about, talk, 1, spec, note=note), str)
        assert isinstance(next_of_assistant(talk, 1, spec), str)


@pytest.mark.parametrize(
    "piece", ["<note>", "1. ", "你需要、", "a,", " ", "？", "Can you? ", "x", "“", "**", "I want to "]
)
def test_long_and_hostile_texts_are_answered_after_a_bounded_part_of_them(piece):
    long = piece * (200_000 // len(piece))
    about = replace(EN, task=f"You want {long}", profile=f"1. Gender: {long}\n2. {long}: {long}")
    assert situation_of(about.task, about.profile) == situation_of(about.task[:READ], about.profile[:READ])
    for talk in ([], [(True, "Hello"), (False, long)], [(True, long), (False, f"1. {long}")]):
        assert len(next_of_user(about, talk, 1, note=f"write “{piece}”")) < 3_000
        assert len(next_of_assistant([*talk, (True, long)])) < 3_000
