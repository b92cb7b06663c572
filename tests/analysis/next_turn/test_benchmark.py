"""The next-turn benchmark: similarity, acts, baselines and the table, by values that a reader can compute."""

import json
from statistics import fmean

import pytest

from duologue.analysis.next_turn import Benchmark, NextTurnReport, chrf, write
from duologue.analysis.next_turn.report import ProbedNextTurnReport
from duologue.data import Conversation, Message
from duologue.data.next_turns import NextTurn, moments_of
from duologue.errors import DataError, SettingError


def talk(user, *turns, task="trip", number=0, **more):
    """A conversation of these turns, each answered; the user left after the last reply."""
    messages = [
        message
        for turn in turns
        for message in (Message(role="user", text=turn), Message(role="assistant", text=f"About {turn}: yes."))
    ]
    scenario = {"kind": "talk", "task": task, "user": user, "task_context": f"Plan {task}.", "number": number}
    return Conversation(id=f"{user}-{task}-{number}", scenario=scenario, messages=messages, **more)


@pytest.fixture
def people():
    """Twelve people, a conversation each, of one task."""
    places = ["Rome", "Oslo", "Lima", "Bonn", "Cork", "Nice", "Graz", "Bern", "Kyiv", "Riga", "Bari", "Lyon"]
    return [
        talk(f"u{n}", f"I want to see {place}.", f"Is {place} far away?", *["Thanks!"] * (n % 2))
        for n, place in enumerate(places)
    ]


def always(benchmark, text="Is that so?", stopped=False):
    return [NextTurn(id=one.key, key=one.key, text=text, stopped=stopped) for one in benchmark.moments]


def row(report, name):
    (match,) = [line for line in report.rows if line.name == name]
    return match


def reported(benchmark, embed=None, **predictions):
    return benchmark.report(benchmark.judged(predictions, embed))


def test_each_turn_of_a_user_and_the_end_are_moments_and_messages_in_a_row_are_one_turn():
    roles_and_texts = [("user", "a"), ("user", "b"), ("assistant", "c"), ("user", "d"), ("assistant", "e")]
    messages = [Message(role=role, text=text) for role, text in roles_and_texts]
    one = Conversation(id="1", scenario={"kind": "talk"}, messages=messages)
    assert [(moment.turn, moment.text, len(moment.before), moment.ended) for moment in moments_of([one])] == [
        (0, "a\nb", 0, False), (1, "d", 3, False), (2, "", 5, True),
    ]  # fmt: skip
    unanswered = one.model_copy(update={"messages": one.messages[:-1]})
    assert [moment.ended for moment in moments_of([unanswered])] == [False, False]


def test_a_goodbye_that_is_not_published_is_the_end_and_a_cut_off_conversation_has_none():
    goodbye = Message(role="user", text="Thank you, goodbye.", stored=False)
    whole = talk("u", "a", "b")
    ended = whole.model_copy(update={"messages": (*whole.messages, goodbye), "stop": "user_ended"})
    assert [moment.text for moment in moments_of([ended])] == ["a", "b", ""]
    cut = whole.model_copy(update={"stop": "max_turns"})
    assert [moment.ended for moment in moments_of([cut])] == [False, False]


def test_the_persons_own_row_scores_1_everywhere(people):
    own = row(
        reported(Benchmark.of(people), embed=lambda texts: [[float(len(text)), 1.0] for text in texts]), "the person"
    )
    assert {name: estimate.value for name, estimate in own.scores.items()} == dict.fromkeys(
        ("chrf", "first", "later", "words", "embedding", "acts", "ended", "stayed"), 1.0
    )
    assert set(own.by_act.values()) == {1.0}
    assert (own.turns, own.ends, own.failed) == (30, 12, 0)


def test_a_user_that_always_says_the_same_gets_the_mean_over_users_of_its_chrf(people):
    benchmark = Benchmark.of(people)
    same = row(reported(benchmark, same=always(benchmark)), "same")
    of_users = [
        fmean(chrf("Is that so?", message.text) for message in one.messages if message.role == "user") for one in people
    ]
    assert same.scores["chrf"].value == pytest.approx(fmean(of_users))
    assert same.scores["chrf"].low < fmean(of_users) < same.scores["chrf"].high
    assert (same.scores["ended"].value, same.scores["stayed"].value) == (0.0, 1.0)


