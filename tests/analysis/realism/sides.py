"""Sides of a comparison for tests."""

QUICK = {"shufflings": 200, "halvings": 3}
WORDS = ["a train to Rome in May", "a hotel near the sea", "one good museum", "a quiet walk by night", "cheap food"]


def side(
    talk, name, assistants, length=lambda assistant, user: 1, users=20, thanks=lambda assistant, user: False, **extra
):
    """Two conversations of each user, one with each of two assistants, messages `length` times as long."""
    conversations = []
    for user in range(users):
        for assistant in assistants:
            text = f"I want {WORDS[user % 5]} {user} {assistant}" + " and so on" * length(assistant, user)
            more = "Thanks! " if thanks(assistant, user) else ""
            by_assistant = {"assistant": assistant} if assistant else {}
            conversations.append(
                talk(
                    text,
                    "Sure.",
                    f"{more}{text}",
                    "Yes.",
                    user=f"{name}{user}",
                    id=f"{name}{user}{assistant}",
                    **by_assistant,
                    **extra,
                )
            )
    return conversations


def row(report, name):
    return next(row for row in report.measures if row.name == name)
