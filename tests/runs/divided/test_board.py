"""How the workers of a divided run share its budget: together they never have more than is left."""

from duologue.nodes.calls.spending import BudgetPart, Spending
from duologue.runs import Control
from duologue.runs.divided.board import Board
from duologue.runs.engine.reports import WorkerReport

BOUND = 10_000
SHARDS = ("1", "2", "3")


def board_of(bound: int = BOUND, workers: int = len(SHARDS)) -> Board:
    board = Board(Control(Spending(max_tokens=bound)))
    board.workers = workers
    return board


def reported(shard: str, part: BudgetPart | None, tokens: float, *, short: int = 0, worker: str = "") -> WorkerReport:
    report = WorkerReport(worker=worker or shard, short=short)
    if part is not None:
        report.spending.take_part(part)
    report.spending.total.input_tokens = int(tokens)
    return report


def tokens_of(part: BudgetPart | None) -> float:
    assert part is not None
    return part.tokens or 0


def test_parts_grow_with_what_is_spent_and_never_exceed_the_bound_together():
    board = board_of()
    parts = {shard: board.part_of(shard) for shard in SHARDS}
    rounds = 0
    while board.control.cutting is None:
        rounds += 1
        assert rounds < 200
        for shard, part in parts.items():
            spends_all = shard != "3"
            board.take(
                shard, reported(shard, part, tokens_of(part) - 100 if spends_all else 50, short=300 * spends_all)
            )
        before = parts
        board.sum()
        parts = {shard: board.orders().parts[shard] for shard in SHARDS}
        assert sum(map(tokens_of, parts.values())) <= BOUND + 1e-6
        assert all(tokens_of(parts[shard]) >= tokens_of(before[shard]) for shard in SHARDS)
        if parts == before:  # the third has room left, and uses it now
            board.take("3", reported("3", parts["3"], tokens_of(parts["3"]) - 100, short=300))
            board.sum()
            parts = {shard: board.orders().parts[shard] for shard in SHARDS}
    assert sum(map(tokens_of, parts.values())) > 0.99 * BOUND
    assert "the next call, of about 300 tokens, would pass it" in board.control.cutting


def test_a_run_does_not_end_while_a_worker_has_room_left():
    board = board_of(1000, 2)
    parts = {shard: board.part_of(shard) for shard in ("1", "2")}
    for _ in range(50):
        for shard, part in parts.items():
            board.take(shard, reported(shard, part, tokens_of(part) if shard == "1" else 0, short=500 * (shard == "1")))
        board.sum()
        parts = {shard: board.orders().parts[shard] for shard in ("1", "2")}
    assert board.control.cutting is None


def test_a_shard_that_is_given_up_is_not_waited_for():
    board = board_of(1000, 2)
    parts = {shard: board.part_of(shard) for shard in ("1", "2")}
    board.take("2", reported("2", parts["2"], 10))
    board.give_up("2", "it always dies")
    for _ in range(50):
        board.take("1", reported("1", board.orders().parts["1"], tokens_of(board.orders().parts["1"]), short=5000))
        board.sum()
    assert board.control.cutting is not None
    assert tokens_of(board.orders().parts["1"]) <= 990


def test_what_a_worker_spent_that_died_is_not_given_to_the_next():
    board = board_of(1000, 1)
    board.take("1", reported("1", board.part_of("1"), 400))
    for worker in ("again", "and again"):
        assert tokens_of(board.part_of("1")) <= 600
        board.take("1", reported("1", None, 0, worker=worker))
        assert tokens_of(board.orders().parts["1"]) <= 600


def test_without_a_bound_there_are_no_parts():
    board = Board(Control())
    assert board.part_of("1") is None
    board.take("1", reported("1", None, 10**9))
    board.sum()
    assert (board.orders().parts, board.control.cutting) == ({}, None)
