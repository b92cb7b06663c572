"""Labels on paper: what a label is, where a record holds it, votes and what they come to, people's answers."""
