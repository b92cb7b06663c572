"""Models that learn a user's options from texts.

Needs the extra `stats`.
"""
