"""`python -m duologue.cli`."""

from .commands import main

main()
