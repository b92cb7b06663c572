"""Settings of the environment, as pure functions of its variables."""
