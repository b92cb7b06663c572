"""The formats of no domain that are written too: records, messages, ShareGPT; what a path holds."""
