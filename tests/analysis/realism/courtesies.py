"""Sides for tests, which differ in courtesies."""

QUICK = {"shufflings": 200, "halvings": 3}


def side(talk, count, polite, users=6, **extra):
    words = ["a train to Rome in May", "a hotel near the sea", "one good museum", "a quiet walk by night", "cheap food"]
    return [
        talk(
            f"{'Hello! ' if polite else ''}I want {words[n % 5]} {n}", "Sure.",
            f"{'Thank you so much! And ' if polite else ''}what about {words[(n + 2) % 5]}?", "Yes.",
            user=f"u{n % users}", id=f"{polite}-{n}", **extra,
        )
        for n in range(count)
    ]  # fmt: skip
