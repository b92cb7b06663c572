"""Folders for what is written: made as far as they are missing, and one line where one cannot be."""

from pathlib import Path

import pytest

from duologue.data import DataError
from duologue.data.files import json_files
from duologue.data.files.folders import make_folder


def test_more_folders_inside_each_other_than_python_can_list_are_not_made() -> None:
    with pytest.raises(DataError, match=r"x.txt: cannot be written \(File name too long\): choose another place"):
        json_files.write_text("a/" * 1_000 + "x.txt", "said")
    assert not Path("a").exists()
    json_files.write_text("a/" * 50 + "x.txt", "said")
    assert Path("a/" * 50 + "x.txt").read_text() == "said"


def test_a_folder_that_is_there_is_no_error_and_a_file_is_one() -> None:
    make_folder("one/two")
    make_folder("one/two")
    make_folder(".")
    Path("one/file").write_text("")
    for place in ("one/file", "one/file/more/still", "x" * 300 + "/more"):
        with pytest.raises(OSError, match=r"exists|Not a directory|too long"):
            make_folder(place)
    with pytest.raises(DataError, match=r"one/file/more/x: cannot be written \(Not a directory\)"):
        json_files.write_text("one/file/more/x", "")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_where_the_system_keeps_no_folders_the_error_says_where_that_is():
    with pytest.raises(OSError, match="nothing can be made in /proc"):
        make_folder("/proc/there/run")
