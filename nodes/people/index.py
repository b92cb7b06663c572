"""The word counts of a memory in a file, so that a long source is segmented only once.

The file contains people's words: it is written only on request (`people:SRC?index=FOLDER`), and only its owner can
read it. It is a NumPy archive without pickled objects, with a header that describes its source.
"""

import io
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from ...data.files.folders import make_folder
from ...data.files.json_files import UnwrittenError
from ...data.identity import VERSION, digest
from ...data.records import Role
from ...errors import at, of_extra
from .likeness import WordLikeness
from .options import PeopleOptions

FORMAT = 1
"""Version of the file's form."""

log = logging.getLogger(__name__)


def words_in(folder: Path, texts: Sequence[str], source: str, role: Role, options: PeopleOptions) -> WordLikeness:
    """The word counts of the texts, from the file of this source in the folder.

    If the file is missing, damaged or of another source, the words are counted and the file is written again.
    UnwrittenError if that fails.
    """
    path = folder / f"{source}.{role}.{digest(options.part, options.mask)[:8]}.npz"
    header = {
        "format": FORMAT,
        "duologue": VERSION,
        "scikit-learn": str(of_extra("sklearn", "ml").__version__),
        "texts": digest(list(texts)),
    }
    if path.exists():
        try:
            return _read(path, header, len(texts))
        except _StaleError as error:
            log.warning("%s: %s: its words are counted anew", at(path), error)
    words = WordLikeness(texts)
    _write(path, header, words)
    return words


class _StaleError(Exception):
    """Why a file cannot be used, in words."""


def _read(path: Path, header: dict[str, Any], count: int) -> WordLikeness:
    numpy, sparse = of_extra("numpy", "ml"), of_extra("scipy.sparse", "ml")
    try:
        with numpy.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            stored_header = json.loads(bytes(stored["header"]))
            if stored_header != header:
                raise _StaleError(_difference(stored_header, header))
            vocabulary = json.loads(bytes(stored["vocabulary"]))
            parts = tuple(stored[name] for name in ("counts", "words", "ends"))
            counts = sparse.csr_matrix(parts, shape=(count, len(vocabulary)))
            counts.check_format(full_check=True)
    except _StaleError:
        raise
    except Exception:  # what numpy, its archive and the unpacking raise for damaged bytes is almost anything
        raise _StaleError("cannot be read, it may be damaged") from None
    if not isinstance(vocabulary, list) or len(set(map(str, vocabulary))) != len(vocabulary):
        raise _StaleError("cannot be read, it may be damaged")
    return WordLikeness.restored(list(map(str, vocabulary)), counts)


def _difference(stored_header: Any, header: dict[str, Any]) -> str:
    if not isinstance(stored_header, dict):
        return "cannot be read, it may be damaged"
    if stored_header.get("texts") != header["texts"]:
        return "was made of other words than the source has now"
    return "was made by another version of duologue or of scikit-learn"


def _write(path: Path, header: dict[str, Any], words: WordLikeness) -> None:
    numpy = of_extra("numpy", "ml")
    counts, vocabulary = words.counted
    as_bytes = {"header": header, "vocabulary": vocabulary}
    file = io.BytesIO()
    numpy.savez_compressed(
        file,
        counts=counts.data,
        words=counts.indices,
        ends=counts.indptr,
        **{name: numpy.frombuffer(json.dumps(value).encode(), dtype="uint8") for name, value in as_bytes.items()},
    )
    try:
        make_folder(path.parent)
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)  # its owner's alone
        partial = Path(name)
        try:
            with open(descriptor, "wb") as opened:
                opened.write(file.getbuffer())
                opened.flush()
                os.fsync(opened.fileno())
            partial.replace(path)  # whoever reads it meanwhile has the old one or the new one, and never a half
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UnwrittenError(path, error.strerror) from None
