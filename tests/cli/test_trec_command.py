"""`duologue trec`: what its line gets wrong, and its exit codes."""

import pytest

from duologue.hosts import trec


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("--url", "ftp://h", "--run-id", "a"), 2, "is not an address: write https://HOST"),
        (("--url", "https://u:p@h", "--run-id", "a"), 2, "give the address of h without credentials: use TREC_TOKEN"),
        (("--url", "http://127.0.0.1:9", "--run-id", "a"), 1, "127.0.0.1:9, task2/run/start cannot be reached"),
        (("--url", "http://h", "--run-id", "a", "--behaviour", "kind"), 2, "kind"),
        (("--run-id", "a"), 2, "--url"),
    ],
)
def test_a_wrong_line_is_one_line(duologue, monkeypatch, words, code, line):
    monkeypatch.setattr("duologue.hosts.trec.protocol.PAUSES", ())
    ended, _, err = duologue("trec", "task2", *words)
    assert ended == code
    assert line in err
    assert "u:p" not in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("problems", "code"), [((), 0), (("1 of 6 messages are not in the copy",), 1)])
def test_a_problem_of_the_copy_is_printed_and_decides_the_exit_code(duologue, monkeypatch, problems, code):
    counts = {"conversations": 2, "messages": 6, "ended_by_user": 1, "rejected": 3}
    report = trec.TrackReport(run_id="a", task="task2", problems=problems, **counts)
    monkeypatch.setattr(trec, "play", lambda platform, **settings: report)
    ended, out, _ = duologue("trec", "task2", "--url", "http://h", "--run-id", "a")
    assert ended == code
    assert out.splitlines()[1:-1] == list(problems)
    assert out.startswith("6 messages in 2 conversations; the user ended 1; 3 drafts were rejected\n")
