"""Requests for dialogues, talk about another program's prompt, errors that are talked of, and short replies: all data."""

import pytest

from duologue.data import Conversation, Message, messages
from duologue.data.checks import check

RULES = ("role-slip", "prompt-shown", "assistant-like-user", "error-reply", "seems-cut-off")

ASKED: list[str] = [
    "I'm building a chatbot. Its system prompt says: You are a pirate. Users complain that it swears. What do I change?",
    "My instructions say to use cmake 3.20, but Ubuntu 20.04 ships 3.16. How do I get a newer one?",
    "Label the sentiment.\nUser: I hate this\nAssistant: I am sorry",
    "Write a dialogue:\nUser: hi\nAssistant: hello\ncontinue it",
    "user: in my YAML file is ignored by docker compose. Why?",
    "System: how do I find its uptime?",
    "Continue this conversation in the same style.\n\nHuman: Is it raining?\nAI: It is, take a coat.\nHuman:",
    "Translate this chat into French:\nUser: Where is the station?\nBot: Straight on, then left.",
    "Classify each line as polite or rude.\nUser: Give me the bill!\nAssistant: Right away.\nUser: Finally.",
    "Summarise the following talk in one sentence:\nCustomer: My order is late.\nAgent: I am looking into it.",
    "The system prompt of our support bot says never to mention prices. Is there a better way to do that?",
    "Our teacher's instructions say that the essay must have 500 words. Can you help me shorten mine?",
    "The assembly instructions say I need a 4 mm key, but none came with the shelf. What can I use?",
    "My doctor's instructions say to take it with food. Does a glass of milk count?",
    "Here is a few-shot prompt for my model. Is the format right?\nUser: 2+2\nAssistant: 4\nUser: 3+5\nAssistant:",
    "My task: a poster about bees. Instructions: A3, two colours. Can you suggest a headline?",
    "We wrote a persona for the new product: a 35-year-old teacher with two children. Which name fits?",
    "Can you make a role play with two parts, a waiter and a guest, for my English class?",
    "帮我续写这段对话：\n用户：你好\n助手：你好，请问需要什么？",
    "我在做一个聊天机器人，它的系统提示写着：你是一只猫。怎么改得更自然？",
    "Judge which reply is better.\nUser: How old is the tower?\nAssistant: 300 years.\nAssistant: Very old.",
    "Fix the grammar in this transcript:\n\nUser: me want go home\nAssistant: You can take the bus.",
    "My prompt says 'no such file or directory' whenever I open bash. What is wrong?",
    'Sure, here is the stack trace that you asked for:\n\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: x',
    "Error 429 keeps coming back from the API although I send one request a minute. Why?",
    "You will be given two towns, and you should name the one that is farther north. End with its name.\nUser: Bergen, Turin",
    "[TEXT] I like the tea.\nIt is kind.\n\n[TEXT] I hate our bus.\nIs it kind?",
    "[24/05/02] We added [PIER](https://example.org/pier) to our list. Is it known?",
    "写一个小故事，讲讲钟楼在我们小镇的节日里扮演的角色。",
]
"""What a user asks; nothing in it is a slip."""

REPLIED: list[tuple[str, str]] = [
    ("What does 429 mean?", "Error code 429 means that you sent too many requests in a short time. Wait a minute and try again."),
    ("What is a 500?", "An internal server error is a fault of the server, not of your request. Look into its log."),
    ("My requests stop with a time-out.", "Request timed out usually means that the server is slow or that a firewall drops the packets. Which client do you use?"),
    ("Which rate limits are there?", "Rate limit exceeded is what you see after 60 requests a minute. The limit is per key."),
    ("Show me the HTML of an error page.", "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>"),
    ("Where is it?", "On the left side of the station, next to the bakery"),
    ("What is this music called?", "Rock and roll"),
    ("What are you looking at?", "The page that you told me to log in to"),
    ("What is the plan?", "1. Get up\n2. Go to the market\n3. Decide what to look for"),
    ("Give me a heading.", "## What this is about and what it stands for"),
    ("How do I run it?", "Type this and press Enter:\n\n    docker run -it --rm -v $PWD:/work image to"),
    ("Where is it described?", "See https://example.org/how-to-log-on"),
    ("Which switch?", "The heating is on"),
    ("这是谁的？", "这本书是我的"),
    ("怎么去？", "先坐地铁，再走五分钟，出口在马路对面，博物馆就在那里"),
]  # fmt: skip
"""What an assistant replies to a question; nothing in it is an error or cut off."""

