"""Estimates over users: rates, means and orders, with intervals over users.

One person's conversations are not independent.
"""
