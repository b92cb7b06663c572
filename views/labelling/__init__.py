"""What people see who label: one conversation, or two answers side by side."""
