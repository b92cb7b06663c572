"""The nodes of SimQuAC, and those of reading comprehension."""
