"""The page is started by the command, and shows what the views make."""

from tests.cli.conftest import duologue, logs, talks  # noqa: F401
from tests.views.conftest import browser  # noqa: F401
