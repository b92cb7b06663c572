"""The platform's copy of a run against what was sent: each thing that is wrong with it is a line."""

import json

import pytest

from duologue.hosts.trec.journal import TrackStep
from duologue.hosts.trec.submission import problems_of


def sent(*texts):
    requests = [{"run_id": "r", "user_utterance": {"text": text, "conversation_id": "c"}} for text in texts]
    start = TrackStep(number=0, kind="sent", request={"run_id": "r"})
    return [start, *(TrackStep(number=n, kind="sent", request=one) for n, one in enumerate(requests, start=1))]


def copy(*texts, **more):
    return "".join(json.dumps({"run_id": "r", "chat_messages": [{"text": text}], **more}) + "\n" for text in texts)


@pytest.mark.parametrize(
    ("dump", "problems"),
    [
        (copy("Talks?", "More?", "More?"), []),
        (copy("More?", "Talks?", "Alpha.", "More?"), []),
        ("\n \n", ["the platform's copy of the run is empty"]),
        (copy("Talks?", "More?"), ["1 of 3 messages of the user are not in the platform's copy"]),
        (copy("Talks?", "More?", "More?") + "{half", ["submission.jsonl: line 4: is not JSON"]),
        (
            copy("Talks?", "More?") + copy("More?", run_id="other"),
            ["submission.jsonl: line 3: belongs to the run 'other'"],
        ),
    ],
)
def test_what_is_wrong_with_the_copy_is_named_with_its_line(dump, problems):
    assert list(problems_of(dump, sent("Talks?", "More?", "More?"), "r")) == problems


def test_a_message_without_a_text_is_a_problem_even_if_it_is_there():
    assert list(problems_of(copy("Talks?", " "), sent("Talks?", " "), "r")) == ["1 message of the user has no text"]