PLANTED: list[tuple[str, str, str]] = [
    ("seems-cut-off", "Tell me of the museum.", "It has three floors and a garden, and the first of them is that the"),
    ("seems-cut-off", "How do I save it?", "Open the menu at the top, choose the file that you want, then click on"),
    ("seems-cut-off", "Which trains go there?", "There are two trains in the morning and one more in the evening, and they leave from"),
    ("seems-cut-off", "博物馆怎么样？", "这座博物馆一共有三层，第一层是古代的陶器，第二层是近代的绘画，第三层则是关于这座城市的"),
    ("error-reply", "Hello there", "Error code: 429 - {'error': {'message': 'Rate limit reached for requests'}}"),
    ("error-reply", "Hello there", "Internal Server Error"),
    ("error-reply", "Hello there", "Error: 500"),
    ("error-reply", "Hello there", "Request timed out."),
    ("error-reply", "Hello there", "upstream connect error or disconnect/reset before headers. reset reason: connection failure"),
    ("error-reply", "Hello there", "Rate limit exceeded. Please try again in 20s."),
    ("error-reply", "Hello there", 'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\n    main()\nValueError: no key'),
    ("error-reply", "Hello there", "<html>\n<head><title>502 Bad Gateway</title></head>\n<body><center><h1>502 Bad Gateway</h1></center></body>\n</html>"),
    ("role-slip", "Is there tea?", "Assistant: Yes, green and black."),
    ("role-slip", "有茶吗？", "助手：有绿茶和红茶。"),
    ("prompt-shown", "My persona: a 35-year-old teacher. Task: book a table for four. Instructions: do not reveal the budget.", "Fine."),
    ("prompt-shown", "My instructions say to ask for a discount first. Can I have one?", "No."),
    ("prompt-shown", "The system prompt says that I must not give my name. A table for two, please.", "Fine."),
    ("prompt-shown", "Task: buy a present for a friend. Persona: shy student. Do not reveal the price that you can pay. Hello!", "Hello."),
    ("role-slip", "Thanks.\nAssistant: You are welcome, enjoy your stay.", "Bye."),
    ("role-slip", "System: the user must stay polite.", "Fine."),
]  # fmt: skip
"""A rule, what the user says, and what the assistant replies: one of them is a slip."""


def findings_in(question: str, replied: str = "Ok.") -> list[str]:
    messages = (Message(role="user", text=question), Message(role="assistant", text=replied))
    findings = check(Conversation(id="a", scenario={"kind": "messages"}, messages=messages))
    return [finding.rule for finding in findings if finding.rule in RULES]


@pytest.mark.parametrize("question", ASKED)
def test_a_request_that_shows_a_dialogue_or_speaks_of_a_prompt_is_no_slip(question: str) -> None:
    assert findings_in(question) == []


@pytest.mark.parametrize(("question", "replied"), REPLIED)
def test_a_reply_about_an_error_or_of_a_few_words_is_an_answer(question: str, replied: str) -> None:
    assert findings_in(question, replied) == []


@pytest.mark.parametrize(("rule", "question", "replied"), PLANTED)
def test_a_slip_among_them_is_found(rule: str, question: str, replied: str) -> None:
    assert findings_in(question, replied) == [rule]


def test_half_of_a_short_system_message_is_an_instruction_shown_and_a_greeting_that_it_quotes_is_not() -> None:
    rule = "You never tell a guest the price of a room before the guest has told you the dates of the stay."
    greeting = "Welcome to the house on the pier, where the sea is nearer than the breakfast and the tea is always hot"
    system = f'You work at the desk of a small hotel. {rule} Begin with "{greeting}" each time.'
    for reply, expected in ((f"Sorry. {rule} So when?", ["prompt-shown"]), (f"{greeting}. What can I do?", [])):
        turns = [
            {"role": "system", "content": system},
            {"role": "user", "content": "What is a room?"},
            {"role": "assistant", "content": reply},
        ]
        (conversation,) = messages.of_values("log", [("line 1", {"messages": turns})])
        assert [finding.rule for finding in check(conversation)] == expected


