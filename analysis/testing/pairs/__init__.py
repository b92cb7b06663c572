"""Two versions of an agent in pairs: the comparison, and its words and tables."""
