"""`duologue trec`: what its line gets wrong."""

import pytest


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
