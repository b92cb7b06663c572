"""`duologue label`: people label conversations on a page in the browser, which Streamlit serves on this machine."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from ..data.loading import load
from ..data.text.terminal import names_in
from ..errors import SettingError, of_extra
from . import options
from .options import argument, option
from .printing import check_free, flush, print_json, put, say
from .serving import HERE, free_port, new_token

FIRST_PORT = 8501


def label_command(
    source: Annotated[
        Path | None, argument("SRC", "Conversations to label: a run or a data set of any format.")
    ] = None,
    labels: options.Labels = None,
    study: Annotated[Path | None, option("A side-by-side study, for SRC.", "--study", metavar="FILE")] = None,
    by: Annotated[str | None, option("Who labels; each person has a file.", "--as", metavar="NAME")] = None,
    answers: Annotated[Path, option("Folder of people's answers.", "--answers", metavar="DIR")] = Path("answers"),
    labels_dir: options.LabelsDir = None,
    show_model: Annotated[
        Literal["after", "never", "before"], option("When to show the data's own label.", "--show-model")
    ] = "after",
    port: options.Port = None,
    out: options.Out = None,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> int:
    """Label conversations by hand, on a page in the browser.

    Each answer is saved at once, and can be undone. In place of the page, --out writes people's labels of SRC beside it.
    """
    from ..data.labels.table import LABELS
    from ..runs.people_labels import people_labels

    names = _names(source, labels, study)
    if out is not None:
        if source is None:
            raise SettingError("--out: a study's answers are not labels: use papers recllmsim preference")
        check_free(out / LABELS)
        table = people_labels(load(source), answers, out, labels=names, labels_dir=labels_dir)
        if as_json:
            print_json({"labelled": len(table.rows), "labels": str(out)})
        else:
            put(f"labelled: {len(table.rows)}; labels: {out}")
        return 0
    if by is None:
        raise SettingError("--as: name who labels, such as --as ann")
    paths = {"source": source, "labels_dir": labels_dir, "study": study, "answers": answers}
    settings = {name: None if path is None else str(path.absolute()) for name, path in paths.items()}
    _serve(
        settings | {"labels": names, "by": by, "show_model": show_model, "limit": limit, "seed": seed},
        port,
    )


def _names(source: Path | None, labels: list[str] | None, study: Path | None) -> tuple[str, ...]:
    """Names of the labels; none for a study."""
    if study is not None:
        if source is not None or labels is not None:
            raise SettingError("--study: names its sources and what is asked: leave SRC and --labels out")
        return ()
    if source is None:
        raise SettingError("SRC is missing: give conversations to label, or --study FILE")
    names = tuple(names_in(labels or ()))
    if not names:
        raise SettingError("--labels: names none: give one or more, such as behaviour")
    return names


def _serve(settings: dict[str, Any], port: int | None) -> NoReturn:
    """Print the page's address, and become its server, until Ctrl-C.

    Streamlit reads the settings of the working folder, the home and the environment: both folders are that of the page,
    which has none, and nothing of the environment is for Streamlit but our token and settings.
    """
    from .. import labelling
    from ..studies.labelling import LabellingSettings, work_of

    of_extra("streamlit", "ui")  # before the work, which makes the folder of the answers
    free = free_port(port, FIRST_PORT)
    work = work_of(LabellingSettings.model_validate(settings))  # what is wrong is said here, in one line
    waiting, folder = len(work.waiting), Path(labelling.__file__).parent
    work.answers.close()
    token = new_token()
    say(*work.notes)
    put(f"http://{HERE}:{free}/?token={token}")
    say(
        f"{waiting} of {len(work.items)} to label as {work.answers.by}; answers are saved in {work.answers.folder}; Ctrl-C ends"
    )
    flush()
    options = {
        "server.address": HERE,
        "server.port": free,
        "server.headless": "true",
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "logger.level": "error",
    }
    environment = {name: text for name, text in os.environ.items() if not name.upper().startswith("STREAMLIT_")}  # noqa: TID251
    environment |= {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        labelling.SETTINGS: json.dumps(settings),
        labelling.TOKEN: token,
    }
    # `-P`: a module of the working folder is nothing to the server, whatever its name.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(folder / "server.py")]
    command += [f"--{name}={value}" for name, value in options.items()]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Streamlit would print the address without its token
    os.chdir(folder)
    os.execve(sys.executable, command, environment)  # the same process: no child is left when it is killed
