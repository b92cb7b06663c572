"""The commands `duologue simquac ...`: what is particular to the SimQuAC paper."""
