"""How the site is built: `make docs`."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring

import duologue

sys.path.append(str(Path(__file__).parent))

DOORS = [
    "duologue",
    *(
        f"duologue.{name}"
        for name in (
            "data",
            "nodes",
            "graphs",
            "runs",
            "analysis",
            "hosts",
            "studies",
            "views",
            "testing",
        )
    ),
]
"""The modules whose names the reference lists; imported here, since Sphinx would import them as type checkers do."""
for door in DOORS:
    import_module(door)

project = html_title = "Duologue"
release = version = duologue.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_llms_txt",
]
myst_heading_anchors = 3
nb_execution_mode = "off"
default_role = "code"
smartquotes = False  # an option begins with two hyphens
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 160
html_theme = "furo"
html_copy_source = True


def setup(app: Any) -> None:
    """Fill the page of all commands from the commands."""
    from command_reference import reference

    def filled(_: Any, page: str, source: list[str]) -> None:
        if page == "reference/commands":
            source[0] += reference()

    def with_sections(
        _: Any, what: str, name: str, value: object, options: object, lines: list[str]
    ) -> None:
        """Napoleon itself takes what stands before a colon in an attribute's docstring for its type."""
        if what in ("class", "exception", "function", "method"):
            lines[:] = GoogleDocstring(
                lines, Config(napoleon_use_rtype=False), what=what
            ).lines()

    def plain(
        _: Any,
        what: str,
        name: str,
        value: object,
        options: object,
        shown: str | None,
        returned: str | None,
    ) -> Any:
        """What has no name as code, such as the default of a field that a function makes, would leave all names long."""
        if shown is not None:
            shown = re.sub(
                r"<function (\w+)>", r"\1", shown.replace("<factory>", "...")
            )
            shown = re.sub(r"~?\b[a-z_]+(?:\.[a-z_]+)*\.(?=[A-Z])", "", shown)
        return shown, returned

    app.connect("source-read", filled)
    app.connect("autodoc-process-signature", plain)
    app.connect("autodoc-process-docstring", with_sections)
