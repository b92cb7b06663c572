"""Tests by the behaviours of their users: who shows them, and what they cost the agent."""
