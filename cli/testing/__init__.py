"""Commands that test agents: `test`, `scenarios`, `ablate`, `fork` and `replay`."""