def test_by_hand_one_user_that_says_ab_to_people_who_say_abc_and_xyz():
    benchmark = Benchmark.of([talk("one", "abc"), talk("other", "xyz"), talk("other", "abc", number=1)])
    ab = row(reported(benchmark, ab=always(benchmark, "ab")), "ab")
    assert ab.scores["chrf"].value == pytest.approx((7 / 11 + (0 + 7 / 11) / 2) / 2)  # 5 * 7/12 / (4 + 7/12) = 7/11
    assert ab.scores["chrf"].low is None
    assert "No interval: there are 2 users, it needs 10." in reported(benchmark).notes


def test_a_user_that_always_leaves_ended_with_everyone_and_stayed_with_nobody(people):
    benchmark = Benchmark.of(people)
    leaves = row(reported(benchmark, leaves=always(benchmark, "", stopped=True)), "leaves")
    assert (leaves.scores["ended"].value, leaves.scores["stayed"].value, leaves.scores["chrf"].value) == (1.0, 0.0, 0.0)
    assert leaves.silent == 0
    assert row(reported(benchmark, mute=always(benchmark, "")), "mute").silent == 30


def test_every_user_has_the_same_weight_however_much_they_say():
    talks = [talk("many", *["abc"] * 9), talk("few", "xyz")]
    benchmark = Benchmark.of(talks)
    same = row(reported(benchmark, same=always(benchmark, "abc")), "same")
    assert same.scores["chrf"].value == pytest.approx(0.5)


def test_the_floor_is_another_persons_turn_at_the_same_place_and_never_ones_own(people):
    people += [talk("u0", "my second talk", "goes on", number=1)]
    benchmark = Benchmark.of(people)
    (floor,) = [line for line in benchmark.judged({}) if line.name == "another person"]
    assert len(floor.turns) == len(benchmark.moments)
    for turn in floor.turns:
        user, place = turn.moment.conversation.scenario["user"], turn.moment.turn
        others = [one for one in people if one.scenario["user"] != user]
        texts_of_others = [[message.text for message in one.messages if message.role == "user"] for one in others]
        assert turn.next_turn.text in [texts[min(place, 2)] for texts in texts_of_others if len(texts) > min(place, 2)]
    again = [
        turn.next_turn
        for line in Benchmark.of(people).judged({})
        if line.name == "another person"
        for turn in line.turns
    ]
    assert again == [turn.next_turn for turn in floor.turns]
    other = [
        turn.next_turn
        for line in Benchmark.of(people, seed=1).judged({})
        if line.name == "another person"
        for turn in line.turns
    ]
    assert other != again


def test_where_nobody_else_speaks_about_the_task_the_floor_is_silent_about_it_and_says_so(people):
    report = reported(Benchmark.of([*people, talk("alone", "one", task="knitting")]))
    assert "another person: no person to draw from at 2 of 44 places." in report.notes
    assert row(report, "another person").turns == 30


def test_the_repeat_row_says_the_users_own_last_turn(people):
    (repeats,) = [line for line in Benchmark.of(people).judged({}) if line.name == "repeats itself"]
    texts = {(turn.moment.conversation.id, turn.moment.turn): turn.next_turn.text for turn in repeats.turns}
    assert [texts["u1-trip-0", turn] for turn in range(4)] == [
        "",
        "I want to see Oslo.",
        "Is Oslo far away?",
        "Thanks!",
    ]


def test_a_published_user_is_one_about_the_same_context_else_about_the_same_task(people):
    published = [talk("sim", "I would love Rome!", "So kind!", task="trip"), talk("sim", "No.", task="knitting")]
    report = reported(Benchmark.of(people, published))
    published_row = row(report, "published")
    assert published_row.turns == 30
    assert published_row.kind == "published"
    published = [one.model_copy(update={"scenario": one.scenario | {"task_context": "Else."}}) for one in published]
    notes = reported(Benchmark.of(people, published)).notes
    assert any("42 of 42 places" in note and "same task" in note for note in notes)


