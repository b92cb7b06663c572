"""Logs of chats, models and agents: a module for each form that is read."""
