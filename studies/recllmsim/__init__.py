"""The studies of RecLLMSim, as functions for notebooks and scripts."""