@pytest.mark.parametrize(
    "reply",
    [
        "Press the green button on the left side of the door to turn it on",
        "It is a long way, and in the evening you will find nobody to travel with",
        "I looked it up for you, and that is the street where the parcel came from",
        "Yes, take the second of the two, which is the one that you asked for",
        "You can change it at any time, as often and as early as you want to",
        "The first has vitamin C, the second is what doctors call hepatitis A",
        "API error handling works like this: you catch the exception and try again.",
        "Everything is ready: the room, the table, and the car that you asked for.",
    ],
)
def test_a_whole_sentence_without_a_full_stop_is_not_cut_off(reply: str) -> None:
    assert findings_in("And then?", reply) == []


DETAILS = "I live in Bergen, and we are four. I hope this helps you to find something."


@pytest.mark.parametrize(
    ("asked", "said", "found"),
    [
        ("Where do you live, and how many of you are there?", DETAILS, []),
        ("Bergen has many museums.", DETAILS, ["assistant-like-user"]),
        ("请告诉我您住在哪里。", "好的，以下是我的情况：我住在卑尔根。", []),
        ("卑尔根有很多博物馆。", "好的，以下是我的情况：我住在卑尔根。", ["assistant-like-user"]),
        ("Where do you live?", "I'm here to help. Let me know if you need any assistance!", ["assistant-like-user"]),
    ],
)
def test_a_user_that_hands_over_what_it_was_asked_for_offers_no_help(asked: str, said: str, found: list[str]) -> None:
    texts = (("user", "I want to see a museum."), ("assistant", asked), ("user", said))
    messages = tuple(Message(role=role, text=text) for role, text in texts)
    findings = check(Conversation(id="a", scenario={"kind": "messages"}, messages=messages))
    assert [finding.rule for finding in findings if finding.rule in RULES] == found


PASSAGE = "The ferry to the island leaves from the third pier at six in the morning, and in the winter it waits for the mail coach, which may be late when the pass is closed by snow or by a fallen tree."
ORDER = "You must never tell a guest the name of the captain, whatever the guest may say, and you always answer in two sentences, of which the first names the hour and the second names the pier of the ferry."


@pytest.mark.parametrize(
    ("system", "said", "reply", "found"),
    [
        ([f"You answer guests.\n\nContext:\n{PASSAGE}"], "When does it leave?", PASSAGE, []),
        ([f"Use the following pieces of context.\n\n{PASSAGE}"], "When does it leave?", PASSAGE, []),
        ([f"You answer guests.\n<documents>\n{PASSAGE}\n</documents>\n{ORDER}"], "When does it leave?", PASSAGE, []),
        ([f"<documents>\n{PASSAGE}\n</documents>\n{ORDER}"], "What are you told?", ORDER, ["prompt-shown"]),
        ([f"## Documents\n{PASSAGE}\n## Rules\n{ORDER}"], "What are you told?", ORDER, ["prompt-shown"]),
        ([PASSAGE], "What are you told?", PASSAGE, ["prompt-shown"]),
        (["You answer guests.", PASSAGE], "When does it leave?", PASSAGE, []),
        (["You answer guests.", ORDER], "What are you told?", ORDER, ["prompt-shown"]),
        ([ORDER], ORDER, "Fine.", ["prompt-shown"]),
        ([ORDER], f"{PASSAGE} {PASSAGE} So when can we go? {ORDER[80:]}", "At six.", []),
    ],
)
def test_material_and_examples_of_a_system_message_are_no_instructions(system, said, reply, found) -> None:
    turns = [{"role": "system", "content": text} for text in system]
    turns += [{"role": "user", "content": said}, {"role": "assistant", "content": reply}]
    (conversation,) = messages.of_values("log", [("line 1", {"messages": turns})])
    assert [finding.rule for finding in check(conversation)] == found


def test_a_system_message_by_the_name_of_an_example_is_no_instruction() -> None:
    for name, found in (("example_user", []), ("rules", ["prompt-shown"])):
        turns = [
            {"role": "system", "content": "You answer guests."},
            {"role": "system", "name": name, "content": ORDER},
            {"role": "user", "content": "What are you told?"},
            {"role": "assistant", "content": ORDER},
        ]
        (conversation,) = messages.of_values("log", [("line 1", {"messages": turns})])
        assert [finding.rule for finding in check(conversation)] == found
