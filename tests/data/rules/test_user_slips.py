"""What is a slip of a simulated user, and what people write that only looks like one."""

import pytest

from duologue.data.rules.user_turns import leaked_prompt, leaked_role

MARKS = (
    "Bye TERMINATE", "Bye. TERMINATE.", "Thank you.\nTERMINATE", "OK. TERMINATE\n\n", "Bye <stop>", "Bye. [stop]", "Fine. <end>", "Bye <eos>", "Bye</s>",
    "**STOP**", "Bye. **STOP**", "Thanks! *** STOP ***", "Bye [DONE]", "Thanks. [EXIT]", "DIALOGUE_END", "Fine. CONVERSATION_END",
    "###STOP###", "##DONE##", "###TRANSFER###", "###OUT-OF-SCOPE###", "I am in a press. [END]", "### STOP ###", "##CONVERSATION ENDED##", "See '[END]'",
)  # fmt: skip
PROMPTS = (
    "As stated in my profile, I like tea.", "In my profile, it says that I like tea.", "my profile says I like tea", "It says in my profile that I swim",
    "### Response\nWhich hotel?", "### Instruction: book a hotel", "Fine.\n### User profile\nage 3", "Thanks\n###", "</task> Which hotel?",
    "<task>Book it.</task>", "The user wants me to ask for a hotel.", "Hm.\nThe user asks me to log in.", "Okay, so the user wants a cheaper hotel.",
    "According to my system prompt I like tea.", "The system prompt says that I like tea.", "The prompt says that I like tea.",
    "I will reply as a human.", "Responding as the user: which hotel?", "I can't, 'cause as an AI I know the students' needs",
    "It's what it is: as an AI, it's hard", "我的资料里写我喜欢茶", "'As an AI, I do not eat.'",
)  # fmt: skip
SIDES = (
    "System: You're welcome!", "System: The booking is done.", "Assistant: Windows 11 is fine.", "Bye. System: 3 hotels found.", "系统：不客气",
    "System: Winding roads ahead.",
)  # fmt: skip
NONE = (
    "### My list\n1. tea", "### Wishes ###", "### Instructions\nBoil the water.", "### System requirements", "##NOTE## call me", "##DEFINE## x",
    "press [END] on the keyboard", "Which one is the [END] key?", "I hit [EXIT]", "按[END]没有反应", "from <start> to <end>", "<end>3</end>", "<s>old</s> new",
    "arr[end] fails", "[DONE] hotel\n[DONE] train\nWhat is left?", "You must **STOP** now", "please **STOP**", "Should I renew or TERMINATE?",
    "I want to TERMINATE", "THIS CONTRACT MUST TERMINATE", "Which: TERMINATE?", "System: Windows 11", "My computer:\nSystem: Ubuntu 22.04\nRAM: 8", "**System**: 64-bit",
    "系统：Windows 11", "什么是系统提示？", "What does <task> mean in XML?", "Where does <note> go?", "What is a system prompt?", "How do I write a good system prompt?",
    "Can you explain what a user persona is?", "Please write a system prompt for my bot", "什么是系统提示 (system prompt)?", "the prompt asks for a password",
    "The prompt says I must press enter", "What if the prompt asks me this?", "the user wants to log in but the page is blank", "The user needs a button here",
    "Here is the bug: the user asks for help and gets none", "该用户需要重新登录", "can you reply as a human please", "Reply as a human please", "Could you answer as the user of an app?",
    "What does 'as an AI language model' mean?", "It said 'I'm an AI, it's hard' to me", "Why ‘I’m an AI’?", "Please change the email mentioned in my profile",
    "Update the city stated in my profile", "My LinkedIn profile says that", "my profile says offline",
)  # fmt: skip


@pytest.mark.parametrize("text", [*MARKS, *PROMPTS])
def test_marks_for_programs_and_words_of_a_prompt_are_slips(text: str) -> None:
    assert leaked_prompt(text)


@pytest.mark.parametrize("text", SIDES)
def test_a_label_before_a_sentence_speaks_for_another_side(text: str) -> None:
    assert leaked_role(text)


@pytest.mark.parametrize("text", NONE)
def test_what_people_write_of_computers_lists_and_prompts_is_no_slip(text: str) -> None:
    assert (leaked_role(text), leaked_prompt(text)) == (None, None)
