"""The commands `duologue runs ...`: run folders."""
