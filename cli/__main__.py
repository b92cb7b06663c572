"""`python -m duologue.cli`."""

from . import main

main()
