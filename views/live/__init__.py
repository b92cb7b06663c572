"""Pages that this machine serves: who may open them, and the page of a run that grows."""
