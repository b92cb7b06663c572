"""The folder of a run: manifest, conversations, failures, data set, card."""
