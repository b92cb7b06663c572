"""Models that learn a user's options from texts.

Needs the extra `ml`, and some models an extra of their own.
"""
