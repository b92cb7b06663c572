"""`python -m duologue.cli`."""

from .app import main

main()
