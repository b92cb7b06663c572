"""Commands for TREC's user simulation track."""
