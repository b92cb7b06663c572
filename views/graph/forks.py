"""The tree of the futures of a forked conversation: they stand together as far as they are equal."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ...data.records import Conversation, begin, stop_in_words

MOST = 200
"""Most futures in a tree."""


def tree_html(conversations: Sequence[Conversation], links: Mapping[str, str]) -> str:
    """The futures of each forked conversation as nested lists, from its last kept message on; empty without forks.

    `links`: the address of each conversation by its id.
    """
    places: dict[tuple[str, int], list[Conversation]] = {}
    for conversation in conversations[:MOST]:
        if (forks := conversation.forks) is not None and not forks.answers_only:
            places.setdefault((forks.id, forks.at), []).append(conversation)
    trees = [
        Markup("<h2>Futures of {} after #{}</h2>{}").format(name, at, _branch(futures, at, links))
        for (name, at), futures in places.items()
    ]
    return str(Markup("").join(trees))


def _branch(futures: Sequence[Conversation], number: int, links: Mapping[str, str]) -> Markup:
    """The messages of this number, each with what follows it; futures that have ended are links."""
    following: dict[tuple[str, str], list[Conversation]] = {}
    items = Markup("")
    for future in futures:
        if number < len(future.messages):
            message = future.messages[number]
            following.setdefault((message.role, message.text), []).append(future)
        else:
            line = Markup('<li><a href="{}">{}</a>: {}</li>')
            items += line.format(links.get(future.id, ""), future.id, stop_in_words(future.stop))
    for (role, text), group in following.items():
        line = Markup("<li>#{} {}, {} of {}: {}{}</li>")
        items += line.format(number, role, len(group), len(futures), begin(text), _branch(group, number + 1, links))
    return Markup("<ul>{}</ul>").format(items)
