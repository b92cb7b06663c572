"""Several variants of a cast on the same scenarios, all compared with the first: `duologue.ablate`."""
