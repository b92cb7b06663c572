"""The published script's rules as a cast: one test for each of its deviations."""

import pytest

from duologue.data.simquac import released
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.nodes.simquac.roles import GUIDES, INTERESTING
from duologue.nodes.simquac.validators import SUFFIX
from tests.graphs.played import played


async def play(topic, user, assistant, **limits):
    def speaker(lines):
        calls = iter(range(10**6))

        async def speak(state, runtime):
            return {"drafts": [{"text": lines[min(next(calls), len(lines) - 1)]}]}

        return speak

    cast = simquac.cast(as_published=True).replace(user_simulator=speaker(user), assistant=speaker(assistant))
    return await played(cast, simquac.scenario(topic), Limits(**limits))


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ("The last one left in 1968.", "last one left in 1968"),  # an exact copy is stored without its first word
        ("the LAST one left in 1968.", "LAST one left in 1968"),  # in the model's case
        # Any grounded sentence is enough, and the others are dropped; one whose first half is wrong passes with its tail.
        ("The last one left in 1968. Nobody ever knew that at all.", "last one left in 1968"),
        ("Nobody ever knew that. The last one left in 1968.", "The last one left in 1968"),
    ],
)
async def test_what_is_stored_of_an_answer(topic, answer, stored):
    message = (await play(topic, ["Who lived there?"], [answer], max_turns=1)).messages[1]
    assert (message.text, bool(message.spans)) == (stored, True)


@pytest.mark.parametrize("answer", ["I", "the answer", "...", "", "the text does not say"])
async def test_pieces_of_the_declared_words_are_refusals(topic, answer):
    conversation = await play(topic, ["Who?"], [answer], max_turns=1)
    assert conversation.messages[1].text == "I cannot find the answer."
    assert conversation.messages[1].attempts[-1].verdict == "accepted"


async def test_one_word_never_passes_and_the_ungrounded_text_is_stored_after_four_calls(topic):
    conversation = await play(topic, ["Who?"], ["keepers"], max_turns=1)
    answer = conversation.messages[1]
    assert answer.text == "I cannot find the answer. keepers"
    assert [a.verdict for a in answer.attempts] == ["rejected", "rejected", "rejected", "observed"]


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ("Three keepers lived there\nThe last left", None),  # one sentence, of which no tail stands in the section
        ("Nobody ever knew\nThree keepers lived there", "keepers lived there"),  # the tail of the last line
        ("There are\nnone\nat\nall", None),  # the script stops here: fewer spaces than words to drop
    ],
)
def test_a_line_break_ends_no_sentence(answer, stored):
    section = "Three keepers lived there. The last one left in 1968."
    verdict = released.judge(answer, section)
    assert verdict.outcome == ("rejected" if stored is None else "accepted")
    assert verdict.text == (stored or "")


def test_sentences_that_stand_together_in_the_section_lose_one_first_word():
    section = "Three keepers lived there. The last one left in 1968. The light burns still, they say."
    answer = "Nobody said so at all in the long time since then. Three keepers lived there. The last one left in 1968."
    assert released.judge(answer, section).text == "keepers lived there. The last one left in 1968"
    assert released.judge("I think: I cannot find the answer. Sorry.", section).outcome == "refused"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One line\nand another", ["One line\nand another"]),
        ("Mr. Smith moved to Washington, D.C. in Jan. 1980. he left", ["Mr. Smith moved to Washington, D.C. in Jan. 1980. he left"]),
        ("It was P. T. Barnum. He came to the U.S. He stayed", ["It was P. T. Barnum.", "He came to the U.S.", "He stayed"]),
        ('He said "no." Then (so they say.) he left! Why?! Nobody knows', ['He said "no."', "Then (so they say.)", "he left!", "Why?!", "Nobody knows"]),
        ("Well ... perhaps. version 2.0 is out", ["Well ... perhaps.", "version 2.0 is out"]),
    ],
)  # fmt: skip
def test_sentences_end_as_the_scripts_tokenizer_ends_them(text, sentences):
    assert released.sentences(text) == sentences


async def test_the_first_re_prompt_of_the_student_is_the_one_that_failed(topic):
    long = " ".join(["word"] * 26)
    conversation = await play(topic, [long, long, "Who?"], ["The last one left in 1968."], max_turns=1)
    names = [a.prompt.name for a in conversation.messages[0].attempts]
    assert names == ["user/start", "user/start", "user/repair_too_long"]


async def test_no_guide_follows_the_stored_ungrounded_text(topic):
    conversation = await play(topic, ["Who?"], ["keepers"], max_turns=2)
    assert conversation.messages[2].prompt.name == "user/next"
    conversation = await play(topic, ["Who?"], ["I cannot find the answer."], max_turns=2)
    assert conversation.messages[2].prompt.name in GUIDES


async def test_the_hint_for_two_segments_is_stored_with_the_question_and_a_list_in_one_line_passes(topic):
    prompt = {"name": INTERESTING, "digest": "", "text": ""}
    for page, stored in ((prompt, f"1. Who? 2. When? {SUFFIX}"), (None, "1. Who? 2. When?")):
        cast = simquac.cast(as_published=True).replace(
            user_prompt_selector=lambda state, page=page: {"prompt": page},
            user_simulator=lambda state: "1. Who? 2. When?",
        )
        conversation = await played(cast, simquac.scenario(topic), Limits(max_turns=1))
        assert conversation.messages[0].text == stored


async def test_the_reminder_is_missing_on_the_first_question(topic):
    conversation = await play(topic, ["Who?"], ["The last one left in 1968."], max_turns=2)
    assert [m.prompt.text == "" for m in conversation.messages if m.role == "assistant"] == [True, False]


async def test_twelve_exchanges_and_an_end_on_both_sides(topic):
    conversation_record = await played(simquac.cast(as_published=True), simquac.scenario(topic))
    assert (conversation_record.stop, len(conversation_record.exchanges)) == ("max_turns", 12)
    conversation_record = await play(topic, ["a\nb"], ["x"])
    assert conversation_record.stop == "user_rejected"  # the script asks for ever