def test_a_moment_that_failed_counts_in_no_mean_and_its_reason_is_told(people):
    benchmark = Benchmark.of(people)
    turns = always(benchmark)
    whole = row(reported(benchmark, same=turns), "same")
    dead = [one.model_copy(update={"text": "", "failure": "user_simulator: no connection"}) for one in turns]
    report = reported(benchmark, same=[*dead[:3], *turns[3:]], dead=dead)
    assert row(report, "same").failed == 3
    assert row(report, "same").scores["chrf"].value != whole.scores["chrf"].value
    assert row(report, "dead").scores["chrf"].value is None
    assert row(report, "dead").failure == "user_simulator: no connection"
    assert row(report, "the person").scores["chrf"].value == 1.0
    assert report.table().rows[-1][2:4] == (None, None)


def test_a_row_is_measured_against_the_floor_at_the_turns_that_both_have(people):
    report = reported(Benchmark.of(people))
    own, floor = row(report, "the person"), row(report, "another person")
    assert floor.scores["chrf"].above is None
    assert own.scores["chrf"].above == pytest.approx(1 - floor.scores["chrf"].value)
    assert own.scores["chrf"].above_low < own.scores["chrf"].above < own.scores["chrf"].above_high
    lines = {(line[0], line[1]): line[2:] for line in report.by_score().rows}
    assert lines["repeats itself", "chrF"][0] == 12
    assert ("the person", "chrF") not in lines
    assert lines["another person", "chrF"][4] is None


def test_the_parts_of_the_people_are_those_of_compare_and_never_meet(people):
    from duologue.analysis.realism import part_of

    parts = {name: Benchmark.of(people, part=name) for name in ("tune", "test")}
    users = {
        name: {moment.conversation.scenario["user"] for moment in benchmark.moments}
        for name, benchmark in parts.items()
    }
    assert users["tune"] & users["test"] == set()
    assert all(part_of(user) == name for name, of_part in users.items() for user in of_part)
    marked = [
        talk(user, "marker " + user) if part_of(user) == "tune" else talk(user, "plain") for user in map(str, range(20))
    ]
    drawn = [turn.next_turn.text for line in Benchmark.of(marked, part="test").judged({}) for turn in line.turns]
    assert not any("marker" in text for text in drawn)


def test_a_limit_draws_conversations_by_the_seed_and_changes_no_score(people):
    whole, few = Benchmark.of(people), Benchmark.of(people, limit=4, seed=0)
    assert len({moment.number for moment in few.moments}) == 4
    assert {moment.number for moment in few.moments} != {
        moment.number for moment in Benchmark.of(people, limit=4, seed=5).moments
    }
    scores = {turn.moment.key: turn.scores for turn in whole.judged({"same": always(whole)})[-1].turns}
    for turn in few.judged({"same": always(few)})[-1].turns:
        assert turn.scores == scores[turn.moment.key]


def test_conversations_without_a_user_are_refused_in_one_line():
    with pytest.raises(DataError, match="no turn of a user"):
        Benchmark.of([Conversation(id="1", scenario={}, messages=[Message(role="assistant", text="Hello")])])


def test_an_embedding_is_asked_for_each_text_once(people):
    requests = []

    def embed(texts):
        requests.extend(texts)
        return [[float(text.count("a")), 1.0] for text in texts]

    benchmark = Benchmark.of(people)
    same = row(reported(benchmark, embed=embed, same=always(benchmark)), "same")
    assert len(requests) == len(set(requests))
    assert 0 < same.scores["embedding"].value < 1


def test_files_hold_each_turn_with_its_scores(people, tmp_path):
    benchmark = Benchmark.of(people)
    rows = benchmark.judged({"same": always(benchmark)})
    report = benchmark.report(rows)
    paths = write(report, rows, tmp_path / "new" / "out")
    assert [path.name for path in paths] == ["next_turn.json", "turns.jsonl"]
    turns = [json.loads(line) for line in paths[1].read_text().splitlines()]
    assert len(turns) == 4 * 42
    assert turns[0]["person"] == turns[0]["said"] == "I want to see Rome."
    assert turns[0]["scores"]["chrf"] == 1.0
    assert {"row", "conversation", "user", "turn", "stopped", "rejected", "failure"} < set(turns[0])
    assert type(report).model_validate_json(paths[0].read_text()) == report


