"""Requests with repair, and judges: chat models that are asked about something."""
