"""Servers of the command, each in a fork."""

import time

import pytest


@pytest.fixture
def serving(forks, tmp_path):
    """A function that starts the command, and gives its address and the fork."""
    begun = []

    def start(*arguments, environment=None):
        fork = forks(["serve-user", *arguments], tmp_path, environment)
        begun.append(fork)
        while not fork.stdout.endswith("/v1\n"):
            assert not fork.over, fork.stderr
            time.sleep(0.01)
        return fork.stdout.strip(), fork

    yield start
    for fork in begun:
        if not fork.over:
            fork.kill()
            fork.wait()
