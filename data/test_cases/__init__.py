"""Test cases of other tools as scenarios."""
