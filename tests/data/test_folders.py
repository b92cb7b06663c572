"""Folders for what is written: as deep as the system allows, and said in one line where one cannot be."""

import os
from pathlib import Path

import pytest

from duologue.data import DataError
from duologue.data.formats import jsonfiles
from duologue.data.formats.folders import make_folder


def test_a_folder_is_made_below_more_missing_ones_than_python_calls_itself() -> None:
    jsonfiles.write_text("a/" * 1_100 + "x.txt", "said")
    assert Path("a/" * 1_100 + "x.txt").read_text() == "said"
    for _ in range(1_100):  # rmtree calls itself for each
        os.chdir("a")
    Path("x.txt").unlink()
    for _ in range(1_100):
        os.chdir("..")
        Path("a").rmdir()


def test_a_folder_that_is_there_is_no_error_and_a_file_is_one() -> None:
    make_folder("one/two")
    make_folder("one/two")
    make_folder(".")
    Path("one/file").write_text("")
    for place in ("one/file", "one/file/more/still", "x" * 300 + "/more"):
        with pytest.raises(OSError, match=r"exists|Not a directory|too long"):
            make_folder(place)
    with pytest.raises(DataError, match=r"one/file/more/x: cannot be written \(Not a directory\)"):
        jsonfiles.write_text("one/file/more/x", "")
