"""The commands `duologue recllmsim ...`: what is particular to the RecLLMSim papers."""
