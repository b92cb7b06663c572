"""People in stored conversations: who they are, splits by user, pairs by topic, the moments of next turns."""
