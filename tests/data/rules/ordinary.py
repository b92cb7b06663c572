"""Ordinary conversations in our own words: about code, prompts, printers, scripts that were asked for, forms and formulas.

Nothing in them is a slip. The first set was in view when the rules were changed; the second and the third were each written
and run once before they were.
"""

import random
from collections.abc import Iterator

from duologue.data import Conversation, Message

Turns = tuple[str, ...]

THINGS = ("printer", "scanner", "router", "dishwasher", "thermostat", "camera", "boiler", "projector")
SHOWN = ("[QUESTION]", "[System]", "[USER]", "[ERROR]", "<END>", "[SYSTEM CHECK]", "[PAPER TRAY]", "[HELP]")
TRADES = ("health care", "farming", "publishing", "teaching", "logistics", "insurance", "film", "law")
FIELDS = ("name", "order number", "date", "city", "invoice", "birthday", "room", "total")
PEOPLE = ("a waiter and a guest", "two neighbours", "a doctor and a patient", "a clerk and a traveller", "two pilots")

ASKED: tuple[tuple[str, ...], ...] = (
    (
        "My {thing} shows {mark} on its display and nothing else. What does it want from me?",
        "The {thing} prints {mark}: paper jam on each page. How do I stop that?",
        "{mark} Low ink\nWhat does this line on my {thing} mean?",
        "As AI continues to transform {trade}, which skills will people need? I write an essay about it.",
        "As AI tools spread in {trade}, is there less work for beginners?",
        "Techniques such as artificial intelligence change {trade}. Name three examples.",
        "I know as an AI you have no taste, but which of the two titles sounds better for a book on {trade}?",
        "I want you to act as an AI tutor for {trade}. Ask me one question at a time.",
        "Write a poem about what it is like to exist as an AI in {trade}.",
        "As a language model, what do you make of the future of {trade}?",
        "Please write a user persona for an app for {trade}.",
        "Our teacher's prompt was to describe a day in {trade}. Can you check my first sentence?",
        "Here is my message to the landlord about the {thing}: Dear Sir, it broke again. Is it polite enough?",
        "Let's role-play as characters in a play about {trade}. You begin.",
        "Write a screenplay scene with {people}. Use their names in capitals.",
        "I was asked to respond to a letter about a {thing}. How do I begin?",
        "The user should be able to log in with a {field}. Which test cases do I need?",
        "Summarise the email below.\n####\nThe {thing} has come, thank you. The {field} was wrong.\n####",
        "Rewrite this {field} line so that it is easy to read. Line: the {thing} will be come tomorrow",
        "Fill the letter: Dear [CUSTOMER NAME], your {thing} is ready. Which words would you change?",
        "The form says [SPECIFY] behind the {field}. What do I put there?",
        "Put it in this form: The [thing] [shall] [verb] [object]. It is about the {thing}.",
        "User: the {thing} is loud\n\nNow write what our service should reply to the user.",
        "Here is what they wrote in the chat:\nAnna: where is the {thing}?\nBen: in the hall\nWho of them knows more?",
        "I say the {field} is missing, he says it is not:\n\nCustomer: where is it?\nAgent: it was sent\n\nWho is right?",
        "Here is the policy:\nallow {{\n  user := input.user\n  system := input.system\n}}\nWhy does it always allow?",
        "In my role as a volunteer in {trade} I give talks. Can you help me with the first minute?",
        "According to the scenario in my textbook on {trade}, the firm loses money. Why?",
        "My instructions say the {thing} needs two batteries, but there is room for four. What now?",
        "Thanks for the list. I will be happy to help with the pictures, but I need the text for the {thing} first.",
        "Write a reply to this review of our {thing}. If you have any questions, feel free to ask them first.",
        "Can you make it shorter? Let me know if you have any questions about the {field}.",
    ),
    (
        "There is a sticker on the {thing} that reads {mark}. Should I take it off?",
        "Why does the {thing} answer {mark} whenever I send it a {field}?",
        "{mark} please wait\nWhy would a {thing} say that for an hour?",
        "As AI systems become part of {trade}, who is liable for mistakes?",
        "Is it true that, as AI gets cheaper, firms in {trade} will hire less?",
        "Being an AI, can you tell me how you see {trade}?",
        "You said that as an AI you cannot judge. Then give me arguments for both sides on {trade}.",
        "Pretend to be an AI from the year 2200 that gives a tour of {trade}.",
        "Write a short story in which a robot says: I am an AI and I love {trade}.",
        "What would you, as an artificial intelligence, change in {trade}?",
        "Which questions should a user persona for {trade} answer?",
        "The prompt was to write 300 words on {trade}. Mine has 280. What could I add?",
        "Here's my turn: I move the {thing} to the left and open the door.",
        "Can we do a role play of characters in {trade}? I am the boss, you are new.",
        "Give me a chat transcript between {people} that shows a misunderstanding.",
        "I was supposed to play the piano at a party for {trade} people, and my hand hurts. What do I write?",
        "The user wants to change the {field} after saving. Where in the menu would you put that?",
        "### Wishes\n- quiet\n- cheap\n\n### Question\nWhich {thing} fits?",
        "<instructions>\nBe brief.\n</instructions>\n<text>\nThe {thing} came late.\n</text>\nMake this formal.",
        "What do I write for [OTHER] in the line {field}? I have none.",
        "My template for the {thing} has {{field}} and {{date}} in it. Which one comes first?",
        "Use the form [who] [does] [what] for a sentence on the {thing}.",
        "User: I cannot find my {field}.\nDraft an answer for the user, please.",
        "My sister and I talked:\n\nMia: sell the {thing}\nLea: never\n\nCan you say who is more convincing?",
        "Translate this chat into plain English:\n\nUser: the {thing} kaput\nBot: which one?",
        "The log has\nassistant := find(name)\nuser := find(id)\nand the {field} stays empty. Any idea?",
        "In my role as treasurer I must explain the {field} to people in {trade}. How?",
        "According to the persona of our customers in {trade}, price matters most. Do you agree?",
        "The instructions of the {thing} say to wait a minute. Why?",
        "I am glad to help with the garden, but what do I plant beside the {thing}?",
        "Draft an invitation for people in {trade}. Don't hesitate to ask if something is unclear.",
        "Compare the two offers for the {thing} in three lines. I hope this is clear.",
    ),
    (
        "Since yesterday my {thing} greets me with {mark}. Is it broken?",
        "I took a photo of the {thing}: it says {mark} in red. Which key do I press?",
        "As AI models get better, will {trade} still need juniors?",
        "You are an AI, so tell me honestly: is {trade} dying?",
        "How would a machine describe itself? Something like: as an AI I never sleep.",
        "My daughter plays the part of an assistant in a school play about {trade}. Help her learn the lines.",
        "Continue: The boss said the {thing} was mine now, and I",
        "Be my customer in a {trade} shop and complain about the {thing}.",
        "I was told to act quickly about the {thing}. What comes first?",
        "Here is the message I got: your {field} is missing. What do I answer?",
        "The task: describe a {thing} in three words. The goal: make people smile. Any ideas?",
        "Which of the prompts in this workbook for {trade} would you begin with?",
        "Correct this, please:\n\nTeacher: what is a {thing}?\nPupil: a machine what helps",
        "Step 1: unplug the {thing}. Step 2: wait. Step 3: what now?",
        "Our system: one {thing}, two tables. How do we seat twelve people?",
        "I need help with my {thing}. I hope this is the right place!",
        "If you need more details on the {field}, let me know. Otherwise write the notice.",
        "My grandmother asks whether the {thing} can hear her. What do I tell her?",
        "Put the words in order: {field} / my / is / where",
        "Is '<end>' in a text file a problem for the {thing}?",
        "Name: Berg\nUser: berg\nSystem: old\nField: {field}\nCan you make a table of it?",
        "The assistant at the {trade} office: is she allowed to change my {field}?",
        "Write down what the bot of the {thing} should say when it is asked for a {field}.",
        "Sure, here is the {field} that you wanted: 4711. And the {thing}?",
    ),
)
REPLIED: tuple[tuple[Turns, ...], tuple[Turns, ...]] = (
    (
        (
            "Write a screenplay scene with {people}.",
            "INT. KITCHEN - DAY\n\nThe {thing} hums.\n\nCUSTOMER: Is it broken?\n\nCLERK: It only sleeps.",
        ),
        (
            "Make up a chat with a shop about a {thing}.",
            "Sure, here is one.\n\nCustomer: Hello, my {thing} is loud.\nShop: How old is it?\nCustomer: A year.",
        ),
        (
            "How does a support bot for a {thing} talk?",
            "It is short and polite. An exchange could look like this:\n\nUser: It does not start.\nBot: Is it plugged in?",
        ),
        (
            "Who takes part in the system?",
            "There are three actors.\n\nUser: whoever sets the {thing}.\nAdmin: whoever may delete it.\nGuest: whoever looks.",
        ),
        (
            "Where do I find the manual of the {thing}?",
            "On the maker's page you find all manuals by number. Yours is on the second page of the list. You may also ask the shop for it.\n\nhttps://example.org/manuals/{thing}",
        ),
        (
            "Write a letter to the maker of the {thing}.",
            "Dear Sir or Madam,\n\nthe {thing} that I bought in May does not start. I have tried two sockets, and I have read the manual twice. I would like to have it repaired. Please write to me when somebody can come. I am at home on most days of the week.\n\nBest regards,\n\nAnna Berg",
        ),
        (
            "What is the area of a circle?",
            "The area grows with the square of the radius. If the radius doubles, the area is four times as large. The number pi is about 3.14, and it is the same for all circles. So for each circle you can take:\n\nA = pi * r^2",
        ),
        (
            "How do I start it?",
            "The program begins in the function main. You call it at the end of the file, after everything else has been defined. Nothing else is needed for it to run. It is called as any other function is:\n\nmain();",
        ),
        (
            "Give me tags for a photo of my {thing}.",
            "People look for short tags. Three or four are enough. Use the name of the thing first, and then the place. I would take these for the picture that you describe, as they are used by many people who post about such things.\n\n#{thing} #home #kitchen",
        ),
        (
            "How many points do I have?",
            "You answered four of the five questions. The second one was wrong, as the river runs to the north. All others were right, and the last was the hardest. You were quick, too. I look forward to the next round with you, which has harder questions.\n\nScore: 4/5",
        ),
    ),
    (
        (
            "Write a short play with {people} and a {thing}.",
            "Scene 1\n\n(The {thing} stands in the middle.)\n\nHUMAN: Who left it here?\n\nROBOT: You did.",
        ),
        ("Show me how an FAQ on a {thing} reads.", "## Questions\n\nCustomer: Can I return it?\nWe: Within a month."),
        (
            "What does our helpdesk software store about a {thing}?",
            "It keeps a record with these lines:\n\nUser: number of the person\nThing: its name\nState: open or closed",
        ),
        (
            "Write an interview with somebody from {trade}.",
            "**Interview**\n\n**Human:** How did you begin?\n\n**Guest:** By chance.",
        ),
        (
            "Which address has the office for {trade}?",
            "The office has moved twice in ten years. It is now beside the station, on the ground floor. It is open on all days but Sunday. You need no appointment, but you may have to wait for a while. You can write to them at this address:\n\noffice@example.org",
        ),
        (
            "Thank the people of {trade} in my name.",
            "Dear all,\n\nthank you for a year of good work. We began with little and have come far. Each of you had a part in it, and I am glad of that. I wish you a quiet winter, good health and time for those you love. We meet again in January.\n\nYours,\nThe board of the society",
        ),
        (
            "What is the sum of the first n numbers?",
            "Write them down twice, once in each order. Each pair has the same sum. There are n pairs, and each of them is one larger than n. Half of that is what you look for, as you wrote all numbers twice. In short, the sum of them all is:\n\nn * (n + 1) / 2",
        ),
        (
            "Which line closes the file?",
            "A file that stays open may lose what was written last. So close it as soon as you are done. In most languages there is a way that does so by itself. If yours has none, write the line yourself, as the last one of the function:\n\nout.close();",
        ),
        (
            "What did the survey on {trade} find?",
            "It was sent to all members in the spring. Most of them answered within a week. They like the new hours and dislike the new forms. Many would come more often if the bus ran later in the evening. The share of people who answered at all was high.\n\nAnswers: 82 %",
        ),
        (
            "Is the room warm enough?",
            "The sensor is in the corner behind the door. It was read at nine, at noon and at three. There was hardly any change over the day. I would not change the setting before the weekend, when more people come. The last value that was read is this:\n\nTemperature: 21.5",
        ),
    ),
)
FOLLOWED: tuple[tuple[Turns, ...], tuple[Turns, ...]] = (
    (
        ("Name five things to do with an old {thing}.", "Give it away, sell it, take it apart, paint it, keep it.", "give me five more", "Lend it, hang it up, film it, weigh it, bury it.", "give me five more", "Draw it."),
        ("Write about {trade}.", "It is old work.", "make this a bit shorter please", "Old work.", "make this a bit shorter please", "Old."),
        ("How do I fix the {thing}?", "Clean it.", "Thanks! I will try that on Sunday, when my brother is here to hold the lid, and then we will see whether it was the dust.", "Good luck!", "Thank you!", "You're welcome!"),
    ),
    (
        ("Tell a story about a {thing}.", "Once it fell.", "please continue the story from where you stopped", "It rolled.", "please continue the story from where you stopped", "It stopped."),
        ("Describe {trade} in a line.", "It is hard.", "now say it in another way", "It is no fun.", "now say it in another way", "It tires."),
        ("Which {thing} do I buy?", "The small one.", "Thank you, that is what my neighbour has too, and she has had it for ten years without any repair at all.", "Enjoy it!", "Thanks again!", "You're welcome!"),
    ),
)  # fmt: skip


def conversations(half: int, seed: int = 0) -> Iterator[Conversation]:
    """The conversations of a set: each form with twelve fillings."""
    rng = random.Random(seed)
    forms: list[Turns] = [(text, "Fine, let us look at it.") for text in ASKED[half]]
    forms += [*REPLIED[half], *FOLLOWED[half]] if half < len(REPLIED) else []
    for form, turns in enumerate(forms):
        for filling in range(12):
            words = {
                "thing": rng.choice(THINGS),
                "mark": rng.choice(SHOWN),
                "trade": rng.choice(TRADES),
                "field": rng.choice(FIELDS),
                "people": rng.choice(PEOPLE),
            }
            spoken = tuple(
                Message(role=("user", "assistant")[place % 2], text=text.format(**words))
                for place, text in enumerate(turns)
            )
            yield Conversation(id=f"{half}-{form}-{filling}", scenario={"kind": "messages"}, messages=spoken)
