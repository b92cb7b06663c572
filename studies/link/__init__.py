"""The study of the link between realism and usefulness of simulated users."""
