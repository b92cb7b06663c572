"""The process of the labelling page: `duologue label` starts it, and it ends with that command, also a killed one."""

import os
import shutil
import sys
from pathlib import Path
from threading import Thread


def _end_with_the_command(folder: Path) -> None:
    """Wait until the command is gone, then end this server: left alone it would keep the person's file locked.

    The command holds the other end of this process' input. However it ends, killed too, the system closes that end.
    """
    while os.read(0, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _run() -> None:
    Thread(target=_end_with_the_command, args=(Path(sys.argv[2]).parent,), daemon=True).start()
    from streamlit.web.cli import main

    main()


if __name__ == "__main__":
    _run()
