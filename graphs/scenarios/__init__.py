"""Where scenarios come from: files, topics, tasks, stored conversations."""
