"""The statistics of the realism report: cells of a user and a task, intervals, permutations."""
