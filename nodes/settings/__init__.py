"""Settings from the environment, import paths, and what is redacted."""
