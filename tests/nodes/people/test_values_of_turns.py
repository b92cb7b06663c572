"""Values in people's turns: a user says those that it knows, and nobody says another person's."""

import pytest

from tests.nodes.people.donors import of_user, simulate, talk


def test_a_turn_with_a_value_that_is_not_of_the_task_gives_way_to_another():
    donors = [
        talk("I have 5 days in May, what is there?", "Much.", user="ann"),
        talk("What is there to see?", "Much.", user="bob"),
    ]
    for goal, said in (("a trip of 5 days", donors[0]), ("a trip of 3 days", donors[1])):
        assert of_user(simulate(donors, f"{goal} in May: what is there?")) == [said.messages[0].text]


@pytest.mark.parametrize(
    "own", ["My order number is 4711.", "Call 0171 2345678.", "I am ann@host.example.", "It is booking ZZ7777."]
)
def test_a_turn_with_somebodys_own_value_is_sent_to_nobody(own):
    donor = talk("Cancel my order.", "Details?", f"Sure. {own} Thank you!", "Done.")
    conversation = simulate([donor], "Cancel my order.", assistant=lambda messages: "Yes?")
    assert of_user(conversation) == ["Cancel my order."]
    assert own not in str(conversation.model_dump())
