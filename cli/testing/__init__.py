"""Commands that test agents: `test`, `scenarios`, `fork` and `replay`."""
