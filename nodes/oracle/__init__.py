"""The oracle of a test: which tool calls fulfil a scenario in a fresh world, if any do."""