def test_the_floor_draws_a_user_first_so_that_nobody_stands_for_the_others_by_having_many_conversations():
    many = [talk("many", "said by one", number=number) for number in range(40)]
    others = [talk(f"other {number}", "said by another") for number in range(9)]
    wishes = [talk(f"asked {number}", "a wish") for number in range(200)]
    (floor,) = [line for line in Benchmark.of([*many, *others, *wishes]).judged({}) if line.name == "another person"]
    texts = [turn.next_turn.text for turn in floor.turns if turn.moment.conversation.id.startswith("asked")]
    assert len(texts) == 400
    assert texts.count("said by one") < 0.03 * len(texts)  # a user of 209 others; by conversations it were 40 of 248


def test_rows_are_compared_at_the_turns_that_all_of_them_have(people):
    benchmark = Benchmark.of(people)
    turns = always(benchmark)
    hard = [number for number, one in enumerate(benchmark.moments) if one.conversation.id == "u0-trip-0"]
    dead = [
        one.model_copy(update={"text": "", "failure": "no connection"}) if number in hard else one
        for number, one in enumerate(turns)
    ]
    report = reported(benchmark, whole=turns, dead=dead)
    assert row(report, "whole").scores == row(report, "dead").scores
    assert {line.turns for line in report.rows} == {28}
    assert row(report, "dead").failed == len(hard) == 3
    assert "Means are over the 39 of 42 places at which rows could be asked." in report.notes


def test_a_row_with_less_than_half_of_the_turns_takes_none_from_the_others(people):
    benchmark = Benchmark.of(people)
    turns = always(benchmark)
    dead = [one.model_copy(update={"text": "", "failure": "no connection"}) for one in turns]
    report = reported(benchmark, whole=turns, dead=[*turns[:20], *dead[20:]])
    assert (row(report, "whole").turns, row(report, "dead").failed) == (30, 22)
    assert "dead: means over only 20 of these, so not to be compared with the others." in report.notes
    assert not any(note.startswith("Means are over") for note in report.notes)


def test_a_published_user_of_a_run_on_these_people_stands_at_the_person_whose_scenario_it_has(people):
    from duologue.data.identity import digest

    def simulated(one, text):
        origin = {"id": one.id, "scenario": digest(one.scenario), "user": one.scenario["user"]}
        return talk("sim", text, extra={"stored": origin})

    published = [simulated(one, f"for {one.id}") for one in people]
    (published_row,) = [line for line in Benchmark.of(people, published).judged({}) if line.name == "published"]
    assert len(published_row.turns) == 42
    assert all(turn.next_turn.text == f"for {turn.moment.conversation.id}" for turn in published_row.turns)


def test_what_users_made_from_people_say_is_a_row_among_the_baselines(people):
    benchmark = Benchmark.of(people)
    rows = benchmark.judged({"mine": always(benchmark)}, retrieval_based=always(benchmark, "Is it far?", stopped=None))
    report = benchmark.report(rows)
    assert [line.name for line in report.rows][2:] == ["repeats itself", "made from people", "mine"]
    retrieval_based = row(report, "made from people")
    assert (retrieval_based.kind, retrieval_based.scores["ended"].value) == ("baseline", None)


def test_a_probe_is_the_turn_before_which_that_per_cent_of_the_turns_lie():
    talks = [talk(f"u{n}", *(f"wish {turn}" for turn in range(count))) for n, count in enumerate((10, 4, 1))]
    benchmark = Benchmark.of(talks).at((90, 30, 60, 30))
    assert benchmark.probes == (30, 60, 90)
    places: dict[int, list[int]] = {}
    for moment in benchmark.moments:
        places.setdefault(moment.number, []).append(moment.turn)
    assert places == {0: [3, 6, 9], 1: [1, 2, 3], 2: [0]}
    report = benchmark.report(benchmark.judged({}))
    assert isinstance(report, ProbedNextTurnReport)
    assert [next(row.turns for row in report.by_probe[probe] if row.kind == "person") for probe in (30, 60, 90)] == [
        3,
        3,
        3,
    ]
    assert report.ends == 0
    assert report.tables()[-1].title == "By place in the conversation"


def test_without_probes_all_turns_and_ends_are_there_and_a_wrong_one_is_refused():
    benchmark = Benchmark.of([talk("u", "one", "two")])
    assert benchmark.at(()) is benchmark
    assert type(benchmark.report(benchmark.judged({}))) is NextTurnReport
    with pytest.raises(SettingError, match="from 0 to 99, not 100"):
        benchmark.at([100])
