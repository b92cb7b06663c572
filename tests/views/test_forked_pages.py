"""A run of forks on a page: the tree of its futures, and on each conversation what it forks."""

from typing import Any

import duologue
from duologue import views
from duologue.data import Message
from duologue.data.records import Fork, Provenance

FORK = Provenance(cast="desk", forks=Fork(id="t<1>", at=0))


def future(name: str, *texts: str) -> Any:
    roles: Any = ("user", "assistant")
    messages = [Message(role=roles[number % 2], text=text) for number, text in enumerate(texts)]
    return duologue.Conversation(
        id=name, scenario={"kind": "desk"}, messages=tuple(messages), provenance=FORK, stop="max_turns"
    )


def test_futures_stand_together_as_far_as_they_are_equal_and_each_is_a_link() -> None:
    futures = [future("a", "Hi <b>", "One."), future("b", "Hi <b>", "Two.", "So?"), future("c", "Hi <b>", "Two.")]
    page = views.run_page(futures, "forks")
    tree = page[page.index("Futures of t&lt;1&gt; after #0") :]
    assert "#0 user, 3 of 3: Hi &lt;b&gt;" in tree
    assert "#1 assistant, 1 of 3: One." in tree
    assert "#1 assistant, 2 of 3: Two." in tree
    assert all(f">{name}</a>: the maximum number of turns was reached" in tree for name in "abc")
    assert "forks <code>t&lt;1&gt;</code> after #0" in views.conversation_page(futures[0])


def test_a_run_without_forks_has_no_tree() -> None:
    assert "Futures of" not in views.run_page([future("a", "Hi").model_copy(update={"provenance": None})], "plain")
