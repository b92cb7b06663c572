"""`--watch`: the page lives beside a run, ends with it, and whatever becomes of it, the run continues."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from duologue.data.formats.detection import CONVERSATIONS
from tests.cli.conftest import duologue  # noqa: F401

TEST = ("test", "--assistant", "slow_agent:agent", "--scenarios", "scenarios.jsonl", "--out", "run", "--watch")


class Watched:
    """A command in a process of its own, and the server that it has started."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.errors = (folder / "errors.txt").open("w")
        command = [sys.executable, "-m", "duologue.cli", *map(str, arguments)]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=self.errors)
        match = self.wait_for(lambda: re.search(r"watch: http://127\.0\.0\.1:(\d+)/\?token=(\S+)", self.told()))
        self.port, self.token = int(match[1]), match[2]
        _, headers, text = self.ask(f"/?token={self.token}")
        self.cookie, self.path = headers["set-cookie"].partition(";")[0], re.search(r"url=([^\"]+)", text)[1]

    def told(self):
        return (self.folder / "errors.txt").read_text()

    def wait_for(self, condition):
        for _ in range(6000):
            if found := condition():
                return found
            time.sleep(0.01)
        raise AssertionError(self.told())

    def ask(self, path, cookie=""):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={"cookie": cookie})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def page(self, name=""):
        return self.ask(self.path + name, self.cookie)[2]

    def is_served(self):
        try:
            self.ask("/")
        except OSError:
            return False
        return True

    def servers(self):
        """Processes that the command has started and that serve a page."""
        lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout.splitlines()
        rows = [line.split(None, 2) for line in lines[1:]]
        return [
            int(pid)
            for pid, parent, command in rows
            if "duologue.studies.live" in command and int(parent) == self.process.pid
        ]

    def close(self):
        for pid in (*self.servers(), self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.errors.close()


@pytest.fixture
def watched(slow_agent):
    begun = []

    def watching(*arguments):
        begun.append(Watched(slow_agent, *arguments))
        return begun[-1]

    yield watching
    for one in begun:
        one.close()


@pytest.mark.heavy
def test_the_page_grows_beside_the_run_and_ends_with_it(watched, slow_agent):
    run = watched(*TEST, "--repeats", 4)
    run.wait_for(lambda: "The run is under way." in run.page())
    assert "0 of 12" in run.page()
    state = json.loads(run.page("state?seen="))
    (slow_agent / "go").touch()
    while not state["leads_to"]:
        state = json.loads(run.page(f"state?seen={state['seen']}"))
    assert "8 of 12 scored conversations succeeded" in run.page("whole")
    assert run.process.wait(300) == 0
    run.wait_for(lambda: not run.is_served())
    assert sorted(path.name for path in (slow_agent / "run").iterdir()) == [
        CONVERSATIONS, "dataset", "failures.jsonl", "manifest.json", "page.html", "prompts.json"
    ]  # fmt: skip


@pytest.mark.heavy
def test_a_run_whose_page_is_killed_goes_on(watched, slow_agent):
    run = watched(*TEST)
    (server,) = run.servers()
    os.kill(server, signal.SIGKILL)
    (slow_agent / "go").touch()
    assert run.process.wait(300) == 0
    assert "Traceback" not in run.told()
    assert len((slow_agent / "run" / CONVERSATIONS).read_text().splitlines()) == 3


@pytest.mark.heavy
def test_a_page_whose_run_is_killed_says_so_and_ends_by_itself(watched, slow_agent):
    run = watched(*TEST)
    run.wait_for(lambda: "The run is under way." in run.page())
    run.process.kill()
    run.process.wait()
    run.wait_for(lambda: "The run was stopped: 3 conversations are missing." in run.page())
    run.wait_for(lambda: not run.is_served())


@pytest.mark.heavy
def test_ctrl_c_ends_the_run_in_order_and_its_page(watched, slow_agent):
    run = watched(*TEST)
    run.wait_for(lambda: "The run is under way." in run.page())
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(300) == 130
    run.wait_for(lambda: not run.is_served())
    assert "--resume" in run.told()


@pytest.mark.heavy
def test_a_second_terminal_watches_a_run_that_another_process_writes(watched, slow_agent):
    run = watched(*TEST, "--repeats", 2)
    run.wait_for(lambda: "The run is under way." in run.page())
    (slow_agent / "second").mkdir()
    second = watched("show", slow_agent / "run", "--watch")
    second.wait_for(lambda: "The run is under way." in second.page())
    (slow_agent / "go").touch()
    assert run.process.wait(300) == 0
    second.wait_for(lambda: "The run has ended." in second.page())
    assert "4 of 6 scored conversations succeeded" in second.page()
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(300) == 0
    second.wait_for(lambda: not second.is_served())


@pytest.mark.heavy
def test_a_divided_run_grows_too(watched, slow_agent):
    run = watched(*TEST, "--processes", 2, "--repeats", 4)
    run.wait_for(lambda: "0 of 12" in run.page())
    (slow_agent / "go").touch()
    run.wait_for(lambda: "12 of 12" in run.page() or "8 of 12 scored" in run.page())
    assert run.process.wait(300) == 0


@pytest.mark.heavy
def test_variants_of_an_ablation_have_a_column_each(watched, slow_agent):
    (slow_agent / "ablation.toml").write_text(
        'cast = "agent_test"\nscenarios = "scenarios.jsonl"\n[settings]\nassistant = "slow_agent:agent"\n'
        '[[variant]]\nname = "first"\n[[variant]]\nname = "second"\nlimits = {max_turns = 2}\n'
    )
    run = watched("ablate", "ablation.toml", "--out", "ablation", "--watch")
    run.wait_for(lambda: run.page().count(">0 of 3</td>") == 2)
    assert ">first</th>" in run.page()
    assert ">second</th>" in run.page()
    state = json.loads(run.page("state?seen="))
    (slow_agent / "go").touch()
    while not state["leads_to"]:
        state = json.loads(run.page(f"state?seen={state['seen']}"))
    assert "all others are compared with first" in run.page("whole")
    assert run.process.wait(300) == 0


def test_a_page_that_cannot_be_served_is_one_line_and_the_run_goes_on(duologue, slow_agent, monkeypatch):  # noqa: F811
    (slow_agent / "go").touch()

    monkeypatch.setattr(sys, "executable", "/none/python")
    code, out, err = duologue(*TEST)
    assert code == 0
    assert "2 of 3 scored conversations succeeded" in out
    assert "--watch: the page cannot be served (No such file or directory); the run continues\n" in err


def test_a_server_that_ends_at_once_is_one_line_and_the_run_goes_on(duologue, slow_agent, monkeypatch):  # noqa: F811
    (slow_agent / "go").touch()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    code, _, err = duologue(*TEST)
    assert code == 0
    assert err.count("--watch: the page cannot be served; the run continues") == 1


def test_show_watch_takes_the_folder_of_a_run_and_nothing_that_it_would_write(duologue, tmp_path):  # noqa: F811
    code, _, err = duologue("show", tmp_path / "none", "--watch")
    assert code == 2
    assert "is not a folder: give the folder of a run" in err
    code, _, err = duologue("show", tmp_path, "--watch", "--out", "x.html", "--id", "a")
    assert (code, "leave --id, --out out" in err) == (2, True)
