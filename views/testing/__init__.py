"""Pages of tests of an agent."""
