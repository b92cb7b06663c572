"""Reasons of failures: those that say the same are one, with how many conversations failed for it."""

from duologue.runs.folder.failure_reasons import grouped


def test_reasons_come_by_their_number_with_the_first_as_it_was_said():
    failed = {"a1": "timed out", "b2": "status 401", "c3": "status 401"}
    assert [(one.text, one.ids, one.same) for one in grouped(failed)] == [
        ("status 401", ("b2", "c3"), True),
        ("timed out", ("a1",), True),
    ]


def test_ids_numbers_and_quoted_texts_make_no_reason_of_their_own():
    missing = "calls.jsonl: has no call of user in turn {}, attempt 1 of conversation {} with what is sent now: message 1 (human) differs at character {}: was {!r}, now {!r}: record the run again"
    failed = {
        f"{number}e9{number}abcdef": missing.format(number, f"{number}e9{number}abcdef", number * 7, old, 'Lamp "4"')
        for number, old in enumerate(("a place", "it's one", 'say "so"', "x" * 40))
    }
    (one,) = grouped(failed)
    assert (len(one.ids), one.same, one.text) == (4, False, next(iter(failed.values())))


def test_the_status_of_an_endpoint_and_the_side_stay_apart():
    reasons = [
        "status 401",
        "status 503",
        "the user said nothing",
        "the assistant wrote nothing",
        "waited 3 s",
        "waited 12.5 s",
    ]
    assert [len(one.ids) for one in grouped({f"id{n}": line for n, line in enumerate(reasons)})] == [2, 1, 1, 1, 1]


def test_ids_of_any_digits_and_places_of_any_number_are_one_reason():
    missing = "calls.jsonl: has no call of user in turn 1, attempt 1 of conversation {} with what is sent now: message 1 (system) differs at character {}: was {!r}, now {!r}: record the run again"
    failed = {
        name: missing.format(name, character, old, "a very long text"[:number])
        for number, (name, character, old) in enumerate(
            (
                ("e04855dcdd7a507d", 412, "…ask 'why' of"),
                ("884e70804809e05d", 88, "…it's one"),
                ("0000000000000000", 503, 'the "place"'),
                ("abcdefabcdefabcd", 1000, "’tis"),
            )
        )
    }
    assert [len(one.ids) for one in grouped(failed)] == [4]
    cut_off = {name: line[: -30 - number] for number, (name, line) in enumerate(failed.items())}
    assert [len(one.ids) for one in grouped(cut_off)] == [4]
