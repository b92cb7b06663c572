"""Settings from the environment: the only subpackage that reads it."""
