"""Labelling that is killed against an endpoint that counts: what is paid twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from duologue.data import Conversation, Message
from duologue.data.recllmsim import combined, shipped_profiles, shipped_tasks
from duologue.data.recllmsim.dataset import write

PAGE = "---\nunit: conversation\nvotes: true\nparts:\n  mood: {values: [good, bad]}\n---\ngood: x. bad: y.\n"
VOTES = 3
TALKS = 5
REPLY = '{"mood": "good"}'


class Killed:
    """The command on a folder of its own: begun, killed, resumed."""

    def __init__(self, forks: Any, endpoint: Any, folder: Path) -> None:
        self.forks, self.endpoint, self.folder = forks, endpoint, folder
        (folder / "pages").mkdir(parents=True)
        (folder / "pages" / "mood.md").write_text(PAGE)
        situations = list(combined(shipped_tasks(), shipped_profiles().texts))[:TALKS]
        talks = [
            Conversation(
                id=f"c{number}",
                scenario=situation.scenario(),
                messages=[Message(role="user", text=f"Where to? ({number})"), Message(role="assistant", text="Rome.")],
            )
            for number, situation in enumerate(situations)
        ]
        write(talks, folder / "source")
        command = "annotate source --labels mood --labels-dir pages --model openai:m --out out --concurrency 1 --yes"
        self.command = command.split()

    def start(self) -> Any:
        begun = (self.folder / "out" / "annotation" / "settings.jsonl").exists()
        return self.forks([*self.command, *["--resume"] * begun], self.folder, self.endpoint.environment)

    def replies(self) -> int:
        """How many replies the command has kept."""
        return (self.folder / "out" / "annotation" / "calls.jsonl").read_bytes().count(b'"reply"')

    @property
    def files(self) -> dict[str, bytes]:
        """The labelled copies with their bytes."""
        files = [path for path in (self.folder / "out").rglob("*.*") if "annotation" not in path.parts]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def finish(self) -> Any:
        """Go on to the end with no kill left; gives the endpoint's counts."""
        self.endpoint.change(kill=None, hold_at=None)
        fork = self.start()
        assert fork.wait(300) == 0, fork.stderr
        finals = [json.loads(text)["mood"]["final"] for name, text in self.files.items() if name.endswith(".json")]
        assert finals == [{"mood": "good"}] * TALKS
        return self.endpoint.counts()


def undisturbed(forks: Any, faulty: Any, folder: Path) -> Killed:
    """The command that nothing killed, at its end."""
    whole = Killed(forks, faulty(reply=REPLY), folder)
    assert whole.finish()["requests"] == VOTES * TALKS
    return whole


@pytest.mark.heavy
def test_a_kill_loses_the_calls_that_are_under_way_and_no_reply_that_came(
    forks: Any, faulty: Any, tmp_path: Path
) -> None:
    run = Killed(forks, faulty(reply=REPLY, latency=0.01), tmp_path / "run")
    for more in (2, 5):
        answered = run.endpoint.counts()["answered"] + more
        run.endpoint.change(kill=None, hold_at=answered)
        fork = run.start()
        run.endpoint.until(lambda counts, fork=fork: fork.over or counts["held"] > 0)
        run.endpoint.until(lambda counts, all=answered: run.replies() == counts["answered"] == all)
        fork.kill()
        assert fork.wait() == -9
        run.endpoint.until(lambda counts: counts["in_flight"] == 0)
    counts = run.finish()
    assert counts["answered"] == VOTES * TALKS
    assert counts["repeats"] == 0
    assert run.files == undisturbed(forks, faulty, tmp_path / "whole").files


@pytest.mark.heavy
@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_a_kill_while_a_reply_comes_pays_at_most_the_votes_under_way_again(
    forks: Any, faulty: Any, tmp_path: Path, when: str
) -> None:
    run = Killed(forks, faulty(reply=REPLY), tmp_path / "run")
    fork = run.start()
    run.endpoint.change(kill={"pid": fork.pid, "at": 7, "when": when})
    assert fork.wait() == -9, fork.stderr
    assert run.finish()["repeats"] <= VOTES
    assert run.files == undisturbed(forks, faulty, tmp_path / "whole").files
